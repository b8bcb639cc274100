/** Takes a picture of a report: node picture.mjs REPORT.html PICTURE.png. At a middle scale, with its graph; a tissue at the scale of its domains, with
 * programs. Of the page that computes, when it is done with a file: node picture.mjs pnmf.html PICTURE.png FILE. */
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { chromium } from 'playwright-core';

const [report, picture, data] = process.argv.slice(2).map((path) => resolve(path));
const browser = await chromium.launch({
    executablePath: process.env.PNMF_CHROMIUM ?? '/usr/bin/chromium',
    args: ['--no-sandbox', '--use-angle=swiftshader', '--enable-unsafe-swiftshader', '--ignore-gpu-blocklist'],
});
const page = await browser.newPage({ viewport: { width: 1280, height: 720 }, reducedMotion: 'reduce', colorScheme: 'light' });
page.setDefaultTimeout(120000);
await page.goto(pathToFileURL(report).href);
if (data) {
    await page.setInputFiles('#pnmf-input', data);
    await page.waitForSelector('html[data-phase=done]', { state: 'attached' });
    const frame = await (await page.waitForSelector('iframe')).contentFrame();
    await frame.waitForFunction(() => /^UMAP/.test(document.querySelector('.axes')?.textContent));
    await page.setViewportSize({ width: 1280, height: 1080 }); // the explorer is as tall as the window
} else {
    await page.waitForSelector('html[data-ready=true]', { state: 'attached' });
}
if (!data && (await page.locator('text=\u2605 domains').count())) {
    await page.click('#tab-Programs');
} else if (!data) {
    await page.click('#tab-Topology');
    await page.click('.view-tools button:has-text("Graph")');
    await page.focus('#scale');
    await page.keyboard.press('Home');
    for (let ten = 0; ten < 5; ++ten) await page.keyboard.press('PageDown');
    await page.waitForSelector('[data-figure="components-of-the-graph"] svg .now', { state: 'attached' });
}
await page.evaluate(() => document.activeElement.blur());
// Software drawing may lag behind: until two pictures in a row are the same.
let last = await page.screenshot();
for (let next = await page.screenshot(); !next.equals(last); next = await page.screenshot()) last = next;
await page.screenshot({ path: picture });
await browser.close();
