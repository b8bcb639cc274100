/** Colours that people with colour-blindness can tell apart. */
import { interpolateCividis, interpolateRainbow, interpolateViridis } from 'd3-scale-chromatic';
import { rgb } from 'd3-color';

/** Okabe and Ito's eight (its black is the text's colour), then four of Paul Tol's muted set. */
const base = [
    '#0072b2',
    '#e69f00',
    '#009e73',
    '#cc79a7',
    '#56b4e9',
    '#d55e00',
    '#b8ab20',
    '#7f7f7f',
    '#882255',
    '#44aa99',
    '#332288',
    '#999933',
];

/** Beyond the twelve, the same hues lighter, then darker. */
export function categoryColour(index: number, dark: boolean): string {
    const colour = rgb(base[index % base.length]);
    const round = Math.floor(index / base.length) % 3;
    if (round === 1) return colour.brighter(0.9).formatHex();
    if (round === 2) return colour.darker(0.9).formatHex();
    return dark && index % base.length === 10 ? '#8f84e0' : colour.formatHex();
}

export const otherColour = (dark: boolean): string => (dark ? '#6b7280' : '#b3b8c2');

export type Ramp = 'viridis' | 'cividis' | 'cyclic';
const ramps = { viridis: interpolateViridis, cividis: interpolateCividis, cyclic: interpolateRainbow };

/** 256 colours of a ramp: cividis for programs and columns, viridis for genes, a circle of hues for phases. */
export function ramp(kind: Ramp): Uint8Array {
    const at = ramps[kind];
    const bytes = new Uint8Array(256 * 3);
    for (let i = 0; i < 256; ++i) {
        const colour = rgb(at(i / 255));
        bytes.set([colour.r, colour.g, colour.b], 3 * i);
    }
    return bytes;
}

export function rampStyle(kind: Ramp): string {
    const at = ramps[kind];
    return `linear-gradient(90deg, ${[0, 0.125, 0.25, 0.375, 0.5, 0.625, 0.75, 0.875, 1].map((x) => at(x)).join(', ')})`;
}

export function bytesOf(colour: string): [number, number, number] {
    const { r, g, b } = rgb(colour);
    return [r, g, b];
}
