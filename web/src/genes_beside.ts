/** Genes that do not fit into the page: a file beside it has them, which the reader opens. Only genes asked for are read. */
import { button, h } from './dom';
import type { State } from './state';

/** report.genes for report.html. */
export function besideName(): string {
    const page = /^(file|https?):$/.test(location.protocol) ? decodeURIComponent(location.pathname.split('/').pop()!) : '';
    return page ? page.replace(/\.[^.]*$/, '') + '.genes' : 'the file that ends in .genes';
}

/** Gives a file to the results it belongs to; says why it cannot be used, or nothing. */
export async function openGenes(state: State, file: File): Promise<string> {
    const opened = await Promise.all(state.results.map((result) => result.open(file)));
    if (!opened.includes(true)) return `${file.name} is not the file of this page: pnmf writes the two together.`;
    state.emit('genes');
    return '';
}

/** To be shown where a gene of the file is asked for. */
export function besideButton(state: State): HTMLElement {
    const trouble = h('span', { class: 'note', role: 'status' });
    const input = h('input', { type: 'file', class: 'genes-file', hidden: true, 'aria-label': `The file ${besideName()}`, change: () => input.files?.[0] && void openGenes(state, input.files[0]).then((words) => ((trouble.textContent = words), (input.value = ''))) });
    return h('span', { hidden: true }, button(`Open ${besideName()}`, () => input.click()), input, trouble);
}
