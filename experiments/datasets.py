"""The labelled data sets and what is run on each; fits and scores are shared between experiments."""

import dataclasses

from lab import Missing


@dataclasses.dataclass(frozen=True)
class Set:
    name: str
    cells: int
    paper: str = ""      # its name in the paper's table, where it has one
    partial: str = ""    # how the copy differs from the paper's
    scales: int = 10     # of the canonical ones, evenly spaced in rank
    extra: tuple = ()    # further options of pnmf fit
    reference: bool = False
    rank: int = 0        # of every method; 0: the square root of the cells


# Thousands of cells: a sparse graph, and an end by decrease: the certificate takes hundreds of sweeps more.
LARGE = ("--neighbors", 15, "--precision", "float", "--stop-rule", "relative-decrease", "--tolerance", "1e-5")

SETS = [
    Set("Dendritic_batch1_HVG859", 288, "Dendritic_batch1", "288 of 384 cells, 3 of 4 types, 859 of 15,426 genes", 40,
        reference=True),
    Set("GSE75748time_TF100", 758, "GSE75748time", "all 758 cells, 100 of 19,189 genes", 24, reference=True),
    Set("Yan", 90), Set("Goolam", 124), Set("Pollen", 299), Set("img_ORL32", 400), Set("PBMC68k_reduced700", 700),
    Set("PBMC3k", 2638, scales=6, extra=LARGE), Set("Baron_human_2000g", 2812, scales=6, extra=LARGE),
    Set("Kang_PBMC_12261", 12261, scales=4, extra=LARGE, rank=30),
]
QUICK = ("Dendritic_batch1_HVG859", "Yan")
BASELINES = ["nmf", "gnmf", "tnmf", "ktnmf"]
NAMES = {"nmf": "NMF", "gnmf": "GNMF", "tnmf": "TNMF", "ktnmf": "k-TNMF"}
METRICS = ["ari", "nmi", "purity", "accuracy"]

# Table "Clustering results": ARI, NMI, Purity, Accuracy.
PAPER = {
    "GSE75748time": {"nmf": (.611, .735, .745, .693), "gnmf": (.602, .731, .720, .679), "tnmf": (.644, .768, .749, .744),
                     "ktnmf": (.592, .711, .751, .736), "pnmf": (.722, .854, .850, .850), "best": (.727, .860, .852, .852)},
    "Dendritic_batch1": {"nmf": (.567, .673, .701, .701), "gnmf": (.617, .715, .716, .716),
                         "tnmf": (.603, .700, .711, .708), "ktnmf": (.618, .715, .714, .714),
                         "pnmf": (.835, .839, .938, .938), "best": (.835, .839, .938, .938)},
}


def present(lab, limit=None):
    """(sets to run, sentences about those left out)."""
    runs, left = [], []
    for one in SETS:
        if not (lab.data / one.name).exists():
            left.append((one.name, "not in the folder of the data sets"))
        elif lab.quick and one.name not in QUICK:
            left.append((one.name, "left out of the quick run"))
        elif one.cells > (limit or lab.limit_cells):
            left.append((one.name, f"{one.cells} cells are more than --limit-cells {lab.limit_cells}"))
        else:
            runs.append(one)
    if not runs:
        raise Missing("none of the labelled data sets is there")
    return runs, left


def input_of(lab, one):
    return [lab.dataset(one.name), "--labels", "label"]


def rank_of(one):
    return ["--rank", one.rank] if one.rank else []


def fit(lab, one, algorithm, scales=None, lambdas=None):
    """pNMF by `stationary` (λ = 1, 1, 0.1) or by `reference` (λ = 1, 1, 1, the paper's)."""
    count = scales or (min(one.scales, 6) if lab.quick else one.scales)
    options = ["--max-scales", count, *one.extra, *rank_of(one)]
    weights = lambdas or ((1, 1, 1) if algorithm == "reference" else (1, 1, 0.1))
    for name, value in zip(("--lambda1", "--lambda2", "--lambda3"), weights):
        options += [name, value]
    return lab.fit(*input_of(lab, one), "--algorithm", algorithm, *options)


def baseline(lab, one, method):
    return lab.fit(*input_of(lab, one), *rank_of(one), verb=("baseline", method))


def score(lab, fitted, *more):
    seeds = ["--seeds", 3] if lab.quick else []
    return lab.score(fitted, "--labels", "label", *seeds, *more)


def four(scores):
    """ARI, NMI, purity, accuracy as (mean, sd)."""
    return [(scores[m]["mean"], scores[m]["sd"]) for m in METRICS]

