/** From files and wishes to the command line that the program gets, here and anywhere else. */

/** Kinds of data, as `--preset` names them. */
export const kinds: [string, string][] = [
    ['auto', 'as the file looks'],
    ['cells', 'genes in cells'],
    ['spatial', 'genes in a tissue'],
    ['points', 'points'],
    ['paper', "the paper's model"],
];

export interface Wishes {
    kind: string;
    /** Texts as typed; empty: the program chooses. */
    genes: string;
    rank: string;
    clusters: string;
    batch: string;
    /** Other options of `pnmf fit`. */
    further: string;
}

/** Words as a shell would make them of a text; quotes keep blanks. */
export function wordsOf(text: string): string[] {
    const words = text.match(/(?:[^\s'"]|'[^']*'|"[^"]*")+/g) ?? [];
    return words.map((word) => word.replace(/'([^']*)'|"([^"]*)"/g, (_, single: string, double: string) => single ?? double));
}

const plain = /^[\w+./:,@%=-]+$/;
export const lineOf = (words: string[]): string => ['pnmf', ...words.map((word) => (plain.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`))].join(' ');

export interface Input {
    /** The folder that the files are put into: that of a 10x matrix has three; empty: none. */
    folder: string;
    /** What the program is to read. */
    path: string;
    /** Without its ending, for names of what is written. */
    name: string;
}

/** Why a Zarr store cannot be dropped: a page is given files, and a store is a folder of many, or an archive of them. */
export function zarrWords(name: string): string {
    const stem = name.replace(/(\.zarr)?(\.zip)?$/i, '');
    return `${name} is a Zarr store, which the program reads and a page cannot: write it as .h5ad and drop that; in Python: anndata.read_zarr("${name.replace(/\.zip$/i, '')}").write_h5ad("${stem}.h5ad")${/zip$/i.test(name) ? ', once it is unpacked' : ''}`;
}
export const isZarr = (name: string, within: string[] = []): boolean => /\.zarr(\.zip)?$/i.test(name) || within.some((file) => ['zarr.json', '.zgroup', '.zmetadata'].includes(file));

const ofTenX = /^(matrix\.mtx|(features|genes|barcodes)\.tsv)(\.gz)?$/;
const dataFile = /\.(h5ad|h5|loom|mtx|mtx\.gz|npy|mat)$/i;

/** Which of the files holds the data; the others may stand beside it, such as tables of cells. */
export function inputOf(files: { name: string; size: number }[]): Input {
    if (files.length > 1 && files.every((file) => ofTenX.test(file.name))) return { folder: 'cells', path: 'cells', name: 'cells' };
    const [data] = [...files].sort((a, b) => Number(dataFile.test(b.name)) - Number(dataFile.test(a.name)) || b.size - a.size);
    const name = data.name.replace(/(\.gz)?$/i, '').replace(/\.\w+$/, '') || 'data';
    return { folder: '', path: data.name.startsWith('-') ? `./${data.name}` : data.name, name };
}

/** The words after `pnmf`. */
export function commandFor(input: Input, wishes: Wishes): { words: string[]; output: string } {
    const output = `${input.name.replace(/^-+/, '') || 'data'}_pnmf`;
    const words = ['fit', input.path, '-o', output];
    if (wishes.kind !== 'auto') words.push('--preset', wishes.kind);
    for (const name of ['genes', 'rank', 'clusters', 'batch'] as const) {
        if (wishes[name].trim()) words.push(`--${name}`, wishes[name].trim());
    }
    return { words: [...words, ...wordsOf(wishes.further)], output };
}

/** A page has 4 GB, in which the numbers, their copies and the factors must fit. */
const mostBytes = { packed: 0.6e9, plain: 2e9 };

/** The file that cannot fit, by its size alone. What fits in this sense may still be refused by the program's plan. */
export const tooLarge = <One extends { name: string; size: number }>(files: One[]): One | undefined =>
    files.find((file) => file.size > (/\.gz$/i.test(file.name) ? mostBytes.packed : mostBytes.plain));
