/** What part of a plane is drawn: a square, which becomes world coordinates. */

/** World coordinates of the frame: from −100 to 100 on both axes. */
export const half = 100;

export function boxOf(positions: Float32Array): [number, number, number, number] {
    const box: [number, number, number, number] = [Infinity, Infinity, -Infinity, -Infinity];
    for (let i = 0; i < positions.length; i += 2) {
        box[0] = Math.min(box[0], positions[i]);
        box[1] = Math.min(box[1], positions[i + 1]);
        box[2] = Math.max(box[2], positions[i]);
        box[3] = Math.max(box[3], positions[i + 1]);
    }
    return box;
}

/** Its middle, and world units per unit of the embedding. */
export interface Frame {
    x: number;
    y: number;
    scale: number;
}

/** The square that holds all boxes. */
export function frameOf(boxes: [number, number, number, number][]): Frame {
    const all = [0, 1, 2, 3].map((i) => (i < 2 ? Math.min : Math.max)(...boxes.map((box) => box[i])));
    const side = Math.max(all[2] - all[0], all[3] - all[1]);
    return { x: (all[0] + all[2]) / 2, y: (all[1] + all[3]) / 2, scale: side > 0 ? (2 * half) / side : 1 };
}

/** How many points that are drawn one of them has about it in a square of one unit of the frame, on average. */
export function crowdOf(positions: Float32Array, radii: Float32Array): number {
    const side = 2 * half;
    const inSquare = new Uint32Array(side * side);
    const at = (x: number): number => Math.min(side - 1, Math.max(0, Math.floor(x + half)));
    let drawn = 0;
    for (let j = 0; j < radii.length; ++j) {
        if (radii[j] === 0) continue;
        ++inSquare[at(positions[2 * j + 1]) * side + at(positions[2 * j])];
        ++drawn;
    }
    return drawn > 0 ? inSquare.reduce((sum, count) => sum + count * count, 0) / drawn : 0;
}
