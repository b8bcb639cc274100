/** Builds dist/report.html: one file with style, script and worker, and a place for the data. No network. */
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import esbuild from 'esbuild';

const here = dirname(fileURLToPath(import.meta.url));
const target = process.argv[2] ?? join(here, 'dist', 'report.html');
const common = {
    absWorkingDir: here,
    bundle: true,
    minify: true,
    format: 'iife',
    target: ['es2022', 'chrome110', 'firefox115', 'safari16.4'],
    legalComments: 'none', // the licences are in the page, each with its text
    charset: 'ascii',
    write: false,
    metafile: true,
    logLevel: 'warning',
    treeShaking: true,
};

/** The folders in node_modules that a build took something from. */
function packagesOf(...metafiles) {
    const found = new Set();
    for (const meta of metafiles) {
        for (const output of Object.values(meta.outputs)) {
            for (const [path, { bytesInOutput }] of Object.entries(output.inputs)) {
                const match = path.match(/^(.*node_modules\/(?:@[^/]+\/)?[^/]+)\//);
                if (match && bytesInOutput > 0) found.add(match[1]);
            }
        }
    }
    return [...found];
}

function licenceOf(folder) {
    const { name, version, license } = JSON.parse(readFileSync(join(here, folder, 'package.json'), 'utf8'));
    const file = readdirSync(join(here, folder)).sort().find((entry) => /^licen[cs]e/i.test(entry));
    const text = file ? readFileSync(join(here, folder, file), 'utf8').replace(/\r\n/g, '\n').trim() : 'The package has no licence file.';
    return { name, version, licence: typeof license === 'string' ? license : (license?.type ?? 'see text'), text };
}

const worker = await esbuild.build({ ...common, entryPoints: ['src/layout_worker.ts'] });
const build = (licences) =>
    esbuild.build({
        ...common,
        entryPoints: ['src/main.ts'],
        define: { PNMF_LICENCES: JSON.stringify(licences), PNMF_WORKER: JSON.stringify(worker.outputFiles[0].text) },
    });
// The list of packages is known after a first build without it.
const first = await build([]);
const licences = packagesOf(worker.metafile, first.metafile)
    .map(licenceOf)
    .sort((a, b) => (a.name < b.name ? -1 : a.name > b.name ? 1 : a.version < b.version ? -1 : 1));
const allowed = new Set(['MIT', 'ISC', 'BSD-2-Clause', 'BSD-3-Clause', 'Apache-2.0', 'Unlicense', '0BSD']);
for (const { name, licence } of licences) {
    if (!allowed.has(licence)) throw new Error(`${name} has the licence ${licence}, which is not among those the page may carry`);
}
const main = await build(licences);
// Nothing in the script may end its element; letters that esbuild leaves in regular expressions are written as escapes.
const script = main.outputFiles[0].text.replace(/[^\x00-\x7f]/g, (letter) => `\\u${letter.charCodeAt(0).toString(16).padStart(4, '0')}`).replace(/<\/script/gi, '<\\/script').replace(/<!--/g, '<\\!--').trim();
const style = (await esbuild.build({ ...common, entryPoints: ['src/style.css'], metafile: false })).outputFiles[0].text.trim();
const hash = `sha256-${createHash('sha256').update(script).digest('base64')}`;
let page = readFileSync(join(here, 'src', 'page.html'), 'utf8');
for (const [name, text] of Object.entries({ hash, style, script })) page = page.replace(`{{${name}}}`, () => text);
const foreign = page.match(/.{0,60}[^\x00-\x7f].{0,20}/);
if (foreign) throw new Error(`the page must be plain ASCII, it has ${JSON.stringify(foreign[0])}`);
if (page.split('<!--pnmf:data-->').length !== 2) throw new Error('the page must have exactly one place for data');
if (!existsSync(dirname(target))) mkdirSync(dirname(target), { recursive: true });
writeFileSync(target, page);
console.log(`${target}: ${page.length} bytes, ${licences.length} packages`);
