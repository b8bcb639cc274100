/** One result in a real browser: scales, colours, selection, topology, programs, downloads. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { download, goTo, launch, lasso, open, openTab, picture, pictureWhere, pnmf, spread, where } from './page.mjs';

let browser;
before(async () => {
    pnmf('simulate', 'circles', '-o', 'circles.csv');
    const weights = ['--lambda1', '100', '--lambda2', '100', '--lambda3', '0.1'];
    pnmf('fit', 'circles.csv', '--labels', 'circles_cells.tsv:label', '--rank', '2', ...weights, '--preset', 'paper', '-o', 'circles');
    browser = await launch();
});
after(() => browser?.close());

const report = 'circles/report.html';

/** A test on a page of its own, which must not complain. */
function onPage(name, check, options) {
    test(name, async () => {
        const { page, complaints, close } = await open(browser, report, options);
        await goTo(page, 'Home'); // the page opens at the recommended scale
        await check(page);
        assert.deepEqual(complaints, []);
        await close();
    });
}

onPage('the page names the run and draws its cells', async (page) => {
    assert.equal(await page.title(), 'circles \u2013 pnmf');
    assert.match(await page.textContent('header'), /80 cells \u00b7 rank 2 \u00b7 80 scales/);
    const seen = await pictureWhere(page, (p) => spread(p) > 0.7 * Math.min(p.width, p.height));
    assert.ok(seen.inked > 80 * 20, `${seen.inked} pixels`);
    assert.match(await page.getAttribute('canvas.cells', 'aria-label'), /80 cells at scale \d+ of 80, coloured by label/);
});

onPage('the slider moves by keyboard, and the circles collapse at the coarsest scale', async (page) => {
    await goTo(page, 'Home');
    assert.match(await where(page), /scale 1 of 80 .* 80 components/);
    const fine = await pictureWhere(page, (p) => spread(p) > 0.7 * Math.min(p.width, p.height));
    await page.keyboard.press('ArrowRight');
    assert.match(await where(page), /scale 2 of 80/);
    await page.keyboard.press('End');
    assert.match(await where(page), /scale 80 of 80 .* 1 component$/);
    const coarse = await pictureWhere(page, (p) => spread(p) < 0.2 * p.width);
    assert.ok(spread(coarse) < spread(fine) / 3);
    await page.click('text=Own frame');
    await pictureWhere(page, (p) => spread(p) > 0.5 * Math.min(p.width, p.height));
});

onPage(
    'the film runs to the coarsest scale and stops, cells moving in between',
    async (page) => {
        await goTo(page, 'Home');
        await page.selectOption('#speed', '32/s');
        const start = await picture(page);
        await page.click('.play');
        assert.equal(await page.getAttribute('.play', 'aria-pressed'), 'true');
        await page.waitForSelector('html[data-scale="79"]', { state: 'attached' });
        await page.waitForSelector('.play[aria-pressed=false]');
        const end = await pictureWhere(page, (p) => spread(p) < 0.2 * p.width);
        assert.ok(spread(end) < spread(start));
        await page.click('body', { position: { x: 5, y: 5 } });
        await page.keyboard.press(' ');
        await page.waitForSelector('.play[aria-pressed=true]');
        await page.keyboard.press(' ');
        await page.waitForSelector('.play[aria-pressed=false]');
    },
    { reducedMotion: 'no-preference' },
);

onPage('a click on barcode, curve, diagram or tree moves the slider there', async (page) => {
    await openTab(page, 'Topology');
    for (const [figure, axis] of [['barcode', 'x'], ['components-of-the-graph', 'x'], ['merge-tree', 'x'], ['diagram', 'y']]) {
        await goTo(page, 'Home');
        const svg = page.locator(`[data-figure="${figure}"] svg[aria-label]`);
        await svg.scrollIntoViewIfNeeded();
        const box = await svg.boundingBox();
        const far = axis === 'x' ? { x: box.width - 24, y: box.height / 2 } : { x: box.width / 2, y: 24 };
        await svg.click({ position: far });
        assert.match(await where(page), /scale 80 of 80/, figure);
        // Halfway is between the last two deaths; the line that marks the scale follows.
        const mark = svg.locator('line.now');
        const end = await mark.getAttribute(`${axis}1`);
        const middle = axis === 'x' ? { x: 0.45 * box.width, y: box.height / 2 } : { x: box.width / 2, y: 0.6 * box.height };
        await svg.click({ position: middle });
        assert.match(await where(page), /scale 79 of 80/, figure);
        assert.notEqual(await mark.getAttribute(`${axis}1`), end, figure);
    }
});

onPage('the lasso selects what it surrounds, with counts and names', async (page) => {
    await goTo(page, 'Home');
    await page.click('text=Lasso');
    await lasso(page, [[0.01, 0.01], [0.99, 0.01], [0.99, 0.93], [0.01, 0.93]]);
    await page.waitForFunction(() => document.querySelector('.selected').textContent === '80 cells selected');
    assert.match(await page.textContent('.parts'), /circle1 20/);
    await lasso(page, [[0.4, 0.4], [0.6, 0.4], [0.6, 0.6], [0.4, 0.6]]);
    await page.waitForFunction(() => /^\d\d? cells selected$/.test(document.querySelector('.selected').textContent) && !/^80/.test(document.querySelector('.selected').textContent));
    const counted = Number.parseInt(await page.textContent('.selected'), 10);
    const names = (await page.textContent('.names')).trim().split('\n');
    assert.equal(names.length, counted);
    assert.ok(names.length >= 20 && names.length < 80, `${names.length} names`);
    await page.keyboard.press('Escape');
    await page.waitForFunction(() => /^No cell/.test(document.querySelector('.selected').textContent));
    await page.fill('#find', names[0]);
    await page.keyboard.press('Enter');
    await page.waitForFunction(() => /cells selected$/.test(document.querySelector('.selected').textContent));
});

onPage('the legend hides and shows its categories', async (page) => {
    await goTo(page, 'Home');
    const all = await pictureWhere(page, (p) => p.inked > 1000);
    await page.click('.legend .entry:has-text("circle4")');
    const fewer = await pictureWhere(page, (p) => spread(p) < 0.8 * spread(all));
    assert.ok(fewer.inked < all.inked);
    await page.click('.legend button:has-text("None")');
    await pictureWhere(page, (p) => p.inked < 50);
    await page.click('.legend button:has-text("All")');
    await pictureWhere(page, (p) => Math.abs(p.inked - all.inked) < 0.05 * all.inked);
});

onPage('hovering a cell tells its name and label', async (page) => {
    await goTo(page, 'End');
    const seen = await pictureWhere(page, (p) => spread(p) < 0.2 * p.width);
    const box = await page.locator('.stage').boundingBox();
    const middle = [(seen.box[0] + seen.box[2]) / 2, (seen.box[1] + seen.box[3]) / 2];
    await page.mouse.move(box.x + middle[0] + 3, box.y + middle[1] + 3);
    await page.mouse.move(box.x + middle[0], box.y + middle[1], { steps: 3 });
    await page.waitForFunction(() => !document.querySelector('.tip').hidden);
    assert.match(await page.textContent('.tip'), /label: circle\d/);
});

onPage('genes of a program colour the cells', async (page) => {
    const before = await pictureWhere(page, (p) => p.inked > 1000);
    await openTab(page, 'Programs');
    await page.waitForSelector('.program .gene');
    assert.match(await page.textContent('.program .program-path'), /^persistence [\d.]+: at scales? \d+/);
    const gene = await page.textContent('.program .gene');
    await page.click('.program .gene >> nth=0');
    await page.waitForSelector('.gene[aria-pressed=true]');
    await pictureWhere(page, (p) => Object.keys(p.colours).length > Object.keys(before.colours).length + 5);
    await openTab(page, 'Scales');
    await page.waitForSelector('.legend .ramp');
    assert.equal(await page.inputValue('#gene'), gene);
    assert.ok((await page.textContent('.legend h3')).startsWith(gene));
    await page.selectOption('#colour', { label: 'P2' });
    await page.waitForFunction(() => /^P2/.test(document.querySelector('.legend h3').textContent));
    await page.fill('#gene', 'no such gene');
    await page.keyboard.press('Enter');
    assert.match(await page.textContent('.row:has(#gene)'), /is none of the/);
});

/** Data that takes long to unpack, as on a busy machine. */
function slowUnpacking() {
    const now = Response.prototype.arrayBuffer;
    Response.prototype.arrayBuffer = async function () {
        await new Promise((done) => setTimeout(done, 400));
        return now.call(this);
    };
}

onPage('the legend follows the colours however long their data takes', async (page) => {
    await page.selectOption('#colour', { label: 'P1' });
    await page.selectOption('#colour', { label: 'P2' });
    await page.waitForFunction(() => /^P2/.test(document.querySelector('.legend h3').textContent), null, { timeout: 10000 });
    assert.equal(await page.locator('.legend .ramp').count(), 1);
}, { before: slowUnpacking });

onPage('cells are coloured by their cluster at the scale', async (page) => {
    await page.selectOption('#colour', { label: 'cluster at this scale' });
    await page.waitForFunction(() => /^cluster at this scale/.test(document.querySelector('.legend h3').textContent));
    const counts = (await page.locator('.legend .count').allTextContents()).map(Number);
    assert.equal(counts.reduce((a, b) => a + b, 0), 80);
    assert.ok(counts.length > 1);
});

onPage('the graph of the scale is drawn, with as many edges as the program counts', async (page) => {
    const scales = JSON.parse(pnmf('scales', 'circles.csv', '--json'));
    await page.click('.view-tools button:has-text("Graph")');
    await goTo(page, 'End');
    for (const at of [79, 69]) {
        await page.waitForSelector(`html[data-edges="${scales.edges[at]}"]`, { state: 'attached' });
        await page.keyboard.press('PageUp');
    }
});

onPage('what is shown can be saved as TSV, SVG and PNG', async (page) => {
    await page.click('.legend .entry:has-text("circle1")');
    await page.waitForFunction(() => !document.querySelector('[data-category=circle1]').checked);
    const table = await download(page, '[aria-label="Download the cells of circles as TSV"]');
    assert.equal(table.name, 'circles-scale-1.tsv');
    const rows = table.bytes.toString().trim().split('\n').map((row) => row.split('\t'));
    assert.deepEqual(rows[0].slice(0, 5), ['cell', 'x', 'y', 'selected', 'label']);
    assert.equal(rows.length, 61);
    assert.ok(rows.slice(1).every((row) => row[4] !== 'circle1' && Number.isFinite(Number(row[1]))));
    const drawing = await download(page, '[aria-label="Download the cells of circles as SVG"]');
    assert.equal(drawing.bytes.toString().match(/<circle /g).length, 60);
    const image = await download(page, '[aria-label="Download the cells of circles as PNG"]');
    assert.equal(image.bytes.subarray(1, 4).toString(), 'PNG');
    const inked = await page.evaluate(async (base64) => {
        const saved = new Image();
        saved.src = `data:image/png;base64,${base64}`;
        await saved.decode();
        const canvas = document.createElement('canvas');
        [canvas.width, canvas.height] = [saved.width, saved.height];
        const context = canvas.getContext('2d');
        context.drawImage(saved, 0, 0);
        const { data } = context.getImageData(0, 0, canvas.width, canvas.height);
        return data.filter((value, i) => i % 4 < 3 && value !== data[i % 4]).length;
    }, image.bytes.toString('base64'));
    assert.ok(inked > 1000, `the cells are in the picture: ${inked} values differ from its corner`);
    assert.ok(image.bytes.length > 4000, `${image.bytes.length} bytes`);
    await openTab(page, 'Topology');
    const deaths = await download(page, '[aria-label="Download Barcode as TSV"]');
    assert.equal(deaths.bytes.toString().trim().split('\n').length, 81);
    const bars = await download(page, '[aria-label="Download Barcode as SVG"]');
    assert.match(bars.bytes.toString(), /^<svg [^>]*xmlns="http:\/\/www.w3.org\/2000\/svg"/);
    const chart = await download(page, '[aria-label="Download Barcode as PNG"]');
    assert.equal(chart.bytes.subarray(1, 4).toString(), 'PNG');
});

onPage('UMAP is computed on request and can be left again', async (page) => {
    await goTo(page, 'End');
    await pictureWhere(page, (p) => spread(p) < 0.2 * p.width);
    await page.click('button[name=umap]');
    await page.waitForFunction(() => /^UMAP of scale 80$/.test(document.querySelector('.layout [role=status]').textContent));
    await pictureWhere(page, (p) => spread(p) > 0.5 * Math.min(p.width, p.height));
    await page.click('text=Back to the plane of H');
    await pictureWhere(page, (p) => spread(p) < 0.2 * p.width);
    await page.click('button[name=tsne]');
    await page.waitForFunction(() => /^t-SNE of scale 80$/.test(document.querySelector('.layout [role=status]').textContent));
});

onPage('structure and run tell what happened', async (page) => {
    await openTab(page, 'Structure');
    const figures = ['flow-from-fine-to-coarse', 'agreement-with-labels', 'scores-without-labels', 'effective-rank', 'kkt-residual'];
    for (const figure of figures)
        await page.waitForSelector(`[data-figure="${figure}"] svg[aria-label]`);
    assert.ok((await page.locator('.flow rect').count()) > 10);
    await openTab(page, 'Run');
    await page.waitForSelector('[data-figure=convergence] svg[aria-label]');
    const text = await page.textContent('#panel-Run');
    assert.match(text, /pnmf fit circles\.csv --labels/);
    assert.match(text, /converged after \d+ sweeps/);
    assert.match(text, /Persistent Nonnegative Matrix Factorization/);
    for (const one of ['@deck.gl/core', '@observablehq/plot', 'd3-sankey', 'umap-js']) assert.ok(text.includes(one), one);
    for (const term of ['fit', 'graph', 'smoothness', 'anchor'])
        assert.ok((await page.textContent('[data-figure=convergence] svg[aria-label]')).includes(term), term);
});
