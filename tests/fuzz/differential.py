"""Damaged files that both we and another reader accept hold the same values.

    differential.py REPLAY TARGET CORPUS [--files N] [--seed S]

Makes N mutants of the corpus, has pnmf_fuzz_replay (REPLAY) read them, and reads those that it accepts with NumPy, SciPy or
h5py. Where both accept, all values must be the same bits up to the axis that holds the cells. A mutant that only one of
them accepts is counted and says nothing: rules about what is allowed differ. h5py may crash on a damaged file, so the other
reader works in a child.
"""
import argparse
import csv
import gzip
import io
import multiprocessing
import os
import pathlib
import random
import struct
import subprocess
import sys
import tempfile
import warnings

import h5py
import numpy as np
import scipy.io
import scipy.sparse


def mutant(corpus, rng):
    data = bytearray(rng.choice(corpus))
    for _ in range(rng.randint(1, 2)):
        at = rng.randrange(len(data))
        length = min(len(data) - at, rng.randint(1, 8))
        kind = rng.randrange(5)
        if kind == 0:
            data[at] = rng.randrange(256)
        elif kind == 1:
            data[at] ^= 1 << rng.randrange(8)
        elif kind == 2:  # a digit for a digit, so that texts stay numbers
            digits = [i for i, byte in enumerate(data) if 48 <= byte < 58] or [at]
            data[rng.choice(digits)] = rng.randrange(48, 58)
        elif kind == 3:
            del data[at:at + length]
        else:
            data[at:at] = data[at:at + length]
        if not data:
            return bytes(rng.choice(corpus))
    return bytes(data)


def plain(path):
    """The bytes of a file, unpacked."""
    data = pathlib.Path(path).read_bytes()
    return gzip.decompress(data) if data[:2] == b"\x1f\x8b" else data


def npy(path):
    return np.load(path, allow_pickle=False)


def matrix_market(path):
    found = scipy.io.mmread(io.BytesIO(plain(path)))
    return found.toarray() if hasattr(found, "toarray") else found


def mat(path):
    if b"\x89HDF" in pathlib.Path(path).read_bytes()[:520]:  # version 7.3
        with h5py.File(path, "r") as file:
            if file["X"].dtype.itemsize > 8:  # a damaged type that is no double: h5py rounds it twice
                raise ValueError("not a type of MATLAB's")
            return file["X"][()]
    found = scipy.io.loadmat(path)["X"]
    return found.toarray() if hasattr(found, "toarray") else found


def hdf5_matrix(group, shape, by_rows):
    parts = (group["data"][()], group["indices"][()], group["indptr"][()])
    kind = scipy.sparse.csr_matrix if by_rows else scipy.sparse.csc_matrix
    found = kind(parts, shape=tuple(int(size) for size in shape))
    found.check_format(full_check=True)
    return found.toarray()


def h5ad(path):
    with h5py.File(path, "r") as file:
        X = file["X"]
        if isinstance(X, h5py.Dataset):
            return X[()]
        encoding = X.attrs["encoding-type"]
        encoding = encoding.decode() if isinstance(encoding, bytes) else encoding
        return hdf5_matrix(X, X.attrs["shape"], encoding == "csr_matrix")


def loom(path):
    with h5py.File(path, "r") as file:
        return file["matrix"][()]


def tenx_h5(path):
    with h5py.File(path, "r") as file:
        matrix = file["matrix"] if "matrix" in file else file[next(iter(file))]
        found = hdf5_matrix(matrix, matrix["shape"][()], False)
        if "features" not in matrix:
            return found
        kinds = [kind.decode() for kind in matrix["features/feature_type"][()]]
        genes = np.array([kind == "Gene Expression" for kind in kinds])
        return found[genes] if 0 < genes.sum() < len(genes) else found


def is_text(word):
    try:
        float(word)
        return False
    except ValueError:
        return True


def delimited(path):
    """Python's own csv and float; the first line and the first column may be names."""
    text = plain(path).decode("utf-8-sig")
    lines = "\n".join(line for line in text.split("\n") if not line.startswith("#"))
    between = next((letter for letter in "\t;," if all(letter in line for line in lines.split("\n") if line.strip())), ",")
    rows = [row for row in csv.reader(io.StringIO(lines), delimiter=between, strict=True) if row]
    short_header = len(rows) > 1 and len(rows[0]) + 1 == len(rows[1])  # as R writes it: no name for the column of names
    corner = len(rows[0]) > 1 and rows[0][0].strip() in ("", "gene")  # as pandas writes it, and the corpus
    # Text above numbers in the first column alone is a name of that row; text beside it makes the row a header.
    orders = ((0, 0), (1, 0), (0, 1), (1, 1)) if any(is_text(word) for word in rows[0][1:]) else ((0, 0), (0, 1), (1, 0), (1, 1))
    for first_row, first_column in ((1, 1),) if short_header or corner else orders:
        try:
            return np.array([[float(word) for word in row[first_column:]] for row in rows[first_row:]])
        except ValueError:
            continue
    raise ValueError("no numbers")


READERS = {"npy": (npy, ".npy"), "matrix_market": (matrix_market, ".mtx"), "mat": (mat, ".mat"), "h5ad": (h5ad, ".h5ad"),
           "loom": (loom, ".loom"), "tenx_h5": (tenx_h5, ".h5"), "delimited": (delimited, ".csv")}


def ours(path):
    raw = pathlib.Path(f"{path}.values").read_bytes()
    rows, cols = struct.unpack("<qq", raw[:16])
    return np.frombuffer(raw[16:], dtype="<f8").reshape((rows, cols), order="F")


def same(a, b):
    return a.shape == b.shape and (a.astype(float).view(np.uint64) == b.astype(float).view(np.uint64)).all()


def judge(target, path, out):
    """0: the same, 1: the other reader refuses it, 2: they differ."""
    warnings.simplefilter("ignore")
    try:
        theirs = np.asarray(READERS[target][0](path))
        theirs = np.ascontiguousarray(theirs.astype(float)) + 0.0  # no negative zeros: sums have none
        if theirs.ndim != 2 or theirs.size > 1 << 20:
            raise ValueError("not a matrix")
    except BaseException:  # whatever it says, it does not accept it
        out.put(1)
        return
    found = np.ascontiguousarray(ours(path)) + 0.0
    out.put(0 if same(found, theirs) or same(np.ascontiguousarray(found.T), theirs) else 2)


def judged(target, path):
    out = multiprocessing.SimpleQueue()
    child = os.fork()
    if child == 0:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
        judge(target, path, out)
        os._exit(0)
    os.waitpid(child, 0)
    return 1 if out.empty() else out.get()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("replay", type=pathlib.Path)
    parser.add_argument("target", choices=list(READERS))
    parser.add_argument("corpus", type=pathlib.Path)
    parser.add_argument("--files", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    rng = random.Random(options.seed)
    corpus = [path.read_bytes() for path in sorted(options.corpus.iterdir()) if path.name.startswith("good")]
    ending = READERS[options.target][1]
    with tempfile.TemporaryDirectory(prefix="pnmf-differential-") as name:
        folder = pathlib.Path(name)
        for i in range(options.files):
            content = corpus[i] if i < len(corpus) else mutant(corpus, rng)
            (folder / f"{i:06}{ending}").write_bytes(content)
        subprocess.run([options.replay, "--values", options.target, folder], check=True)
        accepted = sorted(path.with_suffix("") for path in folder.glob("*.values"))
        verdicts = {path: judged(options.target, path) for path in accepted}
        for path in [path for path, verdict in verdicts.items() if verdict == 2][:5]:
            kept = pathlib.Path(f"differs-{options.target}-{options.seed}-{path.name}")
            kept.write_bytes(path.read_bytes())
            print(f"{options.target}: {path.name} is read in two ways, kept as {kept}")
        counts = [sum(verdict == which for verdict in verdicts.values()) for which in (0, 1, 2)]
        print(f"{options.target}: {options.files} files, {len(accepted)} accepted by us; {counts[0]} read as the other program "
              f"reads them, {counts[1]} refused by it, {counts[2]} read in two ways")
        return 1 if counts[2] or counts[0] < len(corpus) else 0


if __name__ == "__main__":
    sys.exit(main())
