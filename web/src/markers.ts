/** Genes that differ between two groups of cells: Wilcoxon's rank-sum test on the values as the page keeps them. */
import type { Gene } from './data';

export interface Marker {
    name: string;
    /** The test's statistic, above 0 where the first group has more. */
    z: number;
    p: number;
    /** The same after Benjamini and Hochberg, over all genes tested. */
    adjusted: number;
    /** The chance that a cell of the first group has more than one of the second, ties counted half. */
    auc: number;
    means: [number, number];
    /** Cells above zero, as a share of the group. */
    shares: [number, number];
}

/** 2/√π ∫ₓ^∞ exp(−t²) dt for x ≥ 0: a series near zero, a continued fraction further out. */
export function erfc(x: number): number {
    if (x < 2) {
        let term = x;
        let sum = x;
        for (let n = 1; Math.abs(term) > 1e-17 * sum; ++n) {
            term *= (-x * x) / n;
            sum += term / (2 * n + 1);
        }
        return 1 - (2 / Math.sqrt(Math.PI)) * sum;
    }
    let below = x;
    for (let k = 60; k > 0; --k) below = x + k / 2 / below;
    return Math.exp(-x * x) / Math.sqrt(Math.PI) / below;
}

/** The test for one gene. `sides` has 1 and 2 for the cells of the two groups, `sizes` how many they are. */
export function compare(name: string, gene: Gene, sides: Uint8Array, sizes: [number, number]): Marker {
    const seen = [new Int32Array(256), new Int32Array(256)];
    const sums: [number, number] = [0, 0];
    for (let i = 0; i < gene.cells.length; ++i) {
        const side = sides[gene.cells[i]] - 1;
        if (side < 0) continue;
        ++seen[side][gene.shares[i]];
        sums[side] += gene.shares[i];
    }
    const above = seen.map((counts) => counts.reduce((sum, one) => sum + one, 0));
    const [a, b] = sizes;
    const all = a + b;
    [seen[0][0], seen[1][0]] = [a - above[0], b - above[1]];
    let before = 0;
    let ranks = 0;
    let ties = 0;
    for (let value = 0; value < 256; ++value) {
        const equal = seen[0][value] + seen[1][value];
        ranks += seen[0][value] * (before + (equal + 1) / 2);
        ties += equal * equal * equal - equal;
        before += equal;
    }
    const wins = ranks - (a * (a + 1)) / 2;
    const spread = Math.sqrt(((a * b) / 12) * (all + 1 - ties / (all * (all - 1))));
    const apart = wins - (a * b) / 2;
    // Half a step towards zero: ranks are whole numbers or halves, the normal distribution is not.
    const z = spread > 0 ? (Math.sign(apart) * Math.max(0, Math.abs(apart) - 0.5)) / spread : 0;
    const unit = gene.largest / 255;
    return {
        name,
        z,
        p: spread > 0 ? erfc(Math.abs(z) / Math.SQRT2) : 1,
        adjusted: 1,
        auc: wins / (a * b),
        means: [(sums[0] / a) * unit, (sums[1] / b) * unit],
        shares: [above[0] / a, above[1] / b],
    };
}

/** Fills in the adjusted p-values; those that mark the first group most come first. */
export function ordered(markers: Marker[]): Marker[] {
    const byP = [...markers].sort((one, other) => one.p - other.p);
    let least = 1;
    for (let i = byP.length - 1; i >= 0; --i) {
        least = Math.min(least, (byP[i].p * byP.length) / (i + 1));
        byP[i].adjusted = least;
    }
    return byP.sort((one, other) => other.z - one.z || other.auc - one.auc);
}
