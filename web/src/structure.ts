/** What changes from fine to coarse: flow of clusters, scores, effective rank, certificate. */
import * as Plot from '@observablehq/plot';
import { sankey, sankeyLinkHorizontal, type SankeyGraph } from 'd3-sankey';
import { apart, Figure, type Drawing } from './chart';
import { paint } from './colouring';
import type { Result } from './data';
import { count, h, svgElement } from './dom';
import type { Colouring, State } from './state';

const flowColumns = 8;

interface FlowNode {
    column: number;
    name: string;
    colour: string;
    cells: number;
    title: string;
}
interface FlowLink {
    source: number;
    target: number;
    value: number;
    colour: string;
}

/** Scales of the flow, evenly spaced, the recommended one among them. */
function flowScales(result: Result): number[] {
    const number = Math.min(flowColumns, result.T);
    const scales = new Set<number>();
    for (let i = 0; i < number; ++i) scales.add(number === 1 ? 0 : Math.round((i * (result.T - 1)) / (number - 1)));
    scales.add(result.meta.recommended);
    return [...scales].sort((a, b) => a - b);
}

function flow(result: Result, colouring: Colouring, state: State): { nodes: FlowNode[]; links: FlowLink[]; heads: string[] } {
    const nodes: FlowNode[] = [];
    const links: FlowLink[] = [];
    const heads: string[] = [];
    let before: { codes: ArrayLike<number>; place: number[]; colours: string[] } | null = null;
    const addColumn = (head: string, kind: Colouring, t: number): void => {
        const painted = paint(result, t, kind, state);
        if (painted.type !== 'category') return;
        const column = heads.length;
        heads.push(head);
        const place = painted.categories.map((category) => {
            if (category.count === 0) return -1;
            nodes.push({
                column,
                name: category.name,
                colour: category.colour,
                cells: category.count,
                title: `${head}: ${category.name}, ${count(category.count)} cells`,
            });
            return nodes.length - 1;
        });
        if (before) {
            const flows = new Map<number, number>();
            const width = painted.categories.length;
            for (let j = 0; j < result.n; ++j) {
                const key = before.codes[j] * width + painted.codes[j];
                flows.set(key, (flows.get(key) ?? 0) + 1);
            }
            for (const [key, value] of flows) {
                const from = Math.floor(key / width);
                links.push({ source: before.place[from], target: place[key % width], value, colour: before.colours[from] });
            }
        }
        before = { codes: painted.codes, place, colours: painted.categories.map((category) => category.colour) };
    };
    const label = result.meta.columns.find(
        (column) => column.categories && column.categories.length > 1 && column.categories.length <= 24 && !column.name.startsWith('pnmf'),
    );
    if (label) addColumn(label.name, { kind: 'column', name: label.name }, 0);
    for (const t of flowScales(result)) addColumn(`t ${result.scaleNumber(t)}`, colouring, t);
    return { nodes, links, heads };
}

function drawFlow(width: number, data: ReturnType<typeof flow>): Drawing | null {
    if (data.nodes.length === 0 || data.links.length === 0) return null;
    const height = 360;
    const layout = sankey<FlowNode, FlowLink>()
        .nodeWidth(9)
        .nodePadding(5)
        .nodeAlign((node) => node.column)
        .nodeSort(null as never) // in the order given: groups keep their places from scale to scale
        .extent([[6, 24], [width - 6, height - 8]]);
    const graph: SankeyGraph<FlowNode, FlowLink> = layout({
        nodes: data.nodes.map((node) => ({ ...node })),
        links: data.links.map((link) => ({ ...link })),
    });
    const svg = svgElement('svg', { width, height, viewBox: `0 0 ${width} ${height}`, class: 'flow' });
    const path = sankeyLinkHorizontal<FlowNode, FlowLink>();
    const titled = (element: SVGElement, text: string): SVGElement => {
        const title = svgElement('title', {});
        title.textContent = text;
        element.append(title);
        return element;
    };
    for (const link of graph.links) {
        const from = link.source as unknown as FlowNode;
        const to = link.target as unknown as FlowNode;
        const line = svgElement('path', { d: path(link) ?? '', fill: 'none', stroke: link.colour, 'stroke-opacity': 0.4, 'stroke-width': Math.max(1, link.width ?? 1) });
        svg.append(titled(line, `${from.name} to ${to.name}: ${count(link.value)} cells`));
    }
    for (const node of graph.nodes) {
        const box = svgElement('rect', { x: node.x0!, y: node.y0!, width: node.x1! - node.x0!, height: Math.max(1, node.y1! - node.y0!), fill: node.colour });
        svg.append(titled(box, node.title));
    }
    data.heads.forEach((head, column) => {
        const node = graph.nodes.find((one) => one.column === column)!;
        const last = column === data.heads.length - 1;
        const anchor = column === 0 ? 'start' : last ? 'end' : 'middle';
        const x = column === 0 ? node.x0! : last ? node.x1! : (node.x0! + node.x1!) / 2;
        const text = svgElement('text', { x, y: 14, 'text-anchor': anchor, 'font-size': 11, fill: 'currentColor' });
        text.textContent = head.length > 14 ? `${head.slice(0, 13)}\u2026` : head;
        svg.append(text);
    });
    return svg;
}

interface Series {
    name: string;
    values: (number | null)[];
}

/** Lines over the number of the scale, each named at its end, with the recommended scale marked. */
function seriesFigure(
    result: Result,
    state: State,
    title: string,
    about: string,
    series: Series[],
    y: Plot.ScaleOptions,
): HTMLElement | null {
    const used = series.filter((one) => one.values.some((value) => value !== null));
    if (used.length === 0) return null;
    const log = y.type === 'log';
    const points = used.flatMap((one, i) =>
        one.values.map((value, t) => ({
            scale: result.scaleNumber(t),
            value: value === null || (log && value <= 0) ? NaN : value,
            name: one.name,
            i,
        })),
    );
    const colour = (i: number): string => `var(--series-${(i % 6) + 1})`;
    const recommended = result.scaleNumber(result.meta.recommended);
    return new Figure(
        {
            title,
            about: `${about} The dotted line is the recommended scale, ${recommended}.`,
            axis: 'x',
            value: () => result.scaleNumber(state.scaleOf(result)),
            picked: (value) => {
                const all = result.meta.scales.position;
                let best = 0;
                for (let t = 1; t < all.length; ++t)
                    if (Math.abs(all[t] + 1 - value) < Math.abs(all[best] + 1 - value)) best = t;
                state.moveTo(state.stepOf(result, best));
            },
            table: () => [
                ['scale', 'epsilon', ...used.map((one) => one.name)],
                ...result.meta.scales.epsilon.map((epsilon, t) => [result.scaleNumber(t), epsilon, ...used.map((one) => one.values[t])]),
            ],
            draw: (width): Drawing =>
                Plot.plot({
                    width,
                    height: 210,
                    marginLeft: 50,
                    marginRight: used.length > 1 ? 104 : 16,
                    x: { label: 'scale \u2192', domain: [1, Math.max(2, result.meta.scales.total)], nice: false },
                    y: { grid: true, ...y },
                    marks: [
                        Plot.ruleX([recommended], { stroke: 'currentColor', strokeDasharray: '2 4', strokeWidth: 1.5 }),
                        Plot.line(points, { x: 'scale', y: 'value', z: 'name', stroke: (d) => colour(d.i), strokeWidth: 1.8 }),
                        Plot.dot(result.T === 1 ? points : [], { x: 'scale', y: 'value', fill: (d) => colour(d.i) }),
                        Plot.text(
                            used.length > 1 ? points.filter((d) => Number.isFinite(d.value)) : [],
                            apart(Plot.selectLast({ x: 'scale', y: 'value', z: 'name', text: 'name', dx: 6, textAnchor: 'start', fill: (d: { i: number }) => colour(d.i) })),
                        ),
                    ],
                }) as Drawing,
        },
        state,
    ).element;
}

export function structurePanel(result: Result, state: State): HTMLElement {
    const panel = h('div', { class: 'figures' });
    const { scales, label_scores: labelled = [] } = result.meta;
    const kinds: [string, Colouring][] = [];
    if (result.has('clusters')) kinds.push(['clusters', { kind: 'cluster' }]);
    if (result.has('merges')) kinds.push(['components of the graph', { kind: 'graph' }]);
    if (kinds.length > 0 && result.T > 1) {
        let chosen = 0;
        const figure = new Figure(
            {
                title: 'Flow from fine to coarse',
                about: 'Columns are scales, boxes are groups of cells, bands are cells that stay together. A first column shows labels, when there are any.',
                draw: (width) => drawFlow(width, flow(result, kinds[chosen][1], state)),
                table: () => {
                    const { nodes, links, heads } = flow(result, kinds[chosen][1], state);
                    return [
                        ['from_column', 'from', 'to_column', 'to', 'cells'],
                        ...links.map(({ source, target, value }) => [heads[nodes[source].column], nodes[source].name, heads[nodes[target].column], nodes[target].name, value]),
                    ];
                },
            },
            state,
        );
        const select = h('select', { change: () => ((chosen = select.selectedIndex), figure.redraw()) }, ...kinds.map(([name]) => h('option', {}, name)));
        panel.append(h('label', { class: 'choice' }, 'Groups: ', select), figure.element);
    }
    const add = (figure: HTMLElement | null): void => {
        if (figure) panel.append(figure);
    };
    const agreement = labelled.flatMap(({ column, ari, nmi }) => {
        const mark = labelled.length > 1 ? ` ${column}` : '';
        return [
            { name: `ARI${mark}`, values: ari },
            { name: `NMI${mark}`, values: nmi },
        ];
    });
    add(seriesFigure(result, state, 'Agreement with labels', 'How well the clusters at each scale match known labels: 1 is perfect, an adjusted Rand index of 0 is chance.', agreement, { label: null }));
    const scores = Object.entries(scales.scores).map(([name, values]) => ({ name: name.replace('_', ' '), values }));
    add(seriesFigure(result, state, 'Scores without labels', 'What can be said about each scale without labels; larger is better.', scores, { label: null }));
    const rank = scales.effective_rank ? [{ name: 'effective rank', values: scales.effective_rank }] : [];
    add(seriesFigure(result, state, 'Effective rank', `How many of the ${result.meta.rank} programs H uses at each scale; near 1 the embedding has collapsed.`, rank, { label: null, zero: true }));
    const residuals: Series[] = [];
    if (scales.kkt_H) residuals.push({ name: 'H', values: scales.kkt_H });
    if (scales.kkt_W) residuals.push({ name: 'W', values: scales.kkt_W });
    if (residuals.length === 0 && scales.kkt) residuals.push({ name: 'both', values: scales.kkt });
    add(seriesFigure(result, state, 'KKT residual', 'How far each scale is from a stationary point of the model, relative; small is good.', residuals, { label: null, type: 'log', ticks: 5, tickFormat: '.0e' }));
    if (panel.childElementCount === 0) panel.append(h('p', { class: 'note' }, 'This result has nothing that changes over scales.'));
    return panel;
}
