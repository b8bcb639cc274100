/** The cells of one result in the plane: WebGL points that move from scale to scale, their graph, lasso and hover. */
import { Deck, OrthographicView } from '@deck.gl/core';
import { LineLayer, type BitmapLayer } from '@deck.gl/layers';
import { polygonContains } from 'd3-polygon';
import { colouringTitle, followsScale, isHidden, paint, paintBytes, sectionOf, valueOf, type Painted } from './colouring';
import type { Result } from './data';
import { count, h, svgElement } from './dom';
import { boxOf, crowdOf, frameOf, half, type Frame } from './frame';
import { opacityOf, PointsLayer } from './points_layer';
import type { Colouring, State } from './state';
import { Stretched, type ViewState } from './stretched';
import { imageLayers, tissueMap } from './tissue';

const reducedMotion = matchMedia('(prefers-reduced-motion: reduce)');

/** The tissue, or a layout computed on request, which stands in for the plane of H. */
export interface Layout {
    name: string;
    positions: Float32Array;
    images?: ImagePlace[];
}

/** A photograph behind the cells. Box: left, bottom, right and top, as the positions. */
export interface ImagePlace {
    array: string;
    width: number;
    height: number;
    box: [number, number, number, number];
}

export class CellView {
    readonly element: HTMLElement;
    painted: Painted = { type: 'none', title: '', note: '' };
    readonly stage = h('div', { class: 'stage deck-events-root' }); // where deck.gl listens: the canvas may be stretched
    private readonly caption = h('p', { class: 'axes' });
    private readonly tip = h('div', { class: 'tip', role: 'status', hidden: true });
    private readonly lassoPath = svgElement('path', { class: 'lasso' });
    readonly deck: Deck<OrthographicView>;
    private viewState: ViewState = { target: [0, 0], zoom: 0 };
    private readonly from: Float32Array;
    private readonly to: Float32Array;
    private readonly now: Float32Array;
    readonly colours: Uint8Array;
    private readonly radii: Float32Array;
    private readonly frame: Frame;
    private images: BitmapLayer[] = [];
    layout: Layout | null = null;
    private readonly tissue: Layout | null;
    /** What was last gone to; null: the plane of H. */
    private shownMap: Layout | null = null;
    /** A view of the same cells in other colours, which shows the same part of them. */
    twin: CellView | null = null;
    private began = 0;
    private duration = 0;
    private moving = false;
    private edges = 0;
    private lassoMode = false;
    /** Counts of changes: what counts no further is not taken to the graphics card again. */
    private moves = 0;
    private looks = 0;
    private readonly stretched: Stretched;

    constructor(
        readonly result: Result,
        readonly state: State,
        private readonly letter: string,
        /** Colours of its own; null: those that the reader chooses. */
        public own: Colouring | null = null,
    ) {
        this.tissue = tissueMap(result);
        const n = result.n;
        this.from = new Float32Array(2 * n);
        this.to = new Float32Array(2 * n);
        this.now = new Float32Array(2 * n);
        this.colours = new Uint8Array(4 * n);
        this.radii = new Float32Array(n);
        this.frame = frameOf(result.meta.boxes);
        const overlay = svgElement('svg', { class: 'overlay', 'aria-hidden': 'true' });
        overlay.append(this.lassoPath);
        const canvas = h('canvas', { class: 'cells', role: 'img', 'aria-label': 'Cells in the plane' });
        this.stage.append(canvas, overlay, this.caption, this.tip);
        this.element = h('section', { class: 'cell-view', 'aria-label': `Cells of ${this.name}` }, this.stage);
        this.stretched = new Stretched(canvas, () => this.deck);
        this.deck = new Deck({
            canvas,
            _customRender: (reason: string) => this.stretched.render(reason, this.viewState),
            width: '100%',
            height: '100%',
            views: new OrthographicView({ flipY: false }),
            viewState: { ...this.viewState },
            controller: { inertia: false, doubleClickZoom: false },
            useDevicePixels: n > 20000 ? 1 : true,
            // Points smooth their own edges; only lines of a graph, drawn for few cells, gain by more samples.
            deviceProps: { type: 'webgl', webgl: { antialias: n <= 3000, preserveDrawingBuffer: false } },
            getTooltip: null,
            onError: (error) => this.cannotDraw(error),
            getCursor: ({ isDragging }) => (isDragging ? 'grabbing' : 'crosshair'),
            onViewStateChange: ({ viewState }) => {
                this.look(viewState as unknown as ViewState);
                this.twin?.look(this.viewState);
            },
        });
        new ResizeObserver(() => this.fitFrame()).observe(this.stage);
        this.listenForLasso();
        this.listenForHover();
        this.target();
        this.now.set(this.to);
        void this.recolour();
        state.on(['scale'], () => {
            this.moveToScale();
            if (followsScale(this.colouring)) void this.recolour();
            else this.describe();
        });
        state.on(['view'], () => this.moveToScale());
        void imageLayers(result, this.tissue).then((images) => {
            this.images = images;
            if (images.length > 0) this.draw();
        });
        state.on(['colour', 'hidden', 'selection', 'theme'], () => void this.recolour());
    }

    /** For what names it, and what is saved of it. */
    get name(): string {
        return this.own ? `${this.result.meta.name}, ${colouringTitle(this.own)}` : this.result.meta.name;
    }

    get colouring(): Colouring {
        return this.own ?? this.state.colouring;
    }

    /** Where the cells are drawn; null: in the plane of H. */
    get map(): Layout | null {
        return this.layout ?? (this.state.showTissue ? this.tissue : null);
    }

    private look(viewState: ViewState): void {
        this.viewState = { ...viewState };
        this.stretched.looked();
        this.deck.setProps({ viewState: { ...this.viewState } as never });
    }

    /** Brings the whole frame into view. */
    fitFrame(): void {
        const { clientWidth, clientHeight } = this.stage;
        if (!clientWidth || !clientHeight) return;
        this.look({ target: [0, 0], zoom: Math.log2(Math.min(clientWidth, clientHeight) / (2.2 * half)) });
    }

    zoomBy(step: number): void {
        this.look({ ...this.viewState, zoom: this.viewState.zoom + step });
    }

    setLasso(on: boolean): void {
        this.lassoMode = on;
        this.stage.classList.toggle('lassoing', on);
    }

    setLayout(layout: Layout | null): void {
        this.layout = layout;
        this.moveToScale();
        if (this.twin && !this.own) this.twin.setLayout(layout);
    }

    /** Shows what another view of these cells shows, and the other what this one does. */
    follow(other: CellView): void {
        this.twin = other;
        other.twin = this;
        this.layout = other.layout;
        this.target();
        this.now.set(this.to);
        this.setLasso(other.lassoMode);
    }

    get t(): number {
        return this.state.scaleOf(this.result);
    }

    /** Where the cells go: into `to`, in world coordinates. */
    private target(): void {
        const { map } = this;
        this.shownMap = map;
        if (map) this.to.set(map.positions);
        else this.result.positionsAt(this.t, this.to);
        const boxes = this.result.meta.boxes;
        const frame = map
            ? frameOf([boxOf(map.positions)])
            : this.state.ownFrame
              ? frameOf([boxes[this.t]])
              : this.frame;
        for (let j = 0; j < this.result.n; ++j) {
            this.to[2 * j] = (this.to[2 * j] - frame.x) * frame.scale;
            this.to[2 * j + 1] = (this.to[2 * j + 1] - frame.y) * frame.scale;
        }
        const { plane, plane_share: share } = this.result.meta;
        const percent = (x: number): string => `${Math.round(100 * x)} %`;
        this.caption.textContent = map
            ? `${this.letter}${map.name}`
            : plane === 'H'
              ? `${this.letter}\u2192 P1 \u00b7 \u2191 P2`
              : `${this.letter}principal directions of all H: \u2192 ${percent(share[0])} \u00b7 \u2191 ${percent(share[1])} of the variance`;
    }

    private moveToScale(): void {
        if (this.state.showGraph) this.countEdges();
        if (this.map && this.map === this.shownMap) return this.draw(); // a map is the same at all scales
        this.from.set(this.now);
        this.target();
        this.began = performance.now();
        const step = this.state.playing ? Math.min(500, 1000 / this.state.speed) : 350;
        this.duration = reducedMotion.matches ? 0 : step;
        if (this.duration === 0) this.now.set(this.to);
        this.moving = true;
    }

    /** Called for each frame of the page; true while cells move. */
    frameAt(time: number): boolean {
        if (!this.moving) return false;
        const share = this.duration > 0 ? Math.min(1, Math.max(0, (time - this.began) / this.duration)) : 1;
        // Between scales of a running film speed is even; a single step starts and ends softly.
        const w = this.state.playing ? share : share * share * (3 - 2 * share);
        for (let i = 0; i < this.now.length; ++i) this.now[i] = this.from[i] + w * (this.to[i] - this.from[i]);
        ++this.moves;
        this.moving = share < 1;
        this.draw();
        return this.moving;
    }

    private async recolour(): Promise<void> {
        const wanted = this.colouring;
        await this.result.load(sectionOf(wanted));
        if (wanted.kind === 'gene') await this.result.bring([wanted.name]);
        if (this.colouring !== wanted) return; // another was chosen while this one was unpacked
        this.painted = paint(this.result, this.t, wanted, this.state);
        paintBytes(this.painted, this.result, this.state, this.colours);
        this.size();
        this.describe();
        this.draw();
        this.state.emit('painted');
    }

    private describe(): void {
        const { result, painted } = this;
        const text =
            `${count(result.n)} cells at scale ${result.scaleNumber(this.t)} of ${result.meta.scales.total}, ` +
            `coloured by ${painted.title}` +
            (this.state.selection.size ? `, ${count(this.selected().length)} selected` : '');
        this.stage.querySelector('canvas.cells')?.setAttribute('aria-label', text);
    }

    async loadGraph(): Promise<void> {
        if (this.result.has('edge_ends')) await this.result.load('graph');
        this.countEdges();
        this.draw();
    }

    /** The edges shorter than epsilon are a prefix of the list. */
    private countEdges(): void {
        this.edges = 0;
        if (!this.state.showGraph || !this.result.isLoaded('graph')) return;
        const lengths = this.result.array('edge_lengths');
        const epsilon = this.result.epsilon(this.t);
        while (this.edges < lengths.length && lengths[this.edges] < epsilon) ++this.edges;
    }

    get edgesDrawn(): number {
        return this.edges;
    }

    private edgeLayer(): LineLayer | null {
        if (!this.state.showGraph || this.edges === 0) return null;
        const ends = this.result.array('edge_ends');
        const source = new Float32Array(2 * this.edges);
        const target = new Float32Array(2 * this.edges);
        for (let e = 0; e < this.edges; ++e) {
            const i = ends[2 * e];
            const j = ends[2 * e + 1];
            source[2 * e] = this.now[2 * i];
            source[2 * e + 1] = this.now[2 * i + 1];
            target[2 * e] = this.now[2 * j];
            target[2 * e + 1] = this.now[2 * j + 1];
        }
        const attributes = {
            getSourcePosition: { value: source, size: 2 },
            getTargetPosition: { value: target, size: 2 },
        };
        const grey = this.state.dark ? 190 : 70;
        return new LineLayer({
            id: 'graph',
            data: { length: this.edges, attributes } as never,
            getColor: [grey, grey, grey, this.edges > 2000 ? 26 : 90],
            getWidth: 1,
        });
    }

    /** Sizes of the points: a hidden cell has none, and is not found by the mouse. */
    private size(): void {
        const n = this.result.n;
        const automatic = n <= 300 ? 5 : n <= 3000 ? 3.5 : n <= 20000 ? 2.2 : 1.5;
        const radius = automatic * 2 ** (this.state.pointSize / 2);
        for (let j = 0; j < n; ++j) this.radii[j] = this.colours[4 * j + 3] === 0 ? 0 : radius;
        ++this.looks;
    }

    /** 0 where all points are drawn in full: those of a selection must stand out. */
    private readonly crowd = (): number =>
        this.result.n > 20000 && this.state.selection.size === 0 ? crowdOf(this.now, this.radii) : 0;
    readonly opacity = (): number => opacityOf(this.crowd(), this.radii, 2 ** this.viewState.zoom);

    private draw(): void {
        this.stretched.changed();
        const points = new PointsLayer({
            id: 'cells',
            points: { positions: this.now, colours: this.colours, radii: this.radii },
            moves: this.moves,
            looks: this.looks,
            edge: this.state.dark ? [0.08, 0.09, 0.13] : [1, 1, 1],
            edgeWidth: this.result.n <= 3000 ? 0.6 : 0,
            crowd: this.crowd(),
        });
        // A layer that is left out once cannot come back.
        const visible = this.map !== null && this.map === this.tissue && this.state.showImage;
        this.deck.setProps({ layers: [...this.images.map((image) => image.clone({ visible })), this.edgeLayer(), points] });
    }

    /** Cells of the selection that are shown here. */
    selected(): number[] {
        const chosen: number[] = [];
        const names = this.result.meta.cell_names;
        for (let j = 0; j < this.result.n; ++j) if (this.state.selection.has(names[j])) chosen.push(j);
        return chosen;
    }

    /** Cells that the legend does not hide. */
    shown(): number[] {
        const chosen: number[] = [];
        for (let j = 0; j < this.result.n; ++j) if (!isHidden(this.painted, this.state.hidden, j)) chosen.push(j);
        return chosen;
    }

    /** The cell drawn at a pixel of the stage, the last drawn of several; −1: none. */
    private cellAt(x: number, y: number): number {
        const scale = 2 ** this.viewState.zoom;
        const worldX = this.viewState.target[0] + (x - this.stage.clientWidth / 2) / scale;
        const worldY = this.viewState.target[1] - (y - this.stage.clientHeight / 2) / scale;
        for (let j = this.result.n - 1; j >= 0; --j) {
            const reach = this.radii[j] > 0 ? (this.radii[j] + 1) / scale : 0;
            if (Math.hypot(this.now[2 * j] - worldX, this.now[2 * j + 1] - worldY) < reach) return j;
        }
        return -1;
    }

    /** The rest of the page goes on without the picture: charts, tables and the drawing as SVG need no WebGL. */
    private cannotDraw(error: Error): void {
        const what =
            'The cells cannot be drawn: this browser gives the page no WebGL. The charts beside work, and so do ' +
            'the downloads of the cells as SVG and TSV.';
        if (!this.stage.querySelector('.trouble')) {
            this.stage.append(h('p', { class: 'trouble', role: 'alert' }, `${what} (${error.message})`));
        }
    }

    private listenForHover(): void {
        this.stage.addEventListener('pointermove', (event) => {
            const box = this.stage.getBoundingClientRect();
            const [x, y] = [event.clientX - box.left, event.clientY - box.top];
            this.hover(event.buttons === 0 ? this.cellAt(x, y) : -1, x, y);
        });
        this.stage.addEventListener('pointerleave', () => this.hover(-1, 0, 0));
    }

    private hover(j: number, x: number, y: number): void {
        if (j < 0) {
            this.tip.hidden = true;
            return;
        }
        const rows = [h('strong', {}, this.result.meta.cell_names[j])];
        const line = (name: string, value: string): void => void rows.push(h('span', {}, `${name}: ${value}`));
        if (this.painted.type !== 'none') line(this.painted.title, valueOf(this.painted, j));
        this.result.meta.columns.slice(0, 5).forEach((column, i) => {
            if (!column.categories || column.name === this.painted.title) return;
            line(column.name, column.categories[this.result.array(`column${i}`)[j]] || 'missing');
        });
        const clusters = this.result.clustersAt(this.t);
        if (clusters && this.colouring.kind !== 'cluster') line('cluster', String(clusters[j] + 1));
        this.tip.replaceChildren(...rows);
        this.tip.hidden = false;
        const right = x > this.stage.clientWidth / 2;
        this.tip.style.left = right ? '' : `${x + 14}px`;
        this.tip.style.right = right ? `${this.stage.clientWidth - x + 14}px` : '';
        this.tip.style.top = `${Math.max(4, Math.min(y + 10, this.stage.clientHeight - 120))}px`;
    }

    /** World coordinates of cells as pixels of the stage. */
    pixel(j: number): [number, number] {
        const scale = 2 ** this.viewState.zoom;
        const { clientWidth, clientHeight } = this.stage;
        return [
            clientWidth / 2 + (this.now[2 * j] - this.viewState.target[0]) * scale,
            clientHeight / 2 - (this.now[2 * j + 1] - this.viewState.target[1]) * scale,
        ];
    }

    private listenForLasso(): void {
        let points: [number, number][] = [];
        let active = false;
        const at = (event: PointerEvent): [number, number] => {
            const box = this.stage.getBoundingClientRect();
            return [event.clientX - box.left, event.clientY - box.top];
        };
        this.stage.addEventListener(
            'pointerdown',
            (event) => {
                if (!(this.lassoMode || event.shiftKey) || event.button !== 0) return;
                event.preventDefault();
                event.stopPropagation();
                active = true;
                points = [at(event)];
                this.stage.setPointerCapture(event.pointerId);
            },
            { capture: true },
        );
        this.stage.addEventListener(
            'pointermove',
            (event) => {
                if (!active) return;
                event.stopPropagation();
                points.push(at(event));
                this.lassoPath.setAttribute('d', `M${points.map((p) => p.join(',')).join('L')}Z`);
            },
            { capture: true },
        );
        const end = (event: PointerEvent): void => {
            if (!active) return;
            active = false;
            event.stopPropagation();
            this.lassoPath.removeAttribute('d');
            this.selectInside(points);
        };
        this.stage.addEventListener('pointerup', end, { capture: true });
        this.stage.addEventListener('pointercancel', end, { capture: true });
    }

    private selectInside(polygon: [number, number][]): void {
        if (polygon.length < 3) return this.state.select([]);
        const names = this.result.meta.cell_names;
        const inside = this.shown().filter((j) => polygonContains(polygon, this.pixel(j)));
        this.state.select(inside.map((j) => names[j]));
    }
}
