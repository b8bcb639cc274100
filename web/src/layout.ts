/** Maps of the cells (UMAP, t-SNE), computed in a worker: the first as the page opens, others on request. */
import type { CellView, Layout } from './cells';
import { button, count, h } from './dom';
import type { LayoutJob } from './layout_worker';
import type { State } from './state';

/** Filled in by the build: the text of the worker. */
declare const PNMF_WORKER: string;

type Kind = 'umap' | 'tsne';
const largest: Record<Kind, number> = { umap: 50000, tsne: 3000 };
const names: Record<Kind, string> = { umap: 'UMAP', tsne: 't-SNE' };
/** A map is computed as the page opens from this many cells to that many. */
const automatic = { from: 20, to: 5000 };

/** What the reader must know about the maps of this result. */
function limits(n: number): string {
    const words: string[] = [];
    if (n > automatic.to) words.push(`Above ${count(automatic.to)} cells a map is computed only when you ask for it.`);
    for (const kind of ['umap', 'tsne'] as const)
        if (n > largest[kind]) words.push(`${names[kind]} is for at most ${count(largest[kind])} cells.`);
    return words.join(' ');
}

/** Controls for the map of one view. */
export function layoutControls(view: CellView, state: State): HTMLElement {
    const { result } = view;
    const bar = h('progress', { max: 1, value: 0, 'aria-label': 'Progress of the map' });
    const status = h('span', { role: 'status', class: 'note' });
    let worker: Worker | null = null;
    /** Maps that are done, by kind and scale. */
    const done = new Map<string, Layout>();
    /** The map shown, or about to be, was not asked for: it gives way as soon as the slider moves. */
    let unasked = false;
    const back = button(result.meta.tissue ? 'Back to the tissue' : 'Back to the plane of H', () => stop());
    const cancel = button('Cancel', () => stop());
    const show = (running: boolean): void => {
        bar.hidden = cancel.hidden = !running;
        for (const one of starts) one.disabled = running || result.n > largest[one.name as Kind] || result.n < 5;
    };
    function toPlane(): void {
        back.hidden = true;
        view.setLayout(null);
    }
    function stop(): void {
        worker?.terminate();
        worker = null;
        unasked = false;
        status.textContent = '';
        toPlane();
        show(false);
    }
    function present(map: Layout): void {
        status.textContent = map.name;
        back.hidden = false;
        view.setLayout(map);
    }
    async function start(kind: Kind, asked: boolean): Promise<void> {
        stop();
        unasked = !asked;
        await result.load('components');
        const { rank } = result.meta;
        const values = new Float32Array(rank * result.n);
        let scale = 0;
        for (let k = 0; k < rank; ++k) {
            const row = result.componentAt(state.scaleOf(result), k);
            scale = row.scale;
            for (let j = 0; j < result.n; ++j) values[k * result.n + j] = (row.shares[j] / 255) * row.largest;
        }
        const what = `${names[kind]} of scale ${result.scaleNumber(scale)}`;
        const ready = done.get(what);
        if (ready) return present(ready);
        const url = URL.createObjectURL(new Blob([PNMF_WORKER], { type: 'text/javascript' }));
        worker = new Worker(url);
        URL.revokeObjectURL(url);
        status.textContent = `${what} is being computed`;
        show(true);
        worker.onerror = (event) => {
            stop();
            status.textContent = `${what} failed: ${event.message}`;
        };
        worker.onmessage = ({ data }: MessageEvent<{ progress?: number; positions?: Float32Array }>) => {
            if (data.progress !== undefined) bar.value = data.progress;
            if (!data.positions) return;
            worker?.terminate();
            worker = null;
            show(false);
            const map = { name: what, positions: data.positions };
            done.set(what, map);
            if (asked || unasked) present(map);
            else status.textContent = `${what} is ready: press ${names[kind]} at that scale`;
        };
        const job: LayoutJob = { kind, n: result.n, d: rank, values };
        worker.postMessage(job, [values.buffer]);
    }
    // Whoever moves the slider wants to see the cells move, which they do in the plane of H.
    state.on(['scale'], () => {
        if (!unasked) return;
        unasked = false;
        if (!view.layout) return;
        status.textContent = '';
        toPlane();
    });
    const starts = (['umap', 'tsne'] as const).map((kind) =>
        button(names[kind], () => void start(kind, true), {
            name: kind,
            title: result.n > largest[kind] ? `For at most ${count(largest[kind])} cells` : `${names[kind]} of the cells at this scale`,
        }),
    );
    back.hidden = true;
    show(false);
    // In two dimensions the plane of H is the embedding itself, and no map shows more; a tissue has its own.
    if (!result.meta.tissue && result.meta.rank > 2 && result.n >= automatic.from && result.n <= automatic.to) void start('umap', false);
    const said = limits(result.n);
    return h(
        'div',
        { class: 'row layout' },
        state.results.length > 1 ? `${result.meta.name}: ` : '',
        ...starts,
        bar,
        cancel,
        back,
        status,
        said ? h('span', { class: 'note limits' }, said) : null,
    );
}
