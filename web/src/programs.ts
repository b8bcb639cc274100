/** The genes behind each program at the present scale, how they change over scales, and as a heat map. */
import * as Plot from '@observablehq/plot';
import { apart, Figure, type Drawing } from './chart';
import { programName } from './colouring';
import { Result, type ProgramPath } from './data';
import { button, h, number } from './dom';
import type { State } from './state';

const firstPrograms = 16;

/** How the genes of a program can be ordered. Scores are there when the page was made with the data. */
type Order = 'by_score' | 'by_weight' | 'by_lead';
const orderNames: Record<Order, string> = {
    by_score: 'by score (how well they mark it)',
    by_weight: 'by weight',
    by_lead: 'by lead over other programs',
};

/** Top genes as the page keeps them, for a result that has bases. */
class Programs {
    readonly top: number;
    readonly scales: number[];
    constructor(readonly result: Result) {
        this.top = result.meta.programs!.top;
        this.scales = result.meta.programs!.scales;
    }
    place(t: number): number {
        return Result.nearest(this.scales, t);
    }
    genes(place: number, k: number, by: Order): number[] {
        const row = (place * this.result.meta.rank + k) * this.top;
        return Array.from(this.result.array(by).subarray(row, row + this.top));
    }
    weight(place: number, k: number, gene: number): number {
        const row = place * this.result.meta.rank + k;
        const share = this.result.array('weight')[row * this.result.meta.programs!.genes + gene] / 255;
        return share * this.result.array('weight_largest')[row];
    }
}

/** Over which scales the program of the recommended scale is found, into which it merges, and whether it follows depth. */
function pathWords(path: ProgramPath): string {
    const where = path.first === path.last ? `at scale ${path.first} alone` : `at scales ${path.first} to ${path.last}`;
    const merges = path.merges_into >= 0 ? `, then merges into ${programName(path.merges_into)}` : '';
    const depth = path.depth !== undefined ? `; follows the depth of cells (r = ${number(path.depth, 2)})` : '';
    return `persistence ${number(path.persistence, 2)}: ${where}${merges}${depth}`;
}

/** As the program lists them: those that are found over many scales and mark clusters first. */
function programOrder(result: Result): number[] {
    return result.meta.programs?.order ?? Array.from({ length: result.meta.rank }, (_, k) => k);
}

export function programsPanel(result: Result, state: State): HTMLElement {
    const panel = h('div', { class: 'figures' });
    if (!result.meta.programs) {
        panel.append(
            h('p', { class: 'note' }, 'The bases W are not in this result, so the genes of its programs are unknown. '),
            h('p', { class: 'note' }, 'pnmf fit writes them into its own page; pnmf fit --save-basis keeps them in the file.'),
        );
        return panel;
    }
    const programs = new Programs(result);
    void Promise.all([result.load('programs'), result.load('components')]).then(() => fill(panel, programs, state));
    return panel;
}

function fill(panel: HTMLElement, programs: Programs, state: State): void {
    const { result } = programs;
    const orders: Order[] = result.meta.programs?.scored ? ['by_score', 'by_weight', 'by_lead'] : ['by_weight', 'by_lead'];
    let by = orders[0];
    let all = false;
    let order: number[] = [];
    let place = -1;
    let traced = -1;
    const list = h('div', { class: 'programs' });
    const note = h('p', { class: 'note', role: 'status' });
    const expressed = result.meta.expressed_genes ?? 0;

    const geneButton = (gene: number): HTMLElement => {
        const name = result.meta.genes[gene];
        const can = gene < expressed;
        return button(name, () => state.colourBy({ kind: 'gene', name }), {
            class: 'gene',
            disabled: !can,
            title: can ? `Colour the cells by ${name}` : 'The page has no values of this gene',
            'aria-pressed': state.colouring.kind === 'gene' && state.colouring.name === name ? 'true' : 'false',
        });
    };
    const program = (k: number): HTMLElement => {
        const name = button(programName(k), () => state.colourBy({ kind: 'program', k }), {
            class: 'program-name',
            title: `Colour the cells by program ${programName(k)}`,
        });
        const trace = button('over scales', () => follow(k), { class: 'trace', 'aria-label': `Follow ${programName(k)} over scales` });
        const genes = programs.genes(place, k, by).map(geneButton);
        const path = result.meta.programs?.paths?.[k];
        const words = path ? [h('p', { class: 'note program-path' }, pathWords(path))] : [];
        return h('div', { class: 'program' }, h('div', { class: 'program-head' }, name, trace), ...words, h('div', { class: 'genes' }, ...genes));
    };
    const heat = new Figure(
        {
            title: 'Weights of genes in programs',
            about: 'Rows are the first genes of each program, columns are programs; weights are shares of the largest in the program. Click a row to colour the cells by its gene.',
            table: () => [
                ['gene', ...order.map((k) => programName(k))],
                ...heatGenes().map((gene) => [result.meta.genes[gene], ...order.map((k) => number(programs.weight(place, k, gene), 3))]),
            ],
            draw: (width) => drawHeat(width),
        },
        state,
    );
    const over = new Figure(
        {
            title: 'A program over scales',
            about: 'Weights of the genes that lead the program at the present scale. Choose another with \u201cover scales\u201d.',
            axis: 'x',
            value: () => result.scaleNumber(state.scaleOf(result)),
            picked: (value) => {
                const nearest = programs.scales[Result.nearest(programs.scales.map((t) => result.scaleNumber(t)), value)];
                state.moveTo(state.stepOf(result, nearest));
            },
            table: () => [
                ['scale', ...programs.genes(place, traced, by).map((gene) => result.meta.genes[gene])],
                ...programs.scales.map((t, i) => [result.scaleNumber(t), ...programs.genes(place, traced, by).map((gene) => number(programs.weight(i, traced, gene), 4))]),
            ],
            draw: (width) => drawTrace(width),
        },
        state,
    );
    const heatGenes = (): number[] => {
        const genes = new Set<number>();
        for (const k of order.slice(0, firstPrograms))
            for (const gene of programs.genes(place, k, by).slice(0, 3)) genes.add(gene);
        return [...genes];
    };
    function drawHeat(width: number): Drawing {
        const genes = heatGenes();
        const shown = order.slice(0, firstPrograms);
        const weights = result.array('weight');
        const cells = genes.flatMap((gene) =>
            shown.map((k) => ({
                gene,
                k,
                share: weights[(place * result.meta.rank + k) * result.meta.programs!.genes + gene] / 255,
            })),
        );
        const plot = Plot.plot({
            width,
            height: 50 + 15 * genes.length,
            marginLeft: 96,
            padding: 0.04,
            x: { domain: shown, label: null, tickFormat: programName, axis: 'top' },
            y: { domain: genes, label: null, tickFormat: (gene: number) => shortened(result.meta.genes[gene]), tickSize: 0 },
            color: { scheme: 'viridis', domain: [0, 1] },
            marks: [Plot.cell(cells, { x: 'k', y: 'gene', fill: 'share', title: (d) => `${result.meta.genes[d.gene]}, ${programName(d.k)}: ${number(d.share, 2)}` })],
        }) as Drawing;
        plot.addEventListener('click', (event: Event) => {
            const box = plot.getBoundingClientRect();
            const scale = plot.scale!('y');
            const at = (event as MouseEvent).clientY - box.top;
            const gene = genes.find((one) => Math.abs(scale.apply(one) + scale.bandwidth / 2 - at) <= scale.step / 2);
            if (gene !== undefined && gene < expressed) state.colourBy({ kind: 'gene', name: result.meta.genes[gene] });
        });
        return plot;
    }
    function drawTrace(width: number): Drawing | null {
        if (traced < 0) return null;
        const points = programs.genes(place, traced, by)
            .slice(0, 6)
            .flatMap((gene, i) => programs.scales.map((t, at) => ({ scale: result.scaleNumber(t), weight: programs.weight(at, traced, gene), gene: result.meta.genes[gene], i })));
        const colour = (d: { i: number }): string => `var(--series-${(d.i % 6) + 1})`;
        return Plot.plot({
            width,
            height: 220,
            marginLeft: 50,
            marginRight: 110,
            x: { label: 'scale \u2192', domain: [1, Math.max(2, result.meta.scales.total)] },
            y: { label: `\u2191 weight in ${programName(traced)}`, grid: true, zero: true },
            marks: [
                Plot.line(points, { x: 'scale', y: 'weight', z: 'gene', stroke: colour, strokeWidth: 1.8 }),
                Plot.dot(points, { x: 'scale', y: 'weight', fill: colour, r: programs.scales.length > 30 ? 0 : 2 }),
                Plot.text(points, apart(Plot.selectLast({ x: 'scale', y: 'weight', z: 'gene', text: (d: { gene: string }) => shortened(d.gene), fill: colour, dx: 6, textAnchor: 'start' }))),
            ],
        }) as Drawing;
    }
    function follow(k: number): void {
        traced = k;
        over.redraw();
        over.element.scrollIntoView({ block: 'nearest' });
    }
    const more = button('Show all programs', () => ((all = true), show()));
    function show(): void {
        const shown = all ? order : order.slice(0, firstPrograms);
        list.replaceChildren(...shown.map(program));
        more.hidden = shown.length === order.length;
    }
    const update = (): void => {
        const t = state.scaleOf(result);
        const at = programs.place(t);
        const kept = result.scaleNumber(programs.scales[at]);
        note.textContent = `${result.meta.rank} programs; those that are found at many scales and mark clusters come first. ` + (programs.scales[at] === t ? `Scale ${kept}.` : `Genes are those of scale ${kept}, the nearest whose basis the page keeps.`);
        if (at === place) return show();
        place = at;
        order = programOrder(result);
        if (traced < 0) traced = order[0];
        show();
        heat.redraw();
        over.redraw();
    };
    const sort = h(
        'select',
        { change: () => ((by = orders[sort.selectedIndex]), show(), heat.redraw(), over.redraw()) },
        ...orders.map((one) => h('option', {}, orderNames[one])),
    );
    panel.append(note, h('label', { class: 'choice' }, 'Order genes ', sort), list, more, over.element, heat.element);
    let waiting = false;
    state.on(['scale', 'colour'], () => {
        if (waiting) return;
        waiting = true;
        requestAnimationFrame(() => ((waiting = false), panel.offsetParent && update()));
    });
    new ResizeObserver(() => panel.offsetParent && update()).observe(panel);
    update();
}

const shortened = (name: string): string => (name.length > 14 ? `${name.slice(0, 13)}\u2026` : name);
