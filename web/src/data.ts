/** The data of a page, as the program packs them: see src/report/payload.hpp. */

type ArrayType = 'u8' | 'u16' | 'i32' | 'f32' | 'f64';
interface ArrayPlace {
    section: string;
    type: ArrayType;
    offset: number;
    count: number;
}

export interface Column {
    name: string;
    categories?: string[];
    /** Of the categories, where the file has them. */
    colours?: Record<string, string>;
    from?: number | null;
    to?: number;
}

export interface LabelScores {
    column: string;
    ari: (number | null)[];
    nmi: (number | null)[];
}

export interface Scales {
    total: number;
    position: number[];
    epsilon: number[];
    betti0: number[] | null;
    multiplicity: number[] | null;
    kkt: (number | null)[] | null;
    kkt_H: (number | null)[] | null;
    kkt_W: (number | null)[] | null;
    effective_rank: (number | null)[] | null;
    scores: Record<string, (number | null)[]>;
}

/** One way to divide the cells; clusters and scales are numbered from 0. */
export interface Resolution {
    column: string;
    clusters: number;
    scale: number;
    stability: number | null;
    /** The largest of its divisions. */
    p_value: number | null;
    recommended: boolean;
    cells: number[];
    parent: number[];
    share: number[];
}

/** Batches that the fit balanced its neighbours over; mixing is 0 where they are apart and about 1 where they lie on each other. */
export interface BatchFacts {
    column: string;
    batches: { name: string; cells: number }[];
    /** In the space that distances were measured in; null where there was none. */
    mixing_before: number | null;
    mixing: number | null;
}

export interface Run {
    program: string;
    options: Record<string, unknown>;
    command: string;
    stop: string;
    transform: string;
    method: string;
    warnings: string[];
    notices: string[];
    objective: Record<string, number[]>;
    batch?: BatchFacts;
}

/** How a program of the recommended scale goes on at the others; scales from 1, programs from 0, -1 for none. */
export interface ProgramPath {
    first: number;
    last: number;
    persistence: number;
    merges_into: number;
    /** Pearson's r with the counts of the cells, where the program follows them. */
    depth?: number;
}

/** Cells in a tissue, and its domains, which are numbered as at the scale they were chosen at. */
export interface Tissue {
    /** The second coordinate grows downwards, as in an image. */
    downwards: boolean;
    /** There are two coordinates, not three. */
    flat: boolean;
    domains: number;
    /** In the whole result, from 0. */
    scale: number;
    /** Cells in a neighbourhood at each scale, on average. */
    neighbors: number[];
    /** How far it reaches at each scale, where the unit of the places is known. */
    micrometres?: number[];
    /** Their names; empty for one alone. */
    slices: string[];
    /** What lies behind the cells of a slice, in arrays `image0`, … by slice; box: left, top, right, bottom. */
    images?: { slice: number; width: number; height: number; box: [number, number, number, number] }[];
}

export interface LoopSearch {
    /** Loops that persist no longer are not reported. */
    chance: number | null;
    /** Of the most persistent loop. */
    p_value: number | null;
    /** Of the loops that were reported, most persistent first. */
    p_values: number[];
}

export interface Meta {
    format: number;
    name: string;
    cells: number;
    cells_of_fit?: number; // where only some are shown
    features: number;
    rank: number;
    numbered?: boolean;
    cell_names: string[];
    scales: Scales;
    recommended: number;
    columns: Column[];
    cluster_count?: number;
    resolutions?: Resolution[];
    label_scores?: LabelScores[];
    tissue?: Tissue;
    run: Run;
    plane: 'H' | 'principal';
    plane_share: [number, number];
    boxes: [number, number, number, number][];
    component_scales: number[];
    /** `genes`: how many of the page's occur in a list; they come first. */
    programs?: { top: number; scales: number[]; genes: number; scored?: boolean; paths?: ProgramPath[]; order?: number[] };
    /** Loops that were looked for; their diagram is in arrays `loop_births`, `loop_deaths`, `loop_joins`. */
    loops?: LoopSearch;
    genes: string[];
    /** The first so many have values. */
    expressed_genes?: number;
    /** The other genes have theirs in a file beside the page: the line it begins with for this result, at byte `offset`. */
    beside?: { head: string; offset: number };
    /** Names of genes that steps before the fit left out. */
    left_out?: Record<string, string[]>;
    /** So many were chosen for the fit; the others are not in the result. */
    chosen_genes?: number;
    edges_total?: number;
    /** Cells up to which the graph is kept. */
    largest_graph?: number;
    arrays: Record<string, ArrayPlace>;
}

/** The cells in which a gene is above zero, and the values there: 255 is the largest. */
export interface Gene {
    cells: Int32Array;
    shares: Uint8Array;
    largest: number;
}

function bytesOfBase64(text: string): Uint8Array<ArrayBuffer> {
    const binary = atob(text);
    const bytes = new Uint8Array(binary.length);
    for (let i = 0; i < binary.length; ++i) bytes[i] = binary.charCodeAt(i);
    return bytes;
}

/** Cells by their steps, which begin at byte `at`: 0 adds 255 and goes on. */
function fillCells(cells: Int32Array, bytes: Uint8Array, at: number): void {
    for (let i = 0, cell = -1; i < cells.length; ++at) {
        cell += bytes[at] || 255;
        if (bytes[at] > 0) cells[i++] = cell;
    }
}

async function section(result: number, name: string): Promise<ArrayBuffer | null> {
    const element = document.getElementById(`pnmf-${result}-${name}`);
    if (!element) return null;
    const packed = bytesOfBase64((element.textContent ?? '').trim());
    element.remove();
    const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream('deflate'));
    return new Response(stream).arrayBuffer();
}

/** One result: what describes it, and its arrays. Sections other than `core` are unpacked when first wanted. */
export class Result {
    readonly n: number;
    readonly T: number;
    private readonly sections = new Map<string, Promise<ArrayBuffer | null>>();
    private readonly loaded = new Map<string, ArrayBuffer>();

    constructor(
        readonly number: number,
        readonly meta: Meta,
        core: ArrayBuffer,
        private readonly coreOffset: number,
    ) {
        this.n = meta.cells;
        this.T = meta.scales.epsilon.length;
        this.loaded.set('core', core);
        this.unpackPositions();
    }

    has(name: string): boolean {
        return name in this.meta.arrays;
    }

    /** Makes the arrays of a section available to `array`. */
    async load(name: string): Promise<boolean> {
        if (this.loaded.has(name)) return true;
        if (!this.sections.has(name)) this.sections.set(name, section(this.number, name));
        const buffer = await this.sections.get(name);
        if (!buffer) return false;
        this.loaded.set(name, buffer);
        return true;
    }

    isLoaded(name: string): boolean {
        return this.loaded.has(name);
    }

    /** Columns that the reader brought. */
    private readonly added = new Map<string, Uint16Array>();

    addColumn(column: Column, codes: Uint16Array): void {
        this.added.set(`column${this.meta.columns.length}`, codes);
        this.meta.columns.push(column);
    }

    array(name: string): Uint8Array | Uint16Array | Int32Array | Float32Array | Float64Array {
        const own = this.added.get(name);
        if (own) return own;
        const place = this.meta.arrays[name];
        const buffer = this.loaded.get(place.section);
        if (!buffer) throw new Error(`section ${place.section} is not loaded`);
        const offset = place.offset + (place.section === 'core' ? this.coreOffset : 0);
        switch (place.type) {
            case 'u8':
                return new Uint8Array(buffer, offset, place.count);
            case 'u16':
                return new Uint16Array(buffer, offset, place.count);
            case 'i32':
                return new Int32Array(buffer, offset, place.count);
            case 'f32':
                return new Float32Array(buffer, offset, place.count);
            case 'f64':
                return new Float64Array(buffer, offset, place.count);
        }
    }

    /** 16-bit positions: scale, axis, cell. */
    private positions16 = new Uint16Array(0);

    private unpackPositions(): void {
        const packed = this.array('positions') as Uint8Array;
        const count = packed.length / 2;
        const values = new Uint16Array(count);
        const stride = 2 * this.n;
        for (let i = 0; i < count; ++i) {
            const code = packed[i] | (packed[count + i] << 8);
            const step = code & 1 ? -((code + 1) >> 1) : code >> 1;
            values[i] = (i >= stride ? values[i - stride] : 0) + step;
        }
        this.positions16 = values;
    }

    /** Writes x, y of all cells at scale t into `out` (2n), in units of the embedding. */
    positionsAt(t: number, out: Float32Array): void {
        const [x0, y0, x1, y1] = this.meta.boxes[t];
        const from = t * 2 * this.n;
        const sx = (x1 - x0) / 65535;
        const sy = (y1 - y0) / 65535;
        for (let j = 0; j < this.n; ++j) {
            out[2 * j] = x0 + sx * this.positions16[from + j];
            out[2 * j + 1] = y0 + sy * this.positions16[from + this.n + j];
        }
    }

    epsilon(t: number): number {
        return this.meta.scales.epsilon[t];
    }

    /** The number a user sees: position in the whole result, from 1. */
    scaleNumber(t: number): number {
        return this.meta.scales.position[t] + 1;
    }

    /** Component of the graph of each cell at scale t, numbered by size, largest first; and their sizes. */
    graphComponents(t: number): { codes: Uint16Array; sizes: number[] } | null {
        if (!this.has('merges')) return null;
        const merges = this.array('merges') as Int32Array;
        const heights = this.array('deaths') as Float64Array;
        const parent = new Int32Array(2 * this.n).fill(-1);
        const epsilon = this.epsilon(t);
        for (let i = 0; i < heights.length && heights[i] < epsilon; ++i) {
            parent[merges[2 * i]] = this.n + i;
            parent[merges[2 * i + 1]] = this.n + i;
        }
        const root = new Int32Array(2 * this.n);
        for (let v = 2 * this.n - 1; v >= 0; --v) root[v] = parent[v] < 0 ? v : root[parent[v]];
        const size = new Map<number, number>();
        for (let j = 0; j < this.n; ++j) size.set(root[j], (size.get(root[j]) ?? 0) + 1);
        const order = [...size.entries()].sort((a, b) => b[1] - a[1]);
        const place = new Map(order.map(([r], i) => [r, Math.min(i, 65535)]));
        const codes = new Uint16Array(this.n);
        for (let j = 0; j < this.n; ++j) codes[j] = place.get(root[j])!;
        return { codes, sizes: order.map(([, s]) => s) };
    }

    clustersAt(t: number): Uint8Array | Uint16Array | null {
        if (!this.has('clusters')) return null;
        const all = this.array('clusters') as Uint8Array;
        return all.subarray(t * this.n, (t + 1) * this.n);
    }

    domainsAt(t: number): Uint8Array | null {
        if (!this.has('domains')) return null;
        return (this.array('domains') as Uint8Array).subarray(t * this.n, (t + 1) * this.n);
    }

    /** Place in a sorted list of scales that is nearest to t. */
    static nearest(list: number[], t: number): number {
        let best = 0;
        for (let i = 1; i < list.length; ++i) if (Math.abs(list[i] - t) < Math.abs(list[best] - t)) best = i;
        return best;
    }

    /** Row k of H at the stored scale nearest to t as shares of its largest value. Needs `components`. */
    componentAt(t: number, k: number): { shares: Uint8Array; largest: number; scale: number } {
        const place = Result.nearest(this.meta.component_scales, t);
        const row = place * this.meta.rank + k;
        const shares = (this.array('components') as Uint8Array).subarray(row * this.n, (row + 1) * this.n);
        const largest = (this.array('component_largest') as Float32Array)[row];
        return { shares, largest, scale: this.meta.component_scales[place] };
    }

    private geneBegins: { entries: Int32Array; steps: Int32Array } | null = null;

    /** Where each gene begins among all entries, and among the bytes of the steps from cell to cell. */
    private genePlaces(): { entries: Int32Array; steps: Int32Array } {
        if (this.geneBegins) return this.geneBegins;
        const expressing = this.array('expression_cells');
        const bytes = this.array('expression_steps');
        const entries = new Int32Array(expressing.length + 1);
        const steps = new Int32Array(expressing.length + 1);
        for (let g = 0, at = 0; g < expressing.length; ++g) {
            entries[g + 1] = entries[g] + expressing[g];
            for (let left = expressing[g]; left > 0; ++at) if (bytes[at] > 0) --left;
            steps[g + 1] = at;
        }
        return (this.geneBegins = { entries, steps });
    }

    /** What is read of the file beside the page: its streams, and where each begins. */
    private beside: { streams: Blob; begins: number[] } | null = null;
    private readonly brought = new Map<number, Gene>();

    /** So many of `meta.genes` can be shown. */
    get readable(): number {
        return this.beside ? this.meta.genes.length : (this.meta.expressed_genes ?? 0);
    }

    /** Takes the file beside the page; false where it is that of another page. */
    async open(file: Blob): Promise<boolean> {
        if (!this.meta.beside || !(await this.load('genes'))) return false;
        const { head, offset } = this.meta.beside;
        const begins = [0];
        for (const bytes of this.array('beside_bytes')) begins.push(begins[begins.length - 1] + bytes);
        const streams = file.slice(offset + head.length, offset + head.length + begins[begins.length - 1]);
        if ((await file.slice(offset, offset + head.length).text()) !== head || streams.size < begins[begins.length - 1]) return false;
        this.beside = { streams, begins };
        return true;
    }

    /** Reads these genes of the file beside the page, for `gene`. */
    async bring(names: string[]): Promise<void> {
        const first = this.meta.expressed_genes ?? 0;
        for (const g of names.map((name) => this.meta.genes.indexOf(name))) {
            if (!this.beside || g < first || this.brought.has(g)) continue;
            const { streams, begins } = this.beside;
            try {
                const stream = streams.slice(begins[g - first], begins[g - first + 1]).stream().pipeThrough(new DecompressionStream('deflate'));
                const bytes = new Uint8Array(await new Response(stream).arrayBuffer());
                const cells = new Int32Array(this.array('beside_cells')[g - first]);
                fillCells(cells, bytes, 0);
                this.brought.set(g, { cells, shares: bytes.subarray(bytes.length - cells.length), largest: this.array('beside_largest')[g - first] });
            } catch {
                this.beside = null; // the file is gone, or another one by now
            }
        }
    }

    /** The values of gene g; null when the page has none. Needs `genes`, and `bring` where they are beside the page. */
    gene(g: number): Gene | null {
        if (g < 0 || g >= (this.meta.expressed_genes ?? 0)) return this.brought.get(g) ?? null;
        const { entries, steps } = this.genePlaces();
        const bytes = this.array('expression_steps');
        const cells = new Int32Array(entries[g + 1] - entries[g]);
        fillCells(cells, bytes as Uint8Array, steps[g]);
        const shares = (this.array('expression') as Uint8Array).subarray(entries[g], entries[g + 1]);
        return { cells, shares, largest: this.array('expression_largest')[g] };
    }

    /** Expression of gene g in every cell as shares of its largest value; null when the page has none. Needs `genes`. */
    expressionOf(g: number): { shares: Uint8Array; largest: number } | null {
        const gene = this.gene(g);
        if (!gene) return null;
        const shares = new Uint8Array(this.n);
        gene.cells.forEach((cell, i) => (shares[cell] = gene.shares[i]));
        return { shares, largest: gene.largest };
    }
}

async function readResult(number: number): Promise<Result | null> {
    const core = await section(number, 'core');
    if (!core) return null;
    const length = new DataView(core).getUint32(0, true);
    const meta = JSON.parse(new TextDecoder().decode(new Uint8Array(core, 4, length))) as Meta;
    if (meta.format !== 1) throw new Error(`this page holds data of format ${meta.format}, it knows format 1`);
    return new Result(number, meta, core, Math.ceil((4 + length) / 8) * 8);
}

/** The results of the page, one or two. */
export async function readResults(): Promise<Result[]> {
    const results: Result[] = [];
    for (let i = 0; i < 2; ++i) {
        const result = await readResult(i);
        if (result) results.push(result);
    }
    return results;
}
