/** What the tests share: reports made by the program, a browser, and looks at what it draws. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { chromium } from 'playwright-core';

const program = process.env.PNMF_PROGRAM;
export const folder = mkdtempSync(join(tmpdir(), 'pnmf-page-'));
process.on('exit', () => rmSync(folder, { recursive: true, force: true }));

export function pnmf(...words) {
    return execFileSync(program, words, { cwd: folder, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] });
}

export function file(name, text) {
    writeFileSync(join(folder, name), text);
}

export const launch = () =>
    chromium.launch({
        executablePath: process.env.PNMF_CHROMIUM,
        // Software rendering, so that a machine without a graphics card has WebGL.
        args: ['--no-sandbox', '--use-angle=swiftshader', '--enable-unsafe-swiftshader', '--ignore-gpu-blocklist'],
    });

/** Opens a report, `before` having run in the page first; `complaints` collects console messages, errors, dialogs and requests that leave the file. */
export async function open(browser, name, { before, ...options } = {}) {
    const context = await browser.newContext({
        viewport: { width: 1280, height: 900 },
        reducedMotion: 'reduce', // cells are where they belong at once: nothing to wait for
        acceptDownloads: true,
        ...options,
    });
    const page = await context.newPage();
    if (before) await page.addInitScript(before);
    page.setDefaultTimeout(60000);
    const complaints = [];
    page.on('console', (message) => complaints.push(`${message.type()}: ${message.text()}`));
    page.on('pageerror', (error) => complaints.push(`error: ${error.message}`));
    page.on('dialog', (dialog) => (complaints.push(`dialog: ${dialog.message()}`), dialog.dismiss()));
    page.on('request', (request) => {
        if (!/^(file|data|blob):/.test(request.url())) complaints.push(`request: ${request.url()}`);
    });
    await page.goto(pathToFileURL(join(folder, name)).href);
    await page.waitForSelector('html[data-ready=true]', { state: 'attached' });
    return { page, complaints, close: () => context.close() };
}

export const where = (page) => page.textContent('.where');
export const openTab = (page, name) => page.click(`#tab-${name}`);

/** Moves the slider as a keyboard does. */
export async function goTo(page, key) {
    await page.focus('#scale');
    await page.keyboard.press(key);
}

/** A pixel picture of a stage: box of what differs from the background, how many pixels each colour has, and in which rows. */
export async function picture(page, index = 0) {
    const stage = page.locator('.stage').nth(index);
    const shot = await stage.screenshot();
    return page.evaluate(async (base64) => {
        const image = new Image();
        image.src = `data:image/png;base64,${base64}`;
        await image.decode();
        const canvas = document.createElement('canvas');
        canvas.width = image.width;
        canvas.height = image.height - 40; // without the line of text at the bottom
        const context = canvas.getContext('2d');
        context.drawImage(image, 0, 0);
        const { data, width, height } = context.getImageData(0, 0, canvas.width, canvas.height);
        const background = [...data.slice(4 * (width * 20 + 20), 4 * (width * 20 + 20) + 3)];
        const colours = {};
        const rows = {};
        const box = [width, height, 0, 0];
        let inked = 0;
        for (let y = 4; y < height; ++y) {
            for (let x = 4; x < width - 4; ++x) {
                const i = 4 * (width * y + x);
                const far = Math.abs(data[i] - background[0]) + Math.abs(data[i + 1] - background[1]) + Math.abs(data[i + 2] - background[2]);
                if (far < 40) continue;
                ++inked;
                box[0] = Math.min(box[0], x);
                box[1] = Math.min(box[1], y);
                box[2] = Math.max(box[2], x);
                box[3] = Math.max(box[3], y);
                const key = [data[i], data[i + 1], data[i + 2]].map((v) => Math.round(v / 16)).join(',');
                colours[key] = (colours[key] ?? 0) + 1;
                rows[key] = [rows[key]?.[0] ?? y, y];
            }
        }
        return { width, height, box, inked, colours, rows };
    }, shot.toString('base64'));
}

/** Looks at the stage until what it shows is as wanted: drawing happens between frames. */
export async function pictureWhere(page, wanted, index = 0) {
    const until = Date.now() + 30000;
    let seen = await picture(page, index);
    while (!wanted(seen) && Date.now() < until) seen = await picture(page, index);
    assert.ok(wanted(seen), `the picture stays ${JSON.stringify({ ...seen, colours: Object.keys(seen.colours).length, rows: null })}`);
    return seen;
}

export const spread = ({ box, inked }) => (inked ? Math.max(box[2] - box[0], box[3] - box[1]) : 0);

/** Draws a closed path on a stage with the mouse; corners are shares of its width and height. */
export async function lasso(page, corners, index = 0) {
    const box = await page.locator('.stage').nth(index).boundingBox();
    const at = ([x, y]) => [box.x + x * box.width, box.y + y * box.height];
    await page.mouse.move(...at(corners[0]));
    await page.mouse.down();
    for (const corner of [...corners.slice(1), corners[0]]) await page.mouse.move(...at(corner), { steps: 4 });
    await page.mouse.up();
}

/** The text or bytes a click saves, in the page or a frame of it, and the name of the file. */
export async function download(page, selector, frame = page) {
    const [saved] = await Promise.all([page.waitForEvent('download'), frame.click(selector)]);
    return { name: saved.suggestedFilename(), bytes: readFileSync(await saved.path()) };
}

/** Nothing that a document is made to hold may run, nor fetch: `frame` is a page or a frame of one. */
export async function assertStrict(frame) {
    const came = [];
    (frame.page?.() ?? frame).on('response', (response) => came.push(response.url()));
    const expected = ['connect-src', 'img-src', 'script-src-attr', 'script-src-elem', 'style-src-elem'];
    const seen = await frame.evaluate(async (expected) => {
        const refused = [];
        document.addEventListener('securitypolicyviolation', (event) => refused.push(event.effectiveDirective));
        const script = document.createElement('script');
        script.textContent = 'window.broken = 1';
        document.body.append(script);
        const holder = document.createElement('div');
        holder.innerHTML =
            '<img src="https://example.org/x.png"><b onclick="window.broken = 2">x</b>' +
            '<link rel="stylesheet" href="https://example.org/x.css">';
        document.body.append(holder);
        holder.querySelector('b').click();
        const fetched = await fetch('https://example.org/').then(() => 'came', () => 'refused');
        const bound = performance.now() + 50000; // violations are told a moment later
        while (expected.some((directive) => !refused.includes(directive)) && performance.now() < bound)
            await new Promise((resolve) => setTimeout(resolve, 50));
        return { broken: window.broken, fetched, refused };
    }, expected);
    assert.equal(seen.broken, undefined);
    assert.equal(seen.fetched, 'refused');
    for (const directive of expected) assert.ok(seen.refused.includes(directive), `${directive} is not among ${seen.refused}`);
    assert.deepEqual(came.filter((url) => url.startsWith('http')), []);
}
