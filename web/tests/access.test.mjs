/** For everybody: keyboard, names for screen readers, contrast, small screens; and names that want to be markup. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { download, file, goTo, launch, lasso, open, openTab, pictureWhere, pnmf, spread, where } from './page.mjs';

let browser;
const hostileFolder = '<img src=x onerror=alert(1)>';
const tabs = ['Scales', 'Topology', 'Structure', 'Programs', 'Run'];
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
    await page.click('[data-figure="resolutions"] tbody tr:first-child button');
    await page.waitForFunction(() => /^pnmf_clusters_1/.test(document.querySelector('.legend h3').textContent));
    assert.equal(await page.locator('.legend .entry').count(), clusters[0]);
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
