/** What the cells are coloured by, the legend, and the selection. */
import type { CellView } from './cells';
import { colourControls } from './colour_controls';
import { button, count, fileName, h, save, tsv } from './dom';
import { layoutControls } from './layout';
import { legend } from './legend';
import { tableField } from './own_table';
import { resolutionsBox } from './resolutions';
import type { State } from './state';

const longestNames = 200;

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

export function scalesPanel(views: CellView[], state: State, beside: HTMLElement | null): HTMLElement {
    const controls = colourControls(state, {
        id: 'colour',
        label: 'Colour by ',
        gene: 'gene',
        get: () => state.colouring,
        set: (colouring) => colouring && state.colourBy(colouring),
    });
    const panel = h('div', { class: 'figures' }, controls);
    const chosen = views.filter((view) => !view.own);
    views.forEach((view) => {
        if (chosen.length > 1) panel.append(h('h2', { class: 'which' }, view.result.meta.name));
        if (view.own) return;
        panel.append(legend(view, state));
        const found = resolutionsBox(view.result, state);
        if (found) panel.append(found);
    });
    if (beside) panel.append(beside);
    panel.append(tableField(state), selectionBox(chosen, state), h('h3', {}, 'Map of this scale'));
    for (const view of chosen) panel.append(layoutControls(view, state));
    panel.append(h('p', { class: 'note' }, 'Computed in the browser, from the programs\u2019 values as the page keeps them, 8 bits each. The map that comes up as the page opens gives way when you move the slider; one that you ask for stays, and only the colours follow the scale.'));
    return panel;
}
