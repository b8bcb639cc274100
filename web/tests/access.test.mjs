/** For everybody: keyboard, names for screen readers, contrast, small screens; and names that want to be markup. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { assertStrict, download, file, goTo, launch, lasso, open, openTab, pictureWhere, pnmf, spread, where } from './page.mjs';

let browser;
const hostileFolder = '<img src=x onerror=alert(1)>';
const tabs = ['Scales', 'Genes', 'Topology', 'Structure', 'Programs', 'Run'];
const hostile = [
    '<img src=x onerror="window.broken=1">',
    '</script><script>window.broken=1</script>',
    '"><svg onload="window.broken=1">',
    "'); window.broken=1; ('",
    '<!--',
    '<b>bold</b>',
    '&lt;i&gt;',
    'javascript:window.broken=1',
    '{{constructor.constructor("window.broken=1")()}}',
    'line \u2028 and turn \u202e',
];
const quoted = (text) => `"${text.replaceAll('"', '""')}"`;

before(async () => {
    pnmf('simulate', 'cells', '--cells', '60', '--genes', '40', '--types', '3', '-o', 'cells');
    pnmf('fit', 'cells', '--labels', 'label', '--max-scales', '6', '--rank', '5', '--preset', 'paper', '-o', 'six');
    pnmf('fit', 'cells', '--labels', 'label', '--max-scales', '3', '--rank', '4', '--preset', 'paper', '-o', 'three');
    pnmf('report', 'six', 'three', '-o', 'both.html');
    const head = ['feature', ...hostile.map((name, j) => quoted(`${name} ${j}`))].join(',');
    const rows = hostile.map((name, i) => [quoted(`${name} gene${i}`), ...hostile.map((_, j) => ((i * 7 + j * 3) % 10) + 1)].join(','));
    file('hostile.csv', [head, ...rows].join('\n') + '\n');
    file('labels.csv', hostile.map((name, j) => quoted(`${name} of ${j % 2}`)).join('\n') + '\n');
    pnmf('fit', 'hostile.csv', '--labels', 'labels.csv', '--rank', '2', '--preset', 'paper', '-o', hostileFolder);
    pnmf('simulate', 'cells', '--cells', '200', '--genes', '300', '--types', '4', '-o', 'many');
    pnmf('fit', 'many', '--labels', 'label', '-o', 'found');
    const donors = Array.from({ length: 200 }, (_, j) => `donor ${1 + (j % 2)}`);
    file('donors.csv', donors.join('\n') + '\n');
    pnmf('fit', 'many', '--batch', 'donors.csv', '-o', 'balanced');
    // More cells than any limit but UMAP's; an embedding is enough for a page.
    // Half of them stand close together.
    const points = Array.from({ length: 20100 }, (_, j) => [37, 91, 53].map((step) => 5 + (j % 2 ? 1 : 0.05) * (((j * step) % 20107) / 4000)).join(','));
    file('large.csv', points.join('\n') + '\n');
    pnmf('fit', 'large.csv', '--cells', 'rows', '--rank', '3', '--max-scales', '2', '--neighbors', '5', '--max-sweeps', '2', '--clusters', '2', '-o', 'large');
    pnmf('report', 'large', '-o', 'large.html');
    // Cells of three types, and the same without those of the first type.
    for (const [name, first] of [['whole', 0], ['part', 1]]) {
        const types = Array.from({ length: 45 }, (_, j) => j % 3).filter((type) => type >= first);
        const values = Array.from({ length: 6 }, (_, i) => [`gene${i}`, ...types.map((type, j) => (i % 3 === type ? 20 : 1) + ((i * 7 + j * 3) % 5))].join(','));
        file(`${name}.csv`, [['feature', ...types.map((_, j) => `cell${j}`)].join(','), ...values].join('\n') + '\n');
        file(`${name}_labels.csv`, types.map((type) => 'abc'[type]).join('\n') + '\n');
        pnmf('fit', `${name}.csv`, '--labels', `${name}_labels.csv`, '--max-scales', '3', '--rank', '2', '--preset', 'paper', '-o', name);
    }
    pnmf('report', 'whole', 'part', '-o', 'parts.html');
    browser = await launch();
});
after(() => browser?.close());

test('two results share the slider and the selection', async () => {
    const { page, complaints, close } = await open(browser, 'both.html');
    assert.equal(await page.locator('.stage').count(), 2);
    await goTo(page, 'Home');
    assert.match(await where(page), /scale 1 of 6 .*\|.*scale 1 of 3 /);
    await page.keyboard.press('End');
    assert.match(await where(page), /scale 6 of 6 .*\|.*scale 3 of 3 /);
    await page.keyboard.press('Home');
    for (const index of [0, 1]) await pictureWhere(page, (p) => p.inked > 500, index);
    await page.click('text=Lasso');
    await lasso(page, [[0.02, 0.02], [0.98, 0.02], [0.98, 0.9], [0.02, 0.9]], 1);
    await page.waitForFunction(() => document.querySelector('.selected').textContent === '60 and 60 cells selected');
    for (const tab of tabs) await openTab(page, tab);
    assert.deepEqual(complaints, []);
    await close();
});

test('the clusters found are listed, drawn as they nest, and colour the cells', async () => {
    const { page, complaints, close } = await open(browser, 'found/report.html');
    const rows = await page.$$eval('[data-figure="resolutions"] tbody tr', (all) => all.map((row) => row.textContent));
    assert.ok(rows.length >= 2, `${rows.length} resolutions`);
    assert.equal(rows.filter((text) => text.includes('recommended')).length, 1);
    const clusters = rows.map((text) => Number.parseInt(text, 10));
    assert.deepEqual(clusters, [...clusters].sort((a, b) => a - b));
    const blocks = await page.$$eval('[data-figure="resolutions"] rect', (all) => all.map((rect) => Number(rect.getAttribute('width'))));
    assert.equal(blocks.length, clusters.reduce((sum, k) => sum + k, 0));
    const fills = await page.$$eval('[data-figure="resolutions"] rect', (all) => all.map((rect) => rect.getAttribute('fill')));
    const coloursOf = clusters.map((k, row) => fills.slice(clusters.slice(0, row).reduce((sum, one) => sum + one, 0)).slice(0, k));
    for (let row = 0; row + 1 < coloursOf.length; ++row)
        for (const colour of coloursOf[row]) assert.ok(coloursOf[row + 1].includes(colour), `${colour} of row ${row + 1} in the next`);
    const p = await page.$$eval('[data-figure="resolutions"] tbody tr td:nth-child(4)', (all) => all.map((cell) => cell.textContent));
    assert.ok(p.every((text) => /^(< \.001|\d.*)$/.test(text)), `largest p: ${p}`);
    await page.click('[data-figure="resolutions"] tbody tr:first-child button');
    await page.waitForFunction(() => /^pnmf_clusters_1/.test(document.querySelector('.legend h3').textContent));
    assert.equal(await page.locator('.legend .entry').count(), clusters[0]);
    assert.deepEqual(complaints, []);
    await close();
});

test('batches are listed with their mixing, and colour the cells', async () => {
    const { page, complaints, close } = await open(browser, 'balanced/report.html');
    await openTab(page, 'Run');
    const words = await page.locator('.batches').textContent();
    assert.match(words, /donor 1.*100 cells.*donor 2.*100 cells/s);
    assert.match(words, /Mixing of batches among the nearest cells: [\d.]+ in the space .*, [\d.]+ in the embedding/);
    assert.match(words, /are not corrected/);
    await page.locator('.batches button').focus();
    await page.keyboard.press('Enter');
    await page.waitForFunction(() => /^pnmf_batch/.test(document.querySelector('.legend h3').textContent));
    assert.deepEqual(complaints, []);
    await close();
});

test('the tree of the clusters is there in words, and opens by keyboard', async () => {
    const { page, complaints, close } = await open(browser, 'found/report.html');
    const clusters = (await page.$$eval('[data-figure="resolutions"] tbody tr', (all) => all.map((row) => row.textContent))).map((text) => Number.parseInt(text, 10));
    await page.focus('.tree-in-words summary');
    await page.keyboard.press('Enter');
    await page.waitForSelector('.tree-in-words[open] li');
    assert.equal(await page.locator('.tree-in-words li').count(), clusters.reduce((sum, k) => sum + k, 0));
    assert.match(await page.textContent('.tree-in-words li li'), /cluster \d+ of \d+: \d+ cells/);
    assert.deepEqual(complaints, []);
    await close();
});

test('a map comes up as the page opens, and gives way to the slider', async () => {
    const { page, complaints, close } = await open(browser, 'found/report.html');
    await page.waitForFunction(() => /^UMAP of scale \d+$/.test(document.querySelector('.layout [role=status]').textContent));
    await page.waitForFunction(() => /^UMAP of scale/.test(document.querySelector('.axes').textContent));
    const first = await where(page);
    await goTo(page, 'Home');
    if ((await where(page)) === first) await page.keyboard.press('End');
    await page.waitForFunction(() => /^principal directions/.test(document.querySelector('.axes').textContent));
    // Asked for, it is there at once and stays while the scale moves.
    await page.keyboard.press('r');
    await page.click('button[name=umap]');
    await page.waitForFunction(() => /^UMAP of scale/.test(document.querySelector('.axes').textContent));
    await goTo(page, 'End');
    await page.keyboard.press('Home');
    assert.match(await page.textContent('.axes'), /^UMAP of scale/);
    assert.deepEqual(complaints, []);
    await close();
});

test('the graph is that of the space the fit measured distances in', async () => {
    const { page, complaints, close } = await open(browser, 'found/report.html');
    await page.click('.view-tools button:has-text("Graph")');
    await goTo(page, 'End');
    await page.keyboard.press('Home');
    await page.waitForSelector('html[data-edges="0"]', { state: 'attached' }); // nothing is joined at the finest scale
    await page.keyboard.press('End');
    await page.waitForFunction(() => Number(document.documentElement.dataset.edges) >= 199);
    assert.deepEqual(complaints, []);
    await close();
});

test('what is left out for many cells is said', async () => {
    const { page, complaints, close } = await open(browser, 'large.html');
    assert.match(await page.textContent('.no-graph'), /graph is drawn for up to 400 cells/);
    assert.match(await page.textContent('.limits'), /Above 5,000 cells a map is computed only when you ask for it/);
    assert.match(await page.textContent('.limits'), /t-SNE is for at most 3,000 cells/);
    assert.equal(await page.isVisible('progress[aria-label="Progress of the map"]'), false);
    assert.deepEqual(complaints, []);
    await close();
});

test('of very many cells the picture shows how dense they are, and each cell where there is room', async () => {
    const { page, complaints, close } = await open(browser, 'large.html');
    // The share of what is drawn that has the two colours of the clusters, and not a paler one.
    const full = ({ colours, inked }, own) => own.reduce((sum, colour) => sum + (colours[colour] ?? 0), 0) / inked;
    const dense = await pictureWhere(page, ({ inked }) => inked > 500);
    for (let step = 0; step < 6; ++step) await page.click('.view-tools button:has-text("+")');
    const ownOf = ({ colours }) => Object.keys(colours).sort((a, b) => colours[b] - colours[a]).slice(0, 2);
    const near = await pictureWhere(page, (seen) => seen.inked > 500 && full(seen, ownOf(seen)) > 0.25);
    assert.ok(full(dense, ownOf(near)) < 0.1, `${full(dense, ownOf(near))} of the picture has the colours of near`);
    assert.deepEqual(complaints, []);
    await close();
});

test('a label has one colour in both results of a page, and the same in a page of its own', async () => {
    const coloursIn = async (name, index) => {
        const { page, close } = await open(browser, name);
        await page.selectOption('#colour', { label: 'label' });
        await page.waitForFunction(() => /^label/.test(document.querySelector('.legend h3').textContent));
        const found = await page.locator('.legend').nth(index).locator('.entry').evaluateAll((all) =>
            Object.fromEntries(all.map((one) => [one.querySelector('.name').textContent, one.querySelector('.swatch').style.background])));
        await close();
        return found;
    };
    const [whole, left, right] = [await coloursIn('whole/report.html', 0), await coloursIn('parts.html', 0), await coloursIn('parts.html', 1)];
    assert.equal(new Set(Object.values(whole)).size, Object.keys(whole).length);
    assert.deepEqual(left, whole);
    assert.equal(Object.keys(right).length, Object.keys(whole).length - 1);
    for (const [name, colour] of Object.entries(right)) assert.equal(colour, whole[name], name);
});

test('everything can be done without a mouse', async () => {
    const { page, complaints, close } = await open(browser, 'found/report.html');
    await goTo(page, 'Home'); // no map
    await page.keyboard.press('r');
    /** Presses Tab until what has the focus is as wanted. */
    const tabTo = async (selector) => {
        for (let i = 0; i < 120; ++i) {
            if (await page.evaluate((s) => document.activeElement.matches(s), selector)) return;
            await page.keyboard.press('Tab');
        }
        assert.fail(`Tab does not lead to ${selector}`);
    };
    await tabTo('.view-tools button');
    await tabTo('[role=tab]');
    await tabTo('#colour');
    await tabTo('#gene');
    await tabTo('.legend input[type=checkbox]');
    await page.keyboard.press(' ');
    await page.waitForFunction(() => document.querySelector('.legend input[type=checkbox]:not(:checked)'));
    await tabTo('[data-figure="resolutions"] tbody button');
    await page.keyboard.press('Enter');
    await page.waitForFunction(() => /^pnmf_clusters_1/.test(document.querySelector('.legend h3').textContent));
    await tabTo('#find');
    await page.keyboard.type('1');
    await page.keyboard.press('Enter');
    await page.waitForFunction(() => /cells? selected$/.test(document.querySelector('.selected').textContent));
    await page.waitForSelector('button[name=umap]:not([disabled])'); // a map may still be in the making
    await tabTo('button[name=umap]');
    await page.focus('#tab-Scales');
    await page.keyboard.press('ArrowRight');
    await page.waitForSelector('#panel-Genes:not([hidden])');
    assert.deepEqual(complaints, []);
    await close();
});

test('a screen reader is told where it is', async () => {
    const { page, complaints, close } = await open(browser, 'found/report.html');
    const session = await page.context().newCDPSession(page);
    const nodes = (await session.send('Accessibility.getFullAXTree')).nodes.filter((node) => !node.ignored);
    const named = (role) => nodes.filter((node) => node.role?.value === role).map((node) => node.name?.value ?? '');
    assert.deepEqual(named('tab'), tabs);
    assert.ok(named('slider').includes('Scale, from fine to coarse'));
    for (const role of ['button', 'checkbox', 'combobox', 'tab', 'slider', 'img', 'image', 'progressbar', 'toolbar'])
        assert.deepEqual(named(role).filter((name) => !name.trim()), [], `${role} without a name`);
    assert.ok(nodes.some((node) => node.role?.value === 'heading' && node.name?.value === 'found'));
    assert.match(await page.getAttribute('#scale', 'aria-valuetext'), /scale \d+ of \d+/);
    assert.equal(await page.getAttribute('html', 'lang'), 'en');
    assert.deepEqual(complaints, []);
    await close();
});

test('without WebGL the page says so, and the rest of it works', async () => {
    const blind = () => {
        const original = HTMLCanvasElement.prototype.getContext;
        HTMLCanvasElement.prototype.getContext = function (kind, ...rest) {
            return kind.startsWith('webgl') ? null : original.call(this, kind, ...rest);
        };
    };
    const { page, close } = await open(browser, 'six/report.html', { before: blind });
    await page.waitForSelector('.stage [role=alert]:has-text("no WebGL")');
    await goTo(page, 'End');
    assert.match(await where(page), /scale 6 of 6/);
    for (const tab of tabs) await openTab(page, tab);
    const drawing = await download(page, '[aria-label="Download the cells of six as SVG"]');
    assert.equal(drawing.bytes.toString().match(/<circle /g).length, 60);
    await close();
});

test('names that are markup stay text everywhere', async () => {
    const { page, complaints, close } = await open(browser, `${hostileFolder}/report.html`);
    assert.equal(await page.textContent('h1'), hostileFolder);
    for (const tab of tabs) await openTab(page, tab);
    await page.waitForSelector('.program .gene', { state: 'attached' });
    await openTab(page, 'Programs');
    await page.click('.program .gene >> nth=0');
    await openTab(page, 'Scales');
    await page.selectOption('#colour', { label: 'label' });
    await page.waitForFunction(() => /^label/.test(document.querySelector('.legend h3').textContent));
    const legend = await page.locator('.legend .name').allTextContents();
    assert.ok(legend.some((name) => name.startsWith('<img src=x')), legend.join(' '));
    await page.click('text=Select shown');
    await page.waitForFunction(() => /10 cells selected/.test(document.querySelector('.selected').textContent));
    assert.ok((await page.textContent('.names')).includes('</script><script>window.broken=1</script> 1'));
    const box = await page.locator('.stage').boundingBox();
    await page.mouse.move(box.x + box.width / 2, box.y + box.height / 2, { steps: 3 });
    const state = await page.evaluate(() => ({
        broken: window.broken,
        images: document.images.length,
        scripts: [...document.scripts].filter((script) => !script.type).length,
        bold: document.querySelectorAll('b, i').length,
        handlers: [...document.querySelectorAll('*')].filter((one) => one.hasAttribute('onerror') || one.hasAttribute('onload')).length,
    }));
    assert.deepEqual(state, { broken: undefined, images: 0, scripts: 1, bold: 0, handlers: 0 });
    assert.deepEqual(complaints, []);
    await close();
});

// Should a name ever become markup, the browser itself still refuses to run or load anything.
test('the policy of the page lets nothing run and nothing in or out', async () => {
    const { page, close } = await open(browser, `${hostileFolder}/report.html`);
    await assertStrict(page);
    await close();
});

for (const [width, height] of [[1280, 800], [400, 800]]) {
    test(`at ${width} pixels nothing sticks out and cells are drawn`, async () => {
        for (const name of ['six/report.html', 'both.html']) {
            const { page, complaints, close } = await open(browser, name, { viewport: { width, height } });
            for (const tab of tabs) {
                await openTab(page, tab);
                const wide = await page.evaluate(() => document.documentElement.scrollWidth);
                assert.ok(wide <= width, `${name}, ${tab}: ${wide} pixels wide`);
            }
            await goTo(page, 'Home');
            await page.evaluate(() => scrollTo(0, 0));
            await page.locator('.stage').first().scrollIntoViewIfNeeded();
            const seen = await pictureWhere(page, (p) => p.inked > 200);
            assert.ok(spread(seen) > 0.4 * Math.min(seen.width, seen.height));
            await goTo(page, 'End');
            assert.match(await where(page), /scale 6 of 6/);
            assert.deepEqual(complaints, []);
            await close();
        }
    });
}

test('everything that can be used has a name, and tabs follow the arrow keys', async () => {
    const { page, complaints, close } = await open(browser, 'six/report.html');
    await page.focus('#tab-Scales');
    for (const tab of [...tabs.slice(1), tabs[0]]) {
        await page.keyboard.press('ArrowRight');
        assert.equal(await page.evaluate(() => document.activeElement.id), `tab-${tab}`);
        assert.ok(await page.isVisible(`#panel-${tab}`));
    }
    const nameless = await page.evaluate(() =>
        [...document.querySelectorAll('button, input, select, canvas, svg, progress, [role=tab], [role=img]')]
            .filter((one) => !one.closest('[aria-hidden=true], [hidden]') && !one.closest('svg svg'))
            .filter((one) => {
                const label = one.getAttribute('aria-label') ?? one.getAttribute('aria-labelledby') ?? one.labels?.[0]?.textContent ?? one.textContent;
                return !label?.trim() && !one.closest('[role=img]:not(:scope)');
            })
            .map((one) => one.outerHTML.slice(0, 120)),
    );
    assert.deepEqual(nameless, []);
    assert.deepEqual(complaints, []);
    await close();
});

/** Contrast of two colours after WCAG 2. */
function contrast(a, b) {
    const luminance = (hex) => {
        const [r, g, b2] = hex.match(/[0-9a-f]{2}/gi).map((part) => {
            const share = Number.parseInt(part, 16) / 255;
            return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
        });
        return 0.2126 * r + 0.7152 * g + 0.0722 * b2;
    };
    const [dark, light] = [luminance(a), luminance(b)].sort((x, y) => x - y);
    return (light + 0.05) / (dark + 0.05);
}

for (const colorScheme of ['light', 'dark']) {
    test(`text and lines can be read in the ${colorScheme} theme`, async () => {
        const { page, close } = await open(browser, 'six/report.html', { colorScheme });
        assert.equal(await page.getAttribute('html', 'data-theme'), colorScheme);
        const colours = await page.evaluate(() => {
            const style = getComputedStyle(document.documentElement);
            const names = ['page', 'panel', 'ink', 'soft', 'accent', ...[1, 2, 3, 4, 5, 6].map((i) => `series-${i}`)];
            return Object.fromEntries(names.map((name) => [name, style.getPropertyValue(`--${name}`).trim()]));
        });
        for (const ground of ['page', 'panel'])
            for (const [name, colour] of Object.entries(colours))
                if (!['page', 'panel'].includes(name)) assert.ok(contrast(colour, colours[ground]) >= 4.5, `${name} on ${ground}`);
        await page.click('.theme');
        assert.notEqual(await page.getAttribute('html', 'data-theme'), colorScheme);
        await close();
    });
}
