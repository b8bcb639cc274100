/** The ways to divide the cells that the program found, from few clusters to many, and how they nest. */
import type { Resolution, Result } from './data';
import { button, count, h, number, svgElement } from './dom';
import type { State } from './state';

const width = 520;
const rowHeight = 22;

interface Block {
    cluster: number;
    cells: number;
    from: number;
    to: number;
}

/** Clusters of every resolution as blocks as wide as they have cells, below the cluster that holds most of theirs. */
export function blocksOf(resolutions: Resolution[]): Block[][] {
    const rows: Block[][] = [];
    for (const one of resolutions) {
        const above = rows[rows.length - 1];
        const placeAbove = (cluster: number): number =>
            above && one.parent.length > 0 ? above.findIndex((block) => block.cluster === one.parent[cluster]) : 0;
        const order = one.cells.map((_, cluster) => cluster);
        order.sort((a, b) => placeAbove(a) - placeAbove(b) || one.cells[b] - one.cells[a] || a - b);
        const total = one.cells.reduce((sum, cells) => sum + cells, 0);
        let at = 0;
        rows.push(
            order.map((cluster) => {
                const from = at / total;
                at += one.cells[cluster];
                return { cluster, cells: one.cells[cluster], from, to: at / total };
            }),
        );
    }
    return rows;
}

function drawing(result: Result, resolutions: Resolution[], state: State): SVGSVGElement {
    const svg = svgElement('svg', {
        viewBox: `0 0 ${width} ${resolutions.length * rowHeight}`,
        class: 'nesting',
        role: 'img',
        'aria-label': 'How the clusters nest: each row is a resolution, each block a cluster below the one that holds most of its cells',
    });
    const update = (): void => {
        svg.replaceChildren();
        blocksOf(resolutions).forEach((blocks, row) => {
            for (const block of blocks) {
                const rect = svgElement('rect', {
                    x: block.from * width,
                    y: row * rowHeight + 1,
                    width: Math.max(0.5, (block.to - block.from) * width - 1),
                    height: rowHeight - 3,
                    fill: state.colourOf(resolutions[row].column, String(block.cluster + 1)),
                });
                const title = svgElement('title', {});
                const one = resolutions[row];
                const held = one.parent.length > 0 ? `, ${number(100 * one.share[block.cluster], 3)} % of them in cluster ${one.parent[block.cluster] + 1} above` : '';
                title.textContent = `cluster ${block.cluster + 1} of ${one.clusters}: ${count(block.cells)} cells${held}`;
                rect.append(title);
                rect.addEventListener('click', () => show(result, one, state));
                svg.append(rect);
            }
        });
    };
    state.on(['theme'], update);
    update();
    return svg;
}

/** The same tree in words, for readers who do not see the drawing: each cluster below the one that holds it. */
function inWords(resolutions: Resolution[]): HTMLElement {
    const below = (row: number, parent: number): HTMLElement | null => {
        const one = resolutions[row];
        if (!one) return null;
        const clusters = one.cells.map((_, cluster) => cluster).filter((cluster) => row === 0 || one.parent.length === 0 || one.parent[cluster] === parent);
        const items = clusters.map((cluster) => {
            const part = row > 0 && one.parent.length > 0 && one.share[cluster] < 0.9995;
            const held = part ? `, ${number(100 * one.share[cluster], 3)} % of them from there` : '';
            return h('li', {}, `cluster ${cluster + 1} of ${one.clusters}: ${count(one.cells[cluster])} cells${held}`, below(row + 1, cluster));
        });
        return items.length > 0 ? h('ul', {}, ...items) : null;
    };
    return h('details', { class: 'tree-in-words' }, h('summary', {}, 'How they nest, in words'), below(0, -1));
}

/** Colours the cells by a resolution, at the scale it was found at. */
function show(result: Result, one: Resolution, state: State): void {
    state.colourBy({ kind: 'column', name: one.column });
    const shown = result.meta.scales.position.indexOf(one.scale);
    if (shown >= 0) state.moveTo(state.stepOf(result, shown));
}

/** As the program prints it. */
const pValue = (p: number): string => (p < 0.001 ? '< .001' : number(p, 2));

export function resolutionsBox(result: Result, state: State): HTMLElement | null {
    const { resolutions } = result.meta;
    if (!resolutions || resolutions.length < 2) return null;
    const rows = resolutions.map((one) =>
        h(
            'tr',
            {},
            h('td', {}, button(`${one.clusters} clusters`, () => show(result, one, state))),
            h('td', {}, one.scale + 1),
            h('td', {}, one.stability === null ? '\u2013' : number(one.stability, 2)),
            h('td', {}, one.p_value === null ? '\u2013' : pValue(one.p_value)),
            h('td', {}, one.recommended ? 'recommended' : ''),
        ),
    );
    const head = h('tr', {}, ...['', 'scale', 'stability', 'largest p', ''].map((name) => h('th', {}, name)));
    return h(
        'div',
        { class: 'resolutions', 'data-figure': 'resolutions' },
        h('h3', {}, 'Clusters found'),
        h('table', {}, h('thead', {}, head), h('tbody', {}, ...rows)),
        drawing(result, resolutions, state),
        inWords(resolutions),
        h('p', { class: 'note' }, 'Stability: mean agreement (adjusted Rand index) with the clusters of four fifths of the cells. Largest p: of all divisions of a row the one with the largest p value, that the two sides are one population. Each block is a cluster, below the one of the row above that it is part of; the largest part keeps the colour.'),
    );
}
