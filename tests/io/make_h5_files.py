"""Makes the .h5ad, 10x .h5 and .mat files that the reading tests look at: make_h5_files.py FOLDER

Every matrix holds value(cell, feature) of the same formula, which the tests know too. Without the packages
it needs, it writes the reason to FOLDER/missing.txt, and the tests skip.
"""

import os
import shutil
import sys
import warnings

folder = sys.argv[1]
os.makedirs(folder, exist_ok=True)
try:
    import anndata
    import h5py
    import numpy as np
    import pandas as pd
    import scipy.io
    import scipy.sparse as sp
except ImportError as error:
    with open(os.path.join(folder, "missing.txt"), "w") as out:
        out.write(f"Debian's Python cannot import what makes the test files: {error}")
    sys.exit(0)

warnings.simplefilter("ignore")
cells, features = 7, 5
full = np.array([[(3 * i + 5 * j) % 7 + 1 if (i + 2 * j) % 3 == 0 else 0 for j in range(features)] for i in range(cells)])
text = h5py.string_dtype("utf-8")


def path(name):
    return os.path.join(folder, name)


def obs():
    frame = pd.DataFrame(index=[f"cell-{i}" for i in range(cells)])
    frame["label"] = pd.Categorical(["b", "a", "b", "c", None, "a", "b"], categories=["c", "b", "a", "unused"])
    frame["stage"] = pd.Categorical([0, 2, 2, 0, 2, 0, 0], ordered=True)
    frame["note"] = [f"n\u00e4me {i}" for i in range(cells)]
    frame["depth"] = full.sum(axis=1).astype(np.int64)
    frame["score"] = np.linspace(0, 1, cells)
    frame["kept"] = [True, False] * 3 + [True]
    frame["maybe"] = pd.array([1, None, 3, 4, 5, 6, 7], dtype="Int64")
    frame["truth"] = pd.array([True, None, False, True, True, True, True], dtype="boolean")
    return frame


def var():
    frame = pd.DataFrame({"chrom": ["1", "2", "1", "X", "1"]}, index=[f"gene{j}" for j in range(features)])
    frame.index.name = "symbol"
    return frame


def of_type(X, **more):
    """An AnnData that holds X as it is: the constructor of AnnData 0.8 rounds to single precision."""
    data = anndata.AnnData(X.astype(np.float32), **more)
    data.X = X
    return data


def adata(X, **more):
    return of_type(X, obs=obs(), var=var(), **more)


def make_h5ad():
    adata(sp.csr_matrix(full.astype(np.float32))).write_h5ad(path("csr.h5ad"))
    adata(sp.csr_matrix(full.astype(np.float64))).write_h5ad(path("csr_gzip.h5ad"), compression="gzip")
    adata(sp.csc_matrix(full.astype(np.float64))).write_h5ad(path("csc.h5ad"))
    adata(sp.csr_matrix(full.astype(np.int64))).write_h5ad(path("csr_int.h5ad"))
    adata(full.astype(np.float32)).write_h5ad(path("dense.h5ad"))
    adata(full.astype(np.int32)).write_h5ad(path("dense_int.h5ad"), compression="gzip")
    adata(full > 0).write_h5ad(path("dense_bool.h5ad"))
    both = adata(np.zeros_like(full, dtype=np.float32), layers={"counts": sp.csr_matrix(full.astype(np.float32))})
    both.raw = both
    both.uns["nested"] = {"a": 1, "b": "text", "c": np.arange(6.0).reshape(2, 3), "d": np.array(["x", "y"]), "e": True}
    both.uns["frame"] = obs()
    both.obsm["X_pca"] = np.arange(2.0 * cells).reshape(cells, 2)
    both.obsm["sparse"] = sp.csr_matrix(full.astype(float))
    both.write_h5ad(path("layers.h5ad"))
    # Large enough to be read in blocks; chunks that fit neither the blocks nor the matrix.
    large = np.add.outer(3 * np.arange(700), 5 * np.arange(301)) % 1000
    tiles = {"chunks": (33, 40), "compression": "gzip"}
    for name, kind, stored in (("float", np.float32, tiles), ("int", np.int32, tiles), ("double", np.float64, tiles),
                               ("shuffled", np.float32, {**tiles, "shuffle": True}),
                               ("shuffled_double", np.float64, {**tiles, "shuffle": True}),
                               ("checked", np.float32, {**tiles, "fletcher32": True}),
                               ("swapped", ">f4", tiles), ("int64", np.int64, tiles), ("tiles", np.float32, {"chunks": (33, 40)}),
                               ("tiles_double", np.float64, {"chunks": (33, 40)}),
                               ("piece", np.float32, {}), ("piece_int", np.int32, {}), ("piece_double", np.float64, {})):
        anndata.AnnData(large.astype(np.float32)).write_h5ad(path(f"large_{name}.h5ad"))
        with h5py.File(path(f"large_{name}.h5ad"), "a") as root:
            del root["X"]
            root.create_dataset("X", data=large.astype(kind), **stored)
            root["X"].attrs["encoding-type"], root["X"].attrs["encoding-version"] = "array", "0.2.0"
    # Chunks that were never written hold the fill value.
    for name, stored in (("gaps", tiles), ("tiles_gaps", {"chunks": (33, 40)})):
        shutil.copy(path("large_float.h5ad"), path(f"large_{name}.h5ad"))
        with h5py.File(path(f"large_{name}.h5ad"), "a") as root:
            del root["X"]
            X = root.create_dataset("X", shape=large.shape, dtype=np.float32, fillvalue=0, **stored)
            X[:330, :280] = large[:330, :280]
            X.attrs["encoding-type"], X.attrs["encoding-version"] = "array", "0.2.0"
    # More chunks than HDF5 is asked the place of.
    anndata.AnnData(large.astype(np.float32)).write_h5ad(path("large_crumbs.h5ad"))
    with h5py.File(path("large_crumbs.h5ad"), "a") as root:
        del root["X"]
        root.create_dataset("X", data=large.astype(np.float32), chunks=(13, 11))
        root["X"].attrs["encoding-type"], root["X"].attrs["encoding-version"] = "array", "0.2.0"
    # X is in another file; at its place in that file, this one has other numbers.
    for name in ("tiles", "piece"):
        shutil.copy(path("large_int.h5ad"), path(f"large_{name}_elsewhere.h5ad"))
        with h5py.File(path(f"large_{name}_elsewhere.h5ad"), "a") as root:
            del root["X"]
            root["filling"] = np.ones(large.size, dtype=np.float64)
            root["X"] = h5py.ExternalLink(f"large_{name}.h5ad", "/X")
    # So are the cells' names.
    with h5py.File(path("names_elsewhere.h5ad"), "w") as root:
        for key in ("X", "obs", "var"):
            root[key] = h5py.ExternalLink("large_csr.h5ad", f"/{key}")
    # HDF5 begins behind a block of the user's.
    for name in ("tiles", "piece"):
        with h5py.File(path(f"large_{name}.h5ad")) as root:
            with h5py.File(path(f"large_{name}_behind.h5ad"), "w", userblock_size=1024) as behind:
                for key in root:
                    root.copy(key, behind)
                for key, value in root.attrs.items():
                    behind.attrs[key] = value
    # Sparse arrays of one axis, large enough as well; every entry that is not a multiple of 3.
    sparse = np.where(large % 3 == 0, 0, large).astype(np.float32)
    for name, matrix, stored in (("csr", sp.csr_matrix(sparse), {}), ("csc", sp.csc_matrix(sparse), {}),
                                 ("csr_gzip", sp.csr_matrix(sparse), {"compression": "gzip"}),
                                 ("csc_gzip", sp.csc_matrix(sparse), {"compression": "gzip"})):
        anndata.AnnData(matrix).write_h5ad(path(f"large_{name}.h5ad"), **stored)
    plain = of_type(sp.csr_matrix(full.astype(float)))
    plain.write_h5ad(path("plain.h5ad"))


def frame_of_07(root, name, index_name, index, columns):
    """A data frame as AnnData 0.7 wrote it."""
    group = root.create_group(name)
    group.attrs["encoding-type"] = "dataframe"
    group.attrs["encoding-version"] = "0.1.0"
    group.attrs["_index"] = index_name
    group.attrs["column-order"] = np.array(list(columns), dtype=text) if columns else np.array([])
    group.create_dataset(index_name, data=np.array(index, dtype=object), dtype=text)
    for key, values in columns.items():
        if isinstance(values, tuple):
            codes, categories = values
            group.create_dataset(key, data=np.array(codes, dtype=np.int8))
            group.create_dataset(f"__categories/{key}", data=np.array(categories, dtype=object), dtype=text)
            group[f"__categories/{key}"].attrs["ordered"] = False
            group[key].attrs["categories"] = group[f"__categories/{key}"].ref
        else:
            group.create_dataset(key, data=values)


def frames_of_07(root):
    names = [f"cell-{i}" for i in range(cells)]
    columns = {"label": ([1, 2, 1, 0, -1, 2, 1], ["c", "b", "a"]), "score": np.linspace(0, 1, cells)}
    frame_of_07(root, "obs", "index", names, columns)
    frame_of_07(root, "var", "index", [f"gene{j}" for j in range(features)], {})


def sparse_arrays(group, matrix, index_type):
    group.create_dataset("data", data=matrix.data)
    group.create_dataset("indices", data=matrix.indices.astype(index_type))
    group.create_dataset("indptr", data=matrix.indptr.astype(index_type))


def make_07(name, matrix, attributes, index_type=np.int32):
    with h5py.File(path(name), "w") as root:
        group = root.create_group("X")
        group.attrs.update(attributes)
        sparse_arrays(group, matrix, index_type)
        frames_of_07(root)


def make_old_h5ad():
    csr = sp.csr_matrix(full.astype(np.float32))
    csc = sp.csc_matrix(full.astype(np.float32))
    encoded = {"encoding-type": "csr_matrix", "encoding-version": "0.1.0", "shape": np.array(full.shape)}
    make_07("old_csr.h5ad", csr, encoded)
    make_07("old_csc.h5ad", csc, encoded | {"encoding-type": "csc_matrix"}, np.int64)
    make_07("old_h5sparse.h5ad", csr, {"h5sparse_format": np.bytes_("csr"), "h5sparse_shape": np.array(full.shape)})
    make_07("int64_indices.h5ad", csr, encoded, np.int64)
    # The same matrix with the entries of each row backwards, and with each entry split in two.
    backwards = csr.copy()
    twice = sp.csr_matrix((np.repeat(csr.data / 2, 2), np.repeat(csr.indices, 2), csr.indptr * 2), shape=csr.shape)
    for i in range(cells):
        row = slice(csr.indptr[i], csr.indptr[i + 1])
        backwards.indices[row] = csr.indices[row][::-1]
        backwards.data[row] = csr.data[row][::-1]
    make_07("unsorted.h5ad", backwards, encoded)
    make_07("twice.h5ad", twice, encoded)
    make_wrong(csr, encoded)


def make_wrong(csr, encoded):
    beyond, negative = csr.copy(), csr.copy()
    beyond.indices[3] = features
    make_07("wrong_index.h5ad", beyond, encoded)
    negative.indices[3] = -1
    make_07("wrong_negative_index.h5ad", negative, encoded)
    falling, short = csr.copy(), csr.copy()
    falling.indptr[2] = falling.indptr[4]
    falling.indptr[3] = 0
    make_07("wrong_offsets.h5ad", falling, encoded)
    short.indptr[-1] += 1
    make_07("wrong_last_offset.h5ad", short, encoded)
    make_07("wrong_shape.h5ad", csr, encoded | {"shape": np.array([cells, features + 1])})
    make_07("wrong_format.h5ad", csr, {"shape": np.array(full.shape)})
    with h5py.File(path("wrong_code.h5ad"), "w") as root:
        root["X"] = full.astype(float)
        frames_of_07(root)
        root["obs/label"][2] = 3
    with h5py.File(path("wrong_text.h5ad"), "w") as root:
        root.create_dataset("X", data=np.full(full.shape, "a", dtype=object), dtype=text)
        frames_of_07(root)
    with h5py.File(path("wrong_size.h5ad"), "w") as root:
        root.create_dataset("X", shape=(1 << 40, 1 << 20), dtype=float, chunks=(1024, 1024), compression="gzip")
        frames_of_07(root)
    with h5py.File(path("wrong_no_x.h5ad"), "w") as root:
        frames_of_07(root)
    with h5py.File(path("wrong_compound.h5ad"), "w") as root:
        root["X"] = full.astype(float)
        root["obs"] = np.zeros(cells, dtype=[("index", "S4"), ("n", float)])
        root["var"] = np.zeros(features, dtype=[("index", "S4"), ("n", float)])
    with h5py.File(path("nothing.h5"), "w") as root:
        root["numbers"] = np.arange(3)


def make_tenx():
    csc = sp.csc_matrix(full.T.astype(np.int32))
    names = np.array(["A", "B", "A", "C", "antibody"], dtype="S")
    ids = np.array([f"ENSG{j}" for j in range(features)], dtype="S")
    barcodes = np.array([f"AAAC{i}-1" for i in range(cells)], dtype="S")
    for version in (2, 3):
        with h5py.File(path(f"tenx_v{version}.h5"), "w") as root:
            group = root.create_group("matrix" if version == 3 else "GRCh38")
            sparse_arrays(group, csc, np.int64)
            group["shape"] = np.array(csc.shape, dtype=np.int32)
            group["barcodes"] = barcodes
            if version == 2:
                group["genes"], group["gene_names"] = ids, names
            else:
                kinds = ["Gene Expression"] * 4 + ["Antibody Capture"]
                group["features/id"], group["features/name"] = ids, names
                group["features/feature_type"] = np.array(kinds, dtype="S")
                group["features/genome"] = np.array(["GRCh38"] * features, dtype="S")


def mat_73(name, variables):
    """A MATLAB 7.3 file: HDF5 after a block of 512 bytes; arrays are stored transposed."""
    with h5py.File(path(name), "w", userblock_size=512) as root:
        for key, value in variables.items():
            if sp.issparse(value):
                group = root.create_group(key)
                group.attrs["MATLAB_class"] = np.bytes_("double")
                group.attrs["MATLAB_sparse"] = np.uint64(value.shape[0])
                group["data"] = value.data.astype(float)
                group["ir"] = value.indices.astype(np.uint64)
                group["jc"] = value.indptr.astype(np.uint64)
            else:
                root.create_dataset(key, data=value.T)
                kind = {"float64": "double", "float32": "single", "int32": "int32"}[value.dtype.name]
                root[key].attrs["MATLAB_class"] = np.bytes_(kind)
    with open(path(name), "r+b") as out:
        out.write(b"MATLAB 7.3 MAT-file, made for a test".ljust(116) + b"\0" * 8 + b"\x00\x02IM")


def make_mat():
    cube = np.arange(24.0).reshape(2, 3, 4)
    by_feature = full.T.astype(float)
    sparse = sp.csc_matrix(by_feature)
    several = {"X": by_feature, "S": sparse, "I": full.T.astype(np.int32), "F": full.T.astype(np.float32), "cube": cube,
               "words": "abc", "C": by_feature + 1j, "L": by_feature > 0}
    scipy.io.savemat(path("several_v5.mat"), several)
    scipy.io.savemat(path("several_v7.mat"), several, do_compression=True)
    scipy.io.savemat(path("single_v5.mat"), {"only": by_feature, "words": "abc", "cube": cube})
    scipy.io.savemat(path("words_v5.mat"), {"words": "abc"})
    with open(path("missing_header.mat"), "wb") as out:
        out.write(b"MATLAB 5.0 MAT-file".ljust(128))
    mat_73("several_v73.mat", {key: several[key] for key in ("X", "S", "I", "F", "cube")})
    mat_73("single_v73.mat", {"only": by_feature})


make_h5ad()
make_old_h5ad()
make_tenx()
make_mat()
