/** What cells can be coloured by: a list to choose from, and any gene by its name. */
import { colouringTitle, programName } from './colouring';
import { count, h } from './dom';
import { findGene, genesLike, isBeside, namedGenes, shownGenes, whyNoGene } from './gene_names';
import { besideButton } from './genes_beside';
import type { Colouring, State } from './state';

const longestList = 40;

/** In groups; of all results, by name. */
function choices(state: State): [string, [string, Colouring][]][] {
    const { results } = state;
    const columns = [...new Set(results.flatMap((result) => result.meta.columns.map((column) => column.name)))];
    const groups: [string, [string, Colouring][]][] = [
        ['', [['one colour', { kind: 'none' }]]],
        ['Columns', columns.map((name) => [name, { kind: 'column', name }])],
    ];
    const scale: [string, Colouring][] = [];
    for (const [kind, array] of [['cluster', 'clusters'], ['domain', 'domains'], ['graph', 'merges']] as const) {
        if (results.some((result) => result.has(array))) scale.push([colouringTitle({ kind }), { kind }]);
    }
    groups.push(['At this scale', scale]);
    const rank = Math.max(...results.map((result) => result.meta.rank));
    groups.push(['Programs', Array.from({ length: rank }, (_, k) => [programName(k), { kind: 'program', k }])]);
    return groups.filter(([, entries]) => entries.length > 0);
}

const same = (a: Colouring | null, b: Colouring | null): boolean => JSON.stringify(a) === JSON.stringify(b);

/** What the controls choose for: the page's colours, or those of the second map, which may be none. */
export interface Target {
    id: string;
    label: string;
    gene: string;
    get: () => Colouring | null;
    set: (colouring: Colouring | null) => void;
    /** What may be chosen besides: no colours at all. */
    nothing?: string;
}

export function colourControls(state: State, target: Target): HTMLElement {
    let entries: (Colouring | null)[] = [];
    const select = h('select', { id: target.id, change: () => target.set(entries[select.selectedIndex]) });
    const other = h('option', { hidden: true }, 'gene');
    const genes = namedGenes(state.results);
    const list = h('datalist', { id: `${target.gene}s` });
    const note = h('span', { class: 'note', role: 'status' });
    const open = besideButton(state);
    const byGene = (): void => {
        const wanted = input.value.trim();
        const name = findGene(shownGenes(state.results), wanted);
        note.textContent = wanted && !name ? whyNoGene(state.results, wanted) : '';
        open.hidden = !wanted || !isBeside(state.results, wanted);
        if (name) target.set({ kind: 'gene', name });
    };
    const input = h('input', {
        id: target.gene,
        list: `${target.gene}s`,
        placeholder: genes.length ? `one of ${count(genes.length)}` : 'none in this page',
        autocomplete: 'off',
        input: () => list.replaceChildren(...genesLike(genes, input.value.trim(), longestList).map((name) => h('option', { value: name }))),
        change: byGene,
    });
    const fill = (): void => {
        entries = target.nothing ? [null] : [];
        select.replaceChildren(...(target.nothing ? [h('option', {}, target.nothing)] : []));
        for (const [group, of] of choices(state)) {
            entries.push(...of.map(([, colouring]) => colouring));
            const options = of.map(([name]) => h('option', {}, name));
            select.append(...(group ? [h('optgroup', { label: group }, ...options)] : options));
        }
        update();
    };
    const update = (): void => {
        const chosen = target.get();
        const index = entries.findIndex((entry) => same(entry, chosen));
        if (index >= 0) {
            other.remove();
            select.selectedIndex = index;
            input.value = '';
        } else if (chosen?.kind === 'gene') {
            select.append(other);
            other.selected = true;
            input.value = chosen.name;
        }
    };
    state.on(['colour'], update);
    state.on(['columns'], fill);
    state.on(['genes'], () => input.value && byGene());
    fill();
    return h('div', { class: 'row' }, h('label', { for: target.id }, target.label), select, h('label', { for: target.gene }, 'gene '), input, list, note, open);
}
