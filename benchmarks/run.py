#!/usr/bin/python3
"""The benchmarks as one table, half an hour: run.py BUILD DATA  (`make bench`)

Says first which architecture and instruction set this is; the last column is the ratio in the table that is committed
for that architecture, in benchmarks/results/bench.md (ARM64 first, then x86-64).
Each row comes from a script or program that compares answers before it prints a time, and stands on its own with more
detail; longer ones and their results are in benchmarks/results. A ratio above 1 says that pnmf is ahead. What needs
data, packages or the oracle that are not there is left out, with a line that says so.
"""

import pathlib
import platform
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
CONTESTANTS = HERE / "contestants"
COMMITTED = {"aarch64": 0, "x86_64": 1}  # which table of the page


def tables(command):
    """The Markdown tables that a command prints."""
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError((done.stderr.strip().splitlines() or ["failed"])[-1])
    sys.stderr.write("".join(f"{line}\n" for line in done.stderr.splitlines() if "left out" in line))
    return tables_in(done.stdout)


def tables_in(text):
    """Markdown tables as lists of {column: cell}."""
    found, head = [], None
    for line in text.splitlines():
        if not line.startswith("|"):
            head = None
            continue
        cells = [cell.strip().strip("*") for cell in line.strip().strip("|").split("|")]
        if head is None:
            head = cells
            found.append([])
        elif not set(line) <= set("|- :"):
            found[-1].append(dict(zip(head, cells)))
    return found


def persistence(build, data):
    ours, theirs = tables([sys.executable, CONTESTANTS / "persistence.py", build / "pnmf"])[0]
    yield "H0 persistence, 10,000 cells x 50", "SciPy, full matrix", f"{ours['median s']} s, {ours['MB']} MB", f"{theirs['median s']} s, {theirs['MB']} MB", theirs["ratio"]


def reading(build, data):
    reader = build / "benchmarks" / "end_to_end" / "bench_read"
    for row in tables([sys.executable, CONTESTANTS / "read_matrix_market.py", reader, data / "PBMC3k" / "matrix.mtx.gz", 3])[0]:
        yield f"reading PBMC3k, {row['file']}", "SciPy", row["pnmf, ms: median (range)"] + " ms", row["mmread, ms"] + " ms", row["mmread / pnmf"]
    for row in tables([sys.executable, CONTESTANTS / "read_h5ad.py", reader, data / "PBMC3k", 5])[0]:
        yield (f"reading PBMC3k, .h5ad, {row['stored as']}", "AnnData", row["pnmf, ms: median (range)"] + " ms",
               row["AnnData, ms: median (range)"] + " ms", row["AnnData / pnmf"])


def protocol(build, data):
    oracle = data.parent / "oracle" / "reference_protocol.py"
    if not oracle.exists():
        raise RuntimeError(f"{oracle.name} is not there")
    for row in tables([sys.executable, CONTESTANTS / "protocol.py", build / "pnmf", oracle, "stationary", data / "Dendritic_batch1_HVG859"])[0]:
        yield f"`stationary`, Dendritic, {row['pnmf']}", "published protocol in NumPy", row["total"], "to its last objective", row["ratio"]


def sweeps(build, data):
    for row in tables([build / "benchmarks" / "end_to_end" / "bench_sweep_rate"])[0]:
        yield (f"a sweep, {row['data']}, {row['numbers']}", "its matrix products alone", f"{row['GF/s of a sweep']} GF/s",
               f"{row['of its products alone']} GF/s, stacked {row['of 32 scales stacked']}", f"{row['share']}, of stacked {row['share of stacked']}")


def nmf(build, data):
    rows = tables([sys.executable, CONTESTANTS / "nmf.py", build / "pnmf", data / "PBMC3k", 1, 2, 10])[0]
    ours = next(row for row in rows if row["contestant"] == "pnmf")
    for row in rows:
        if row["contestant"] in ("scikit-learn", "RcppML"):
            ratio = float(row["wall s"].split()[0]) / float(ours["wall s"].split()[0])
            yield f"NMF, PBMC3k, rank {row['rank']}, equal loss, two threads", row["contestant"], ours["wall s"] + " s", row["wall s"] + " s", f"{ratio:.1f}"


def answers(build, data):
    rows = tables([sys.executable, HERE / "answers.py", build / "pnmf", data])[0]
    for ours, theirs in zip(rows[::2], rows[1::2]):
        said = [f"{row['wall s']} s, {row['peak MB']} MB, ARI {row['ARI']}" for row in (ours, theirs)]
        yield f"counts to clusters and page, {ours['data']}", theirs["who"], *said, theirs["ratio"]


def machine(build):
    """Architecture, instruction set and kernel of the matrix product, as the program says them."""
    said = subprocess.run([str(build / "pnmf"), "--version"], capture_output=True, text=True, check=True).stdout
    return {key.strip(): value.strip() for key, _, value in (line.partition(":") for line in said.splitlines()[1:])}


def committed_ratios(architecture, page=HERE / "results" / "bench.md"):
    """{(work, against): ratio} of the committed table of an architecture; empty where there is none."""
    if architecture not in COMMITTED:
        return {}
    return {(row["work"], row["against"]): row["ratio"] for row in tables_in(page.read_text())[COMMITTED[architecture]]}


def main():
    build, data = pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2]).resolve()
    here = machine(build)
    committed = committed_ratios(platform.machine())
    print(f"{platform.machine()}; instruction set: {here.get('instruction set', 'unknown')}; matrix products: {here.get('matrix products', 'unknown')}")
    print(f"committed: {'results/bench.md' if committed else 'no table of this architecture'}\n")
    print("| work | against | pnmf | other | ratio | committed |\n| --- | --- | --- | --- | --- | --- |", flush=True)
    left = []
    for part in [persistence, reading, sweeps, nmf, protocol, answers]:
        try:
            for row in part(build, data):
                print("| " + " | ".join([*row, committed.get((row[0], row[1]), "")]) + " |", flush=True)
        except (RuntimeError, OSError) as error:
            left.append(f"{part.__name__}: not run: {error}")
    print("\n".join(["", *left]) if left else "")


if __name__ == "__main__":
    main()
