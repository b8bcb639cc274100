/** The page that computes, from disk and without network: its numbers are the program's, and what is wrong with a file it says. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { assertStrict, download, file, folder, launch, pnmf } from './page.mjs';

const built = process.env.PNMF_PAGE;
const data = process.env.PNMF_DATA;
const corpus = process.env.PNMF_CORPUS;
const slow = 600000;

let browser;
before(async () => {
    assert.ok(existsSync(built), `${built} is there`);
    pnmf('simulate', 'cells', '-o', 'cells.h5ad', '--cells', '600', '--genes', '800');
    pnmf('simulate', 'circles', '-o', 'circles.csv');
    browser = await launch();
});
after(() => browser?.close());

async function open() {
    const context = await browser.newContext({ acceptDownloads: true, offline: true, viewport: { width: 1280, height: 900 }, reducedMotion: 'reduce' });
    const page = await context.newPage();
    page.setDefaultTimeout(slow);
    const complaints = [];
    page.on('console', (message) => complaints.push(`${message.type()}: ${message.text()}`));
    page.on('pageerror', (error) => complaints.push(`error: ${error.message}`));
    page.on('request', (request) => {
        if (!/^(file|data|blob):/.test(request.url())) complaints.push(`request: ${request.url()}`);
    });
    await page.goto(pathToFileURL(built).href);
    await page.waitForSelector('html[data-phase=waiting]', { state: 'attached' });
    return { page, complaints, close: () => context.close() };
}

/** Gives the page files and waits until it has ended with them, in whatever way. */
async function drop(page, paths, wishes = {}) {
    for (const [id, value] of Object.entries(wishes)) await (id === 'kind' ? page.selectOption(`#${id}`, value) : page.fill(`#${id}`, value));
    await page.setInputFiles('#pnmf-input', paths);
    await page.waitForSelector('html[data-phase=done], html[data-phase=failed]', { state: 'attached' });
    const phase = await page.getAttribute('html', 'data-phase');
    return { phase, result: JSON.parse((await page.getAttribute('body', 'data-pnmf')) ?? 'null'), trouble: await page.textContent('.trouble') };
}

const saved = async (page, name) => (await download(page, `[data-file="${name}"]`)).bytes;

/** The clusters of a stored result, read by Python. */
const clustersOf = (path) =>
    execFileSync('/usr/bin/python3', ['-c', 'import anndata, sys; print(" ".join(anndata.read_h5ad(sys.argv[1]).obs["pnmf_clusters"].astype(str)))', path], { cwd: folder, encoding: 'utf8', maxBuffer: 1 << 28, stdio: ['ignore', 'pipe', 'ignore'] }).trim();

/** A fit in the page and by the program: the objective, and the clusters of each cell. */
async function compare(paths, input, words, wishes, t, sameClusters = true) {
    pnmf('fit', input, '-o', 'native', '--overwrite', '--no-report', ...words);
    const expected = JSON.parse(readFileSync(join(folder, 'native', 'summary.json'), 'utf8'));
    const { page, complaints, close } = await open();
    const { phase, result, trouble } = await drop(page, paths, wishes);
    assert.equal(phase, 'done', trouble);
    assert.equal(result.cells, expected.cells);
    const apart = Math.abs(result.objective / expected.objective.total - 1);
    t.diagnostic(`${input}: objectives ${apart.toExponential(1)} apart; ${result.seconds.toFixed(1)} s, ${expected.seconds.toFixed(1)} s by the program; ${await page.textContent('.run [role=status]')}`);
    assert.ok(apart < 1e-6, `objective ${result.objective}, ${expected.objective.total} by the program`);
    writeFileSync(join(folder, 'page.h5ad'), await saved(page, 'result.h5ad'));
    if (sameClusters) {
        assert.equal(result.clusters, expected.clusters);
        assert.ok(clustersOf('page.h5ad') === clustersOf('native/result.h5ad'), 'the clusters of the cells differ');
    }
    const frame = await (await page.waitForSelector('iframe')).contentFrame();
    await frame.waitForSelector('html[data-ready=true]', { state: 'attached' });
    assert.match(await frame.textContent('header'), new RegExp(`${expected.cells.toLocaleString('en-US')} cells`));
    return { page, complaints, close, frame };
}

test('simulated cells: objective and clusters are the program\'s, in both precisions', async (t) => {
    const { page, complaints, close, frame } = await compare([join(folder, 'cells.h5ad')], 'cells.h5ad', [], {}, t);
    assert.match(await page.textContent('.command'), /^pnmf fit cells.h5ad -o cells_pnmf$/m);
    assert.match(await page.textContent('.said'), /preset cells/);
    await frame.click('#tab-Programs');
    const picture = await download(page, '[aria-label^="Download the cells of"][aria-label$="as PNG"]', frame);
    assert.match(picture.bytes.toString('latin1', 0, 4), /PNG/);
    // What was saved is a result like any other, and so is the page.
    pnmf('report', 'page.h5ad', '-o', 'again.html');
    assert.match((await saved(page, 'report.html')).toString('latin1', 0, 400), /<!doctype html>/);
    assert.match((await saved(page, 'programs.tsv')).toString(), /gene/);
    assert.deepEqual(complaints, []);
    for (const document of [page, frame]) await assertStrict(document);
    await close();
    const double = await compare([join(folder, 'cells.h5ad')], 'cells.h5ad', ['--precision', 'double', '--rank', '8', '--genes', '500', '--seed', '3'], { rank: '8', genes: '500', further: '--precision double --seed 3' }, t);
    assert.deepEqual(double.complaints, []);
    await double.close();
});

test('points from a table of text, with a kind and a number of clusters', async (t) => {
    const { complaints, close } = await compare([join(folder, 'circles.csv')], 'circles.csv', ['--preset', 'points', '--clusters', '2', '--rank', '2'], { kind: 'points', clusters: '2', rank: '2' }, t);
    assert.deepEqual(complaints, []);
    await close();
});

const pbmc = data && join(data, 'PBMC3k');
test('PBMC3k', { skip: pbmc && existsSync(pbmc) ? false : 'the set PBMC3k is not there' }, async (t) => {
    const paths = readdirSync(pbmc).filter((name) => /^(matrix\.mtx\.gz|genes\.tsv|cells\.tsv)$/.test(name)).map((name) => join(pbmc, name));
    // Rounded to single precision, two scales are as good: which is recommended depends on the last digit of a product, and
    // so on the machine's matrix library.
    const single = await compare(paths, join(pbmc, 'matrix.mtx.gz'), [], {}, t, false);
    assert.deepEqual(single.complaints, []);
    await single.close();
    const double = await compare(paths, join(pbmc, 'matrix.mtx.gz'), ['--precision', 'double'], { further: '--precision double' }, t);
    assert.deepEqual(double.complaints, []);
    await double.close();
});

test('a damaged file ends in words, and the page goes on', async () => {
    const { page, complaints, close } = await open();
    const whole = readFileSync(join(folder, 'cells.h5ad'));
    const cut = Buffer.from(whole.subarray(0, whole.length / 2));
    const scrambled = Buffer.from(whole);
    for (let at = 600; at < scrambled.length; at += 997) scrambled[at] ^= 0xff;
    const files = [['cut.h5ad', cut], ['scrambled.h5ad', scrambled], ['text.csv', Buffer.from('a,b\n1,x\n')], ['empty.mtx', Buffer.alloc(0)], ['noise.h5', Buffer.from(Array.from({ length: 5000 }, (_, i) => (i * 7919) % 251))]];
    for (const [name, bytes] of files) {
        writeFileSync(join(folder, name), bytes);
        const { phase, trouble } = await drop(page, [join(folder, name)]);
        assert.equal(phase, 'failed', name);
        assert.ok(trouble.length > 20, `${name}: ${trouble}`);
    }
    for (const [name, files, words] of [['filtered', ['matrix.mtx.gz'], /^filtered is a folder: open it/], ['a.zarr', [], /^a\.zarr is a Zarr store.*read_zarr\("a\.zarr"\)\.write_h5ad\("a\.h5ad"\)\.$/], ['store', ['obs', 'zarr.json'], /^store is a Zarr store/]]) {
        await page.evaluate(
            ([name, files]) => {
                const createReader = () => ({ readEntries: (done) => done(files.map((file) => ({ name: file }))) });
                const items = [{ webkitGetAsEntry: () => ({ isDirectory: true, name, createReader }) }];
                dispatchEvent(Object.assign(new Event('drop'), { dataTransfer: { items, files: [] } }));
            },
            [name, files],
        );
        await page.waitForFunction((name) => document.querySelector('.trouble').textContent.startsWith(name), name);
        assert.match(await page.textContent('.trouble'), words);
    }
    const zip = Buffer.from('PK\x03\x04 the rest of an archive');
    for (const [name, words] of [['b.zarr.zip', /^b\.zarr\.zip is a Zarr store.*unpacked\.$/], ['c.zip', /c\.zip: a ZIP archive/]]) {
        writeFileSync(join(folder, name), zip);
        const { phase, trouble } = await drop(page, [join(folder, name)]);
        assert.equal(phase, 'failed', name);
        assert.match(trouble, words);
    }
    const { phase, trouble } = await drop(page, [join(folder, 'circles.csv')], { rank: '2' });
    assert.equal(phase, 'done', trouble);
    assert.deepEqual(complaints, []);
    await close();
});

/** What a reader would drop of a file of the corpus: three files of a 10x folder, labels beside their cells, else the file. */
function dropped(format, name, bytes) {
    const put = (as, content) => (writeFileSync(join(folder, as), content), join(folder, as));
    if (format === 'zarr') return { paths: [put(`${name}.zarr.zip`, bytes)], further: '' };
    if (format === 'tenx_folder') {
        const parts = bytes.toString('latin1').split('\n==\n');
        return { paths: ['matrix.mtx', 'features.tsv', 'barcodes.tsv'].map((as, i) => put(as, Buffer.from(parts[i] ?? '', 'latin1'))), further: '' };
    }
    const path = put(name, bytes);
    return format === 'labels' ? { paths: [join(folder, 'circles.csv'), path], further: `--labels ${name}` } : { paths: [path], further: '' };
}

test('files of the whole corpus, changed and cut, end in words or in a result', { skip: corpus && existsSync(corpus) ? false : 'the corpus is not there' }, async (t) => {
    const { page, complaints, close } = await open();
    let seed = 1;
    const next = (below) => (seed = (Math.imul(seed, 1664525) + 1013904223) >>> 0) % below;
    const ends = {};
    for (const format of readdirSync(corpus).sort()) {
        ends[format] = { done: 0, failed: 0 };
        for (const name of readdirSync(join(corpus, format)).sort()) {
            const changed = readFileSync(join(corpus, format, name));
            const cut = Buffer.from(changed.subarray(0, next(changed.length)));
            for (let change = 0; change < 12; ++change) changed[next(changed.length)] = next(256);
            for (const bytes of [changed, cut]) {
                const { paths, further } = dropped(format, name, bytes);
                const { phase, trouble } = await drop(page, paths, { further });
                if (phase === 'failed') assert.ok(trouble.length > 20, `${name}: ${trouble}`);
                assert.doesNotMatch(trouble, /fault|ended without a word/, name);
                ++ends[format][phase];
            }
        }
    }
    t.diagnostic(JSON.stringify(ends));
    for (const format of ['h5ad', 'h5mu', 'loom', 'mat', 'npy', 'result', 'tenx_folder', 'tenx_h5']) assert.ok(ends[format].failed > 0, format);
    const { phase, trouble } = await drop(page, [join(folder, 'circles.csv')], { rank: '2', further: '' });
    assert.equal(phase, 'done', trouble);
    assert.deepEqual(complaints, []);
    await close();
});

test('progress is shown while the program computes, and Cancel ends it there', async (t) => {
    const { page, complaints, close } = await open();
    await page.evaluate(() => {
        window.seen = [];
        const bar = document.querySelector('progress');
        const look = () => bar.hasAttribute('value') && window.seen.push({ value: bar.value, stage: document.querySelector('.run [role=status]').textContent, hidden: bar.hidden });
        new MutationObserver(look).observe(bar, { attributes: true, attributeFilter: ['value'] });
    });
    const { phase, trouble } = await drop(page, [join(folder, 'cells.h5ad')], { further: '--seed 2' });
    assert.equal(phase, 'done', trouble);
    const seen = await page.evaluate(() => window.seen);
    const values = seen.map(({ value }) => value);
    t.diagnostic(`${new Set(values).size} states of the bar, ${values[0]} to ${values.at(-1)}: ${[...new Set(seen.map(({ stage }) => stage))].join(', ')}`);
    assert.ok(new Set(values).size >= 5, 'the bar moves');
    assert.ok(values.every((value, i) => i === 0 || value >= values[i - 1]), 'and never back');
    assert.ok(values[0] < 0.5 && values.at(-1) > 0.8);
    assert.ok(seen.some(({ stage }) => stage === 'sweeps') && seen.every(({ hidden }) => !hidden));
    assert.ok(await page.isHidden('progress'));
    // A run that would go on for long.
    await page.fill('#further', '--precision double --tolerance 1e-15 --max-sweeps 1000000');
    await page.click('text=Run again');
    await page.waitForFunction(() => document.querySelector('.run [role=status]').textContent === 'sweeps');
    await page.click('text=Cancel');
    assert.equal(await page.textContent('.run [role=status]'), 'Cancelled.');
    assert.equal(await page.getAttribute('html', 'data-phase'), 'waiting');
    assert.ok((await page.isHidden('progress')) && (await page.isHidden('button:has-text("Cancel")')) && (await page.isVisible('text=Run again')));
    assert.equal(await page.getAttribute('body', 'data-pnmf'), null);
    // What the cancelled run still had to say does not reach the next.
    const next = await drop(page, [join(folder, 'circles.csv')], { rank: '2', further: '' });
    assert.equal(next.phase, 'done', next.trouble);
    assert.notEqual(next.result.cells, 600);
    assert.deepEqual(complaints, []);
    await close();
});

test('a run that is cancelled makes room for the next, and so do wrong options', async () => {
    const { page, complaints, close } = await open();
    await page.setInputFiles('#pnmf-input', [join(folder, 'cells.h5ad')]);
    await page.click('text=Cancel');
    assert.equal(await page.getAttribute('html', 'data-phase'), 'waiting');
    const wrong = await drop(page, [join(folder, 'circles.csv')], { rank: '0' });
    assert.equal(wrong.phase, 'failed');
    assert.match(wrong.trouble, /the rank must be between 1 and/);
    const help = await drop(page, [join(folder, 'circles.csv')], { rank: '', further: '--help' });
    assert.equal(help.phase, 'failed');
    assert.match(help.trouble, /no result/);
    assert.match(await page.textContent('.run details'), /--lambda1/);
    await page.fill('#further', '--results-only --no-report');
    await page.fill('#rank', '2');
    await page.click('text=Run again');
    await page.waitForSelector('html[data-phase=done]', { state: 'attached' });
    assert.deepEqual(complaints, []);
    await close();
});

test('a browser that cannot run the module says so at once', async () => {
    const broken = join(folder, 'broken.html');
    writeFileSync(broken, readFileSync(built, 'latin1').replace(/(id="pnmf-module">)[^<]*/, '$1AAAA'), 'latin1');
    const page = await browser.newPage();
    await page.goto(pathToFileURL(broken).href);
    await page.waitForSelector('html[data-phase=failed]', { state: 'attached' });
    assert.match(await page.textContent('.trouble'), /^this browser cannot run the program: [^\u2013]*$/);
    await page.close();
});

test('a file that cannot fit is refused before it is read, with the command for a machine', async () => {
    file('large.mtx', '');
    truncateSync(join(folder, 'large.mtx'), 2.5e9);
    const { page, close } = await open();
    const { phase, trouble } = await drop(page, [join(folder, 'large.mtx')]);
    assert.equal(phase, 'failed');
    assert.match(trouble, /2\.5 GB: too large for a page.*Nothing was read/);
    assert.match(await page.textContent('.command'), /^pnmf fit large.mtx -o large_pnmf$/);
    await close();
});
