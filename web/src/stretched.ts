/**
 * Where drawing a frame takes long (very many cells, no graphics card), zooming and moving stretch the picture that is
 * there, and cells are drawn anew when the reader rests.
 */
import type { Deck, OrthographicView } from '@deck.gl/core';

export interface ViewState {
    target: [number, number];
    zoom: number;
}

const rest = 120; // milliseconds
const slowFrames = 120; // milliseconds that two frames take

export class Stretched {
    private slow = false;
    /** Only what is looked at has changed since cells were drawn. */
    private enough = false;
    private timer = 0;
    private drawn: ViewState = { target: [0, 0], zoom: 0 };

    constructor(
        private readonly canvas: HTMLCanvasElement,
        private readonly deck: () => Deck<OrthographicView>,
    ) {}

    /** Another part is looked at. */
    looked(): void {
        clearTimeout(this.timer);
        this.enough = this.slow;
    }

    /** The cells themselves have changed: they are drawn at once. */
    changed(): void {
        clearTimeout(this.timer);
        this.enough = false;
    }

    render(reason: string, view: ViewState): void {
        if (this.enough && reason !== 'image') return this.stretch(view);
        (this.deck() as unknown as { _drawLayers(reason: string): void })._drawLayers(reason);
        this.drawn = view;
        this.canvas.style.transform = '';
        const began = performance.now();
        requestAnimationFrame(() => requestAnimationFrame(() => (this.slow = performance.now() - began > slowFrames)));
    }

    private stretch(view: ViewState): void {
        const scale = 2 ** view.zoom;
        const right = (this.drawn.target[0] - view.target[0]) * scale;
        const down = (view.target[1] - this.drawn.target[1]) * scale;
        this.canvas.style.transform = `translate(${right}px, ${down}px) scale(${scale / 2 ** this.drawn.zoom})`;
        clearTimeout(this.timer);
        this.timer = window.setTimeout(() => {
            this.changed();
            this.deck().redraw('at rest');
        }, rest);
    }
}
