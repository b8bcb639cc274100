/** The map of a tissue: where its cells are, slices side by side in one measure. */
import type { Layout } from './cells';
import type { Result } from './data';

/** Room between slices, as a share of the largest. */
const gap = 0.08;

interface Box {
    left: number;
    top: number;
    right: number;
    bottom: number;
}

function boxesOf(places: ArrayLike<number>, slice: ArrayLike<number> | null, count: number, up: number): Box[] {
    const boxes = Array.from({ length: count }, () => ({ left: Infinity, top: -Infinity, right: -Infinity, bottom: Infinity }));
    for (let j = 0; 2 * j < places.length; ++j) {
        const box = boxes[slice ? slice[j] : 0];
        const y = up * places[2 * j + 1];
        box.left = Math.min(box.left, places[2 * j]);
        box.right = Math.max(box.right, places[2 * j]);
        box.bottom = Math.min(box.bottom, y);
        box.top = Math.max(box.top, y);
    }
    return boxes;
}

/** y grows upwards, but for places that are pixels of an image. Null for a result without places. */
export function tissueMap(result: Result): Layout | null {
    const { tissue } = result.meta;
    if (!tissue) return null;
    const places = result.array('places');
    const slice = tissue.slices.length > 0 ? result.array('slice') : null;
    const up = tissue.downwards ? -1 : 1;
    const boxes = boxesOf(places, slice, Math.max(1, tissue.slices.length), up);
    const filled = boxes.filter((box) => box.right >= box.left); // a slice may have lost all its cells
    const width = Math.max(...filled.map((box) => box.right - box.left));
    const height = Math.max(...filled.map((box) => box.top - box.bottom));
    const room = gap * Math.max(width, height);
    const perRow = Math.ceil(Math.sqrt(boxes.length));
    const positions = new Float32Array(places.length);
    for (let j = 0; 2 * j < places.length; ++j) {
        const s = slice ? slice[j] : 0;
        positions[2 * j] = places[2 * j] - boxes[s].left + (s % perRow) * (width + room);
        positions[2 * j + 1] = up * places[2 * j + 1] - boxes[s].top - Math.floor(s / perRow) * (height + room);
    }
    const name =
        (tissue.flat ? 'places in the tissue' : 'places in the tissue, the first two of three coordinates') +
        (slice ? `; slices in rows: ${tissue.slices.join(' \u00b7 ')}` : '');
    return { name, positions };
}

/** The step of the slider at which the domains were chosen. */
export function domainScale(result: Result): number | null {
    const { tissue, scales } = result.meta;
    const shown = tissue ? scales.position.indexOf(tissue.scale) : -1;
    return shown < 0 ? null : shown;
}

/** How far a neighbourhood reaches at a scale, in words. */
export function neighborhoodWords(result: Result, t: number): string {
    const cells = result.meta.tissue?.neighbors[t];
    if (cells === undefined) return '';
    const reach = result.meta.tissue?.micrometres?.[t];
    const within = reach === undefined ? '' : ` within ${Number(reach.toPrecision(3))} \u00b5m`;
    return (cells < 0.5 ? 'no neighbours' : `${Number(cells.toPrecision(2))} neighbours`) + within;
}
