/** Loops that the program found (pnmf loops --keep): the phases of the cells, and the genes around the clock. */
import * as Plot from '@observablehq/plot';
import { interpolateRainbow } from 'd3-scale-chromatic';
import { Figure, type Drawing } from './chart';
import type { LoopSearch, Result } from './data';
import { button, count, h, number, svgElement } from './dom';
import { whyNoGene } from './gene_names';
import { Phases, type Wave } from './harmonics';
import type { State } from './state';

const sectors = 36;
const labelled = 24;
const turn = 2 * Math.PI;
const about = 'Phase 0 is at the top and phases grow clockwise, once around in 2\u03c0.';

/** Columns with phases: pnmf_loop_1 and so on. */
export function loopsOf(result: Result): string[] {
    return result.meta.columns.filter((column) => /_loop_\d+$/.test(column.name) && !column.categories).map((column) => column.name);
}

/** NaN for cells without a phase. */
function anglesOf(result: Result, name: string): Float64Array {
    const index = result.meta.columns.findIndex((column) => column.name === name);
    const { from, to } = result.meta.columns[index];
    return Float64Array.from(result.array(`column${index}`), (code) => (code === 0 ? NaN : from! + ((code - 1) / 254) * (to! - from!)));
}

/** A drawing with its middle at 0, 0, phase 0 above. */
function clock(side: number): SVGSVGElement {
    return svgElement('svg', { width: side, height: side, viewBox: `${-side / 2} ${-side / 2} ${side} ${side}`, 'font-size': 10, fill: 'currentColor' });
}
const on = (angle: number, radius: number): [number, number] => [radius * Math.sin(angle), -radius * Math.cos(angle)];

function sector(from: number, to: number, inner: number, outer: number): string {
    const corners = [on(from, inner), on(from, outer), on(to, outer), on(to, inner)].map(([x, y]) => `${x.toFixed(2)},${y.toFixed(2)}`);
    return `M${corners[0]}L${corners[1]}A${outer},${outer} 0 0 1 ${corners[2]}L${corners[3]}A${inner},${inner} 0 0 0 ${corners[0]}Z`;
}

function phaseFigure(name: string, angles: Float64Array, state: State): Figure {
    const cells = new Array<number>(sectors).fill(0);
    for (const angle of angles) if (!Number.isNaN(angle)) ++cells[Math.min(sectors - 1, Math.floor((angle / turn) * sectors))];
    const most = Math.max(...cells, 1);
    return new Figure(
        {
            title: `Cells around ${name}`,
            about: `How many cells are in each phase, in the colours of the map. ${about}`,
            table: () => [['from', 'to', 'cells'], ...cells.map((value, i) => [number((i / sectors) * turn), number(((i + 1) / sectors) * turn), value])],
            draw: (width): Drawing => {
                const side = Math.min(width, 320);
                const svg = clock(side);
                const [inner, outer] = [0.2 * side, 0.48 * side];
                cells.forEach((value, i) => {
                    const d = sector((i / sectors) * turn, ((i + 1) / sectors) * turn, inner, inner + (outer - inner) * (value / most));
                    const path = svgElement('path', { d, fill: interpolateRainbow((i + 0.5) / sectors), 'data-cells': value });
                    const title = svgElement('title', {});
                    title.textContent = `${count(value)} cells`;
                    path.append(title);
                    svg.append(path);
                });
                return svg;
            },
        },
        state,
    );
}

function genesFigure(name: string, waves: Wave[], state: State): Figure {
    const shown = waves.slice(0, 200);
    const largest = Math.max(...shown.map((wave) => wave.share), 1e-9);
    return new Figure(
        {
            title: `Genes around ${name}`,
            about: `Where each gene is highest; further out, more of its variance follows the loop (the ring: ${number(100 * largest, 2)} %). ${about} Click a gene to colour the cells by it.`,
            table: () => [['gene', 'peak', 'amplitude', 'share', 'p'], ...waves.map((wave) => [wave.name, ...[wave.peak, wave.amplitude, wave.share, wave.p].map((x) => Number(x.toPrecision(5)))])],
            draw: (width): Drawing => {
                const side = Math.min(width, 460);
                const svg = clock(side);
                const radius = 0.36 * side;
                for (const share of [0.5, 1]) svg.append(svgElement('circle', { r: share * radius, fill: 'none', stroke: 'currentColor', 'stroke-opacity': 0.25 }));
                // Labels outside the ring, in the order of their angles, no two over each other.
                const gap = turn / Math.max(labelled, 30);
                const order = shown.slice(0, labelled).sort((a, b) => a.peak - b.peak);
                const at = order.map((wave) => wave.peak);
                for (let round = 0; round < 40; ++round)
                    for (let i = 0; i < at.length; ++i) {
                        const next = (i + 1) % at.length;
                        const apart = at[next] - at[i] + (next === 0 ? turn : 0);
                        if (at.length < 2 || apart >= gap) continue;
                        at[i] -= (gap - apart) / 2;
                        at[next] += (gap - apart) / 2;
                    }
                shown.forEach((wave) => {
                    const [cx, cy] = on(wave.peak, (wave.share / largest) * radius);
                    const dot = svgElement('circle', { cx, cy, r: 3, fill: interpolateRainbow(wave.peak / turn), 'data-gene': wave.name });
                    const title = svgElement('title', {});
                    title.textContent = `${wave.name}: highest at ${number(wave.peak, 3)}, ${number(100 * wave.share, 2)} % of its variance`;
                    dot.append(title);
                    dot.addEventListener('click', () => state.colourBy({ kind: 'gene', name: wave.name }));
                    svg.append(dot);
                });
                order.forEach((wave, i) => {
                    const [x1, y1] = on(wave.peak, (wave.share / largest) * radius);
                    const [x2, y2] = on(at[i], radius + 8);
                    const [x, y] = on(at[i], radius + 11);
                    svg.append(svgElement('line', { x1, y1, x2, y2, stroke: 'currentColor', 'stroke-opacity': 0.25 }));
                    const label = svgElement('text', { x, y: y + 3, 'text-anchor': Math.sin(at[i]) >= 0 ? 'start' : 'end' });
                    label.textContent = wave.name.length > 11 ? `${wave.name.slice(0, 10)}\u2026` : wave.name;
                    svg.append(label);
                });
                return svg;
            },
        },
        state,
    );
}

/** What was found, in words. */
function verdict({ p_value, p_values }: LoopSearch): string {
    const chance = (p: number): string => `p = ${number(p, 2)}: at most ${number(100 * p, 2)} % of clouds of cells without a loop have one as persistent`;
    if (p_values.length > 0) return p_values.map((p, i) => `Loop ${i + 1}: ${chance(p)}.`).join(' ');
    return p_value === null || p_value >= 1 ? 'No loop was found.' : `No loop was found: the most persistent has ${chance(p_value)}.`;
}

/** H0 and H1 of the landmarks that loops were looked for among; loops beyond the dotted line are more than chance. */
function diagramFigure(result: Result, search: LoopSearch, state: State): Figure {
    const [births, deaths, joins] = ['loop_births', 'loop_deaths', 'loop_joins'].map((name) => Array.from(result.array(name)));
    const loops = births.map((birth, i) => ({ birth, death: deaths[i], loop: i < search.p_values.length ? i + 1 : 0 }));
    const found = loops.filter(({ loop }) => loop > 0);
    const end = 1.08 * Math.max(...deaths, ...joins, 1e-9);
    const chance = search.chance ?? end;
    return new Figure(
        {
            title: 'Diagram of loops',
            about: `Birth and death of each loop (H1) among cells that are far from each other, and the deaths of components (H0) on the left, as shares of the spread of the cells. ${search.chance === null ? '' : 'Above the dotted line a loop is more than chance. '}${verdict(search)}`,
            table: () => [['dimension', 'birth', 'death', 'loop'], ...joins.map((death) => [0, 0, death, '']), ...loops.map(({ birth, death, loop }) => [1, birth, death, loop || ''])],
            draw: (width): Drawing =>
                Plot.plot({
                    width: Math.min(width, 420),
                    height: 300,
                    marginLeft: 46,
                    x: { label: 'birth \u2192', domain: [-0.04 * end, end] },
                    y: { label: '\u2191 death', domain: [0, end] },
                    marks: [
                        Plot.line([[0, 0], [end, end]], { stroke: 'currentColor', strokeOpacity: 0.4, strokeDasharray: '4 3' }),
                        chance < end ? Plot.line([[0, chance], [end - chance, end]], { stroke: 'currentColor', strokeOpacity: 0.6, strokeDasharray: '1 3' }) : null,
                        Plot.dot(joins, { x: () => 0, y: (death: number) => death, r: 2.5, fill: 'var(--series-1)', fillOpacity: 0.45 }),
                        Plot.dot(loops, { x: 'birth', y: 'death', r: 3, fill: 'var(--series-2)', fillOpacity: 0.6, ariaLabel: () => 'loop' }),
                        Plot.dot(found, { x: 'birth', y: 'death', r: 7, stroke: 'var(--series-2)', strokeWidth: 2, ariaLabel: () => 'reported' }),
                        Plot.text(found, { x: 'birth', y: 'death', text: ({ loop }) => `loop ${loop}`, dx: 11, textAnchor: 'start' }),
                    ],
                }) as Drawing,
        },
        state,
    );
}

export function loopPanel(result: Result, state: State): HTMLElement {
    const panel = h('div', { class: 'figures' });
    const search = result.meta.loops;
    if (search && result.has('loop_births')) panel.append(diagramFigure(result, search, state).element);
    for (const name of loopsOf(result)) {
        const angles = anglesOf(result, name);
        const phases = new Phases(angles);
        const box = h('div', { class: 'figures' });
        const show = button('Colour the map', () => state.colourBy({ kind: 'column', name }), { 'aria-label': `Colour the cells by ${name}` });
        panel.append(h('div', { class: 'row' }, h('h3', {}, name), show, h('span', { class: 'note' }, `${count(phases.count)} of ${count(result.n)} cells have a phase`)), phaseFigure(name, angles, state).element, box);
        if (!result.meta.expressed_genes) {
            box.append(h('p', { class: 'note' }, whyNoGene([result], '')));
            continue;
        }
        void result.load('genes').then(() => {
            const waves = result.meta.genes.slice(0, Math.min(result.meta.expressed_genes!, result.meta.features)).map((gene, g) => phases.wave(gene, result.gene(g)!));
            waves.sort((a, b) => b.share - a.share);
            box.append(genesFigure(name, waves, state).element);
        });
    }
    if (loopsOf(result).length > 0) panel.append(h('p', { class: 'note' }, 'A first harmonic for each gene, by least squares, from the values as the page keeps them. Where the loop was found from the same genes, p is too small: it orders genes, and does not prove that there is a loop; pnmf loops tests that.'));
    return panel;
}
