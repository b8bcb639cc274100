"""Baselines solved by NumPy from their formulas, for tests/baselines/fit_baseline_test.cpp.

    solve_twin.py solve CELLS.txt METHOD K WEIGHTS LAMBDA RANK    the published multiplicative protocol
    solve_twin.py check CELLS.txt METHOD K WEIGHTS LAMBDA W.txt H.txt

CELLS.txt has a cell in each row; METHOD is nmf or one of graphs_twin.py; WEIGHTS is w1,w2,... or "-".
`solve` prints the steps made, the loss after each, and H, cell by cell. `check` prints for given factors the
loss and the largest entry of the projected gradient of H and, along the sphere, of W, each over the size of
the products it is the difference of.
"""

import sys

import numpy as np

import graphs_twin

TINY = 1e-9


def graph(X, method, k, weights):
    n = X.shape[1]
    if method == "nmf":
        return np.zeros((n, n))
    dist = np.array([np.sqrt(((X.T - x) ** 2).sum(axis=1)) for x in X.T])
    return {"gnmf": graphs_twin.gnmf, "tnmf": graphs_twin.tnmf, "ktnmf": graphs_twin.ktnmf}[method](dist, k, weights)


def loss(X, W, H, A, lam):
    L = np.diag(A.sum(axis=0)) - A
    return ((X - W @ H) ** 2).sum() + lam * np.trace(H @ L @ H.T)


def nndsvda(X, rank):
    U, S, Vt = np.linalg.svd(X, full_matrices=False)
    W, H = np.zeros((X.shape[0], rank)), np.zeros((rank, X.shape[1]))
    W[:, 0], H[0] = np.sqrt(S[0]) * abs(U[:, 0]), np.sqrt(S[0]) * abs(Vt[0])
    for j in range(1, rank):
        parts = [(np.maximum(s * U[:, j], 0), np.maximum(s * Vt[j], 0)) for s in (-1, 1)]
        sizes = [np.linalg.norm(u) * np.linalg.norm(v) for u, v in parts]
        u, v = parts[int(sizes[1] > sizes[0])]
        scale = np.sqrt(S[j] * max(sizes))
        W[:, j], H[j] = scale * u / np.linalg.norm(u), scale * v / np.linalg.norm(v)
    W[W < 1e-8], H[H < 1e-8] = X.mean(), X.mean()
    return W, H


def solve(X, A, lam, rank):
    W, H = nndsvda(X, rank)
    D = A.sum(axis=0)
    losses = [loss(X, W, H, A, lam)]
    before = 1e9
    while len(losses) <= 1000 and abs(before - losses[-1]) / before > 1e-3:
        before = losses[-1]
        W = W * (X @ H.T) / (W @ (H @ H.T) + TINY)
        H = H * (W.T @ X + lam * H @ A) / (W.T @ W @ H + lam * H * D + TINY)
        norms = np.linalg.norm(W, axis=0)
        W, H = W / norms, H * norms[:, None]
        losses.append(loss(X, W, H, A, lam))
    return H, losses


def check(X, A, lam, W, H):
    below = W.T @ W @ H + lam * H * A.sum(axis=0)
    above = W.T @ X + lam * H @ A
    g = below - above
    of_H = np.abs(np.where(H > 0, g, np.minimum(g, 0))).max() / below.max()
    g = W @ (H @ H.T) - X @ H.T
    g -= W * (W * g).sum(axis=0)  # along the sphere
    of_W = np.abs(np.where(W > 0, g, np.minimum(g, 0))).max() / (X @ H.T).max()
    return loss(X, W, H, A, lam), of_H, of_W


def main():
    task, cells, method, k, weights, lam = sys.argv[1:7]
    X = np.loadtxt(cells, ndmin=2).T
    A = graph(X, method, int(k), [float(w) for w in weights.split(",")] if weights != "-" else [])
    if task == "solve":
        H, losses = solve(X, A, float(lam), int(sys.argv[7]))
        print(len(losses) - 1)
        print(*losses)
        np.savetxt(sys.stdout, H.T, fmt="%.17g")
    else:
        print(*check(X, A, float(lam), np.loadtxt(sys.argv[7], ndmin=2), np.loadtxt(sys.argv[8], ndmin=2)))


if __name__ == "__main__":
    main()
