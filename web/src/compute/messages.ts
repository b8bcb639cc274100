/** What the page and its worker say to each other. */

/** The worker begins with the module, packed by gzip. */
export interface Module {
    module: ArrayBuffer;
}

/** The words of a command line; the program sees the files in its folder by their names. */
export interface Job {
    files: File[];
    /** Puts the files into a folder of this name; empty: beside each other. */
    folder: string;
    words: string[];
    /** Where the program writes. */
    output: string;
}

/** A line that the program says, as `--progress json` writes it, or prints. */
export interface ProgramEvent {
    event: 'progress' | 'message' | 'warning' | 'error' | 'done' | 'printed';
    text?: string;
    stage?: string;
    fraction?: number | null;
    seconds?: number;
    seconds_left?: number | null;
}

export interface Finished {
    /** The program's exit code. */
    code: number;
    /** Files in the folder that the program wrote. */
    written: { name: string; bytes: Uint8Array }[];
    /** Largest memory of the module, in bytes. */
    memory: number;
}

export type FromWorker = { event: ProgramEvent } | { finished: Finished } | { failed: string } | { ready: true };
