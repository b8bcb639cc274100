/** The page: slider above, cells on one side, what is known about them on the other. */
import { besideControls } from './beside';
import { CellView } from './cells';
import { saveDrawing, saveImage, saveTable } from './cells_export';
import { readResults, type Result } from './data';
import { button, count, h, number } from './dom';
import { genesPanel } from './genes_panel';
import { loopPanel, loopsOf } from './loop_panel';
import { programsPanel } from './programs';
import { aboutPanel, runPanel } from './run';
import { scalesPanel } from './scales_panel';
import { State } from './state';
import { structurePanel } from './structure';
import { domainScale, neighborhoodWords } from './tissue';
import { topologyPanel } from './topology';

const speeds = [1, 2, 4, 8, 16, 32];

function setTheme(state: State, dark: boolean): void {
    state.dark = dark;
    document.documentElement.dataset.theme = dark ? 'dark' : 'light';
    state.emit('theme');
}

/** Slider, film, and what the scale is. */
function scaleBar(state: State): HTMLElement {
    const slider = h('input', {
        type: 'range',
        id: 'scale',
        min: 0,
        max: Math.max(0, state.length - 1),
        step: 1,
        'aria-label': 'Scale, from fine to coarse',
        disabled: state.length < 2,
        input: () => (stop(), state.moveTo(Number(slider.value))),
    });
    const words = h('output', { for: 'scale', class: 'where', 'aria-live': 'polite' });
    const play = button('', () => (state.playing ? stop() : start()), { class: 'play', disabled: state.length < 2 });
    const stop = (): void => {
        state.playing = false;
        state.emit('play');
    };
    const start = (): void => {
        if (state.at === state.length - 1) state.moveTo(0);
        state.playing = true;
        state.emit('play');
        void film(state, stop);
    };
    const speed = h('select', { id: 'speed', 'aria-label': 'Speed, scales in a second', change: () => (state.speed = speeds[speed.selectedIndex]) }, ...speeds.map((s) => h('option', { selected: s === state.speed }, `${s}/s`)));
    const step = (by: number): void => (stop(), state.moveTo(state.at + by));
    const recommended = button('\u2605 recommended', () => (stop(), state.moveTo(state.recommendedStep)), { title: 'Go to the recommended scale (R)' });
    const [first] = state.results;
    const chosen = domainScale(first);
    const domains = chosen === null ? null : button('\u2605 domains', () => (stop(), state.moveTo(state.stepOf(first, chosen))), { title: 'Go to the scale of the domains' });
    const update = (): void => {
        slider.value = String(state.at);
        play.textContent = state.playing ? '\u275a\u275a Pause' : '\u25b6 Play';
        play.setAttribute('aria-pressed', String(state.playing));
        const text = state.results
            .map((result) => {
                const t = state.scaleOf(result);
                const components = result.meta.scales.betti0?.[t];
                return (
                    `scale ${result.scaleNumber(t)} of ${count(result.meta.scales.total)}` +
                    (result.meta.numbered ? '' : ` \u00b7 \u03b5 = ${number(result.epsilon(t))}`) +
                    (result.meta.tissue ? ` \u00b7 ${neighborhoodWords(result, t)}` : '') +
                    (components === undefined ? '' : ` \u00b7 ${count(components)} component${components === 1 ? '' : 's'}`)
                );
            })
            .filter((one, i, all) => all.indexOf(one) === i)
            .join('  |  ');
        words.textContent = text;
        slider.setAttribute('aria-valuetext', text);
        recommended.setAttribute('aria-pressed', String(state.at === state.recommendedStep));
        if (chosen !== null) domains?.setAttribute('aria-pressed', String(state.at === state.stepOf(first, chosen)));
        document.documentElement.dataset.scale = String(state.at);
    };
    state.on(['scale', 'play'], update);
    update();
    document.addEventListener('keydown', (event) => {
        const target = event.target as HTMLElement;
        if (event.ctrlKey || event.metaKey || event.altKey) return;
        if (target.closest('input:not([type=range]), select, textarea, [role=tablist]')) return;
        const onButton = target.closest('button, summary, input[type=checkbox]') !== null;
        const keys: Record<string, () => void> = {
            ArrowRight: () => step(1),
            ArrowLeft: () => step(-1),
            PageDown: () => step(10),
            PageUp: () => step(-10),
            Home: () => step(-state.length),
            End: () => step(state.length),
            r: () => recommended.click(),
            Escape: () => state.select([]),
        };
        if (!onButton) keys[' '] = () => play.click();
        const action = keys[event.key];
        if (!action) return;
        event.preventDefault();
        action();
    });
    return h(
        'div',
        { class: 'scale-bar' },
        h('div', { class: 'buttons' }, button('\u2039', () => step(-1), { 'aria-label': 'One scale finer' }), play, button('\u203a', () => step(1), { 'aria-label': 'One scale coarser' }), speed, recommended, domains),
        h('span', { class: 'end', 'aria-hidden': 'true' }, 'fine'),
        slider,
        h('span', { class: 'end', 'aria-hidden': 'true' }, 'coarse'),
        words,
    );
}

/** Moves the scale on until the end or a stop. */
async function film(state: State, stop: () => void): Promise<void> {
    let due = performance.now();
    while (state.playing) {
        const time = await new Promise<number>(requestAnimationFrame);
        if (!state.playing || time < due) continue;
        // A slow machine leaves out scales rather than time.
        const steps = Math.max(1, Math.floor(((time - due) / 1000) * state.speed));
        due = Math.max(due + (steps * 1000) / state.speed, time);
        if (state.at >= state.length - 1) return stop();
        state.moveTo(state.at + steps);
    }
}

/** The graph is not drawn: because there are too many cells for it, or because the page was made without the data. */
function whyNoGraph(results: Result[]): string {
    const limit = Math.max(...results.map((result) => result.meta.largest_graph ?? 0));
    if (limit > 0 && results.every((result) => result.n > limit)) return `The graph is drawn for up to ${count(limit)} cells.`;
    return 'This page has no graph: it was made without the data.';
}

function viewTools(views: CellView[], state: State): HTMLElement {
    const lasso = button('Lasso', () => {
        const on = lasso.getAttribute('aria-pressed') !== 'true';
        lasso.setAttribute('aria-pressed', String(on));
        for (const view of views) view.setLasso(on);
    }, { 'aria-pressed': 'false', title: 'Draw around cells to select them; or hold Shift' });
    const frame = button('Own frame', () => {
        state.ownFrame = !state.ownFrame;
        frame.setAttribute('aria-pressed', String(state.ownFrame));
        state.emit('view');
    }, { 'aria-pressed': 'false', title: 'Fit each scale to the frame instead of keeping one frame for all' });
    const tools = [
        lasso,
        button('+', () => views.forEach((view) => view.zoomBy(0.5)), { 'aria-label': 'Zoom in' }),
        button('\u2212', () => views.forEach((view) => view.zoomBy(-0.5)), { 'aria-label': 'Zoom out' }),
        button('Reset', () => views.forEach((view) => view.fitFrame()), { 'aria-label': 'Reset the view' }),
        frame,
        button('Larger', () => ((state.pointSize += 1), state.emit('theme')), { 'aria-label': 'Larger points' }),
        button('Smaller', () => ((state.pointSize -= 1), state.emit('theme')), { 'aria-label': 'Smaller points' }),
    ];
    if (state.results.some((result) => result.meta.tissue)) {
        const tissue = button('Tissue', () => {
            state.showTissue = !state.showTissue;
            tissue.setAttribute('aria-pressed', String(state.showTissue));
            state.emit('view');
        }, { 'aria-pressed': 'true', title: 'Cells where they are in the tissue, or in the plane of H' });
        tools.unshift(tissue);
    }
    if (state.results.some((result) => result.meta.tissue?.images?.length)) {
        const image = button('Image', () => {
            state.showImage = !state.showImage;
            image.setAttribute('aria-pressed', String(state.showImage));
            state.emit('theme');
        }, { 'aria-pressed': 'true', title: 'The image of the tissue behind the cells' });
        tools.unshift(image);
    }
    if (state.results.some((result) => result.has('edge_ends'))) {
        const graph = button('Graph', () => {
            state.showGraph = !state.showGraph;
            graph.setAttribute('aria-pressed', String(state.showGraph));
            void Promise.all(views.map((view) => view.loadGraph())).then(edges);
        }, { 'aria-pressed': 'false', title: 'Draw the graph of this scale over the cells' });
        const note = h('span', { class: 'note', role: 'status' });
        const edges = (): void => {
            const drawn = views.map((view) => view.edgesDrawn);
            const all = Math.max(...state.results.map((result) => result.meta.arrays.edge_lengths?.count ?? 0));
            const cut = state.results.some((result) => (result.meta.edges_total ?? 0) > (result.meta.arrays.edge_lengths?.count ?? 0));
            note.textContent = state.showGraph ? `${drawn.map(count).join(' | ')} edges${cut && Math.max(...drawn) === all ? ' (only the shortest are kept)' : ''}` : '';
            document.documentElement.dataset.edges = state.showGraph ? String(drawn[0]) : '';
        };
        state.on(['scale'], edges);
        tools.push(graph, note as never);
    } else {
        tools.push(h('span', { class: 'note no-graph' }, whyNoGraph(state.results)) as never);
    }
    return h('div', { class: 'view-tools', role: 'toolbar', 'aria-label': 'Cells' }, ...tools, ...views.map((view) => downloads(view, state)));
}

function downloads(view: CellView, state: State): HTMLElement {
    const what = view.own ? 'the second map' : `the cells of ${view.name}`;
    const element = h(
        'span',
        { class: 'downloads' },
        view.own ? 'second map: ' : state.results.length > 1 ? `${view.name}: ` : '',
        button('PNG', () => saveImage(view), { 'aria-label': `Download ${what} as PNG` }),
        button('SVG', () => saveDrawing(view), { 'aria-label': `Download ${what} as SVG` }),
        button('TSV', () => saveTable(view), { 'aria-label': `Download ${what} as TSV` }),
    );
    state.on(['colour'], () => void (element.hidden = view.element.hidden));
    return element;
}

/** Tabs after the ARIA pattern: arrows move between them; a panel is made when it is first opened. */
function tabs(makers: [string, () => HTMLElement][]): HTMLElement {
    const panels = makers.map(([name]) => h('div', { role: 'tabpanel', id: `panel-${name}`, 'aria-labelledby': `tab-${name}`, hidden: true, tabindex: 0 }));
    const made = new Set<number>();
    const open = (index: number, focus = false): void => {
        heads.forEach((head, i) => {
            head.setAttribute('aria-selected', String(i === index));
            head.tabIndex = i === index ? 0 : -1;
            panels[i].hidden = i !== index;
        });
        if (!made.has(index)) panels[index].append(makers[index][1]());
        made.add(index);
        if (focus) heads[index].focus();
    };
    const heads = makers.map(([name], i) => h('button', { role: 'tab', type: 'button', id: `tab-${name}`, 'aria-controls': `panel-${name}`, click: () => open(i) }, name));
    const list = h('div', { role: 'tablist', 'aria-label': 'Views', keydown: (event: KeyboardEvent) => {
        const now = heads.findIndex((head) => head.getAttribute('aria-selected') === 'true');
        const to = { ArrowRight: now + 1, ArrowLeft: now - 1, Home: 0, End: heads.length - 1 }[event.key];
        if (to === undefined) return;
        event.preventDefault();
        open((to + heads.length) % heads.length, true);
    } }, ...heads);
    const element = h('div', { class: 'tabs' }, list, ...panels);
    open(0);
    return element;
}

function page(state: State): HTMLElement {
    const { results } = state;
    const letters = results.length > 1 ? results.map((result) => `${result.meta.name} \u00b7 `) : [''];
    const views = results.map((result, i) => new CellView(result, state, letters[i]));
    if (results.length === 1 && results[0].meta.tissue) {
        const domains = new CellView(results[0], state, '', { kind: 'domain' });
        domains.follow(views[0]);
        views.push(domains);
    }
    const perResult = (make: (result: Result) => HTMLElement): HTMLElement =>
        results.length === 1 ? make(results[0]) : h('div', { class: 'pair' }, ...results.map((result) => h('section', {}, h('h2', { class: 'which' }, result.meta.name), make(result))));
    const theme = button('', () => setTheme(state, !state.dark), { class: 'theme' });
    const showTheme = (): void => void (theme.textContent = state.dark ? 'Light' : 'Dark');
    state.on(['theme'], showTheme);
    showTheme();
    const first = results[0].meta;
    const title = results.map((result) => result.meta.name).join(' and ');
    document.title = `${title} \u2013 pnmf`;
    const warned = results.flatMap((result) => result.meta.run.warnings).length;
    const header = h(
        'header',
        {},
        h('h1', {}, title),
        h('p', {}, `${count(first.cells)}${first.cells_of_fit ? ` of the ${count(first.cells_of_fit)}` : ''} cells \u00b7 rank ${results.map((result) => result.meta.rank).join(' and ')} \u00b7 ${results.map((result) => count(result.meta.scales.total)).join(' and ')} scales`),
        warned > 0 ? h('p', { class: 'warned' }, `${warned} warning${warned === 1 ? '' : 's'}: see Run`) : null,
        theme,
    );
    const animate = (time: number): void => {
        for (const view of views) view.frameAt(time);
        requestAnimationFrame(animate);
    };
    requestAnimationFrame(animate);
    const tools = viewTools(views, state);
    const stages = h('div', { class: 'stages' }, ...views.map((view) => view.element));
    if (results.length > 1) stages.classList.add('pairwise');
    const beside = results.length > 1 ? null : besideControls(state, { views, stages, added: (view) => tools.append(downloads(view, state)) });
    return h(
        'div',
        { class: 'page' },
        header,
        scaleBar(state),
        h(
            'div',
            { class: 'columns' },
            h('div', { class: 'views' }, tools, stages),
            tabs([
                ['Scales', () => scalesPanel(views, state, beside)],
                ['Genes', () => perResult((result) => genesPanel(result, state))],
                ...(results.some((result) => loopsOf(result).length > 0 || result.meta.loops) ? [['Loops', () => perResult((result) => loopPanel(result, state))] as [string, () => HTMLElement]] : []),
                ['Topology', () => perResult((result) => topologyPanel(result, state))],
                ['Structure', () => perResult((result) => structurePanel(result, state))],
                ['Programs', () => perResult((result) => programsPanel(result, state))],
                ['Run', () => h('div', {}, perResult((result) => runPanel(result, state)), aboutPanel(first.run.program))],
            ]),
        ),
    );
}

async function begin(): Promise<void> {
    const app = document.getElementById('app')!;
    try {
        const results = await readResults();
        if (results.length === 0) throw new Error('this page holds no data');
        const state = new State(results);
        const wanted = matchMedia('(prefers-color-scheme: dark)');
        setTheme(state, wanted.matches);
        wanted.addEventListener('change', () => setTheme(state, wanted.matches));
        app.replaceChildren(page(state));
        document.documentElement.dataset.ready = 'true';
    } catch (error) {
        app.replaceChildren(h('p', { class: 'failed', role: 'alert' }, `The page could not be drawn: ${String(error)}`));
        throw error;
    }
}

void begin();
