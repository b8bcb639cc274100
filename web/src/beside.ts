/** A second map of the same cells in other colours. */
import { CellView } from './cells';
import { colourControls } from './colour_controls';
import { h } from './dom';
import { legend } from './legend';
import type { State } from './state';

/** Where the first map and its twin are, and what is to be done when there is one more. */
interface Places {
    views: CellView[];
    stages: HTMLElement;
    added: (view: CellView) => void;
}

/** The choice of its colours, and its legend. */
export function besideControls(state: State, { views, stages, added }: Places): HTMLElement {
    let twin: CellView | null = views.find((view) => view.own) ?? null;
    const place = h('div', { class: 'beside-legend' });
    const show = (): void => {
        const shown = twin !== null && twin.own !== null;
        stages.classList.toggle('pairwise', shown);
        if (twin) twin.element.hidden = !shown;
        place.hidden = !shown;
    };
    if (twin) place.append(legend(twin, state));
    show();
    const controls = colourControls(state, {
        id: 'beside',
        label: 'Second map by ',
        gene: 'beside-gene',
        nothing: 'no second map',
        get: () => twin?.own ?? null,
        set: (colouring) => {
            if (!twin && colouring) {
                twin = new CellView(views[0].result, state, '', colouring);
                twin.follow(views[0]);
                views.push(twin);
                stages.append(twin.element);
                place.append(legend(twin, state));
                added(twin);
            }
            if (twin) twin.own = colouring;
            show();
            state.emit('colour');
        },
    });
    return h('div', {}, controls, place);
}
