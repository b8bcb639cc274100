/** Finding a gene by its name, and why one cannot be shown. */
import type { Result } from './data';
import { count } from './dom';
import { besideName } from './genes_beside';

/** Genes of all results whose values are at hand, each once. */
export function shownGenes(results: Result[]): string[] {
    return [...new Set(results.flatMap((result) => result.meta.genes.slice(0, result.readable)))];
}

/** Also those in a file that has not been opened. */
export function namedGenes(results: Result[]): string[] {
    return [...new Set([...shownGenes(results), ...results.flatMap((result) => (result.meta.beside ? result.meta.genes : []))])];
}

/** Its values are in the file beside the page, which has not been opened. */
export const isBeside = (results: Result[], wanted: string): boolean => findGene(shownGenes(results), wanted) === undefined && findGene(namedGenes(results), wanted) !== undefined;

/** As it is written, else whatever the case of its letters. */
export function findGene(genes: string[], wanted: string): string | undefined {
    const small = wanted.toLowerCase();
    return genes.find((gene) => gene === wanted) ?? genes.find((gene) => gene.toLowerCase() === small);
}

/** Genes whose names begin with the text, then those that have it elsewhere. */
export function genesLike(genes: string[], text: string, most: number): string[] {
    const small = text.toLowerCase();
    const first = genes.filter((gene) => gene.toLowerCase().startsWith(small)).sort();
    if (first.length >= most) return first.slice(0, most);
    const other = genes.filter((gene) => !gene.toLowerCase().startsWith(small) && gene.toLowerCase().includes(small));
    return [...first, ...other.sort()].slice(0, most);
}

/** Why the page cannot show a gene, in a sentence. */
export function whyNoGene(results: Result[], wanted: string): string {
    const { meta } = results[0];
    const kept = namedGenes([results[0]]).length;
    if (kept === 0) return 'This page has no values of genes: it was made without the data. pnmf report RESULT --input DATA makes one that has them.';
    if (isBeside(results, wanted)) return `The values of ${wanted} are in ${besideName()}, which lies beside this page: open it, or drop it here.`;
    const among = (names: string[]): boolean => findGene(names, wanted) !== undefined;
    if (among(meta.genes)) return `${wanted}: this page keeps the values of ${count(kept)} of ${count(meta.features)} genes, those of programs and those that vary most. It is not among them.`;
    const reasons: Record<string, string> = { genes: 'it is zero in every cell', 'rare-genes': 'it is seen in too few cells' };
    for (const [step, names] of Object.entries(meta.left_out ?? {})) if (among(names)) return `${wanted} was left out of the fit: ${reasons[step] ?? step}.`;
    const like = genesLike(namedGenes(results), wanted.slice(0, Math.max(2, wanted.length - 2)), 4);
    const near = like.length > 0 ? ` Names like it: ${like.join(', ')}.` : '';
    if (meta.chosen_genes) return `${wanted} is not among the ${count(kept)} genes of this page: ${count(meta.chosen_genes)} were chosen for the fit, and of the others the page of a fit has those that vary most, that of pnmf report RESULT --input DATA all.${near}`;
    return `${wanted} is none of the ${count(meta.features)} genes of this result.${near}`;
}
