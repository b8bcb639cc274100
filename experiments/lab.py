"""What the experiments share: running the program, reading its results, figures, and verdicts.

Every number in a verdict comes from the program (its JSON or its result.h5ad); this file only runs it and
measures distances between embeddings. Needs Debian's python3-numpy, python3-h5py and python3-matplotlib.
"""

import dataclasses
import hashlib
import json
import os
import pathlib
import shlex
import subprocess
import time

os.environ.setdefault("MPLBACKEND", "Agg")
import h5py
import matplotlib.pyplot as plt
import numpy as np

ROOT = pathlib.Path(__file__).resolve().parent.parent
REPRODUCED, DIFFERS, NOT_RUN, MEASURED = "as in the paper", "differs", "not run", "measured"


@dataclasses.dataclass
class Claim:
    """One sentence or number of the paper beside what was found here."""

    what: str
    paper: str
    ours: str
    verdict: str
    command: str = ""
    note: str = ""
    value: float | None = None  # what `expected` in the README's table is about
    experiment: str = ""
    failed: str = ""  # not as this project expects: a regression


class Missing(Exception):
    """Data that are not there."""


class Lab:
    def __init__(self, program, data, out, quick):
        self.program = pathlib.Path(program).resolve()
        self.data = pathlib.Path(data).resolve()
        self.out = pathlib.Path(out).resolve()
        self.quick = quick
        self.folder = self.out  # of the experiment that runs
        self.claims = []
        self.figures = []
        self.last_command = ""
        built = self.program.stat()
        self.built = f"{built.st_size}-{built.st_mtime_ns}"

    # Data

    def dataset(self, name):
        """A data set beside the project; Missing when it is not there."""
        path = self.data / name
        if not path.exists():
            raise Missing(f"{name} is not in {self.shown(self.data)}")
        return path

    def circles(self):
        """The published circles, or circles made here when they are not there: (arguments, labels, published)."""
        path = self.data / "circles" / "input.mat"
        if path.exists():
            import scipy.io
            labels = scipy.io.loadmat(path)["Y"].ravel().astype(int)
            return [path, "--cells", "rows", "--variable", "X"], labels, True
        made = self.out / "circles.csv"
        self.run("simulate", "circles", "--meet-ends", "-o", made)
        return [made], np.repeat(np.arange(4), 20), False

    # The program

    def shown(self, word):
        """A word of a command as a reader should see it, without this machine's folders."""
        text = str(word)
        for folder, name in [(self.data, "DATA"), (self.out, "OUT"), (ROOT, ".")]:
            text = text.replace(str(folder), name)
        return text

    def run(self, *arguments):
        """Runs the program; its stdout. The command is kept for the verdict."""
        self.last_command = "pnmf " + " ".join(shlex.quote(self.shown(word)) for word in arguments)
        done = subprocess.run([self.program, *map(str, arguments)], capture_output=True, text=True)
        if done.returncode != 0:
            raise RuntimeError(f"{self.last_command}\nended with {done.returncode}\n{done.stderr}")
        return done.stdout

    def json(self, *arguments):
        return json.loads(self.run(*arguments, "--json"))

    def fit(self, *arguments, verb=("fit",), trace=False):
        """A fit with its bases, kept under OUT/runs: the same command of the same build is not run again."""
        preset = ["--preset", "paper"] if verb == ("fit",) else []
        words = [*verb, *arguments, *preset]
        key = hashlib.sha256(repr([self.built, trace, *map(str, words)]).encode()).hexdigest()[:16]
        folder = self.out / "runs" / key
        extra = ["--trace", folder / "trace.tsv"] if trace else []
        basis = ["--save-basis", "--no-report"] if verb == ("fit",) else []
        command = [*words, *basis, *extra, "-o", folder]
        if not (folder / "done").exists():
            folder.mkdir(parents=True, exist_ok=True)
            begin = time.monotonic()
            self.run(*command, "--overwrite")  # what a run that was cut short left
            (folder / "done").write_text(f"{time.monotonic() - begin:.1f} s\n")
        fit = Fit(folder)
        fit.command = self.last_command = "pnmf " + " ".join(
            shlex.quote(self.shown(word).replace(f"OUT/runs/{key}", "DIR")) for word in [*words, *basis, *extra, "-o", "DIR"])
        return fit

    def score(self, fit, *arguments):
        """Scores of a fit or of an embedding in a file, kept beside the fit."""
        words = ["score", fit.folder if isinstance(fit, Fit) else fit, *arguments]
        key = hashlib.sha256(repr([self.built, *map(str, words)]).encode()).hexdigest()[:16]
        kept = self.out / "runs" / f"score-{key}.json"
        if isinstance(fit, Fit) and kept.exists():
            return json.loads(kept.read_text())
        scores = self.json(*words)
        kept.parent.mkdir(parents=True, exist_ok=True)
        kept.write_text(json.dumps(scores))
        return scores

    # Verdicts and figures

    def claim(self, what, paper, ours, verdict, command=None, note="", value=None, expect=None):
        """Adds a verdict. `expect` is (low, high) for `value`: outside it, the run fails."""
        failed = ""
        if expect is not None and not (expect[0] <= value <= expect[1]):
            failed = f"expected {expect[0]:.6g} to {expect[1]:.6g}, got {value:.6g}"
        self.claims.append(Claim(what, paper, ours, verdict, self.last_command if command is None else command,
                                 note, value, self.folder.name, failed))

    def figure(self, figure, name):
        path = self.folder / name
        figure.savefig(path, dpi=110)
        plt.close(figure)
        self.figures.append((self.folder.name, path))

    def keep(self, name, text):
        (self.folder / name).write_text(text)


class Fit:
    """A folder that `pnmf fit` or `pnmf baseline` wrote."""

    def __init__(self, folder):
        self.folder = pathlib.Path(folder)
        self.summary = json.loads((self.folder / "summary.json").read_text())
        self.command = ""

    def array(self, name):
        with h5py.File(self.folder / "result.h5ad") as file:
            return file["uns/pnmf/" + name][()]

    @property
    def H(self):
        """Scales × rank × cells, finest first."""
        return self.array("H")

    @property
    def epsilon(self):
        return self.array("epsilon")

    def trace(self):
        """(sweeps: number → objective, steps: list of (sweep, objective))."""
        sweeps, steps = {}, []
        for line in (self.folder / "trace.tsv").read_text().splitlines()[1:]:
            kind, sweep, _, _, objective = line.split("\t")
            if kind == "sweep":
                sweeps[int(sweep)] = float(objective)
            else:
                steps.append((int(sweep), float(objective)))
        return sweeps, steps


# Measures of embeddings: each stands for a word of the paper.


def spread(H):
    """How far from a single point: the root of (variance about the mean) / (mean square); 0 is a point."""
    centred = H - H.mean(axis=1, keepdims=True)
    return float(np.sqrt((centred ** 2).sum() / max((H ** 2).sum(), 1e-300)))


def ring_sizes(H, labels):
    """Root mean square distance of each ring's points to their own centre, one for each label."""
    sizes = []
    for label in np.unique(labels):
        points = H[:, labels == label]
        sizes.append(np.sqrt(((points - points.mean(axis=1, keepdims=True)) ** 2).sum(axis=0).mean()))
    return np.array(sizes)


def emergence(H, labels):
    """For each ring the coarsest scale, from 1, from which on to the finest it has half its size at the finest."""
    sizes = np.array([ring_sizes(one, labels) for one in H])
    grown = sizes >= 0.5 * sizes[0]
    return [int(np.argmin(grown[:, k])) if not grown[:, k].all() else len(H) for k in range(sizes.shape[1])]


def rings_standing_out(H, labels, final):
    """For each scale, how many rings have at least half of their `final` size."""
    return np.array([(ring_sizes(one, labels) >= 0.5 * final).sum() for one in H])


def path_shares(H):
    """‖ΔH_t‖ of each step over the sum of all: how evenly the embedding changes."""
    steps = np.sqrt(((H[1:] - H[:-1]) ** 2).sum(axis=(1, 2)))
    return steps / max(steps.sum(), 1e-300)


def likeness(H, other):
    """Mean over the scales of the correlation between the cells' distances in the two embeddings."""
    values = []
    for a, b in zip(H, other):
        upper = np.triu_indices(a.shape[1], 1)
        distances = [np.linalg.norm(m[:, upper[0]] - m[:, upper[1]], axis=0) for m in (a, b)]
        if min(d.std() for d in distances) > 1e-12:
            values.append(np.corrcoef(*distances)[0, 1])
    return float(np.mean(values)) if values else float("nan")


def ranks(values):
    order = np.argsort(values, kind="stable")
    result = np.empty(len(values))
    result[order] = np.arange(len(values))
    return result


def trend(values):
    """Spearman's correlation of the values with their position: −1 for a steady fall, 1 for a steady rise."""
    if np.std(values) == 0:
        return 0.0
    return float(np.corrcoef(ranks(np.asarray(values)), np.arange(len(values)))[0, 1])


RING_COLORS = ["#1f77b4", "#ff7f0e", "#2ca02c", "#d62728"]


def draw_embedding(axes, H, labels, title, frame=None):
    """Cells of an embedding of rank 2; `frame` is another embedding whose limits are taken."""
    axes.scatter(H[0], H[1], c=[RING_COLORS[k % 4] for k in labels], s=9)
    axes.set_title(title, fontsize=9)
    axes.tick_params(labelsize=6)
    if frame is not None:
        margin = 0.06 * np.ptp(frame, axis=1)
        axes.set_xlim(frame[0].min() - margin[0], frame[0].max() + margin[0])
        axes.set_ylim(frame[1].min() - margin[1], frame[1].max() + margin[1])


def nine(count):
    """Nine positions from coarsest to finest, evenly spaced."""
    return [int(round(x)) for x in np.linspace(count - 1, 0, 9)]
