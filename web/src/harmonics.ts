/** Genes that follow a phase: a first harmonic by least squares, a + b cos θ + c sin θ, over the cells that have one. */
import type { Gene } from './data';

export interface Wave {
    name: string;
    amplitude: number;
    /** The phase where it is highest, 0 to 2π. */
    peak: number;
    /** Of its variance. */
    share: number;
    /** Of no wave, in normal noise: (1 − share)^((n − 3)/2). */
    p: number;
}

/** Phases of the cells that have one, and what every gene needs of them. */
export class Phases {
    readonly count: number;
    /** Inverse of the normal matrix of 1, cos θ, sin θ. */
    private readonly inverse: number[][];

    constructor(readonly angles: Float64Array) {
        const sums = [0, 0, 0, 0, 0, 0];
        for (const angle of angles) {
            if (Number.isNaN(angle)) continue;
            const [c, s] = [Math.cos(angle), Math.sin(angle)];
            [1, c, s, c * c, c * s, s * s].forEach((term, i) => (sums[i] += term));
        }
        const [n, c, s, cc, cs, ss] = sums;
        this.count = n;
        const rows = [[n, c, s], [c, cc, cs], [s, cs, ss]];
        const minor = (i: number, j: number): number => {
            const [a, b] = [0, 1, 2].filter((one) => one !== i);
            const [d, e] = [0, 1, 2].filter((one) => one !== j);
            return ((i + j) % 2 ? -1 : 1) * (rows[a][d] * rows[b][e] - rows[a][e] * rows[b][d]);
        };
        const determinant = [0, 1, 2].reduce((sum, j) => sum + rows[0][j] * minor(0, j), 0);
        this.inverse = rows.map((row, i) => row.map((_, j) => minor(j, i) / determinant));
    }

    wave(name: string, gene: Gene): Wave {
        const right = [0, 0, 0];
        let squares = 0;
        for (let i = 0; i < gene.cells.length; ++i) {
            const angle = this.angles[gene.cells[i]];
            if (Number.isNaN(angle)) continue;
            const y = (gene.shares[i] / 255) * gene.largest;
            right[0] += y;
            right[1] += y * Math.cos(angle);
            right[2] += y * Math.sin(angle);
            squares += y * y;
        }
        const fit = this.inverse.map((row) => row[0] * right[0] + row[1] * right[1] + row[2] * right[2]);
        const mean = (right[0] * right[0]) / this.count;
        const variation = squares - mean;
        if (!(this.count > 3) || !(variation > 1e-12 * squares)) return { name, amplitude: 0, peak: 0, share: 0, p: 1 };
        const explained = fit[0] * right[0] + fit[1] * right[1] + fit[2] * right[2] - mean;
        const share = Math.min(1, Math.max(0, explained / variation));
        const peak = (Math.atan2(fit[2], fit[1]) + 2 * Math.PI) % (2 * Math.PI);
        return { name, amplitude: Math.hypot(fit[1], fit[2]), peak, share, p: (1 - share) ** ((this.count - 3) / 2) };
    }
}
