/** A figure: heading, drawing, downloads. Drawn anew when its width or the theme changes. */
import * as Plot from '@observablehq/plot';
import { button, cssValue, fileName, h, save, svgElement, tsv } from './dom';
import type { State } from './state';

export type Drawing = (SVGSVGElement | HTMLElement) & { scale?: (name: string) => any };

export interface FigureOptions {
    title: string;
    /** What it shows, in a sentence: text under the heading and label for screen readers. */
    about: string;
    draw: (width: number) => Drawing | null;
    table: () => (string | number | null | undefined)[][];
    /** The axis along which a value marks the present scale, and a click moves it. */
    axis?: 'x' | 'y';
    /** The value on that axis of the scale the slider stands at. */
    value?: () => number;
    /** The reader clicked at this value. */
    picked?: (value: number) => void;
    /** Changes of the state, beside theme, that need a new drawing. */
    redrawOn?: Parameters<State['on']>[0];
}

const svgOf = (drawing: Element): SVGSVGElement | null =>
    drawing instanceof SVGSVGElement ? drawing : drawing.querySelector('svg:not([class*="ramp"])');

/** Moves texts that would overlap apart, up or down. */
export function apart(options: Plot.TextOptions): Plot.TextOptions {
    const gap = 12;
    return Plot.initializer(options as never, ((data: unknown, facets: number[][], channels: any, scales: any) => {
        const places = Float64Array.from(channels.y.value as number[], (value) => scales.y(value));
        for (const facet of facets) {
            const order = [...facet].sort((a, b) => places[a] - places[b]);
            // From the top down, then the whole row back to its middle.
            const wanted = order.map((i) => places[i]);
            for (let i = 1; i < order.length; ++i) places[order[i]] = Math.max(places[order[i]], places[order[i - 1]] + gap);
            const shift = order.reduce((sum, i, k) => sum + places[i] - wanted[k], 0) / Math.max(1, order.length);
            for (const i of order) places[i] -= shift;
        }
        return { data, facets, channels: { y: { value: places } } };
    }) as never) as Plot.TextOptions;
}

export class Figure {
    readonly element: HTMLElement;
    private readonly body = h('div', { class: 'drawing' });
    private drawing: Drawing | null = null;
    private mark: SVGLineElement | null = null;
    private width = 0;

    constructor(
        private readonly options: FigureOptions,
        state: State,
    ) {
        const { title, about } = options;
        const tools = h(
            'span',
            { class: 'downloads' },
            button('SVG', () => this.saveDrawing(), { 'aria-label': `Download ${title} as SVG` }),
            button('PNG', () => void this.saveImage(), { 'aria-label': `Download ${title} as PNG` }),
            button('TSV', () => this.saveTable(), { 'aria-label': `Download ${title} as TSV` }),
        );
        this.element = h(
            'figure',
            { 'data-figure': fileName(title) },
            h('figcaption', {}, h('h3', {}, title), tools, h('p', {}, about)),
            this.body,
        );
        new ResizeObserver(() => {
            if (Math.abs(this.body.clientWidth - this.width) > 1) this.redraw();
        }).observe(this.body);
        state.on(['theme', ...(options.redrawOn ?? [])], () => this.redraw());
        if (options.value) state.on(['scale'], () => this.moveMark());
        if (options.picked) this.body.addEventListener('click', (event) => this.click(event));
        if (options.picked) this.body.classList.add('picks');
    }

    redraw(): void {
        const width = this.body.clientWidth;
        if (width === 0) return; // not shown: drawn when it is
        this.width = width;
        this.drawing = this.options.draw(width);
        this.mark = null;
        if (!this.drawing) {
            this.body.replaceChildren(h('p', { class: 'note' }, 'Nothing to draw.'));
            return;
        }
        const svg = svgOf(this.drawing);
        svg?.setAttribute('role', 'img');
        svg?.setAttribute('aria-label', `${this.options.title}. ${this.options.about}`);
        this.body.replaceChildren(this.drawing);
        this.moveMark();
    }

    private moveMark(): void {
        const svg = this.drawing && svgOf(this.drawing);
        const { axis, value } = this.options;
        const scale = axis && this.drawing?.scale?.(axis);
        if (!svg || !scale || !value) return;
        if (!this.mark) {
            this.mark = svgElement('line', { class: 'now' });
            svg.append(this.mark);
        }
        const at = scale.apply(value());
        const [width, height] = [svg.viewBox.baseVal.width, svg.viewBox.baseVal.height];
        const ends = axis === 'x' ? { x1: at, x2: at, y1: 8, y2: height - 22 } : { x1: 34, x2: width - 8, y1: at, y2: at };
        for (const [name, end] of Object.entries(ends)) this.mark.setAttribute(name, String(end));
        this.mark.setAttribute('visibility', Number.isFinite(at) ? 'visible' : 'hidden');
    }

    private click(event: MouseEvent): void {
        const svg = this.drawing && svgOf(this.drawing);
        const scale = this.options.axis && this.drawing?.scale?.(this.options.axis);
        if (!svg || !scale?.invert) return;
        const box = svg.getBoundingClientRect();
        const share =
            this.options.axis === 'x'
                ? ((event.clientX - box.left) / box.width) * svg.viewBox.baseVal.width
                : ((event.clientY - box.top) / box.height) * svg.viewBox.baseVal.height;
        this.options.picked!(scale.invert(share));
    }

    /** The drawing with the colours the page gives it, for use without the page. */
    private standalone(): { text: string; width: number; height: number } | null {
        const svg = this.drawing && svgOf(this.drawing);
        if (!svg) return null;
        const copy = svg.cloneNode(true) as SVGSVGElement;
        const { width, height } = svg.viewBox.baseVal;
        copy.setAttribute('xmlns', 'http://www.w3.org/2000/svg');
        const style = svgElement('style', {});
        style.textContent =
            `svg{background:${cssValue('--panel')};color:${cssValue('--ink')};font-family:system-ui,sans-serif}` +
            `svg{${[1, 2, 3, 4, 5, 6].map((i) => `--series-${i}:${cssValue(`--series-${i}`)}`).join(';')}}` +
            `.now{stroke:${cssValue('--accent')};stroke-width:2}`;
        copy.prepend(style);
        return { text: new XMLSerializer().serializeToString(copy), width, height };
    }

    private saveDrawing(): void {
        const drawing = this.standalone();
        if (drawing) save(`${fileName(this.options.title)}.svg`, new Blob([drawing.text], { type: 'image/svg+xml' }));
    }

    private async saveImage(): Promise<void> {
        const drawing = this.standalone();
        if (!drawing) return;
        const image = new Image();
        const url = URL.createObjectURL(new Blob([drawing.text], { type: 'image/svg+xml' }));
        image.src = url;
        await image.decode();
        const canvas = h('canvas', { width: 2 * drawing.width, height: 2 * drawing.height });
        const context = canvas.getContext('2d')!;
        context.fillStyle = cssValue('--panel');
        context.fillRect(0, 0, canvas.width, canvas.height);
        context.drawImage(image, 0, 0, canvas.width, canvas.height);
        URL.revokeObjectURL(url);
        canvas.toBlob((blob) => blob && save(`${fileName(this.options.title)}.png`, blob), 'image/png');
    }

    private saveTable(): void {
        save(
            `${fileName(this.options.title)}.tsv`,
            new Blob([tsv(this.options.table())], { type: 'text/tab-separated-values' }),
        );
    }
}
