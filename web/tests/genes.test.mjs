/** Genes in the page: each can be coloured, markers are those of SciPy's test, and figures by group have the right numbers. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { download, file, folder, launch, open, openTab, pnmf } from './page.mjs';

const types = Array.from({ length: 60 }, (_, j) => 'abc'[j % 3]);
// Whole numbers whose largest is 255 are kept as they are. Gene 5 is rare, gene 6 is in every cell.
const valueAt = (g, j) => {
    if (j === 59) return 255;
    if (g === 5) return j % 30 === 7 ? 9 : 0;
    const own = g % 3 === j % 3 ? 40 : 0;
    return g === 6 ? 1 + ((j * 7) % 50) : Math.max(0, ((j * (2 * g + 3) + g * g) % 61) - 25 + own);
};
const genes = Array.from({ length: 30 }, (_, g) => `G${g}`);

let browser;
before(async () => {
    const rows = genes.map((name, g) => [name, ...types.map((_, j) => valueAt(g, j))].join(','));
    file('table.csv', [['gene', ...types.map((_, j) => `cell${j}`)].join(','), ...rows].join('\n') + '\n');
    file('types.csv', types.join('\n') + '\n');
    pnmf('fit', 'table.csv', '--labels', 'types.csv', '--preset', 'points', '--rank', '3', '--max-scales', '3', '-o', 'one');
    pnmf('report', 'one', '-o', 'bare.html');
    pnmf('report', 'one', '--input', 'table.csv', '--gene-bytes', '600', '-o', 'small.html');
    pnmf('simulate', 'cells', '--cells', '150', '--genes', '200', '--types', '3', '-o', 'cells');
    pnmf('fit', 'cells', '--genes', '50', '--max-scales', '3', '-o', 'chosen');
    browser = await launch();
});
after(() => browser?.close());

async function onPage(name, check) {
    const { page, complaints, close } = await open(browser, name);
    await check(page);
    assert.deepEqual(complaints, []);
    await close();
}

async function type(page, name) {
    await page.fill('#gene', name);
    await page.keyboard.press('Enter');
    return page.textContent('.row:has(#gene) .note');
}

const table = (bytes) => {
    const [head, ...rows] = bytes.toString().trim().split('\n').map((line) => line.split('\t'));
    return rows.map((row) => Object.fromEntries(head.map((name, i) => [name, row[i]])));
};

test('every gene colours the cells, with its own values', async () => {
    await onPage('one/report.html', async (page) => {
        for (const [g, name] of genes.entries()) {
            assert.equal(await type(page, name.toLowerCase()), '');
            await page.waitForFunction((wanted) => document.querySelector('.legend h3').textContent === wanted, name);
            if (g % 10 > 0) continue;
            const cells = table((await download(page, '[aria-label="Download the cells of one as TSV"]')).bytes);
            assert.deepEqual(cells.map((cell) => Number(cell[name])), types.map((_, j) => valueAt(g, j)));
        }
    });
});

test('genes that do not fit into the page are read from the file beside it', async () => {
    await onPage('small.html', async (page) => {
        const beside = [];
        for (const name of genes) if (/lies beside this page/.test(await type(page, name))) beside.push(name);
        assert.ok(beside.length > 15 && beside.length < genes.length, `${beside}`);
        assert.match(await type(page, beside.at(-1)), /^The values of G\d+ are in small\.genes/);
        await page.setInputFiles('.row:has(#gene) .genes-file', join(folder, 'types.csv'));
        await page.waitForSelector('text=types.csv is not the file of this page');
        await page.setInputFiles('.row:has(#gene) .genes-file', join(folder, 'small.genes'));
        for (const name of beside.reverse()) {
            if (name !== beside[0]) assert.equal(await type(page, name), ''); // the first was asked for before
            await page.waitForFunction((wanted) => document.querySelector('.legend h3').textContent === wanted, name);
            const cells = table((await download(page, '[aria-label="Download the cells of one as TSV"]')).bytes);
            assert.deepEqual(cells.map((cell) => Number(cell[name])), types.map((_, j) => valueAt(genes.indexOf(name), j)));
        }
        assert.ok(await page.isHidden('text=Open small.genes'));
        await openTab(page, 'Genes');
        await page.fill('.chosen-genes', beside.slice(0, 2).join());
        await page.keyboard.press('Enter');
        await page.waitForFunction((wanted) => document.querySelector('[data-figure="genes-by-group"]').textContent.includes(wanted), beside[1]);
    });
});

test('a gene that is not there is said to be missing, and why', async () => {
    await onPage('one/report.html', async (page) => {
        assert.match(await type(page, 'G31'), /^G31 is none of the 30 genes of this result\. Names like it: G3/);
    });
    await onPage('chosen/report.html', async (page) => {
        assert.match(await page.getAttribute('#gene', 'placeholder'), /^one of (1\d\d|200)$/); // not 50
        assert.match(await type(page, 'nonsense'), /nonsense is not among the \d+ genes of this page: 50 were chosen for the fit/);
    });
    await onPage('bare.html', async (page) => {
        assert.match(await type(page, 'G3'), /made without the data.*--input/);
        await openTab(page, 'Genes');
        assert.match(await page.textContent('#panel-Genes'), /made without the data/);
    });
});

/** SciPy's p values of a group against another, or all others. */
function scipy(first, second) {
    const values = genes.map((_, g) => types.map((_, j) => valueAt(g, j)));
    const program = 'import json, sys\nfrom scipy.stats import mannwhitneyu\nv, a, b = json.load(sys.stdin)\nprint(json.dumps([mannwhitneyu([r[j] for j in a], [r[j] for j in b], method="asymptotic").pvalue for r in v]))';
    return JSON.parse(execFileSync('/usr/bin/python3', ['-c', program], { input: JSON.stringify([values, first, second]), cwd: folder, encoding: 'utf8' }));
}

async function markers(page) {
    await page.click('text=Find markers');
    await page.waitForSelector('.markers');
    return table((await download(page, '[aria-label="Download the markers as TSV"]')).bytes);
}
const cellsWhere = (wanted) => types.flatMap((type, j) => (wanted(type, j) ? [j] : []));

test('markers of two groups and of a selection have the p-values of SciPy', async () => {
    await onPage('one/report.html', async (page) => {
        await openTab(page, 'Genes');
        await page.click('text=Find markers');
        assert.match(await page.textContent('.marker-status'), /No cell is selected.*0 and 60/);
        await page.selectOption('.group-by', 'label');
        await page.selectOption('.first-side', { label: 'b' });
        await page.selectOption('.second-side', { label: 'c' });
        const pair = await markers(page);
        const expected = scipy(cellsWhere((type) => type === 'b'), cellsWhere((type) => type === 'c'));
        for (const row of pair) {
            const g = genes.indexOf(row.gene);
            assert.ok(Math.abs(Number(row.p) / expected[g] - 1) < 1e-4, `${row.gene}: ${row.p}, ${expected[g]} by SciPy`);
        }
        assert.equal(pair.length, genes.length);
        assert.equal(genes.indexOf(pair[0].gene) % 3, 1);
        const mean = (g, cells) => cells.reduce((sum, j) => sum + valueAt(g, j), 0) / cells.length;
        assert.ok(Math.abs(Number(pair[0]['mean b']) - mean(genes.indexOf(pair[0].gene), cellsWhere((type) => type === 'b'))) < 1e-3);
        for (const row of pair) assert.ok(Number(row.p_adjusted) >= Number(row.p));
        // The cells named cell5, cell50 to cell59.
        await openTab(page, 'Scales');
        await page.fill('#find', 'cell5');
        await page.keyboard.press('Enter');
        await openTab(page, 'Genes');
        await page.selectOption('.first-side', { label: 'the selected cells' });
        await page.selectOption('.second-side', { label: 'all other cells' });
        const some = await markers(page);
        const isSome = (j) => `cell${j}`.startsWith('cell5');
        const p = scipy(cellsWhere((_, j) => isSome(j)), cellsWhere((_, j) => !isSome(j)));
        for (const row of some) assert.ok(Math.abs(Number(row.p) / p[genes.indexOf(row.gene)] - 1) < 1e-4, row.gene);
    });
});

test('chosen genes are shown by group, as dots and as violins', async () => {
    await onPage('one/report.html', async (page) => {
        await openTab(page, 'Genes');
        await page.selectOption('.group-by', 'label');
        await page.fill('.chosen-genes', 'g1, G6; G5 NOPE');
        await page.keyboard.press('Enter');
        assert.match(await page.textContent('#panel-Genes'), /NOPE is none of the 30 genes/);
        await page.waitForFunction(() => document.querySelectorAll('[data-figure="genes-by-group"] circle').length > 0);
        assert.equal(await page.locator('[data-figure="values-by-group"] path[data-group]').count(), 9);
        const dots = table((await download(page, '[aria-label="Download Genes by group as TSV"]')).bytes);
        assert.equal(dots.length, 9);
        for (const { gene, group, mean, share_above_zero: share } of dots) {
            const values = cellsWhere((type) => type === group).map((j) => valueAt(genes.indexOf(gene), j));
            assert.ok(Math.abs(mean - values.reduce((a, b) => a + b, 0) / values.length) < 2e-3 * (1 + Number(mean)), `${gene} ${group}`);
            assert.ok(Math.abs(share - values.filter((value) => value > 0).length / values.length) < 1e-3);
        }
        const violins = table((await download(page, '[aria-label="Download Values by group as TSV"]')).bytes);
        const seen = violins.filter((row) => row.gene === 'G6').reduce((sum, row) => sum + Number(row.cells), 0);
        assert.equal(seen, 60);
    });
});
