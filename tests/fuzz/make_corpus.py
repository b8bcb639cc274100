"""Makes the files that fuzzing begins from: make_corpus.py PROGRAM. They are in the tree; this says where they came from."""
import gzip
import pathlib
import subprocess
import sys
import tempfile

import anndata
import numpy as np
import scipy.io
import scipy.sparse

HERE = pathlib.Path(__file__).parent / "corpus"


def put(target, name, content):
    folder = HERE / target
    folder.mkdir(parents=True, exist_ok=True)
    (folder / name).write_bytes(content if isinstance(content, bytes) else content.encode())


def texts():
    put("delimited", "good-names.csv", "gene,a,b,c\nx,1,2,3\ny,0.5,1e-3,7\n")
    put("delimited", "good-quotes.csv", '"gene","a""b",c\r\n"x\ny",1,2\r\nz,"3",NA\r\n'.replace("NA", "4"))
    put("delimited", "good-tabs.tsv", "# comment\n1\t2\t3\n4\t5\t6\n")
    put("matrix_market", "good-coordinate.mtx", "%%MatrixMarket matrix coordinate integer general\n% c\n3 2 3\n1 1 5\n3 1 2\n2 2 7\n")
    put("matrix_market", "good-array.mtx", "%%MatrixMarket matrix array real symmetric\n3 3\n1\n2\n3\n4\n5\n6\n")
    put("matrix_market", "good-pattern.mtx", "%%MatrixMarket matrix coordinate pattern general\n3 3 2\n1 2\n3 1\n")
    put("labels", "good-table.csv", "cell,label\na,T\nb,B\n")
    put("labels", "good-plain.txt", "T\nB\n")
    put("labels", "good-header.tsv", 'cell\tkind\tlabel\n"b"\tx\t"B, cell"\na\ty\tT\nc\tz\t\n')
    put("delimited", "good-semicolons.csv", "gene;a;b\r\nx;1;2\r\ny;3;-4e2\r\n")
    put("delimited", "good-packed.csv.gz", gzip.compress(b"gene,a,b\nx,1,2\ny,3,4\n", mtime=0))
    put("matrix_market", "good-packed.mtx.gz",
        gzip.compress(b"%%MatrixMarket matrix coordinate real general\n2 3 3\n1 1 0.5\n2 2 1e-3\n2 3 7\n", mtime=0))
    put("matrix_market", "good-skew.mtx", "%%MatrixMarket matrix coordinate real skew-symmetric\n3 3 2\n2 1 1.5\n3 2 -2\n")
    put("gene_sets", "good-two.gmt", "one\tfirst\tA\tB\tC\r\n\ntwo\t\tB\tB\tD\n")
    put("gene_sets", "good-packed.gmt.gz", gzip.compress(b"one\tx\tA\tB\n", mtime=0))
    put("tenx_folder", "good-v3", "%%MatrixMarket matrix coordinate integer general\n3 2 3\n1 1 5\n3 1 2\n2 2 7\n\n==\n"
        "E1\tA\tGene Expression\nE2\tB\tGene Expression\nE3\tC\tAntibody Capture\n\n==\nAA-1\nCC-1\n")
    put("tenx_folder", "refused-no-feature", "%%MatrixMarket matrix coordinate integer general\n0 2 0\n\n==\n")
    put("options", "good-empty.json", "{}")
    put("size", "good-unit", "16.5GiB")
    put("size", "good-plain", "800M")


def arrays(folder):
    values = np.arange(12, dtype=float).reshape(3, 4)
    for name, array in {"double": values, "int": values.astype("<i4"), "fortran": np.asfortranarray(values),
                        "big": values.astype(">f4")}.items():
        np.save(folder / "a.npy", array)
        put("npy", f"{'refused' if name == 'big' else 'good'}-{name}.npy", (folder / "a.npy").read_bytes())
    # Found by libFuzzer: names were made for 737095223 cells of a matrix without a feature.
    header = b"{'descr': '<f4', 'fortran_order': True, 'shape': (0, 737095223), }".ljust(117) + b"\n"
    put("npy", "refused-no-feature.npy", b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header)
    sparse = scipy.sparse.csr_matrix(np.array([[1.0, 0, 2], [0, 0, 3]]))
    for name, variable, packed in (("dense", values, False), ("packed", values, True), ("sparse", sparse.tocsc(), False),
                                   ("packed-sparse", sparse.tocsc(), True)):
        scipy.io.savemat(folder / "a.mat", {"X": variable}, do_compression=packed)
        put("mat", f"good-{name}.mat", (folder / "a.mat").read_bytes())


def annotated(folder, program):
    import h5py

    counts = np.array([[1.0, 0, 2], [0, 4, 3], [5, 0, 1], [2, 2, 0]])
    data = anndata.AnnData(scipy.sparse.csr_matrix(counts))
    data.obs["label"] = ["a", "b", "a", "b"]
    data.obs["label"] = data.obs["label"].astype("category")
    data.write_h5ad(folder / "a.h5ad")
    put("h5ad", "good-csr.h5ad", (folder / "a.h5ad").read_bytes())
    anndata.AnnData(counts).write_h5ad(folder / "a.h5ad", compression="gzip")
    put("h5ad", "good-dense-gzip.h5ad", (folder / "a.h5ad").read_bytes())
    csc = anndata.AnnData(scipy.sparse.csc_matrix(counts), layers={"more": counts})
    csc.obsm["X_pca"] = counts[:, :2]
    csc.uns["log1p"] = {"base": 2.0}
    csc.write_h5ad(folder / "a.h5ad", compression="gzip")
    put("h5ad", "good-csc-gzip.h5ad", (folder / "a.h5ad").read_bytes())
    for version in "23":
        store = folder / f"a.zarr{version}"
        subprocess.run([sys.executable, "-B", HERE.parent.parent / "io" / "zarr_store.py", folder / "a.h5ad", store, version, "gzip"], check=True)
        files = sorted(path for path in store.rglob("*") if path.is_file())
        content = b"".join(f"{path.relative_to(store)} {path.stat().st_size}\n".encode() + path.read_bytes() for path in files)
        put("zarr", f"good-v{version}", content)
    with h5py.File(folder / "t.h5mu", "w") as file:
        file.create_group("obs"), file.create_group("var")
        with h5py.File(folder / "a.h5ad") as one:
            one.copy("/", file, name="mod/rna")
    put("h5mu", "good.h5mu", (folder / "t.h5mu").read_bytes())
    with h5py.File(folder / "t.loom", "w") as file:
        file["matrix"], file["layers/spliced"] = counts.T, 2 * counts.T
        file["row_attrs/Gene"], file["col_attrs/CellID"] = np.array([b"A", b"B", b"C"]), np.array([b"a", b"b", b"c", b"d"])
        file["col_attrs/Batch"], file["col_attrs/Age"] = np.array([b"x", b"x", b"y", b"y"]), np.array([1.0, 2.0, 3.0, 4.0])
    put("loom", "good.loom", (folder / "t.loom").read_bytes())
    with h5py.File(folder / "t.h5", "w") as file:
        genome = file.create_group("hg19")
        genome["shape"] = np.array([3, 2], dtype="i4")
        genome["data"], genome["indices"], genome["indptr"] = [1, 2, 3], [0, 2, 1], [0, 2, 3]
        genome["barcodes"] = np.array([b"AA-1", b"CC-1"])
        genome["genes"], genome["gene_names"] = np.array([b"E1", b"E2", b"E3"]), np.array([b"A", b"B", b"C"])
    put("tenx_h5", "good-v2.h5", (folder / "t.h5").read_bytes())
    with h5py.File(folder / "t.mat", "w", userblock_size=512) as file:
        file["X"] = np.arange(6.0).reshape(2, 3)
        file["X"].attrs["MATLAB_class"] = np.bytes_("double")
    whole = bytearray((folder / "t.mat").read_bytes())
    whole[:128] = b"MATLAB 7.3 MAT-file".ljust(124) + b"\x00\x02IM"
    put("mat", "good-v73.mat", bytes(whole))
    with h5py.File(folder / "t.h5", "w") as file:
        matrix = file.create_group("matrix")
        matrix["shape"] = np.array([3, 2], dtype="i4")
        matrix["data"], matrix["indices"], matrix["indptr"] = [1, 2, 3], [0, 2, 1], [0, 2, 3]
        matrix["barcodes"] = np.array([b"AA-1", b"CC-1"])
        features = matrix.create_group("features")
        features["id"] = np.array([b"E1", b"E2", b"E3"])
        features["name"] = np.array([b"A", b"B", b"C"])
        features["feature_type"] = np.array([b"Gene Expression"] * 3)
    put("tenx_h5", "good-v3.h5", (folder / "t.h5").read_bytes())
    (folder / "d.csv").write_text("gene,a,b,c,d\nx,1,2,3,1\ny,3,1,2,5\nz,2,2,1,1\n")
    fit = [program, "fit", "d.csv", "--preset", "paper", "--rank", "1", "--max-scales", "2", "--clusters", "2", "--no-report",
           "--threads", "1"]
    subprocess.run([*fit, "--max-sweeps", "2", "-o", "out"], cwd=folder, check=True, capture_output=True)
    put("result", "good-result.h5ad", (folder / "out" / "result.h5ad").read_bytes())
    put("options", "good-all.json", options_of(folder / "out" / "result.h5ad"))
    running = subprocess.Popen([*fit, "--max-sweeps", "1000000000", "--tolerance", "0", "--checkpoint-every", "0", "-o", "run"],
                               cwd=folder, stderr=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
    while not (folder / "run" / "checkpoint.bin").exists() and running.poll() is None:
        pass
    running.terminate()
    running.wait()
    put("checkpoint", "good-sweeps.bin", (folder / "run" / "checkpoint.bin").read_bytes())


def options_of(path):
    import h5py

    with h5py.File(path) as file:
        return file["uns/pnmf/options"][()]


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as made:
        texts()
        arrays(pathlib.Path(made))
        annotated(pathlib.Path(made), pathlib.Path(sys.argv[1]).resolve())
