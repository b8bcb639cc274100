/** What the cells are coloured by, the legend, and the selection. */
import type { CellView } from './cells';
import { colouringTitle } from './colouring';
import { rampStyle } from './colours';
import { button, count, fileName, h, number, save, tsv } from './dom';
import { layoutControls } from './layout';
import { resolutionsBox } from './resolutions';
import type { Colouring, State } from './state';

const longestLegend = 60;
const longestNames = 200;

/** What can be chosen, in groups; of all results, by name. */
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
    groups.push(['Components of H', Array.from({ length: rank }, (_, k) => [`component ${k + 1}`, { kind: 'component', k }])]);
    return groups.filter(([, entries]) => entries.length > 0);
}

const same = (a: Colouring, b: Colouring): boolean => JSON.stringify(a) === JSON.stringify(b);

function colourControls(state: State): HTMLElement {
    const select = h('select', { id: 'colour', change: () => state.colourBy(entries[select.selectedIndex]) });
    const entries: Colouring[] = [];
    for (const [group, list] of choices(state)) {
        const options = list.map(([name, colouring]) => {
            entries.push(colouring);
            return h('option', {}, name);
        });
        select.append(...(group ? [h('optgroup', { label: group }, ...options)] : options));
    }
    const genes = [...new Set(state.results.flatMap((result) => result.meta.genes.slice(0, result.meta.expressed_genes ?? 0)))];
    const list = h('datalist', { id: 'genes' }, ...genes.map((name) => h('option', { value: name })));
    const note = h('span', { class: 'note', role: 'status' });
    const input = h('input', {
        id: 'gene',
        list: 'genes',
        placeholder: genes.length ? `one of ${count(genes.length)}` : 'none in this page',
        disabled: genes.length === 0,
        autocomplete: 'off',
        change: () => {
            const wanted = input.value.trim();
            const name = genes.find((gene) => gene === wanted) ?? genes.find((gene) => gene.toLowerCase() === wanted.toLowerCase());
            note.textContent = wanted && !name ? 'The page has no values of this gene.' : '';
            if (name) state.colourBy({ kind: 'gene', name });
        },
    });
    const other = h('option', { hidden: true }, 'gene');
    const update = (): void => {
        const index = entries.findIndex((entry) => same(entry, state.colouring));
        if (index >= 0) {
            other.remove();
            select.selectedIndex = index;
            input.value = '';
        } else if (state.colouring.kind === 'gene') {
            select.append(other);
            other.selected = true;
            input.value = state.colouring.name;
        }
    };
    state.on(['colour'], update);
    update();
    return h(
        'div',
        { class: 'row' },
        h('label', { for: 'colour' }, 'Colour by '),
        select,
        h('label', { for: 'gene' }, 'gene '),
        input,
        list,
        note,
    );
}

/** Switches for categories, or the ramp with its range. */
function legend(view: CellView, state: State): HTMLElement {
    const box = h('div', { class: 'legend' });
    const update = (): void => {
        const { painted } = view;
        const head = h('h3', {}, painted.title + (painted.note ? ` \u00b7 ${painted.note}` : ''));
        if (painted.type === 'none') return box.replaceChildren(head);
        if (painted.type === 'number') {
            const bar = h('div', { class: 'ramp', role: 'img', 'aria-label': `from ${number(painted.from, 3)} to ${number(painted.to, 3)}` });
            bar.style.background = rampStyle(painted.ramp);
            const ends = h('div', { class: 'ends' }, h('span', {}, number(painted.from, 3)), h('span', {}, number(painted.to, 3)));
            return box.replaceChildren(head, bar, ends);
        }
        const focused = document.activeElement?.getAttribute('data-category');
        const present = painted.categories.filter((category) => category.count > 0);
        const rows = present.slice(0, longestLegend).map((category) => {
            const swatch = h('span', { class: 'swatch' });
            swatch.style.background = category.colour;
            const toggle = h('input', {
                type: 'checkbox',
                'data-category': category.name,
                change: () => {
                    if (state.hidden.has(category.name)) state.hidden.delete(category.name);
                    else state.hidden.add(category.name);
                    state.emit('hidden');
                },
            });
            toggle.checked = !state.hidden.has(category.name);
            return h('label', { class: 'entry' }, toggle, swatch, h('span', { class: 'name' }, category.name), h('span', { class: 'count' }, count(category.count)));
        });
        const more = present.length > longestLegend ? h('p', { class: 'note' }, `and ${present.length - longestLegend} more`) : null;
        const all = button('All', () => (state.hidden.clear(), state.emit('hidden')));
        const none = button('None', () => {
            for (const category of present) state.hidden.add(category.name);
            state.emit('hidden');
        });
        box.replaceChildren(head, h('div', { class: 'row' }, all, none), h('div', { class: 'entries' }, ...rows));
        if (more) box.append(more);
        if (focused) box.querySelector<HTMLElement>(`[data-category="${CSS.escape(focused)}"]`)?.focus();
    };
    let waiting = false;
    // Once the view has painted, which may have to unpack data first; not more often than a film can be read.
    state.on(['painted'], () => {
        if (waiting) return;
        waiting = true;
        setTimeout(() => ((waiting = false), update()), 30);
    });
    update();
    return box;
}

function selectionBox(views: CellView[], state: State): HTMLElement {
    const summary = h('p', { class: 'selected', role: 'status', 'aria-live': 'polite' });
    const parts = h('div', { class: 'parts' });
    const names = h('pre', { class: 'names', tabindex: 0, 'aria-label': 'Names of the selected cells' });
    const search = h('input', {
        type: 'search',
        id: 'find',
        placeholder: 'part of a name',
        change: () => {
            const wanted = search.value.trim().toLowerCase();
            const all = state.results.flatMap((result) => result.meta.cell_names);
            state.select(wanted ? all.filter((name) => name.toLowerCase().includes(wanted)) : []);
        },
    });
    const clear = button('Clear', () => state.select([]));
    const shown = button('Select shown', () => state.select(views.flatMap((view) => view.shown().map((j) => view.result.meta.cell_names[j]))));
    const table = button('TSV', () => save(`${fileName(state.results[0].meta.name, 'selection')}.tsv`, new Blob([tsv([['cell'], ...[...state.selection].map((name) => [name])])])), { 'aria-label': 'Download the names of the selected cells' });
    const update = (): void => {
        const chosen = [...state.selection];
        clear.disabled = table.disabled = chosen.length === 0;
        const per = views.map((view) => view.selected().length);
        summary.textContent =
            chosen.length === 0
                ? 'No cell is selected: draw around cells with the lasso, or with the Shift key held.'
                : `${per.map(count).join(' and ')} cells selected`;
        parts.replaceChildren(
            ...views.flatMap((view) => {
                const { painted } = view;
                if (painted.type !== 'category' || chosen.length === 0) return [];
                const counts = new Map<string, number>();
                for (const j of view.selected()) {
                    const { name } = painted.categories[painted.codes[j]];
                    counts.set(name, (counts.get(name) ?? 0) + 1);
                }
                const list = [...counts].sort((a, b) => b[1] - a[1]).slice(0, 12);
                return [h('p', {}, `${painted.title}: ${list.map(([name, value]) => `${name} ${count(value)}`).join(' \u00b7 ')}`)];
            }),
        );
        names.hidden = chosen.length === 0;
        names.textContent = chosen.slice(0, longestNames).join('\n') + (chosen.length > longestNames ? `\n\u2026 and ${count(chosen.length - longestNames)} more` : '');
    };
    state.on(['selection', 'painted'], update);
    update();
    return h('div', { class: 'selection' }, h('h3', {}, 'Selection'), summary, parts, h('div', { class: 'row' }, h('label', { for: 'find' }, 'Find cells '), search, shown, clear, table), names);
}

export function scalesPanel(views: CellView[], state: State): HTMLElement {
    const panel = h('div', { class: 'figures' }, colourControls(state));
    const chosen = views.filter((view) => !view.own);
    views.forEach((view) => {
        if (chosen.length > 1) panel.append(h('h2', { class: 'which' }, view.result.meta.name));
        panel.append(legend(view, state));
        if (view.own) return;
        const found = resolutionsBox(view.result, state);
        if (found) panel.append(found);
    });
    panel.append(selectionBox(chosen, state), h('h3', {}, 'Map of this scale'));
    for (const view of chosen) panel.append(layoutControls(view, state));
    panel.append(h('p', { class: 'note' }, 'Computed in the browser, from the components as the page keeps them, 8 bits each. The map that comes up as the page opens gives way when you move the slider; one that you ask for stays, and only the colours follow the scale.'));
    return panel;
}
