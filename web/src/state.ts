/** What the reader chose: the scale, the colours, what is hidden and selected. Views subscribe to it. */
import { categoryColour } from './colours';
import type { Result } from './data';
import { domainScale } from './tissue';

export type Colouring =
    | { kind: 'none' }
    | { kind: 'column'; name: string }
    | { kind: 'cluster' }
    | { kind: 'domain' }
    | { kind: 'graph' }
    | { kind: 'program'; k: number }
    | { kind: 'gene'; name: string };

export type Change = 'scale' | 'colour' | 'hidden' | 'selection' | 'theme' | 'play' | 'view' | 'painted' | 'columns' | 'genes';

export class State {
    at = 0;
    playing = false;
    /** Scales per second. */
    speed = 4;
    colouring: Colouring = { kind: 'none' };
    /** Categories of the present colouring that are hidden. */
    hidden = new Set<string>();
    /** Names of the cells selected. */
    selection = new Set<string>();
    /** Each scale in a frame of its own, instead of one for all. */
    ownFrame = false;
    /** Cells where they are in the tissue, where that is known. */
    showTissue = true;
    /** Its photograph behind the cells, where there is one. */
    showImage = true;
    showGraph = false;
    dark = false;
    pointSize = 0;
    /** Scales of the slider: positions in each result. */
    readonly steps: number[][];
    /** The place of each category of a column among those of all results: a label has one colour in the whole page. */
    private readonly places = new Map<string, Map<string, number>>();
    private readonly listeners = new Map<Change, (() => void)[]>();

    constructor(readonly results: Result[]) {
        this.steps = commonSteps(results);
        this.placeCategories();
        const recommended = this.steps.findIndex((step) => step[0] === results[0].meta.recommended);
        this.at = Math.max(0, recommended);
        const domains = domainScale(results[0]);
        if (domains !== null) this.at = this.stepOf(results[0], domains);
        this.colouring = firstColouring(results[0]);
    }

    private placeCategories(): void {
        for (const column of this.results.flatMap((result) => result.meta.columns)) {
            const places = this.places.get(column.name) ?? new Map<string, number>();
            for (const category of column.categories ?? []) if (!places.has(category)) places.set(category, places.size);
            this.places.set(column.name, places);
        }
    }
    /** Results have columns that they had not. */
    addedColumns(): void {
        this.placeCategories();
        this.emit('columns');
    }

    /** Names that the reader gave to categories, by `keyOf` their colours. */
    private readonly given = new Map<string, Map<string, string>>();
    /** Null: these groups cannot be named. */
    keyOf(colouring: Colouring): string | null {
        if (colouring.kind === 'column') return `column ${colouring.name}`;
        return colouring.kind === 'cluster' || colouring.kind === 'domain' ? colouring.kind : null;
    }
    givenName(colouring: Colouring, category: string): string {
        return this.given.get(this.keyOf(colouring) ?? '')?.get(category) ?? category;
    }
    nameCategory(colouring: Colouring, category: string, name: string): void {
        const key = this.keyOf(colouring)!;
        if (!this.given.has(key)) this.given.set(key, new Map());
        if (name && name !== category) this.given.get(key)!.set(category, name);
        else this.given.get(key)!.delete(category);
        this.hidden.clear();
        this.emit('colour');
    }

    /** The colour of a category: the file's, where it has one. */
    colourOf(column: string, category: string): string {
        for (const result of this.results) {
            const stored = result.meta.columns.find((one) => one.name === column)?.colours?.[category];
            if (stored) return stored;
        }
        return categoryColour(this.places.get(column)?.get(category) ?? 0, this.dark);
    }

    get length(): number {
        return this.steps.length;
    }
    /** The scale of a result the slider stands at. */
    scaleOf(result: Result): number {
        return this.steps[this.at][this.results.indexOf(result)];
    }
    stepOf(result: Result, t: number): number {
        const r = this.results.indexOf(result);
        let best = 0;
        for (let i = 1; i < this.length; ++i)
            if (Math.abs(this.steps[i][r] - t) < Math.abs(this.steps[best][r] - t)) best = i;
        return best;
    }
    get recommendedStep(): number {
        return this.stepOf(this.results[0], this.results[0].meta.recommended);
    }

    on(changes: Change[], listener: () => void): void {
        for (const change of changes) {
            if (!this.listeners.has(change)) this.listeners.set(change, []);
            this.listeners.get(change)!.push(listener);
        }
    }
    emit(change: Change): void {
        for (const listener of this.listeners.get(change) ?? []) listener();
    }

    moveTo(step: number): void {
        const to = Math.min(this.length - 1, Math.max(0, Math.round(step)));
        if (to === this.at) return;
        this.at = to;
        this.emit('scale');
    }
    colourBy(colouring: Colouring): void {
        this.colouring = colouring;
        this.hidden.clear();
        this.emit('colour');
    }
    select(names: Iterable<string>): void {
        this.selection = new Set(names);
        this.emit('selection');
    }
}

/**
 * One slider for all results. With equally many scales the same position is shown in each; otherwise the slider
 * runs over the scales of all of them, and each result shows its coarsest scale that is not beyond epsilon.
 */
function commonSteps(results: Result[]): number[][] {
    const first = results[0];
    if (results.every((result) => result.T === first.T))
        return Array.from({ length: first.T }, (_, t) => results.map(() => t));
    const all = new Set<number>();
    for (const result of results) if (!result.meta.numbered) for (const e of result.meta.scales.epsilon) all.add(e);
    return [...all]
        .sort((a, b) => a - b)
        .map((epsilon) =>
            results.map((result) => {
                if (result.meta.numbered) return 0;
                let t = 0;
                while (t + 1 < result.T && result.epsilon(t + 1) <= epsilon) ++t;
                return t;
            }),
        );
}

function firstColouring(result: Result): Colouring {
    const types = result.meta.columns.find((column) => column.name === 'pnmf_clusters');
    if (result.meta.tissue && types) return { kind: 'column', name: types.name };
    const useful = result.meta.columns.filter(
        (column) =>
            column.categories && column.categories.length > 1 && column.categories.length <= Math.max(2, result.n / 2),
    );
    const label = useful.find((column) => column.name === 'label') ?? useful.find((c) => !c.name.startsWith('pnmf'));
    if (label) return { kind: 'column', name: label.name };
    if (result.has('clusters')) return { kind: 'cluster' };
    return result.has('merges') ? { kind: 'graph' } : { kind: 'none' };
}
