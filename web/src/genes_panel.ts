/** Genes and groups of cells: what marks a group, and how chosen genes differ between groups. */
import { colouringTitle } from './colouring';
import type { Result } from './data';
import { button, count, fileName, h, number, save, tsv } from './dom';
import { dotPlot, violinPlot } from './gene_figures';
import { findGene, isBeside, shownGenes, whyNoGene } from './gene_names';
import { besideButton } from './genes_beside';
import { groupChoices, groupingOf, type Grouping } from './groups';
import { compare, ordered, type Marker } from './markers';
import type { Colouring, State } from './state';

const listed = 25;
const fewest = 3;
const mostGenes = 40;
const atOnce = 500;

/** 1 and 2 for the cells of the two sides, and how many they are. A cell on both is only on the first. */
interface Sides {
    of: Uint8Array;
    sizes: [number, number];
    names: [string, string];
}

async function markersOf(result: Result, sides: Sides, progress: (share: number) => boolean): Promise<Marker[] | null> {
    const genes = result.meta.expressed_genes ?? 0;
    const found: Marker[] = [];
    for (let g = 0; g < genes; ++g) {
        found.push(compare(result.meta.genes[g], result.gene(g)!, sides.of, sides.sizes));
        if (g % atOnce !== 0) continue;
        if (!progress(g / genes)) return null;
        await new Promise((done) => setTimeout(done));
    }
    return ordered(found);
}

const shownP = (p: number): string => (p < 1e-300 ? '< 1e-300' : number(p, 3));

function markerTable(markers: Marker[], sides: Sides, state: State): HTMLElement {
    const head = ['gene', 'z', 'adjusted p', 'AUC', ...sides.names.map((name) => `mean, ${name}`), ...sides.names.map((name) => `above 0, ${name}`)];
    const percent = (share: number): string => `${number(100 * share, 3)} %`;
    const rows = markers.slice(0, listed).map((one) =>
        h(
            'tr',
            {},
            h('td', {}, button(one.name, () => state.colourBy({ kind: 'gene', name: one.name }), { class: 'gene', title: `Colour the cells by ${one.name}` })),
            ...[number(one.z, 3), shownP(one.adjusted), number(one.auc, 3), ...one.means.map((mean) => number(mean, 3)), ...one.shares.map(percent)].map((text) => h('td', {}, text)),
        ),
    );
    return h('div', { class: 'scroll' }, h('table', { class: 'markers' }, h('thead', {}, h('tr', {}, ...head.map((name) => h('th', {}, name)))), h('tbody', {}, ...rows)));
}

function saveMarkers(result: Result, markers: Marker[], sides: Sides): void {
    const [a, b] = sides.names;
    const head = ['gene', 'z', 'p', 'p_adjusted', 'auc', `mean ${a}`, `mean ${b}`, `share above zero ${a}`, `share above zero ${b}`];
    const rows = markers.map((one) => [one.name, one.z, one.p, one.adjusted, one.auc, ...one.means, ...one.shares].map((x) => (typeof x === 'number' ? Number(x.toPrecision(6)) : x)));
    save(`${fileName(result.meta.name, 'markers', a, b)}.tsv`, new Blob([tsv([head, ...rows])], { type: 'text/tab-separated-values' }));
}

export function genesPanel(result: Result, state: State): HTMLElement {
    if (!result.meta.expressed_genes) return h('p', { class: 'note' }, whyNoGene([result], ''));
    const panel = h('div', { class: 'figures' });
    void result.load('genes').then(() => fill(panel, result, state));
    return panel;
}

function fill(panel: HTMLElement, result: Result, state: State): void {
    let all = shownGenes([result]);
    let choices = groupChoices(result, state);
    let by: Colouring | null = choices[0] ?? null;
    let groups: Grouping | null = null;
    let chosen = all.slice(0, 8);

    const groupBy = h('select', { class: 'group-by', change: () => ((by = choices[groupBy.selectedIndex]), regroup()) });
    const offer = (): void => {
        choices = groupChoices(result, state);
        groupBy.replaceChildren(...choices.map((one) => h('option', { selected: by !== null && colouringTitle(one) === colouringTitle(by) }, colouringTitle(one))));
    };
    const first = h('select', { class: 'first-side' });
    const second = h('select', { class: 'second-side' });
    const status = h('span', { class: 'note marker-status', role: 'status' });
    const output = h('div', {});
    let run = 0;

    function regroup(): void {
        groups = by && groupingOf(result, state, by);
        const names = groups?.names ?? [];
        const kept = [first.value, second.value];
        first.replaceChildren(...['the selected cells', ...names].map((name, i) => h('option', { value: i }, name)));
        second.replaceChildren(...['all other cells', ...names].map((name, i) => h('option', { value: i }, name)));
        first.value = kept[0] && Number(kept[0]) <= names.length ? kept[0] : '0';
        second.value = kept[1] && Number(kept[1]) <= names.length ? kept[1] : '0';
        dots.redraw();
        violins.redraw();
    }

    function sides(): Sides {
        const of = new Uint8Array(result.n);
        const [a, b] = [Number(first.value), Number(second.value)];
        const names = result.meta.cell_names;
        const isFirst = (j: number): boolean => (a === 0 ? state.selection.has(names[j]) : groups!.codes[j] === a - 1);
        const sizes: [number, number] = [0, 0];
        for (let j = 0; j < result.n; ++j) {
            of[j] = isFirst(j) ? 1 : b === 0 || groups!.codes[j] === b - 1 ? 2 : 0;
            if (of[j] > 0) ++sizes[of[j] - 1];
        }
        return { of, sizes, names: [a === 0 ? 'selected' : groups!.names[a - 1], b === 0 ? 'others' : groups!.names[b - 1]] };
    }

    async function find(): Promise<void> {
        const mine = ++run;
        const found = sides();
        output.replaceChildren();
        const [a, b] = found.sizes;
        if (a < fewest || b < fewest) {
            const empty = first.value === '0' && a === 0 ? 'No cell is selected: draw around cells with the lasso. ' : '';
            status.textContent = `${empty}Each side needs ${fewest} cells, there are ${count(a)} and ${count(b)}.`;
            return;
        }
        const markers = await markersOf(result, found, (share) => {
            status.textContent = `${Math.round(100 * share)} %`;
            return mine === run;
        });
        if (!markers) return; // another question was asked
        status.textContent = `${count(markers.length)} genes, ${count(a)} cells against ${count(b)}; the first ${Math.min(listed, markers.length)} are shown.`;
        const tools = h(
            'div',
            { class: 'row' },
            button('TSV', () => saveMarkers(result, markers, found), { 'aria-label': 'Download the markers as TSV' }),
            button('Show the first ten below', () => choose(markers.slice(0, 10).map((one) => one.name))),
        );
        output.replaceChildren(markerTable(markers, found, state), tools);
    }

    const wanted = h('input', { class: 'chosen-genes', 'aria-label': 'Genes, separated by commas', autocomplete: 'off', change: () => void read() });
    const trouble = h('span', { class: 'note', role: 'status' });
    const open = besideButton(state);
    async function read(): Promise<void> {
        all = shownGenes([result]);
        const pieces = wanted.value.split(/[,;\t\n]+/).map((piece) => piece.trim());
        const words = pieces.flatMap((piece) => (findGene(all, piece) ? [piece] : piece.split(/\s+/))).filter(Boolean);
        const found = words.map((word) => findGene(all, word));
        const missing = words.filter((_, i) => found[i] === undefined);
        trouble.textContent =
            (missing.length > 0 ? whyNoGene([result], missing[0]) + (missing.length > 1 ? ` Nor: ${missing.slice(1, 9).join(', ')}.` : '') : '') +
            (words.length > mostGenes ? ` The first ${mostGenes} are shown.` : '');
        open.hidden = !missing.some((word) => isBeside([result], word));
        chosen = [...new Set(found.filter((name) => name !== undefined))].slice(0, mostGenes);
        await result.bring(chosen);
        dots.redraw();
        violins.redraw();
    }
    function choose(names: string[]): void {
        wanted.value = names.join(', ');
        void read();
    }

    const dots = dotPlot(result, state, () => chosen, () => groups);
    const violins = violinPlot(result, state, () => chosen, () => groups);
    wanted.value = chosen.join(', ');
    state.on(['columns'], offer);
    state.on(['genes'], () => void read());
    state.on(['colour'], regroup); // names may have been given
    state.on(['scale'], () => by && by.kind !== 'column' && regroup());
    panel.append(
        h('label', { class: 'choice' }, 'Group cells by ', groupBy),
        h('h3', {}, 'What marks a group'),
        h('div', { class: 'row' }, h('label', {}, 'compare ', first), h('label', {}, 'with ', second), button('Find markers', () => void find()), status),
        output,
        h('p', { class: 'note' }, 'Wilcoxon\u2019s rank-sum test on the values as the page keeps them (8 bits, shares of the gene\u2019s largest), by its normal approximation with ties; p adjusted after Benjamini and Hochberg. Groups that were found from the same genes differ by construction: take p as an order, not as evidence that the groups exist.'),
        h('h3', {}, 'Chosen genes'),
        h('label', { class: 'choice' }, 'Genes ', wanted),
        trouble,
        open,
        dots.element,
        violins.element,
    );
    offer();
    regroup();
}
