/** Switches for categories, which can be given names; or the ramp with its range. */
import type { CellView } from './cells';
import type { Category } from './colouring';
import { rampStyle } from './colours';
import { button, count, csv, fileName, h, number, save } from './dom';
import type { State } from './state';

const longest = 60;

/** A row for each cell: its name, its category, and the name that was given to it. */
function saveNames(view: CellView): void {
    const { painted, result } = view;
    if (painted.type !== 'category') return;
    const of = (j: number): Category => painted.categories[painted.codes[j]];
    const rows = result.meta.cell_names.map((cell, j) => [cell, of(j).original, of(j).name]);
    const title = `${painted.title} name`;
    save(`${fileName(result.meta.name, painted.title, 'names')}.csv`, new Blob([csv([['cell', painted.title, title], ...rows])], { type: 'text/csv' }));
}

export function legend(view: CellView, state: State): HTMLElement {
    const box = h('div', { class: 'legend' });
    let naming = false;
    const entry = (category: Category): HTMLElement => {
        const swatch = h('span', { class: 'swatch' });
        swatch.style.background = category.colour;
        const toggle = h('input', {
            type: 'checkbox',
            'data-category': category.name,
            tabindex: naming ? -1 : null, // from name to name
            'aria-label': naming ? `Show ${category.name}` : null,
            change: () => {
                if (state.hidden.has(category.name)) state.hidden.delete(category.name);
                else state.hidden.add(category.name);
                state.emit('hidden');
            },
        });
        toggle.checked = !state.hidden.has(category.name);
        const cells = h('span', { class: 'count' }, count(category.count));
        if (!naming) return h('label', { class: 'entry' }, toggle, swatch, h('span', { class: 'name' }, category.name), cells);
        const name = h('input', {
            class: 'given',
            'data-original': category.original,
            'aria-label': `Name of ${category.original}`,
            autocomplete: 'off',
            change: () => {
                name.defaultValue = name.value;
                state.nameCategory(view.colouring, category.original, name.value.trim());
            },
        });
        name.defaultValue = category.name;
        return h('div', { class: 'entry' }, toggle, swatch, name, cells);
    };
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
        const before = document.activeElement;
        const typing = before instanceof HTMLInputElement && before.matches('.given') && box.contains(before) ? before : null;
        if (typing && typing.value !== typing.defaultValue) return; // a name that is not finished; then this comes again
        const marked: [number | null, number | null] = [typing?.selectionStart ?? null, typing?.selectionEnd ?? null];
        const focused = box.contains(before) ? ['data-category', 'data-original'].find((name) => before!.hasAttribute(name)) : undefined;
        const key = focused && before!.getAttribute(focused);
        const present = painted.categories.filter((category) => category.count > 0);
        const more = present.length > longest ? h('p', { class: 'note' }, `and ${present.length - longest} more`) : null;
        const all = button('All', () => (state.hidden.clear(), state.emit('hidden')));
        const none = button('None', () => {
            for (const category of present) state.hidden.add(category.name);
            state.emit('hidden');
        });
        const name = button('Name', () => ((naming = !naming), update()), { class: 'naming', 'aria-pressed': String(naming), title: 'Give these groups names of your own; groups of one name are one' });
        const saved = button('CSV', () => saveNames(view), { 'aria-label': `Download the names of ${painted.title} as CSV`, title: 'A row for each cell: cell, group, name' });
        const buttons = state.keyOf(view.colouring) === null ? [all, none] : [all, none, name, saved];
        box.replaceChildren(head, h('div', { class: 'row' }, ...buttons), h('div', { class: 'entries' }, ...present.slice(0, longest).map(entry)));
        if (more) box.append(more);
        const again = focused ? box.querySelector<HTMLInputElement>(`[${focused}="${CSS.escape(key!)}"]`) : null;
        again?.focus();
        if (typing) again?.setSelectionRange(...marked);
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
