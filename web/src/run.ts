/** How the result was made: warnings, options, convergence, the command, how to cite, licences. */
import * as Plot from '@observablehq/plot';
import { apart, Figure, type Drawing } from './chart';
import type { Result } from './data';
import { button, count, h, number } from './dom';
import type { State } from './state';

/** Filled in by the build: packages bundled in this page and the texts of their licences. */
declare const PNMF_LICENCES: { name: string; version: string; licence: string; text: string }[];

const terms: [string, string][] = [
    ['objective', 'total'],
    ['objective_fit', 'fit'],
    ['objective_graph', 'graph'],
    ['objective_smoothness', 'smoothness'],
    ['objective_anchor', 'anchor'],
];

function convergence(result: Result, state: State): HTMLElement | null {
    const { objective } = result.meta.run;
    const sweeps = objective.sweep ?? [];
    if (sweeps.length === 0) return null;
    const points = terms.flatMap(([key, name], i) =>
        (objective[key] ?? []).map((value, s) => ({ sweep: sweeps[s], value: value > 0 ? value : NaN, name, i })),
    );
    return new Figure(
        {
            title: 'Convergence',
            about: 'The objective after each sweep, start first, and its four terms: fit, graph, smoothness between scales, anchor.',
            table: () => [['sweep', ...terms.map(([, name]) => name)], ...sweeps.map((sweep, s) => [sweep, ...terms.map(([key]) => objective[key]?.[s])])],
            draw: (width): Drawing =>
                Plot.plot({
                    width,
                    height: 230,
                    marginLeft: 56,
                    marginRight: 84,
                    x: { label: 'sweep \u2192', ticks: Math.min(8, sweeps.length), tickFormat: (d: number) => (Number.isInteger(d) ? String(d) : '') },
                    y: { type: 'log', label: null, grid: true, ticks: 5, tickFormat: '.1e' },
                    marks: [
                        Plot.line(points, { x: 'sweep', y: 'value', z: 'name', stroke: (d) => `var(--series-${d.i + 1})`, strokeWidth: (d) => (d.i === 0 ? 2.6 : 1.6) }),
                        Plot.dot(sweeps.length <= 30 ? points : [], { x: 'sweep', y: 'value', r: 2, fill: (d) => `var(--series-${d.i + 1})` }),
                        Plot.text(points.filter((d) => Number.isFinite(d.value)), apart(Plot.selectLast({ x: 'sweep', y: 'value', z: 'name', text: 'name', dx: 6, textAnchor: 'start', fill: (d: { i: number }) => `var(--series-${d.i + 1})` }))),
                    ],
                }) as Drawing,
        },
        state,
    ).element;
}

function facts(rows: [string, string][]): HTMLElement {
    return h(
        'table',
        { class: 'facts' },
        h('tbody', {}, ...rows.map(([name, value]) => h('tr', {}, h('th', { scope: 'row' }, name), h('td', {}, value)))),
    );
}

function sentences(title: string, texts: string[], kind: string): HTMLElement | null {
    if (texts.length === 0) return null;
    return h('div', { class: kind, role: kind === 'warnings' ? 'alert' : null }, h('h3', {}, title), h('ul', {}, ...texts.map((text) => h('li', {}, text))));
}

/** The column of the cells that holds their batches, as `pnmf fit --batch` names it. */
const batchColumn = 'pnmf_batch';

function batches(result: Result, state: State): HTMLElement | null {
    const { batch } = result.meta.run;
    if (!batch) return null;
    const rows = batch.batches.map((one): [string, string] => [one.name, `${count(one.cells)} cells`]);
    const before = batch.mixing_before === null ? '' : `${number(batch.mixing_before, 2)} in the space that distances are measured in, `;
    const mixing = batch.mixing === null ? '' : `Mixing of batches among the nearest cells: ${before}${number(batch.mixing, 2)} in the embedding of the recommended scale. 0: the neighbours of a cell are of its own batch; 1: batches cannot be told apart. `;
    const known = result.meta.columns.some((column) => column.name === batchColumn);
    const colour = button('Colour the cells by batch', () => state.colourBy({ kind: 'column', name: batchColumn }));
    return h(
        'div',
        { class: 'batches' },
        h('h3', {}, `Batches: ${batch.column}`),
        facts(rows),
        h('p', { class: 'note' }, `${mixing}Neighbours were balanced over batches; the values that were factorised are not corrected.`),
        ...(known ? [colour] : []),
    );
}

const asText = (value: unknown): string =>
    value === null || value === undefined ? 'chosen automatically' : typeof value === 'string' ? value : JSON.stringify(value);

export function runPanel(result: Result, state: State): HTMLElement {
    const { meta } = result;
    const { run } = meta;
    const panel = h('div', { class: 'figures' });
    const sweeps = run.objective.sweep ?? [];
    const shown =
        result.T < meta.scales.total
            ? `${count(meta.scales.total)}, of which this page shows ${count(result.T)}, evenly spaced`
            : count(meta.scales.total);
    const rows: [string, string][] = [
        ['cells', count(meta.cells)],
        ['features', count(meta.features)],
        ['rank', String(meta.rank)],
        ['scales', shown],
        ['recommended scale', String(result.scaleNumber(meta.recommended))],
        ['transform', run.transform || 'none'],
    ];
    if (run.method) rows.push(['method', run.method]);
    if (run.stop) rows.push(['end of the run', sweeps.length ? `${run.stop} after ${sweeps[sweeps.length - 1]} sweeps` : run.stop]);
    rows.push(['page made by', run.program]);
    panel.append(facts(rows));
    const parts: (HTMLElement | null)[] = [
        sentences('Warnings', run.warnings, 'warnings'),
        run.warnings.length === 0 ? h('p', { class: 'note' }, 'The run gave no warnings.') : null,
        batches(result, state),
        sentences('Chosen on the way', run.notices, 'notices'),
    ];
    if (run.command) {
        const copied = h('span', { role: 'status' });
        const copy = button('Copy', () => {
            navigator.clipboard?.writeText(run.command).then(
                () => (copied.textContent = ' copied'),
                () => (copied.textContent = ' the browser did not allow it'),
            );
        });
        parts.push(h('div', {}, h('h3', {}, 'To repeat the run'), h('pre', { class: 'command' }, run.command), copy, copied));
    }
    parts.push(convergence(result, state));
    const options = Object.entries(run.options).map(([name, value]): [string, string] => [name, asText(value)]);
    if (options.length > 0) parts.push(h('div', {}, h('h3', {}, 'Options'), facts(options)));
    panel.append(...parts.filter((part): part is HTMLElement => part !== null));
    return panel;
}

/** The same for every result: how to cite, and whose work is in the page. */
export function aboutPanel(program: string): HTMLElement {
    return h(
        'div',
        { class: 'about' },
        h('h3', {}, 'To cite'),
        h('p', {}, 'The method: J. Zhang, R. Miao, L. Li, Persistent Nonnegative Matrix Factorization via Multi-Scale Graph Regularization.'),
        h('p', {}, `The software: ${program}; see CITATION.cff in its source.`),
        h(
            'details',
            { class: 'licences' },
            h('summary', {}, `Licences of the ${PNMF_LICENCES.length} packages in this page`),
            ...PNMF_LICENCES.map((one) => h('details', {}, h('summary', {}, `${one.name} ${one.version} \u2013 ${one.licence}`), h('pre', {}, one.text))),
        ),
    );
}
