"""The graphs of the baselines, dense and from their formulas, for tests/baselines/graphs_test.cpp.

    /usr/bin/python3 graphs_twin.py CELLS.txt gnmf|tnmf|ktnmf K [w1,w2,...] > A.txt

CELLS.txt has a cell in each row.
"""

import sys

import numpy as np


def nearest(dist, k):
    """[i, j]: cell i is among the k nearest of cell j."""
    dist = dist + np.diag(np.full(len(dist), np.inf))
    order = np.argsort(dist, axis=0, kind="stable")
    near = np.zeros(dist.shape, dtype=bool)
    np.put_along_axis(near, order[:k], True, axis=0)
    return near


def heat(dist, k, alpha=1.5):
    return np.where(nearest(dist, k), np.exp(-(dist**2) / dist.max() ** alpha), 0.0)


def gnmf(dist, k, weights):
    K = heat(dist, k)
    return np.maximum(K, K.T)


def tnmf(dist, k, weights):
    K, T = heat(dist, k), len(weights)
    a, b = K[K > 0].min(), K.max()
    thresholds = [a + i / T * (b - a) for i in range(1, T)] + [b]
    A = sum(weights[T - i] / sum(weights) * (K >= thresholds[i - 1]) for i in range(1, T + 1))
    return A + A.T - A * A.T


def ktnmf(dist, k, weights):
    A = sum(w / sum(weights) * nearest(dist, i + 1) for i, w in enumerate(weights))
    return A + A.T - A * A.T


def main():
    X = np.loadtxt(sys.argv[1])
    weights = [float(w) for w in sys.argv[4].split(",")] if len(sys.argv) > 4 else []
    dist = np.array([np.sqrt(((X - x) ** 2).sum(axis=1)) for x in X])
    A = {"gnmf": gnmf, "tnmf": tnmf, "ktnmf": ktnmf}[sys.argv[2]](dist, int(sys.argv[3]), weights)
    np.savetxt(sys.stdout, A, fmt="%.17g")


if __name__ == "__main__":
    main()
