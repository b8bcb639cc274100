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

test('a result without loops has no tab for them', async () => {
    const { page, close } = await open(browser, 'without.html');
    assert.equal(await page.locator('#tab-Loops').count(), 0);
    await close();
});
