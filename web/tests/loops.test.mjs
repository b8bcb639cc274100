/** A loop in a page: its cells around the clock, its genes where the program has them, and none where there is none. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { download, launch, open, openTab, pnmf } from './page.mjs';

let browser;
let expected;
before(async () => {
    pnmf('simulate', 'loop', '-o', 'loop.h5ad', '--cells', '300', '--genes', '200');
    pnmf('fit', 'loop.h5ad', '-o', 'loop', '--max-scales', '3');
    pnmf('report', 'loop', '-o', 'without.html');
    expected = JSON.parse(pnmf('loops', 'loop', '--data', 'loop.h5ad', '--keep', '--json')).loops[0];
    pnmf('report', 'loop', '--input', 'loop.h5ad', '-o', 'loop.html');
    pnmf('simulate', 'cells', '-o', 'cells.h5ad', '--cells', '200', '--genes', '200', '--types', '3');
    pnmf('fit', 'cells.h5ad', '-o', 'cells', '--max-scales', '3', '--no-report');
    pnmf('loops', 'cells', '--keep');
    pnmf('report', 'cells', '-o', 'cells.html');
    browser = await launch();
});
after(() => browser?.close());

test('the loop colours the map, and genes around it are those of the program', async () => {
    const { page, complaints, close } = await open(browser, 'loop.html');
    await openTab(page, 'Loops');
    await page.click('[aria-label="Colour the cells by pnmf_loop_1"]');
    await page.waitForSelector('circle[data-gene]');
    const cells = await page.$$eval('path[data-cells]', (all) => all.map((one) => Number(one.dataset.cells)));
    assert.equal(cells.length, 36);
    assert.equal(cells.reduce((sum, one) => sum + one, 0), 300);
    const { bytes } = await download(page, '[aria-label="Download Genes around pnmf_loop_1 as TSV"]');
    const rows = bytes.toString().trim().split('\n').slice(1).map((row) => row.split('\t'));
    assert.equal(rows[0][0], expected.genes[0].gene);
    for (const { gene, peak, share, amplitude } of expected.genes) {
        const row = rows.find(([name]) => name === gene).slice(1).map(Number);
        const apart = Math.abs(row[0] - peak);
        assert.ok(Math.min(apart, 2 * Math.PI - apart) < 0.03, `${gene}: highest at ${row[0]}, ${peak} by the program`);
        assert.ok(Math.abs(row[1] / amplitude - 1) < 0.02 && Math.abs(row[2] - share) < 0.02, gene);
    }
    await page.click(`circle[data-gene="${rows[0][0]}"]`);
    await openTab(page, 'Scales');
    assert.equal(await page.inputValue('#gene'), rows[0][0]);
    await page.selectOption('#colour', { label: 'pnmf_loop_1' });
    await page.waitForFunction(() => document.querySelector('.legend h3').textContent === 'pnmf_loop_1');
    assert.deepEqual(complaints, []);
    await close();
});

const diagramOf = async (page) => (await download(page, '[aria-label="Download Diagram of loops as TSV"]')).bytes.toString().trim().split('\n').slice(1).map((row) => row.split('\t'));

test('the diagram has the loop that was found, marked, and says what its p-value means', async () => {
    const { page, complaints, close } = await open(browser, 'loop.html');
    await openTab(page, 'Loops');
    await page.waitForSelector('circle[aria-label=reported]');
    assert.equal(await page.locator('circle[aria-label=reported]').count(), 1);
    assert.match(await page.textContent('[data-figure="diagram-of-loops"]'), /Loop 1: p = 0\.01: at most 1 % of clouds of cells without a loop/);
    const rows = await diagramOf(page);
    const [, birth, death] = rows.find((row) => row[3] === '1').map(Number);
    assert.ok(Math.abs(birth - expected.birth) < 1e-6 && Math.abs(death - expected.death) < 1e-6);
    const loops = rows.filter((row) => row[0] === '1');
    assert.ok(loops.every((row) => row[2] - row[1] <= death - birth), 'the first is the most persistent');
    assert.equal(await page.locator('circle[aria-label=loop]').count(), loops.length);
    assert.equal(rows.filter((row) => row[0] === '0').length, 199);
    assert.deepEqual(complaints, []);
    await close();
});

test('where none is found the diagram alone is shown, and says so', async () => {
    const { page, complaints, close } = await open(browser, 'cells.html');
    await openTab(page, 'Loops');
    assert.match(await page.textContent('#panel-Loops'), /No loop was found/);
    await page.waitForSelector('[data-figure="diagram-of-loops"] svg');
    assert.equal(await page.locator('circle[aria-label=reported]').count(), 0);
    assert.equal(await page.locator('path[data-cells]').count(), 0);
    assert.deepEqual(complaints, []);
    await close();
});

test('a result without loops has no tab for them', async () => {
    const { page, close } = await open(browser, 'without.html');
    assert.equal(await page.locator('#tab-Loops').count(), 0);
    await close();
});
