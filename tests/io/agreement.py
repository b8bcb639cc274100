"""Writes files with SciPy, NumPy, pandas and AnnData, and beside each the matrix it holds as plain text.

usage: agreement.py FOLDER
Each FILE gets FILE.expected: "rows columns", then a line for each row, numbers as repr gives them.
"""
import gzip
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import scipy.io
import scipy.sparse

folder = Path(sys.argv[1])
rng = np.random.default_rng(7)


def expect(path, matrix):
    matrix = np.asarray(matrix, dtype=float)
    lines = [" ".join(map(str, matrix.shape))] + [" ".join(map(repr, row)) for row in matrix.tolist()]
    Path(str(path) + ".expected").write_text("\n".join(lines) + "\n")


def matrix_market():
    counts = scipy.sparse.random(30, 17, density=0.2, random_state=1, data_rvs=lambda n: rng.integers(1, 500, n))
    real = scipy.sparse.random(19, 23, density=0.3, random_state=2)
    square = scipy.sparse.random(12, 12, density=0.3, random_state=3)
    symmetric = square + square.T
    cases = {
        "counts": (counts.astype(np.int64), {}),
        "real": (real, {"comment": "written by SciPy\n", "precision": 17}),
        "symmetric": (symmetric, {"symmetry": "symmetric", "precision": 17}),
        "skew": (square - square.T, {"symmetry": "skew-symmetric", "precision": 17}),
        "pattern": (real, {"field": "pattern"}),
        "array": (rng.random((6, 9)), {"precision": 17}),
        "array_symmetric": (symmetric.toarray(), {"symmetry": "symmetric", "precision": 17}),
    }
    for name, (matrix, options) in cases.items():
        path = folder / f"{name}.mtx"
        scipy.io.mmwrite(str(path), matrix, **options)
        zipped = folder / f"{name}.mtx.gz"
        zipped.write_bytes(gzip.compress(path.read_bytes()))
        back = scipy.io.mmread(str(path))
        back = back.toarray() if scipy.sparse.issparse(back) else back
        expect(path, back)
        expect(zipped, back)


def npy():
    for kind in ["f4", "f8", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "b1"]:
        for order in "CF":
            matrix = np.array(rng.random((7, 4)) * 100).astype(kind)
            path = folder / f"{kind}{order}.npy"
            np.save(path, np.asarray(matrix, order=order))
            expect(path, matrix)
    matrix = rng.random((5, 3))
    for version in [(1, 0), (2, 0), (3, 0)]:
        path = folder / f"version{version[0]}.npy"
        with open(path, "wb") as file:
            np.lib.format.write_array(file, matrix, version=version)
        expect(path, matrix)


def delimited():
    frame = pd.DataFrame(rng.random((6, 4)), index=[f"g{i}" for i in range(6)], columns=[f"c{i}" for i in range(4)])
    plain = pd.DataFrame(rng.integers(0, 9, (6, 4)))
    for name, options in {"pandas.csv": {}, "pandas.tsv": {"sep": "\t"}, "pandas.csv.gz": {},
                          "semicolon.csv": {"sep": ";"}, "crlf.csv": {"lineterminator": "\r\n"},
                          "bom.csv": {"encoding": "utf-8-sig"}, "quotes.csv": {"quoting": 2}}.items():
        frame.to_csv(folder / name, **options)
        expect(folder / name, frame)
    plain.to_csv(folder / "numbered.csv")
    expect(folder / "numbered.csv", plain)
    plain.to_csv(folder / "bare.csv", header=False, index=False)
    expect(folder / "bare.csv", plain)
    np.savetxt(folder / "savetxt.csv", frame.to_numpy(), delimiter=",", header="x,y")
    expect(folder / "savetxt.csv", frame)


matrix_market()
npy()
delimited()
