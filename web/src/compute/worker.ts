/** The program away from the page's thread: the module that Emscripten made of it, started with a command line. */
import type { FromWorker, Job, Module, ProgramEvent } from './messages';

/** Emscripten's file system, as far as it is used here. */
interface Files {
    filesystems: { WORKERFS: unknown };
    mkdir(path: string): void;
    mount(type: unknown, options: { files: File[] }, at: string): void;
    symlink(to: string, at: string): void;
    chdir(path: string): void;
    analyzePath(path: string): { exists: boolean };
    readdir(path: string): string[];
    readFile(path: string): Uint8Array;
    stat(path: string): { mode: number };
    isFile(mode: number): boolean;
}

interface Program {
    FS: Files;
    HEAPU8: Uint8Array;
    callMain(words: string[]): number;
}

/** Emscripten's script stands before this one. */
declare const pnmf: (options: Record<string, unknown>) => Promise<Program>;

const say = (message: FromWorker, transfer: Transferable[] = []): void => postMessage(message, { transfer });

function heard(line: string): void {
    let event: ProgramEvent;
    try {
        event = JSON.parse(line) as ProgramEvent;
    } catch {
        event = { event: 'message', text: line }; // what a library says, or the program before it has read its options
    }
    say({ event });
}

/** What ended the program, in words. */
function wordsFor(error: unknown): string {
    const text = error instanceof Error ? error.message : String(error);
    if (/memory access out of bounds|table index|null function|unreachable|divide by zero|integer overflow/.test(text))
        return `the program was stopped by a fault (${text}): the file may be damaged, or the program is wrong`;
    if (/stack|recursion/i.test(text)) return 'the program has called itself too often: the file may be damaged';
    if (/memory|allocation/i.test(text)) return `there is too little memory (${text})`;
    return `the program could not go on: ${text}`;
}

async function unpacked(packed: ArrayBuffer): Promise<WebAssembly.Module> {
    const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream('gzip'));
    return WebAssembly.compile(await new Response(stream).arrayBuffer());
}

/** A program that has not been started; it can be, once. */
function load(module: WebAssembly.Module): Promise<Program> {
    return pnmf({
        noInitialRun: true,
        print: (text: string) => say({ event: { event: 'printed', text } }),
        printErr: heard,
        instantiateWasm: (imports: WebAssembly.Imports, done: (instance: WebAssembly.Instance) => void) => {
            WebAssembly.instantiate(module, imports).then(done, (error) => say({ failed: wordsFor(error) }));
            return {};
        },
    });
}

function run({ FS, callMain }: Program, { files, folder, words, output }: Job): { code: number; written: { name: string; bytes: Uint8Array }[] } {
    FS.mkdir('/input');
    FS.mount(FS.filesystems.WORKERFS, { files }, '/input'); // read where they are, piece by piece
    FS.mkdir('/work');
    FS.chdir('/work');
    if (folder) FS.mkdir(folder);
    for (const { name } of files) FS.symlink(`/input/${name}`, folder ? `${folder}/${name}` : name);
    const code = callMain(words);
    const written = (FS.analyzePath(output).exists && code === 0 ? FS.readdir(output) : []) // no folder: --help, say
        .filter((name) => FS.isFile(FS.stat(`${output}/${name}`).mode))
        .map((name) => ({ name, bytes: FS.readFile(`${output}/${name}`) }));
    return { code, written };
}

let program: Promise<Program>;

addEventListener('message', ({ data }: MessageEvent<Module | Job>) => {
    if ('module' in data) {
        program = unpacked(data.module).then(load);
        program.then(
            () => say({ ready: true }),
            (error) => say({ failed: `this browser cannot run the program: ${String(error)}` }),
        );
        return;
    }
    program.then((loaded) => {
        const { code, written } = run(loaded, data);
        const finished = { code, written, memory: loaded.HEAPU8.length };
        say({ finished }, written.map((file) => file.bytes.buffer as ArrayBuffer));
    }).catch((error) => say({ failed: wordsFor(error) }));
});
