/** Barcode, diagram, Betti curve and merge tree; a click moves the scale. */
import * as Plot from '@observablehq/plot';
import { Figure, type Drawing } from './chart';
import type { Result } from './data';
import { count, h } from './dom';
import type { State } from './state';

const longestBarcode = 250;
const mostLeaves = 60;

/** The coarsest scale that is not beyond a value of epsilon, as a step of the slider. */
function moveToEpsilon(state: State, result: Result, value: number): void {
    let best = 0;
    for (let t = 1; t < result.T; ++t)
        if (Math.abs(result.epsilon(t) - value) < Math.abs(result.epsilon(best) - value)) best = t;
    state.moveTo(state.stepOf(result, best));
}

interface Node {
    height: number;
    size: number;
    place: number;
    children: [Node, Node] | null;
    first: number;
}

/** The tree above its last merges; what is below a leaf is one bar with its number of cells. */
function tree(result: Result): { root: Node; leaves: Node[] } | null {
    if (!result.has('merges')) return null;
    const merges = result.array('merges') as Int32Array;
    const heights = result.array('deaths') as Float64Array;
    const n = result.n;
    const size = new Int32Array(2 * n).fill(1, 0, n);
    for (let i = 0; i < heights.length; ++i) size[n + i] = size[merges[2 * i]] + size[merges[2 * i + 1]];
    const cut = Math.max(0, heights.length - (mostLeaves - 1));
    const leaves: Node[] = [];
    const build = (v: number): Node => {
        if (v < n + cut) {
            let first = v;
            while (first >= n) first = merges[2 * (first - n)];
            const leaf: Node = { height: v < n ? 0 : heights[v - n], size: size[v], place: leaves.length, children: null, first };
            leaves.push(leaf);
            return leaf;
        }
        // The larger side first, so that long chains of single cells hang below.
        const [a, b] = [merges[2 * (v - n)], merges[2 * (v - n) + 1]];
        const children: [Node, Node] = size[a] >= size[b] ? [build(a), build(b)] : [build(b), build(a)];
        const place = (children[0].place + children[1].place) / 2;
        return { height: heights[v - n], size: size[v], place, children, first: children[0].first };
    };
    return { root: build(n + heights.length - 1), leaves };
}

/** Elbows of the tree: each node's stem and its fork. */
function elbows(node: Node, until: number, out: { x1: number; x2: number; y1: number; y2: number }[]): void {
    out.push({ x1: node.height, x2: until, y1: node.place, y2: node.place });
    if (!node.children) return;
    const [a, b] = node.children;
    out.push({ x1: node.height, x2: node.height, y1: a.place, y2: b.place });
    for (const child of node.children) elbows(child, node.height, out);
}

export function topologyPanel(result: Result, state: State): HTMLElement {
    const deaths = Array.from(result.array('deaths') as Float64Array);
    const epsilon = result.meta.scales.epsilon;
    const panel = h('div', { class: 'figures' });
    if (deaths.length === 0) {
        panel.append(h('p', { class: 'note' }, 'This result has no persistence diagram.'));
        return panel;
    }
    const end = Math.max(deaths[deaths.length - 1], epsilon[epsilon.length - 1]) * 1.04;
    const now = (): number => result.epsilon(state.scaleOf(result));
    const picked = (value: number): void => moveToEpsilon(state, result, value);
    const x = { label: '\u03b5 \u2192', domain: [0, end], nice: false };
    const ink = 'currentColor';
    const longest = deaths.slice(-longestBarcode).reverse();
    const bars = [{ death: end, row: 0 }, ...longest.map((death, i) => ({ death, row: i + 1 }))];

    const barcode = new Figure(
        {
            title: 'Barcode',
            about:
                'A bar for each component of H0, from 0 to the scale at which it joins another; one never ends.' +
                (deaths.length > longestBarcode ? ` The ${longestBarcode} longest of ${count(deaths.length)} are drawn.` : '') +
                ' Click to go to a scale.',
            axis: 'x',
            value: now,
            picked,
            table: () => [['birth', 'death'], ...deaths.map((death) => [0, death]), [0, 'inf']],
            draw: (width): Drawing =>
                Plot.plot({
                    width,
                    height: Math.min(320, Math.max(150, 3 * bars.length)),
                    marginLeft: 40,
                    x,
                    y: { axis: null, domain: [bars.length, -1] },
                    marks: [Plot.ruleY(bars, { y: 'row', x1: 0, x2: 'death', stroke: 'var(--series-1)', strokeWidth: 1.6 })],
                }) as Drawing,
        },
        state,
    );
    const curve = result.meta.scales.betti0;
    const steps = curve?.map((components, t) => ({ epsilon: epsilon[t], components, t })) ?? [];
    const betti = new Figure(
        {
            title: 'Components of the graph',
            about: 'The Betti number \u03b2\u2080 at every scale: how many components the graph of cells nearer than \u03b5 has.',
            axis: 'x',
            value: now,
            picked,
            table: () => [['scale', 'epsilon', 'components'], ...steps.map((s) => [result.scaleNumber(s.t), s.epsilon, s.components])],
            draw: (width): Drawing =>
                Plot.plot({
                    width,
                    height: 200,
                    marginLeft: 46,
                    x,
                    y: { label: '\u2191 \u03b2\u2080', grid: true, type: result.n > 200 ? 'log' : 'linear' },
                    marks: [
                        Plot.line(steps, { x: 'epsilon', y: 'components', curve: 'step-after', stroke: 'var(--series-1)', strokeWidth: 2 }),
                        Plot.dot(steps.length <= 120 ? steps : [], { x: 'epsilon', y: 'components', r: 2, fill: 'var(--series-1)' }),
                    ],
                }) as Drawing,
        },
        state,
    );
    const distinct = [...new Set(deaths)];
    const many = new Map<number, number>();
    for (const death of deaths) many.set(death, (many.get(death) ?? 0) + 1);
    const sampled = distinct.length > 1500 ? distinct.filter((_, i) => i % Math.ceil(distinct.length / 1500) === 0) : distinct;
    const diagram = new Figure(
        {
            title: 'Diagram',
            about: 'Birth and death of each component: all are born at 0. Larger dots are several deaths at one scale.',
            axis: 'y',
            value: now,
            picked,
            table: () => [['birth', 'death', 'multiplicity'], ...distinct.map((death) => [0, death, many.get(death)])],
            draw: (width): Drawing =>
                Plot.plot({
                    width,
                    height: 240,
                    marginLeft: 46,
                    x: { label: 'birth \u2192', domain: [-0.04 * end, end] },
                    y: { label: '\u2191 death', domain: [0, end] },
                    r: { range: [2.5, 8], domain: [1, Math.max(2, ...many.values())] },
                    marks: [
                        Plot.line([[0, 0], [end, end]], { stroke: ink, strokeOpacity: 0.4, strokeDasharray: '4 3' }),
                        Plot.dot(sampled, { x: () => 0, y: (d: number) => d, r: (d: number) => many.get(d)!, fill: 'var(--series-1)', fillOpacity: 0.45 }),
                    ],
                }) as Drawing,
        },
        state,
    );
    panel.append(barcode.element, betti.element, diagram.element);
    const built = tree(result);
    if (built) panel.append(mergeTree(built, result, state, end, now, picked).element);
    return panel;
}

function mergeTree(
    built: { root: Node; leaves: Node[] },
    result: Result,
    state: State,
    end: number,
    now: () => number,
    picked: (value: number) => void,
): Figure {
    const lines: { x1: number; x2: number; y1: number; y2: number }[] = [];
    elbows(built.root, end, lines);
    const cut = built.leaves.length < result.n;
    const leafHeight = built.leaves.length > 40 ? 7 : 11;
    return new Figure(
        {
            title: 'Merge tree',
            about:
                'Which components join at which scale.' +
                (cut ? ` Below the last ${built.leaves.length - 1} merges, leaves stand for groups of cells, with their numbers.` : ''),
            axis: 'x',
            value: now,
            picked,
            table: () => [
                ['height', 'cells', 'first_cell'],
                ...built.leaves.map((leaf) => [leaf.height, leaf.size, result.meta.cell_names[leaf.first]]),
            ],
            draw: (width): Drawing =>
                Plot.plot({
                    width,
                    marginTop: 10,
                    height: 50 + leafHeight * built.leaves.length,
                    marginLeft: 46,
                    x: { label: '\u03b5 \u2192', domain: [0, end] },
                    y: { axis: null, domain: [built.leaves.length - 0.5, -1] },
                    marks: [
                        Plot.link(lines, { x1: 'x1', x2: 'x2', y1: 'y1', y2: 'y2', stroke: 'var(--series-1)', strokeWidth: 1.3 }),
                        Plot.text(
                            built.leaves.filter((leaf) => leaf.size > 1),
                            { x: 'height', y: 'place', text: (d: Node) => count(d.size), dx: -4, textAnchor: 'end', fontSize: Math.min(10, leafHeight + 2) },
                        ),
                    ],
                }) as Drawing,
        },
        state,
    );
}
