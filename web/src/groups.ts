/** Ways to put the cells into groups: whatever gives them categories. */
import { colouringTitle, paint } from './colouring';
import type { Result } from './data';
import type { Colouring, State } from './state';

const most = 60;

export interface Grouping {
    title: string;
    codes: ArrayLike<number>;
    names: string[];
    colours: string[];
    counts: number[];
}

/** What groups can be made of, what the cells are coloured by first. */
export function groupChoices(result: Result, state: State): Colouring[] {
    const choices: Colouring[] = result.meta.columns
        .filter((column) => column.categories && column.categories.length > 1 && column.categories.length <= most)
        .map((column) => ({ kind: 'column', name: column.name }));
    if (result.has('clusters')) choices.push({ kind: 'cluster' });
    if (result.has('domains')) choices.push({ kind: 'domain' });
    const painted = (one: Colouring): number => (colouringTitle(one) === colouringTitle(state.colouring) ? 0 : 1);
    return choices.sort((a, b) => painted(a) - painted(b));
}

/** The groups that have cells, in their order; null where these colours are no categories. */
export function groupingOf(result: Result, state: State, by: Colouring): Grouping | null {
    const painted = paint(result, state.scaleOf(result), by, state);
    if (painted.type !== 'category') return null;
    // Groups to which the reader gave one name are one group.
    const present = painted.categories.filter((category) => category.count > 0);
    const names = [...new Set(present.map((category) => category.name))];
    const place = painted.categories.map((category) => names.indexOf(category.name));
    return {
        title: painted.title,
        codes: Array.from(painted.codes, (code) => place[code]),
        names,
        colours: names.map((name) => present.find((category) => category.name === name)!.colour),
        counts: names.map((name) => present.reduce((sum, category) => sum + (category.name === name ? category.count : 0), 0)),
    };
}
