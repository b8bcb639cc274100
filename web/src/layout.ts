/** Starts a layout in a worker, shows its progress, hands the positions on. */
import type { CellView } from './cells';
import { button, h } from './dom';
import type { LayoutJob } from './layout_worker';
import type { State } from './state';

/** Filled in by the build: the text of the worker. */
declare const PNMF_WORKER: string;

const largest = { umap: 50000, tsne: 3000 };
const names = { umap: 'UMAP', tsne: 't-SNE' };

/** Controls for the layout of one view. */
export function layoutControls(view: CellView, state: State): HTMLElement {
    const { result } = view;
    const bar = h('progress', { max: 1, value: 0, 'aria-label': 'Progress of the layout' });
    const status = h('span', { role: 'status', class: 'note' });
    let worker: Worker | null = null;
    const back = button('Back to the plane of H', () => stop());
    const cancel = button('Cancel', () => stop());
    const show = (running: boolean): void => {
        bar.hidden = cancel.hidden = !running;
        for (const one of starts) one.disabled = running || result.n > largest[one.name as 'umap' | 'tsne'] || result.n < 5;
    };
    function stop(): void {
        worker?.terminate();
        worker = null;
        back.hidden = true;
        status.textContent = '';
        view.setLayout(null);
        show(false);
    }
    async function start(kind: 'umap' | 'tsne'): Promise<void> {
        stop();
        await result.load('components');
        const { rank } = result.meta;
        const values = new Float32Array(rank * result.n);
        let scale = 0;
        for (let k = 0; k < rank; ++k) {
            const row = result.componentAt(state.scaleOf(result), k);
            scale = row.scale;
            for (let j = 0; j < result.n; ++j) values[k * result.n + j] = (row.shares[j] / 255) * row.largest;
        }
        const url = URL.createObjectURL(new Blob([PNMF_WORKER], { type: 'text/javascript' }));
        worker = new Worker(url);
        URL.revokeObjectURL(url);
        const what = `${names[kind]} of scale ${result.scaleNumber(scale)}`;
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
            status.textContent = what;
            back.hidden = false;
            view.setLayout({ name: what, positions: data.positions });
        };
        const job: LayoutJob = { kind, n: result.n, d: rank, values };
        worker.postMessage(job, [values.buffer]);
    }
    const starts = (['umap', 'tsne'] as const).map((kind) =>
        button(names[kind], () => void start(kind), {
            name: kind,
            title: result.n > largest[kind] ? `For at most ${largest[kind]} cells` : `${names[kind]} of the cells at this scale`,
        }),
    );
    back.hidden = true;
    show(false);
    return h('div', { class: 'row layout' }, state.results.length > 1 ? `${result.meta.name}: ` : '', ...starts, bar, cancel, back, status);
}
