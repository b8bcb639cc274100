/** The page that computes: files are dropped on it, the program works on them in a worker, the report is shown below. */
import { button, count, h, number, save } from '../dom';
import { commandFor, inputOf, isZarr, kinds, lineOf, tooLarge, zarrWords, type Wishes } from './command';
import type { Finished, FromWorker, Job, Module, ProgramEvent } from './messages';

/** Filled in by the build: Emscripten's script and the worker after it; Debian's packages in the module and their licences. */
declare const PNMF_PROGRAM_WORKER: string;
declare const PNMF_CARRIED: { name: string; text: string }[];

const stages: Record<string, string> = { preparing: 'preparing', starting: 'first factors', sweeping: 'sweeps', clusters: 'clusters' };

function moduleBytes(): ArrayBuffer {
    const binary = atob(document.getElementById('pnmf-module')!.textContent!.trim());
    const bytes = new Uint8Array(binary.length);
    for (let i = 0; i < binary.length; ++i) bytes[i] = binary.charCodeAt(i);
    return bytes.buffer;
}

/** A worker that makes the module ready while the reader still looks for a file. */
function makeWorker(): Worker {
    const url = URL.createObjectURL(new Blob([PNMF_PROGRAM_WORKER], { type: 'text/javascript' }));
    const worker = new Worker(url);
    URL.revokeObjectURL(url);
    const module = moduleBytes();
    worker.postMessage({ module } satisfies Module, [module]);
    return worker;
}

type Phase = 'waiting' | 'running' | 'done' | 'failed';
const setPhase = (phase: Phase): void => void (document.documentElement.dataset.phase = phase);

/** What people may choose; all is the program's to choose where they do not. */
function wishesForm(): { element: HTMLElement; wishes(): Wishes } {
    const kind = h('select', { id: 'kind' }, ...kinds.map(([value, text]) => h('option', { value }, text)));
    const field = (id: string, hint: string): HTMLInputElement => h('input', { id, placeholder: hint, autocomplete: 'off', spellcheck: 'false' });
    const fields = { genes: field('genes', '2000'), rank: field('rank', 'by size'), clusters: field('clusters', 'found'), batch: field('batch', 'none') };
    const further = field('further', '--cells rows --seed 1');
    const row = (text: string, input: HTMLElement): HTMLElement => h('label', {}, text, input);
    const element = h(
        'fieldset',
        { class: 'wishes' },
        h('legend', {}, 'Before you choose a file'),
        row('Kind of data', kind),
        row('Genes', fields.genes),
        row('Rank', fields.rank),
        row('Clusters', fields.clusters),
        row('Batches, a column', fields.batch),
        row('Further options of pnmf fit', further),
    );
    const wishes = (): Wishes => ({ kind: kind.value, genes: fields.genes.value, rank: fields.rank.value, clusters: fields.clusters.value, batch: fields.batch.value, further: further.value });
    return { element, wishes };
}

interface Summary {
    cells: number;
    clusters: number;
    objective: { total: number };
    recommended_scale: number;
    scales: number;
}

function licences(): HTMLElement {
    return h(
        'details',
        { class: 'licences' },
        h('summary', {}, `Licences of what this page carries besides those of the report`),
        ...PNMF_CARRIED.map((one) => h('details', {}, h('summary', {}, one.name), h('pre', {}, one.text))),
    );
}

class Page {
    private worker = makeWorker();
    /** The browser has shown that it can run the module. */
    private able = false;
    private files: File[] = [];
    private began = 0;
    private frame: HTMLIFrameElement | null = null;
    private readonly form = wishesForm();
    private readonly input = h('input', { type: 'file', id: 'pnmf-input', multiple: true, change: () => this.start([...(this.input.files ?? [])]) });
    private readonly zone = h('label', { class: 'zone', for: 'pnmf-input' }, h('strong', {}, 'Drop a file here, or choose one'), h('span', { class: 'note' }, '.h5ad, 10x .h5, .mtx, .csv, .tsv, .npy, also .gz; the three files of a 10x folder together'), this.input);
    private readonly bar = h('progress', { max: 1, 'aria-label': 'Progress' });
    private readonly status = h('p', { role: 'status' });
    private readonly left = h('span', { class: 'note' });
    private readonly trouble = h('p', { class: 'trouble', role: 'alert' });
    private readonly command = h('pre', { class: 'command' });
    private readonly said = h('ul', { class: 'said' });
    private readonly printed = h('pre', { class: 'command' });
    private readonly downloads = h('div', { class: 'row downloads' });
    private readonly cancel = button('Cancel', () => this.stop('Cancelled.'));
    private readonly again = button('Run again with the options above', () => this.start(this.files));
    private readonly log = h('details', { open: true }, h('summary', {}, 'What the program says'), this.said, this.printed);
    private readonly run = h('section', { class: 'run', hidden: true }, h('div', { class: 'row' }, this.status, this.bar, this.left, this.cancel, this.again), this.trouble, this.downloads, h('p', { class: 'note' }, 'The same on a machine with pnmf:'), this.command, this.log);
    private readonly shown = h('div', { class: 'report' });

    constructor(app: HTMLElement) {
        app.replaceChildren(
            h('header', {}, h('h1', {}, 'pnmf'), h('p', {}, 'Scales, clusters and gene programs of your cells. All is computed in this page: nothing is installed, nothing leaves your machine.')),
            h('div', { class: 'begin' }, this.zone, this.form.element),
            this.run,
            this.shown,
            licences(),
        );
        addEventListener('dragover', (event) => event.preventDefault());
        addEventListener('drop', (event) => {
            event.preventDefault();
            const folder = [...(event.dataTransfer?.items ?? [])].map((item) => item.webkitGetAsEntry()).find((entry) => entry?.isDirectory);
            this.trouble.textContent = '';
            if (folder) void this.refuse(folder as FileSystemDirectoryEntry);
            else this.start([...(event.dataTransfer?.files ?? [])]);
        });
        this.listen();
        setPhase('waiting');
    }

    private listen(): void {
        this.worker.onmessage = ({ data }: MessageEvent<FromWorker>) => {
            if ('event' in data) this.hear(data.event);
            else if ('finished' in data) this.finish(data.finished);
            else if ('failed' in data) this.fail(data.failed);
            else this.able = true;
        };
        this.worker.onerror = (event) => this.fail(`the program ended: ${event.message || 'its worker could not be started'}`);
    }

    private async refuse(folder: FileSystemDirectoryEntry): Promise<void> {
        const names = await new Promise<string[]>((done) => folder.createReader().readEntries((entries) => done(entries.map((entry) => entry.name)), () => done([])));
        this.fail(isZarr(folder.name, names) ? zarrWords(folder.name) : `${folder.name} is a folder: open it and drop its files together`);
    }

    /** A program runs once: the next run gets a worker of its own, and memory of its own. */
    private renew(): void {
        this.worker.terminate();
        this.worker = makeWorker();
        this.listen();
    }

    private start(files: File[]): void {
        if (files.length === 0) return;
        if (['running', 'done'].includes(document.documentElement.dataset.phase!)) this.renew();
        this.files = files;
        const input = inputOf(files);
        const { words, output } = commandFor(input, this.form.wishes());
        delete document.body.dataset.pnmf;
        this.began = performance.now();
        this.input.value = '';
        this.show(null);
        this.run.hidden = false;
        this.log.open = true;
        this.said.replaceChildren();
        this.printed.textContent = '';
        this.downloads.replaceChildren();
        this.trouble.textContent = '';
        this.command.textContent = lineOf(words);
        this.status.textContent = `Reading ${files.map((file) => file.name).join(', ')}`;
        this.bar.removeAttribute('value');
        this.working(true);
        setPhase('running');
        const zarr = files.find((file) => isZarr(file.name));
        if (zarr) return this.fail(zarrWords(zarr.name));
        const large = tooLarge(files);
        if (large) return this.fail(`${large.name} has ${number(large.size / 1e9, 3)} GB: too large for a page, which has 4 GB of memory in all. Nothing was read`);
        const job: Job = { files, folder: input.folder, words: [...words, '--progress', 'json'], output };
        this.worker.postMessage(job);
    }

    private working(on: boolean): void {
        this.bar.hidden = this.left.hidden = this.cancel.hidden = !on;
        this.again.hidden = on;
    }

    private hear(event: ProgramEvent): void {
        if (event.event === 'progress') {
            if (typeof event.fraction === 'number') this.bar.value = event.fraction;
            this.left.textContent = typeof event.seconds_left === 'number' ? `about ${Math.ceil(event.seconds_left)} s left` : '';
            const stage = stages[event.stage ?? ''] ?? event.stage ?? '';
            if (this.status.textContent !== stage) this.status.textContent = stage; // a reader of screens says it once
        } else if (event.event === 'printed') {
            this.printed.textContent += `${event.text}\n`;
        } else if (event.event === 'error') {
            this.trouble.textContent = event.text ?? '';
        } else if (event.text) {
            this.said.append(h('li', { class: event.event }, event.text));
        }
    }

    private stop(words: string): void {
        if (this.able) this.renew(); // else the next worker would fail as this one did
        this.status.textContent = words;
        this.working(false);
        setPhase('waiting');
    }

    private fail(words: string): void {
        this.trouble.textContent = `${this.trouble.textContent ? `${this.trouble.textContent} \u2013 ` : ''}${words}.`;
        this.run.hidden = false;
        this.stop('No result.');
        setPhase('failed');
    }

    private finish({ code, written, memory }: Finished): void {
        if (code !== 0) {
            const short = /memory/.test(this.trouble.textContent ?? '') ? ' A page has 4 GB of memory; the command below has that of its machine.' : '';
            this.trouble.textContent = `${this.trouble.textContent || 'The program ended without a word.'}${short}`;
            this.stop('No result.');
            return setPhase('failed');
        }
        const bytes = new Map(written.map((file) => [file.name, file.bytes as Uint8Array<ArrayBuffer>]));
        if (!bytes.has('summary.json')) return this.fail('The program wrote no result; what it printed is below');
        const summary = JSON.parse(new TextDecoder().decode(bytes.get('summary.json'))) as Summary;
        const seconds = (performance.now() - this.began) / 1000;
        const name = this.command.textContent!.match(/ -o (\S+)/)![1];
        for (const [file, text, type] of [['result.h5ad', 'Result (.h5ad)', 'application/octet-stream'], ['report.html', 'Page with the result', 'text/html'], ['report.genes', 'Genes that the page opens (.genes)', 'application/octet-stream'], ['programs.tsv', 'Gene programs (.tsv)', 'text/plain'], ['summary.json', 'Summary (.json)', 'application/json']]) {
            const content = bytes.get(file);
            if (content) this.downloads.append(button(text, () => save(`${name}-${file}`, new Blob([content], { type })), { 'data-file': file }));
        }
        this.status.textContent = `${count(summary.cells)} cells, ${summary.clusters} cluster${summary.clusters === 1 ? '' : 's'}, recommended scale ${summary.recommended_scale} of ${summary.scales}; ${number(seconds, 3)} s, ${number(memory / 1e6, 3)} MB`;
        this.working(false);
        this.log.open = false;
        this.show(bytes.get('report.html') ?? null);
        setPhase('done');
        document.body.dataset.pnmf = JSON.stringify({ cells: summary.cells, clusters: summary.clusters, objective: summary.objective.total, seconds });
        this.worker.terminate(); // gives the memory back
    }

    /** The report in a frame of its own: the very page that the program writes. */
    private show(report: Uint8Array<ArrayBuffer> | null): void {
        if (this.frame) URL.revokeObjectURL(this.frame.src);
        this.frame = report && h('iframe', { title: 'Report', src: URL.createObjectURL(new Blob([report], { type: 'text/html' })) });
        this.shown.replaceChildren(...(this.frame ? [this.frame] : []));
    }
}

const dark = matchMedia('(prefers-color-scheme: dark)');
const setTheme = (): void => void (document.documentElement.dataset.theme = dark.matches ? 'dark' : 'light');
dark.addEventListener('change', setTheme);
setTheme();
new Page(document.getElementById('app')!);
