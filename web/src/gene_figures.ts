/** Chosen genes by group: a dot for each pair, or the shape of the values. */
import * as Plot from '@observablehq/plot';
import { Figure, type Drawing } from './chart';
import type { Result } from './data';
import { number, svgElement } from './dom';
import type { Grouping } from './groups';
import type { State } from './state';

const mostViolins = 8;
const violinHeight = 76;
const left = 96;

interface Cell {
    gene: string;
    group: string;
    mean: number;
    share: number;
    /** Mean as a share of the gene's largest over the groups. */
    ofLargest: number;
}

const shortened = (name: string): string => (name.length > 14 ? `${name.slice(0, 13)}\u2026` : name);

/** How often each of the 256 values occurs in each group, zeros included. */
function histograms(result: Result, name: string, groups: Grouping): { counts: Int32Array[]; largest: number } | null {
    const gene = result.gene(result.meta.genes.indexOf(name));
    if (!gene) return null;
    const counts = groups.counts.map((cells) => new Int32Array(256).fill(cells, 0, 1));
    gene.cells.forEach((cell, i) => {
        const of = counts[groups.codes[cell]];
        ++of[gene.shares[i]];
        --of[0];
    });
    return { counts, largest: gene.largest };
}

function cellsOf(result: Result, genes: string[], groups: Grouping): Cell[] {
    return genes.flatMap((gene) => {
        const found = histograms(result, gene, groups);
        if (!found) return [];
        const means = found.counts.map((counts, k) => (counts.reduce((sum, times, value) => sum + times * value, 0) / groups.counts[k] / 255) * found.largest);
        const most = Math.max(...means, 1e-300);
        return groups.names.map((group, k) => ({ gene, group, mean: means[k], share: 1 - found.counts[k][0] / groups.counts[k], ofLargest: means[k] / most }));
    });
}

export function dotPlot(result: Result, state: State, genes: () => string[], groups: () => Grouping | null): Figure {
    const cells = (): Cell[] => {
        const by = groups();
        return by ? cellsOf(result, genes(), by) : [];
    };
    return new Figure(
        {
            title: 'Genes by group',
            about: 'Size: share of the group\u2019s cells in which the gene is above zero. Colour: mean over the group, as a share of the largest of the groups.',
            table: () => [['gene', 'group', 'mean', 'share_above_zero'], ...cells().map((one) => [one.gene, one.group, number(one.mean, 4), number(one.share, 4)])],
            draw: (width) => {
                const shown = cells();
                const by = groups();
                if (!by || shown.length === 0) return null;
                const names = [...new Set(shown.map((one) => one.gene))];
                const step = Math.min(22, (width - left - 10) / names.length);
                return Plot.plot({
                    width,
                    height: 110 + 20 * by.names.length,
                    marginLeft: left,
                    marginRight: Math.max(10, width - left - 22 * names.length),
                    marginTop: 84,
                    marginBottom: 6,
                    x: { domain: names, axis: 'top', label: null, tickRotate: -60, tickSize: 0, tickFormat: shortened },
                    y: { domain: by.names, label: null, tickSize: 0, tickFormat: shortened, grid: true },
                    r: { domain: [0, 1], range: [0, Math.max(2, Math.min(8.5, step / 2))] },
                    color: { scheme: 'viridis', domain: [0, 1] },
                    marks: [Plot.dot(shown, { x: 'gene', y: 'group', r: 'share', fill: 'ofLargest', stroke: 'currentColor', strokeWidth: 0.3, title: (d: Cell) => `${d.gene}, ${d.group}: mean ${number(d.mean, 3)}, above zero in ${number(100 * d.share, 3)} % of the cells` })],
                }) as Drawing;
            },
        },
        state,
    );
}

/** A violin's half widths at 64 heights: the counts, smoothed a little, the widest of all groups 1. */
function shapes(counts: Int32Array[], sizes: number[]): number[][] {
    const [steps, reach] = [64, 3];
    const shape = counts.map((of, k) => {
        const bins = new Array<number>(steps).fill(0);
        of.forEach((times, value) => (bins[value >> 2] += times / sizes[k]));
        return bins.map((_, i) => {
            let [sum, weight] = [0, 0];
            for (let d = -reach; d <= reach; ++d) {
                const w = Math.exp(-(d * d) / 3);
                weight += w;
                if (i + d >= 0 && i + d < steps) sum += w * bins[i + d];
            }
            return Math.sqrt(sum / weight); // most values are zero: by its root the rest can be seen
        });
    });
    const widest = Math.max(...shape.flat(), 1e-300);
    return shape.map((one) => one.map((width) => width / widest));
}

export function violinPlot(result: Result, state: State, genes: () => string[], groups: () => Grouping | null): Figure {
    const draw = (width: number): Drawing | null => {
        const by = groups();
        const shown = genes().slice(0, mostViolins);
        if (!by || shown.length === 0) return null;
        const height = shown.length * violinHeight + 70;
        const svg = svgElement('svg', { width, height, viewBox: `0 0 ${width} ${height}`, 'font-size': 10, fill: 'currentColor' });
        const text = (words: string, x: number, y: number, more: Record<string, string | number> = {}): void => {
            const element = svgElement('text', { x, y, ...more });
            element.textContent = words;
            svg.append(element);
        };
        const step = Math.min(70, (width - left - 10) / by.names.length);
        shown.forEach((name, row) => {
            const found = histograms(result, name, by);
            if (!found) return;
            const bottom = (row + 1) * violinHeight;
            const at = (value: number): number => bottom - value * (violinHeight - 18);
            text(shortened(name), left - 34, at(0.5) + 3, { 'text-anchor': 'end', 'font-weight': 600 });
            for (const share of [0, 1]) text(number(share * found.largest, 2), left - 6, at(share) + 3, { 'text-anchor': 'end' });
            svg.append(svgElement('line', { x1: left, x2: left + step * by.names.length, y1: bottom + 0.5, y2: bottom + 0.5, stroke: 'currentColor', 'stroke-opacity': 0.2 }));
            shapes(found.counts, by.counts).forEach((half, k) => {
                const middle = left + (k + 0.5) * step;
                const side = (sign: number): string[] => half.map((w, i) => `${(middle + sign * w * 0.46 * step).toFixed(1)},${at(i / 63).toFixed(1)}`);
                const path = svgElement('path', { d: `M${side(-1).join('L')}L${side(1).reverse().join('L')}Z`, fill: by.colours[k], 'data-group': by.names[k] });
                const title = svgElement('title', {});
                title.textContent = `${name}, ${by.names[k]}`;
                path.append(title);
                svg.append(path);
            });
        });
        by.names.forEach((name, k) => {
            const x = left + (k + 0.5) * step;
            const y = shown.length * violinHeight + 14;
            text(shortened(name), x, y, { 'text-anchor': 'end', transform: `rotate(-45 ${x} ${y})` });
        });
        return svg;
    };
    return new Figure(
        {
            title: 'Values by group',
            about: `How the values of the first ${mostViolins} genes are spread in each group; widths are square roots of shares of the group, one measure for a gene.`,
            table: () => {
                const by = groups();
                const rows = genes().slice(0, mostViolins).flatMap((gene) => {
                    const found = by && histograms(result, gene, by);
                    if (!found) return [];
                    return found.counts.flatMap((counts, k) => [...counts].flatMap((cells, value) => (cells > 0 ? [[gene, by.names[k], number((value / 255) * found.largest, 4), cells]] : [])));
                });
                return [['gene', 'group', 'value', 'cells'], ...rows];
            },
            draw,
        },
        state,
    );
}
