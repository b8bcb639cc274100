/** What readers bring: names for clusters, a table of their own, colours for a second map. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { download, file, folder, launch, open, openTab, pictureWhere, pnmf } from './page.mjs';

let browser;
before(async () => {
    pnmf('simulate', 'circles', '-o', 'circles.csv');
    pnmf('fit', 'circles.csv', '--labels', 'circles_cells.tsv:label', '--rank', '2', '--max-scales', '4', '--preset', 'paper', '-o', 'circles');
    browser = await launch();
});
after(() => browser?.close());

const report = 'circles/report.html';
function onPage(name, check) {
    test(name, async () => {
        const { page, complaints, close } = await open(browser, report);
        await check(page);
        assert.deepEqual(complaints, []);
        await close();
    });
}
const namesOf = (page) => page.$$eval('#panel-Scales > .figures > .legend .name', (all) => all.map((one) => one.textContent));
const csvRows = (bytes) => bytes.toString().trim().split('\n').slice(1);
const title = (page, wanted) => page.waitForFunction((text) => document.querySelector('.legend h3').textContent === text, wanted);
const cells = async (page) => csvRows((await download(page, '[aria-label="Download the names of label as CSV"]')).bytes).map((row) => row.split(',')[0]);

onPage('clusters get names, which are everywhere and are exported', async (page) => {
    await page.click('.naming');
    await page.fill('[data-original="circle1"]', 'inner, "round"');
    await page.keyboard.press('Tab');
    await page.waitForFunction(() => document.activeElement?.getAttribute('data-original') === 'circle2');
    await page.waitForTimeout(200); // the first name is everywhere: the list was made anew, the name in hand stays marked
    await page.keyboard.type('circle2');
    await page.fill('[data-original="circle3"]', 'outer');
    await page.fill('[data-original="circle4"]', 'outer');
    await page.keyboard.press('Enter');
    await page.click('.naming');
    await page.waitForFunction(() => document.querySelectorAll('.legend .name').length === 4);
    assert.deepEqual(await namesOf(page), ['inner, "round"', 'circle2', 'outer', 'outer']);
    const { name, bytes } = await download(page, '[aria-label="Download the names of label as CSV"]');
    assert.equal(name, 'circles-label-names.csv');
    const rows = csvRows(bytes);
    assert.equal(rows.length, 80);
    assert.equal(rows.filter((row) => row.endsWith(',circle1,"inner, ""round"""')).length, 20);
    assert.equal(rows.filter((row) => /,circle[34],outer$/.test(row)).length, 40);
    // What has one name is one group.
    await openTab(page, 'Genes');
    await page.selectOption('.group-by', 'label');
    assert.deepEqual(await page.$$eval('.first-side option', (all) => all.slice(1).map((one) => one.textContent)), ['inner, "round"', 'circle2', 'outer']);
    await openTab(page, 'Scales');
    // The file that was saved can be dropped again.
    file('names.csv', bytes.toString());
    await page.setInputFiles('#table', join(folder, 'names.csv'));
    await page.waitForFunction(() => document.querySelector('.table-status').textContent.trim());
    assert.match(await page.textContent('.table-status'), /80 of 80 cells are in the table\. Added: label \(table\), label name\./);
    await title(page, 'label (table)');
});

onPage('a table of the reader\u2019s own colours the cells it has', async (page) => {
    const all = await cells(page);
    const rows = all.slice(0, 60).map((cell, j) => [j / 10, j % 3 ? 'treated' : 'NA', cell, j % 7].join('\t'));
    file('own.tsv', ['score\tarm\tid\tplate', ...rows, '1\tx\tnobody\t1'].join('\r\n'));
    await page.setInputFiles('#table', join(folder, 'own.tsv'));
    await title(page, 'score');
    await page.waitForFunction(() => document.querySelector('.table-status').textContent.trim());
    assert.equal(await page.textContent('.table-status'), 'own.tsv: 60 of 80 cells are in the table. Added: score, arm, plate. 20 cells are missing in it. 1 of its rows are of other cells.');
    assert.deepEqual(await page.$$eval('.legend .ends span', (ends) => ends.map((end) => end.textContent)), ['0', '5.9']);
    await page.selectOption('#colour', { label: 'plate' });
    await title(page, 'plate');
    assert.deepEqual(await namesOf(page), ['0', '1', '2', '3', '4', '5', '6', 'missing']);
    await page.selectOption('#colour', { label: 'arm' });
    await title(page, 'arm');
    assert.deepEqual(await namesOf(page), ['treated', 'missing']);
    const saved = (await download(page, '[aria-label="Download the cells of circles as TSV"]')).bytes.toString();
    assert.match(saved.split('\n')[0], /\tarm\tlabel\t.*score\tarm\tplate/);
    // As R writes a table: no name above the names of the rows.
    file('r.csv', ['"size"', ...all.map((cell, j) => `"${cell}",${j}.5`)].join('\n'));
    await page.setInputFiles('#table', join(folder, 'r.csv'));
    await title(page, 'size');
});

onPage('a table that cannot be used says why', async (page) => {
    const [cell, other] = await cells(page);
    for (const [text, words] of [
        ['a,b\nx,1\n', /no column of it has names of these cells, such as .*; the first row begins with x/],
        ['', /has no rows/],
        ['cell,b\n', /has no rows/],
        [`cell,b\n${cell},1\n${cell},2\n`, /the cell .* is in it more than once/],
        [`cell,b\n${cell},1\n${other}\n`, /line 3 has 1 values, the first line 2/],
        [`cell,b\n${cell},"1\n`, /line 2: a quote is not closed/],
        [`cell\n${cell}\n`, /no column besides the names/],
        [`cell,b\n${cell},\n`, /none of its columns can be coloured/],
    ]) {
        file('bad.csv', text);
        await page.setInputFiles('#table', join(folder, 'bad.csv'));
        await page.waitForFunction((wanted) => new RegExp(wanted).test(document.querySelector('.table-status').textContent), words.source);
        assert.match(await page.textContent('.table-status'), /^bad\.csv cannot be used/);
    }
    await title(page, 'label');
});

onPage('a second map has colours of its own, and shows the same part of the cells', async (page) => {
    assert.equal(await page.locator('.stage').count(), 1);
    await page.selectOption('#beside', { label: 'cluster at this scale' });
    assert.equal(await page.locator('.stage').count(), 2);
    for (const index of [0, 1]) await pictureWhere(page, (p) => p.inked > 500, index);
    await page.waitForFunction(() => /^cluster at this scale/.test(document.querySelector('.beside-legend h3').textContent));
    assert.match(await page.getAttribute('canvas.cells >> nth=0', 'aria-label'), /coloured by label/);
    await page.fill('#beside-gene', (await page.getAttribute('#beside-gene', 'placeholder')).length > 0 ? 'feature1' : '');
    await page.keyboard.press('Enter');
    const seen = await page.waitForFunction(() => document.querySelector('.beside-legend .ramp') !== null || document.querySelectorAll('.row:has(#beside-gene) .note')[0].textContent);
    assert.ok(await seen.jsonValue());
    const before = (await download(page, '[aria-label="Download the second map as TSV"]')).bytes.toString().split('\n').length;
    assert.equal(before, 82);
    await page.selectOption('#beside', { label: 'no second map' });
    await page.waitForFunction(() => document.querySelectorAll('.cell-view')[1].hidden);
    assert.ok(await page.locator('[aria-label="Download the second map as TSV"]').isHidden());
});
