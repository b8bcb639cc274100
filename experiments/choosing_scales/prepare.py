#!/usr/bin/python3
"""Labelled data sets made ready for choosing_scales: prepare.py DATA FOLDER

DATA holds the sets as folders with matrix.mtx.gz, cells.tsv. For each, FOLDER gets NAME.npy (cells as rows:
log10(1 + x), the 1,500 genes of largest variance, cells of unit length; at most 500 cells, drawn at random
with seed 0) and NAME.labels.csv. A set that is split by donor gives one data set for each larger donor.
"""
import csv
import gzip
import pathlib
import sys

import numpy as np
import scipy.io

CELLS, GENES = 500, 1500
FILES = {"Dendritic_batch1_HVG859": ("lognorm.mtx.gz", False)}  # everything else: matrix.mtx.gz, to be logged
DONORS = {"Baron_human_2000g": "subject", "Kang_PBMC_12261": "sample_id"}
SMALLEST = 100


def read(folder):
    name, log = FILES.get(folder.name, ("matrix.mtx.gz", True))
    with gzip.open(folder / name) as file:
        X = scipy.io.mmread(file).tocsc().T.toarray().astype(float)
    with open(folder / "cells.tsv") as file:
        table = list(csv.DictReader(file, delimiter="\t"))
    return np.log10(1 + X) if log else X, table


def write(folder, name, X, labels):
    kept = np.sort(np.random.RandomState(0).permutation(len(X))[:CELLS])
    X, labels = X[kept], [labels[i] for i in kept]
    genes = np.sort(np.argsort(-X.var(axis=0), kind="stable")[:GENES])
    X = X[:, genes]
    X = X[:, X.sum(axis=0) > 0]
    X /= np.linalg.norm(X, axis=1, keepdims=True)
    np.save(folder / f"{name}.npy", X)
    with open(folder / f"{name}.labels.csv", "w") as file:
        file.write("label\n" + "".join(f"{label}\n" for label in labels))
    print(f"{name}: {X.shape[0]} cells, {X.shape[1]} genes, {len(set(labels))} labels")


def main():
    data, folder = map(pathlib.Path, sys.argv[1:])
    folder.mkdir(parents=True, exist_ok=True)
    for path in sorted(data.iterdir()):
        if not (path / "matrix.mtx.gz").exists():
            continue
        X, table = read(path)
        labels = [row["label"] for row in table]
        write(folder, path.name.split("_")[0], X, labels)
        if path.name in DONORS:
            donors = [row[DONORS[path.name]] for row in table]
            for donor in sorted(set(donors)):
                mine = [i for i, d in enumerate(donors) if d == donor]
                if len(mine) >= SMALLEST:
                    write(folder, f"{path.name.split('_')[0]}.{donor}", X[mine], [labels[i] for i in mine])


if __name__ == "__main__":
    main()
