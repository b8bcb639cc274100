/** From what the reader chose to a colour for each cell. */
import { bytesOf, categoryColour, otherColour, ramp, type Ramp } from './colours';
import { Result } from './data';
import type { Colouring, State } from './state';
import { neighborhoodWords } from './tissue';

export interface Category {
    /** As the reader calls it. */
    name: string;
    original: string;
    colour: string;
    count: number;
}

/** What the cells are coloured by at one scale: categories or numbers. */
export type Painted =
    | { type: 'category'; title: string; note: string; codes: ArrayLike<number>; categories: Category[] }
    | {
          type: 'number';
          title: string;
          note: string;
          shares: ArrayLike<number>;
          from: number;
          to: number;
          ramp: Ramp;
          missing: boolean;
      }
    | { type: 'none'; title: string; note: string };

const ramps = { viridis: ramp('viridis'), cividis: ramp('cividis'), cyclic: ramp('cyclic') };
const largestNamed = 12;

/** Row k of H, counted from 0, as it is called everywhere. */
export const programName = (k: number): string => `P${k + 1}`;

export function colouringTitle(colouring: Colouring): string {
    switch (colouring.kind) {
        case 'none':
            return 'one colour';
        case 'column':
            return colouring.name;
        case 'cluster':
            return 'cluster at this scale';
        case 'domain':
            return 'domain at this scale';
        case 'graph':
            return 'component of the graph';
        case 'program':
            return programName(colouring.k);
        case 'gene':
            return colouring.name;
    }
}

/** Whether the colours change when the scale does. */
export function followsScale(colouring: Colouring): boolean {
    return colouring.kind === 'cluster' || colouring.kind === 'domain' || colouring.kind === 'graph' || colouring.kind === 'program';
}

/** The section of the data a colouring needs. */
export function sectionOf(colouring: Colouring): string {
    if (colouring.kind === 'program') return 'components';
    return colouring.kind === 'gene' ? 'genes' : 'core';
}

function counted(codes: ArrayLike<number>, names: string[], colour: (i: number) => string): Category[] {
    const counts = new Array<number>(names.length).fill(0);
    for (let j = 0; j < codes.length; ++j) ++counts[codes[j]];
    return names.map((name, i) => ({ name, original: name, colour: colour(i), count: counts[i] }));
}

/** Components of the graph by size: the largest have colours, the others share one. */
function paintGraph(result: Result, t: number, dark: boolean, title: string): Painted {
    const found = result.graphComponents(t);
    if (!found) return { type: 'none', title, note: 'this result has no merge tree' };
    const named = Math.min(largestNamed, found.sizes.filter((size) => size > 1).length);
    const codes = found.codes.map((code) => Math.min(code, named));
    const names = Array.from({ length: named }, (_, i) => `component ${i + 1}`);
    if (found.sizes.length > named) names.push('smaller ones');
    const categories = counted(codes, names, (i) => (i < named ? categoryColour(i, dark) : otherColour(dark)));
    const all = found.sizes.length;
    return { type: 'category', title, note: `${all} component${all === 1 ? '' : 's'}`, codes, categories };
}

function paintColumn(result: Result, name: string, dark: boolean, state: State): Painted {
    const index = result.meta.columns.findIndex((column) => column.name === name);
    if (index < 0) return { type: 'none', title: name, note: 'not a column of this result' };
    const column = result.meta.columns[index];
    const codes = result.array(`column${index}`);
    if (column.categories) {
        const names = column.categories.map((category) => category || 'missing');
        const categories = counted(codes, names, (i) =>
            column.categories![i] === '' ? otherColour(dark) : state.colourOf(name, column.categories![i]),
        );
        return { type: 'category', title: name, note: '', codes, categories };
    }
    const shares = Array.from(codes, (code) => (code === 0 ? -1 : ((code - 1) / 254) * 255));
    return {
        type: 'number',
        title: name,
        note: '',
        shares,
        from: column.from ?? NaN,
        to: column.to ?? NaN,
        ramp: /_loop_\d+$/.test(name) ? 'cyclic' : 'cividis',
        missing: shares.some((share) => share < 0),
    };
}

/** Sections must be loaded; see `sectionOf`. */
export function paint(result: Result, t: number, colouring: Colouring, state: State): Painted {
    const painted = painting(result, t, colouring, state);
    if (painted.type === 'category') for (const category of painted.categories) category.name = state.givenName(colouring, category.original);
    return painted;
}

function painting(result: Result, t: number, colouring: Colouring, state: State): Painted {
    const { dark } = state;
    const title = colouringTitle(colouring);
    const nothing = (note: string): Painted => ({ type: 'none', title, note });
    switch (colouring.kind) {
        case 'none':
            return nothing('');
        case 'column':
            return paintColumn(result, colouring.name, dark, state);
        case 'graph':
            return paintGraph(result, t, dark, title);
        case 'cluster': {
            const codes = result.clustersAt(t);
            if (!codes) return nothing('this result has no clusters');
            const names = Array.from({ length: result.meta.cluster_count! }, (_, i) => `cluster ${i + 1}`);
            const categories = counted(codes, names, (i) => categoryColour(i, dark));
            return { type: 'category', title, note: '', codes, categories };
        }
        case 'domain': {
            const codes = result.domainsAt(t);
            if (!codes) return nothing('this result has no domains');
            const names = Array.from({ length: result.meta.tissue!.domains }, (_, i) => `domain ${i + 1}`);
            const categories = counted(codes, names, (i) => categoryColour(i, dark));
            return { type: 'category', title, note: neighborhoodWords(result, t), codes, categories };
        }
        case 'program': {
            if (colouring.k >= result.meta.rank) return nothing(`this result has ${result.meta.rank} programs`);
            if (!result.isLoaded('components')) return nothing('loading');
            const { shares, largest, scale } = result.componentAt(t, colouring.k);
            const note = scale === t ? '' : `as at scale ${result.scaleNumber(scale)}, the nearest that is kept`;
            return { type: 'number', title, note, shares, from: 0, to: largest, ramp: 'cividis', missing: false };
        }
        case 'gene': {
            const found = result.isLoaded('genes') ? result.expressionOf(result.meta.genes.indexOf(colouring.name)) : null;
            if (!found) return nothing('this page has no values of the gene');
            const note = result.meta.run.transform === 'log-unit' ? 'log10(1+x), cells of length 1' : '';
            const { shares, largest } = found;
            return { type: 'number', title, note, shares, from: 0, to: largest, ramp: 'viridis', missing: false };
        }
    }
}

/** Which cells a legend's switches hide. */
export function isHidden(painted: Painted, hidden: Set<string>, j: number): boolean {
    return painted.type === 'category' && hidden.size > 0 && hidden.has(painted.categories[painted.codes[j]].name);
}

/** Red, green, blue and opacity of each cell. */
export function paintBytes(painted: Painted, result: Result, state: State, out: Uint8Array): void {
    const some = state.selection.size > 0;
    const plain = bytesOf(state.dark ? '#7cc0f0' : '#0072b2');
    const other = bytesOf(otherColour(state.dark));
    const palette = painted.type === 'category' ? painted.categories.map((c) => bytesOf(c.colour)) : [];
    const names = result.meta.cell_names;
    const opacity = result.n > 20000 ? 190 : 225;
    for (let j = 0; j < result.n; ++j) {
        let colour: ArrayLike<number> = plain;
        let offset = 0;
        if (painted.type === 'category') colour = palette[painted.codes[j]];
        else if (painted.type === 'number') {
            const share = painted.shares[j];
            if (share < 0) colour = other;
            else {
                colour = ramps[painted.ramp];
                offset = 3 * Math.round(share);
            }
        }
        out[4 * j] = colour[offset];
        out[4 * j + 1] = colour[offset + 1];
        out[4 * j + 2] = colour[offset + 2];
        out[4 * j + 3] = isHidden(painted, state.hidden, j) ? 0 : some && !state.selection.has(names[j]) ? 38 : opacity;
    }
}

/** The value of one cell in words. */
export function valueOf(painted: Painted, j: number): string {
    if (painted.type === 'category') return painted.categories[painted.codes[j]].name;
    if (painted.type !== 'number') return '';
    const share = painted.shares[j];
    if (share < 0) return 'missing';
    return String(Number((painted.from + (share / 255) * (painted.to - painted.from)).toPrecision(3)));
}
