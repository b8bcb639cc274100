/** Builds the page that computes: node build_compute.mjs MODULE REPORT PAGE. MODULE.js and MODULE.wasm are what Emscripten made of the program. */
import { createHash } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import esbuild from 'esbuild';

const here = dirname(fileURLToPath(import.meta.url));
const [module, report, target] = process.argv.slice(2);
const largest = 6e6;
const common = { absWorkingDir: here, bundle: true, minify: true, format: 'iife', target: ['es2022', 'chrome110', 'firefox115', 'safari16.4'], charset: 'ascii', write: false, logLevel: 'warning' };
const text = async (options) => (await esbuild.build({ ...common, ...options })).outputFiles[0].text.trim();
const ascii = (code) => code.replace(/[^\x00-\x7f]/g, (letter) => `\\u${letter.charCodeAt(0).toString(16).padStart(4, '0')}`);

const worker = `${ascii(readFileSync(`${module}.js`, 'utf8'))}\n${await text({ entryPoints: ['src/compute/worker.ts'] })}`;
// What of Debian's packages is in the module; Emscripten's own brings musl and libc++.
const carried = ['emscripten', 'libcli11-dev', 'libeigen3-dev', 'libfast-float-dev', 'libfmt-dev', 'libhdf5-dev', 'libspectra-dev', 'nlohmann-json3-dev', 'zlib1g-dev'];
const licences = carried.map((name) => ({ name, text: readFileSync(`/usr/share/doc/${name}/copyright`, 'utf8').trim() }));
const define = { PNMF_PROGRAM_WORKER: JSON.stringify(worker), PNMF_CARRIED: JSON.stringify(licences) };
const script = ascii(await text({ entryPoints: ['src/compute/main.ts'], define })).replace(/<\/script/gi, '<\\/script').replace(/<!--/g, '<\\!--').trim();
// The report in its frame may run its own script and no other.
const [shown] = readFileSync(report, 'utf8').match(/sha256-[\w+/=]+/);
const parts = {
    hash: `sha256-${createHash('sha256').update(script).digest('base64')}`,
    report: shown,
    style: await text({ entryPoints: ['src/compute/style.css'] }),
    module: gzipSync(readFileSync(`${module}.wasm`), { level: 9 }).toString('base64'),
    script,
};
let page = readFileSync(join(here, 'src', 'compute', 'page.html'), 'utf8');
for (const [name, part] of Object.entries(parts)) page = page.replace(`{{${name}}}`, () => part);
const foreign = page.match(/.{0,60}[^\x00-\x7f].{0,20}/);
if (foreign) throw new Error(`the page must be plain ASCII, it has ${JSON.stringify(foreign[0])}`);
if (page.length > largest) throw new Error(`the page has ${page.length} bytes, above ${largest}`);
writeFileSync(target, page);
console.log(`${target}: ${page.length} bytes`);
