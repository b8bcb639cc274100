/** The map of a tissue: where its cells are, slices side by side in one measure. */
import { BitmapLayer } from '@deck.gl/layers';
import type { ImagePlace, Layout } from './cells';
import type { Result } from './data';
import { boxOf, frameOf } from './frame';

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
    const across = (s: number, x: number): number => x - boxes[s].left + (s % perRow) * (width + room);
    const upwards = (s: number, y: number): number => up * y - boxes[s].top - Math.floor(s / perRow) * (height + room);
    const positions = new Float32Array(places.length);
    for (let j = 0; 2 * j < places.length; ++j) {
        const s = slice ? slice[j] : 0;
        positions[2 * j] = across(s, places[2 * j]);
        positions[2 * j + 1] = upwards(s, places[2 * j + 1]);
    }
    const images = (tissue.images ?? []).map(({ slice: s, box: [left, top, right, bottom], ...size }) => {
        const box: ImagePlace['box'] = [across(s, left), upwards(s, bottom), across(s, right), upwards(s, top)];
        return { ...size, array: `image${s}`, box };
    });
    const name =
        (tissue.flat ? 'places in the tissue' : 'places in the tissue, the first two of three coordinates') +
        (slice ? `; slices in rows: ${tissue.slices.join(' \u00b7 ')}` : '');
    return { name, positions, images };
}

/** The pixels of an image: see src/report/image.hpp. The section `image` must be loaded. */
function pixelsOf(result: Result, { array, width, height }: ImagePlace): ImageData {
    const bytes = result.array(array) as Uint8Array;
    const [halfWidth, halfHeight] = [Math.ceil(width / 2), Math.ceil(height / 2)];
    const values = new Int8Array(bytes.length);
    const rows: [number, number][] = [[height, width], [halfHeight, halfWidth], [halfHeight, halfWidth]];
    let at = 0;
    for (const [count, length] of rows)
        for (let y = 0; y < count; ++y)
            for (let x = 0; x < length; ++x, ++at) values[at] = bytes[at] + (x > 0 ? values[at - 1] : 0);
    const image = new ImageData(width, height);
    for (let y = 0; y < height; ++y) {
        for (let x = 0; x < width; ++x) {
            const i = y * width + x;
            const half = width * height + (y >> 1) * halfWidth + (x >> 1);
            const light = 4 * values[i] + 2; // (R + 2G + B) / 4
            const redder = 8 * values[half] + 4; // R - B
            const greener = 16 * values[half + halfWidth * halfHeight] + 8; // 2G - R - B
            const others = (2 * light - greener / 2) / 2; // (R + B) / 2
            image.data[4 * i] = others + redder / 2;
            image.data[4 * i + 1] = light + greener / 4;
            image.data[4 * i + 2] = others - redder / 2;
            image.data[4 * i + 3] = 255;
        }
    }
    return image;
}

/** The photographs behind a tissue, in world coordinates. */
export async function imageLayers(result: Result, tissue: Layout | null): Promise<BitmapLayer[]> {
    if (!tissue?.images?.length || !(await result.load('image'))) return [];
    const { x, y, scale } = frameOf([boxOf(tissue.positions)]);
    return tissue.images.map((image) => {
        const [left, bottom, right, top] = image.box;
        const bounds: ImagePlace['box'] = [(left - x) * scale, (bottom - y) * scale, (right - x) * scale, (top - y) * scale];
        return new BitmapLayer({ id: image.array, image: pixelsOf(result, image), bounds });
    });
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
