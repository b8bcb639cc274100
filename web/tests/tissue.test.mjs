/** A result with places: the tissue as the map, types and domains side by side, slices, images' direction. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { deflateSync, inflateSync } from 'node:zlib';
import { download, file, folder, goTo, launch, open, pictureWhere, pnmf, where } from './page.mjs';

let browser;
before(async () => {
    pnmf('simulate', 'tissue', '-o', 'tissue.h5ad', '--cells', '600', '--genes', '100', '--types', '6', '--layers', '3');
    pnmf('fit', 'tissue.h5ad', '-o', 'one', '--rank', '8', '--clusters', '6', '--domains', '3');
    // Two slices, twice as wide as high: a table of places, written by hand.
    const rows = Array.from({ length: 200 }, (_, j) => ({ slice: j % 2 ? 'late' : 'early', x: 2 * (j % 20) + (j % 2 ? 500 : 0), y: Math.floor(j / 20) }));
    const counts = rows.map(({ y }, j) => [0, 1, 2, 3, 4, 5].map((g) => ((j * (g + 3)) % 5) + (y < 5 === g < 3 ? 12 : 0)));
    const entries = counts.flatMap((c, j) => c.flatMap((value, g) => (value > 0 ? [`${g + 1} ${j + 1} ${value}`] : [])));
    file('slices_matrix.mtx', ['%%MatrixMarket matrix coordinate integer general', `6 ${rows.length} ${entries.length}`, ...entries].join('\n') + '\n');
    file('slices_genes.tsv', [0, 1, 2, 3, 4, 5].map((g) => `g${g}\n`).join(''));
    file('slices_cells.tsv', 'cell\tx\ty\tslice\n' + rows.map(({ x, y, slice }, j) => `c${j}\t${x}\t${y}\t${slice}`).join('\n') + '\n');
    pnmf('fit', 'slices_matrix.mtx', '-o', 'two', '--preset', 'spatial', '--sample', 'slice', '--rank', '4', '--clusters', '2', '--domains', '2');
    browser = await launch();
});
after(() => browser?.close());

/** The page `one` with an image behind its cells, as the program packs it: above red, below green. */
function withImage() {
    const page = readFileSync(join(folder, 'one', 'report.html'), 'utf8');
    const element = (name, bytes) => `<script type="application/octet-stream" id="pnmf-0-${name}">${deflateSync(bytes).toString('base64')}</script>`;
    return page.replace(/<script type="application\/octet-stream" id="pnmf-0-core">(.*?)<\/script>/, (_, packed) => {
        const core = inflateSync(Buffer.from(packed, 'base64'));
        const length = core.readUInt32LE(0);
        const meta = JSON.parse(core.subarray(4, 4 + length).toString());
        const places = new Float32Array(core.buffer.slice(core.byteOffset + Math.ceil((4 + length) / 8) * 8 + meta.arrays.places.offset).slice(0, 4 * meta.arrays.places.count));
        const [x, y] = [0, 1].map((axis) => range(places.filter((_, i) => i % 2 === axis)));
        // 2 x 4 pixels: lightness, R - B, 2G - R - B, each as steps within its rows.
        const image = Buffer.from([15, 0, 15, 0, 31, 0, 31, 0, 31, 0, -16, 31].map((value) => value & 255));
        meta.tissue.downwards = true;
        meta.tissue.images = [{ slice: 0, width: 2, height: 4, box: [x[0], y[0], x[1], y[1]] }];
        meta.arrays.image0 = { section: 'image', type: 'u8', offset: 0, count: image.length };
        const text = Buffer.from(JSON.stringify(meta));
        const head = Buffer.alloc(Math.ceil((4 + text.length) / 8) * 8);
        head.writeUInt32LE(text.length);
        text.copy(head, 4);
        return element('core', Buffer.concat([head, core.subarray(Math.ceil((4 + length) / 8) * 8)])) + element('image', image);
    });
}

async function onPage(name, check) {
    const { page, complaints, close } = await open(browser, name);
    await check(page);
    assert.deepEqual(complaints, []);
    await close();
}

/** x, y and domain of each cell, as the page saves them. */
async function placesOf(page, selector) {
    const { bytes } = await download(page, selector);
    const [head, ...rows] = bytes.toString().trim().split('\n').map((line) => line.split('\t'));
    const at = (name) => head.indexOf(name);
    return rows.map((row) => ({ cell: row[0], x: Number(row[1]), y: Number(row[2]), painted: row[4], slice: row[at('pnmf_sample')] }));
}
const range = (values) => [Math.min(...values), Math.max(...values)];

test('types and domains of a tissue are side by side, where its cells are', async () => {
    await onPage('one/report.html', async (page) => {
        assert.equal(await page.locator('.stage').count(), 2);
        assert.match(await page.getAttribute('canvas.cells >> nth=0', 'aria-label'), /coloured by pnmf_clusters/);
        assert.match(await page.getAttribute('canvas.cells >> nth=1', 'aria-label'), /coloured by domain at this scale/);
        assert.match(await where(page), /neighbours/);
        await pictureWhere(page, (p) => p.inked > 1000, 0);
        await pictureWhere(page, (p) => p.inked > 1000, 1);
        const cells = await placesOf(page, 'button[aria-label="Download the second map as TSV"]');
        assert.equal(new Set(cells.map((cell) => cell.painted)).size, 3);
        // Layers are strips of y, one above the other: most cells of a strip are of one domain.
        const [low] = range(cells.map((cell) => cell.y));
        const strips = [0, 1, 2].map((strip) => cells.filter((cell) => Math.floor(cell.y - low) === strip));
        const most = strips.map((strip) => {
            const counts = new Map();
            for (const { painted } of strip) counts.set(painted, (counts.get(painted) ?? 0) + 1);
            return [...counts].sort((a, b) => b[1] - a[1])[0];
        });
        assert.equal(new Set(most.map(([name]) => name)).size, 3);
        for (const [i, [, cellsOfOne]] of most.entries()) assert.ok(cellsOfOne > 0.8 * strips[i].length);
    });
});

test('the slider changes the domains, and cells stay where they are', async () => {
    await onPage('one/report.html', async (page) => {
        const save = 'button[aria-label="Download the second map as TSV"]';
        const chosen = await placesOf(page, save);
        await goTo(page, 'Home');
        assert.match(await where(page), /scale 1 of .* no neighbours/);
        const finest = await placesOf(page, save);
        assert.deepEqual(finest.map(({ x, y }) => [x, y]), chosen.map(({ x, y }) => [x, y]));
        assert.notDeepEqual(finest.map(({ painted }) => painted), chosen.map(({ painted }) => painted));
        await page.click('text=\u2605 domains');
        assert.deepEqual(await placesOf(page, save), chosen);
        await page.click('.view-tools >> text=Tissue');
        const plane = await placesOf(page, save);
        assert.notDeepEqual(plane.map(({ x }) => x), chosen.map(({ x }) => x));
    });
});

test('slices lie side by side, each in the same measure', async () => {
    await onPage('two/report.html', async (page) => {
        assert.match(await page.textContent('.stage .axes >> nth=0'), /slices in rows: early \u00b7 late/);
        const cells = await placesOf(page, 'button[aria-label="Download the cells of two as TSV"]');
        const early = cells.filter((cell) => cell.slice === 'early');
        const late = cells.filter((cell) => cell.slice === 'late');
        assert.equal(early.length, 100);
        const [, right] = range(early.map((cell) => cell.x));
        const [left, end] = range(late.map((cell) => cell.x));
        assert.ok(right < left && end - right < 60, `${right} ${left} ${end}`);
        assert.ok(Math.abs(end - left - 36) < 1e-3);
        // A stage is as wide as high: what is drawn keeps the ratio of the tissue, 74 by 9 and a little.
        const { box } = await pictureWhere(page, (p) => p.inked > 500);
        assert.ok((box[2] - box[0]) / (box[3] - box[1]) > 4, String(box));
    });
});

test('an image lies behind the cells, above what is above, until it is switched off', async () => {
    file('image.html', withImage());
    await onPage('image.html', async (page) => {
        const part = (picture, colour) => (picture.colours[colour] ?? 0) / (picture.width * picture.height);
        const [red, green] = ['16,0,0', '0,16,0'];
        const { rows } = await pictureWhere(page, (p) => part(p, red) > 0.05 && part(p, green) > 0.05);
        assert.ok(rows[red][1] < rows[green][0], `red in rows ${rows[red]}, green in ${rows[green]}`);
        await page.click('.view-tools >> text=Image');
        const without = await pictureWhere(page, (p) => p.inked > 500 && part(p, red) + part(p, green) < 0.001);
        await page.click('.view-tools >> text=Image');
        await pictureWhere(page, (p) => p.inked > 2 * without.inked);
        await page.click('.view-tools >> text=Tissue'); // the plane of H has none
        await pictureWhere(page, (p) => p.inked > 500 && part(p, red) + part(p, green) < 0.001);
    });
});
