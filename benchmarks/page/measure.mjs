/**
 * Opens a report in Chromium and measures: node measure.mjs REPORT.html (with PNMF_CHROMIUM, and playwright-core in
 * the modules of web/). Prints JSON: size, seconds until the cells are drawn (in a browser just started, and in one
 * that has drawn before), frames in a second while a film runs (drawn in software: a graphics card is faster), the
 * page's own work in a frame, and processor time of its thread; the same for frames in which the wheel zooms.
 */
import { execFileSync } from 'node:child_process';
import { statSync } from 'node:fs';
import { createRequire } from 'node:module';
import { loadavg } from 'node:os';
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';

const require = createRequire(new URL('../../web/package.json', import.meta.url));
const { chromium } = require('playwright-core');
const file = resolve(process.argv[2]);
const browser = await chromium.launch({
    executablePath: process.env.PNMF_CHROMIUM ?? '/usr/bin/chromium',
    args: ['--no-sandbox', '--use-angle=swiftshader', '--enable-unsafe-swiftshader', '--ignore-gpu-blocklist'],
});
const page = await browser.newPage({ viewport: { width: 1280, height: 900 } });
// Processor time of the page's main thread, which does not depend on what else the machine does.
const session = await page.context().newCDPSession(page);
await session.send('Performance.enable', { timeDomain: 'threadTicks' });
const processor = async () => {
    const { metrics } = await session.send('Performance.getMetrics');
    return metrics.find(({ name }) => name === 'TaskDuration').value;
};
/** Seconds of processor time of all of the browser's processes, the software drawing among them. */
const allProcessors = () => {
    const rows = execFileSync('ps', ['-eo', 'pid=,ppid=,cputimes='], { encoding: 'utf8' }).trim().split('\n').map((row) => row.trim().split(/\s+/));
    const own = new Set([String(process.pid)]);
    for (let size = 0; size < own.size; ) {
        size = own.size;
        for (const [pid, parent] of rows) if (own.has(parent)) own.add(pid);
    }
    return rows.filter(([pid]) => own.has(pid)).reduce((sum, [, , time]) => sum + Number(time), 0);
};
/** Wall clock and processor time from the start of loading until the frame after the cells are drawn. */
const open = async () => {
    await page.goto('about:blank');
    const before = await processor();
    await page.goto(pathToFileURL(file).href);
    await page.waitForSelector('html[data-ready=true]', { state: 'attached' });
    const wall = await page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => done(performance.now())))));
    return { wall: wall / 1000, processor: (await processor()) - before };
};
const first = await open(); // the browser itself starts drawing in this time
const opened = await open();
await page.keyboard.press('Home');
await page.selectOption('#speed', '4/s');
const began = await processor();
const film = await page.evaluate(async () => {
    // Time spent by the page's callbacks, not by the (software) drawing that follows them.
    const own = [];
    const original = window.requestAnimationFrame.bind(window);
    window.requestAnimationFrame = (callback) =>
        original((time) => {
            const began = performance.now();
            callback(time);
            own.push(performance.now() - began);
        });
    const times = [];
    const count = (time) => (times.push(time), times.length < 100000 && original(count));
    original(count);
    document.querySelector('.play').click();
    await new Promise((done) => setTimeout(done, 6000));
    const gaps = times.slice(1).map((time, i) => time - times[i]).sort((a, b) => a - b);
    own.sort((a, b) => a - b);
    const at = (list, share) => Number(list[Math.floor(share * (list.length - 1))].toFixed(2));
    return {
        frames: times.length,
        frames_per_second: Number((1000 / (gaps.reduce((a, b) => a + b, 0) / gaps.length)).toFixed(1)),
        gap_median_ms: at(gaps, 0.5),
        gap_95_ms: at(gaps, 0.95),
        own_work_median_ms: at(own, 0.5),
        own_work_95_ms: at(own, 0.95),
    };
});
const playing = (await processor()) - began;
// Redraws of the map, and of its twin: the wheel turns at each frame, in and out.
const beforeZoom = await processor();
const allBefore = allProcessors();
const zoom = await page.evaluate(async () => {
    const canvas = document.querySelector('canvas.cells');
    const box = canvas.getBoundingClientRect();
    const at = { clientX: box.x + box.width / 2, clientY: box.y + box.height / 2, bubbles: true, cancelable: true };
    const times = [];
    while (times.length < 120) {
        canvas.dispatchEvent(new WheelEvent('wheel', { ...at, deltaY: times.length % 40 < 20 ? -20 : 20 }));
        times.push(await new Promise(requestAnimationFrame));
    }
    return times.slice(1).map((time, i) => time - times[i]).sort((a, b) => a - b);
});
const zooming = ((1000 * ((await processor()) - beforeZoom)) / 120).toFixed(2);
const zoomed = { zoom_gap_median_ms: Number(zoom[60].toFixed(2)), zoom_gap_95_ms: Number(zoom[113].toFixed(2)), zoom_processor_ms_per_frame: Number(zooming), zoom_all_processors_ms_per_frame: Math.round((1000 * (allProcessors() - allBefore)) / 120) };
const renderer = await page.evaluate(() => {
    const gl = document.createElement('canvas').getContext('webgl2');
    const info = gl?.getExtension('WEBGL_debug_renderer_info');
    return info ? gl.getParameter(info.UNMASKED_RENDERER_WEBGL) : 'unknown';
});
console.log(JSON.stringify({ megabytes: Number((statSync(file).size / 1e6).toFixed(1)), opened_in_new_browser_seconds: Number(first.wall.toFixed(2)), opened_seconds: Number(opened.wall.toFixed(2)), opened_processor_seconds: Number(opened.processor.toFixed(2)), ...film, processor_ms_per_frame: Number(((1000 * playing) / film.frames).toFixed(2)), ...zoomed, load: loadavg()[0], renderer, browser: browser.version() }, null, 2));
await browser.close();
