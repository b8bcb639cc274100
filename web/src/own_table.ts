/** A table of the reader's own about the cells: its columns become colours. */
import type { Column, Result } from './data';
import { count, h } from './dom';
import { openGenes } from './genes_beside';
import type { State } from './state';

const largestBytes = 200e6;
const mostColumns = 40;
const mostCategories = 1000;
/** Whole numbers with so few different values are names of groups. */
const fewNumbers = 30;

/** Rows of a table with commas, semicolons or tabs; values may be in quotes. Throws with the line that is wrong. */
export function parsed(text: string): { head: string[]; rows: string[][] } {
    const lines = text.replace(/^\ufeff/, '');
    const first = lines.split(/\r?\n/, 2).join(' ');
    const separator = ['\t', ',', ';'].reduce((best, one) => (first.split(one).length > first.split(best).length ? one : best));
    const rows: string[][] = [];
    let row: string[] = [];
    let line = 1;
    const ends: number[] = [];
    const value = /"((?:[^"]|"")*)"/y;
    const plain = new RegExp(`[^\\r\\n${separator}]*`, 'y');
    for (let at = 0; at < lines.length; ) {
        if (lines[at] === '"') {
            value.lastIndex = at;
            const found = value.exec(lines);
            if (!found) throw new Error(`line ${line}: a quote is not closed`);
            row.push(found[1].replaceAll('""', '"'));
            line += found[1].split('\n').length - 1;
            at = value.lastIndex;
        } else {
            plain.lastIndex = at;
            row.push(plain.exec(lines)![0].trim());
            at = plain.lastIndex;
        }
        if (at < lines.length && lines[at] === separator) {
            ++at;
            if (at < lines.length && !/[\r\n]/.test(lines[at])) continue;
            row.push('');
        } else if (at < lines.length && !/[\r\n]/.test(lines[at])) throw new Error(`line ${line}: text after a closing quote`);
        if (row.length > 1 || row[0] !== '') {
            rows.push(row);
            ends.push(line);
        }
        row = [];
        while (at < lines.length && /[\r\n]/.test(lines[at])) if (lines[at++] === '\n') ++line;
    }
    const [head, ...body] = rows;
    if (!head || body.length === 0) throw new Error('the table has no rows');
    if (body[0].length === head.length + 1) head.unshift('cell'); // as R writes row names
    const ragged = body.findIndex((one) => one.length !== head.length);
    if (ragged >= 0) throw new Error(`line ${ends[ragged + 1]} has ${body[ragged].length} values, the first line ${head.length}`);
    return { head, rows: body };
}

const natural = new Intl.Collator('en', { numeric: true });

/** A column as the page keeps them: categories, or numbers in 254 steps. */
function columnOf(name: string, values: string[]): { column: Column; codes: Uint16Array } | null {
    const missing = (text: string): boolean => text === '' || text === 'NA' || text === 'NaN' || text === 'nan';
    const there = [...new Set(values)].filter((text) => !missing(text));
    const codes = new Uint16Array(values.length);
    const numbers = there.map(Number);
    if (there.length > 0 && numbers.every(Number.isFinite) && !(there.length <= fewNumbers && numbers.every(Number.isInteger))) {
        const from = numbers.reduce((a, b) => Math.min(a, b));
        const to = numbers.reduce((a, b) => Math.max(a, b));
        values.forEach((text, j) => (codes[j] = missing(text) ? 0 : 1 + Math.round(254 * (to > from ? (Number(text) - from) / (to - from) : 0.5))));
        return { column: { name, from, to }, codes };
    }
    if (there.length === 0 || there.length > mostCategories) return null;
    const categories = there.sort(natural.compare);
    if (values.some(missing)) categories.push('');
    const place = new Map(categories.map((text, i) => [text, i]));
    values.forEach((text, j) => (codes[j] = place.get(missing(text) ? '' : text)!));
    return { column: { name, categories }, codes };
}

/** Adds the columns of a table to the results that have its cells, and says what was done. Throws what is wrong with it. */
export function addTable(state: State, text: string): { words: string; first: string } {
    const { head, rows } = parsed(text);
    const names = new Set(state.results.flatMap((result) => result.meta.cell_names));
    const matches = head.map((_, c) => rows.reduce((sum, row) => sum + (names.has(row[c]) ? 1 : 0), 0));
    const id = matches.indexOf(Math.max(...matches));
    if (matches[id] === 0) throw new Error(`no column of it has names of these cells, such as ${state.results[0].meta.cell_names[0]}; the first row begins with ${rows[0][0]}`);
    const place = new Map<string, string[]>();
    for (const row of rows) {
        if (names.has(row[id]) && place.has(row[id])) throw new Error(`the cell ${row[id]} is in it more than once`);
        place.set(row[id], row);
    }
    const left: string[] = [];
    const added: string[] = [];
    head.forEach((title, c) => {
        if (c === id) return;
        if (added.length === mostColumns) return void left.push(title);
        let name = title || `column ${c + 1}`;
        while (state.results.some((result) => result.meta.columns.some((column) => column.name === name))) name += ' (table)';
        const made = state.results.map((result) => columnOf(name, result.meta.cell_names.map((cell) => place.get(cell)?.[c] ?? '')));
        if (made.every((one) => one === null)) return void left.push(title);
        made.forEach((one, r) => one && (state.results[r] as Result).addColumn(one.column, one.codes));
        added.push(name);
    });
    if (added.length === 0) throw new Error(head.length < 2 ? 'it has no column besides the names of the cells' : `none of its columns can be coloured: each has no value, or more than ${count(mostCategories)} different ones`);
    state.addedColumns();
    const missing = [...names].filter((name) => !place.has(name)).length;
    const words =
        `${count(matches[id])} of ${count(names.size)} cells are in the table. Added: ${added.join(', ')}.` +
        (missing > 0 ? ` ${count(missing)} cells are missing in it.` : '') +
        (rows.length > matches[id] ? ` ${count(rows.length - matches[id])} of its rows are of other cells.` : '') +
        (left.length > 0 ? ` Left out: ${left.join(', ')}.` : '');
    return { words, first: added[0] };
}

/** A field for the file; a file dropped anywhere on the page goes there too. */
export function tableField(state: State): HTMLElement {
    const note = h('span', { class: 'note table-status', role: 'status' });
    const read = async (file: File): Promise<void> => {
        if (file.name.endsWith('.genes')) return void (note.textContent = (await openGenes(state, file)) || `${file.name}: its genes can be coloured.`);
        try {
            if (file.size > largestBytes) throw new Error(`it has ${count(Math.round(file.size / 1e6))} MB, more than ${largestBytes / 1e6}`);
            const { words, first } = addTable(state, await file.text());
            note.textContent = `${file.name}: ${words}`;
            state.colourBy({ kind: 'column', name: first });
        } catch (error) {
            note.textContent = `${file.name} cannot be used: ${(error as Error).message}`;
        }
    };
    const input = h('input', { type: 'file', id: 'table', accept: '.csv,.tsv,.txt', change: () => input.files?.[0] && void read(input.files[0]).then(() => (input.value = '')) });
    document.addEventListener('dragover', (event) => event.preventDefault());
    document.addEventListener('drop', (event) => {
        event.preventDefault();
        const file = event.dataTransfer?.files[0];
        if (file) void read(file);
    });
    return h('div', { class: 'row' }, h('label', { for: 'table' }, 'Your own table of the cells '), input, note);
}
