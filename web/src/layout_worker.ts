/** UMAP or t-SNE of the cells at one scale, away from the page's thread; reports its progress. */
import { TSNE } from '@keckelt/tsne';
import { UMAP } from 'umap-js';

export interface LayoutJob {
    kind: 'umap' | 'tsne';
    n: number;
    d: number;
    /** d × n, row by row. */
    values: Float32Array;
}

/** Numbers that repeat: a linear congruential generator (Knuth's MMIX constants, 32 bits of them). */
function repeatable(): () => number {
    let state = 0x9e3779b9;
    return () => {
        state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
        return state / 4294967296;
    };
}

function cells({ n, d, values }: LayoutJob): number[][] {
    return Array.from({ length: n }, (_, j) => Array.from({ length: d }, (_u, k) => values[k * n + j]));
}

function report(done: number, of: number): void {
    postMessage({ progress: done / of });
}

function umap(job: LayoutJob): number[][] {
    const model = new UMAP({ nComponents: 2, nNeighbors: Math.min(15, job.n - 1), minDist: 0.1, random: repeatable() });
    report(0, 1);
    const epochs = model.initializeFit(cells(job));
    for (let epoch = 0; epoch < epochs; ++epoch) {
        model.step();
        if (epoch % 10 === 0) report(epoch + 1, epochs);
    }
    return model.getEmbedding();
}

function tsne(job: LayoutJob): number[][] {
    const steps = 500;
    Math.random = repeatable();
    const model = new TSNE({ epsilon: 10, perplexity: Math.min(30, (job.n - 1) / 3), dim: 2 });
    report(0, 1);
    model.initDataRaw(cells(job));
    for (let step = 0; step < steps; ++step) {
        model.step();
        if (step % 5 === 0) report(step + 1, steps);
    }
    return model.getSolution();
}

addEventListener('message', (event: MessageEvent<LayoutJob>) => {
    const job = event.data;
    const points = job.kind === 'umap' ? umap(job) : tsne(job);
    const positions = new Float32Array(2 * job.n);
    points.forEach(([x, y], j) => {
        positions[2 * j] = x;
        positions[2 * j + 1] = y;
    });
    postMessage({ positions });
});
