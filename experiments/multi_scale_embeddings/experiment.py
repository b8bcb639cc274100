"""Embeddings of the circles at all 80 scales: nine of them, and an animation, by both algorithms."""

import numpy as np
from lab import (DIFFERS, MEASURED, REPRODUCED, RING_COLORS, draw_embedding, emergence, likeness, nine, plt,
                 ring_sizes, spread)

CLAIM = "multi-scale embeddings of the circles"
RUNS = [("reference", ["--algorithm", "reference", "--lambda1", 100, "--lambda2", 100, "--lambda3", 1]),
        ("stationary", ["--lambda1", 100, "--lambda2", 100, "--lambda3", 0.1])]


def coordinates(lab, data, published):
    if published:
        import scipy.io
        return scipy.io.loadmat(data[0])["X"][:, :3].T
    return np.loadtxt(data[0], delimiter=",", skiprows=1, usecols=range(1, 81), max_rows=3)


def draw_nine(lab, name, H, labels, circles):
    figure = plt.figure(figsize=(15, 6.2))
    solid = figure.add_subplot(2, 5, 1, projection="3d")
    solid.scatter(*circles, c=[RING_COLORS[k] for k in labels], s=8)
    solid.set_title("the circles in 3-D", fontsize=9)
    solid.tick_params(labelsize=6)
    for place, t in enumerate(nine(len(H))):
        draw_embedding(figure.add_subplot(2, 5, place + 2), H[t], labels, f"t = {t + 1}", H[0])
    figure.suptitle(f"{name}: from the coarsest scale to the finest")
    figure.tight_layout()
    lab.figure(figure, f"{name}.png")


def animate(lab, name, H, labels):
    from matplotlib.animation import FuncAnimation, PillowWriter
    figure, axes = plt.subplots(figsize=(4, 4))
    points = axes.scatter(H[0][0], H[0][1], c=[RING_COLORS[k] for k in labels], s=12)
    top = H.max() * 1.05
    axes.set_xlim(0, top), axes.set_ylim(0, top)

    def frame(i):
        t = len(H) - 1 - i
        points.set_offsets(H[t].T)
        axes.set_title(f"{name}, t = {t + 1}")
        return [points]

    animation = FuncAnimation(figure, frame, frames=len(H))
    path = lab.folder / f"{name}.gif"
    animation.save(path, writer=PillowWriter(fps=12), dpi=70)
    plt.close(figure)
    lab.figures.append((lab.folder.name, path))


def run(lab):
    data, labels, published = lab.circles()
    circles = coordinates(lab, data, published)
    for name, options in RUNS:
        fit = lab.fit(*data, "--rank", 2, *options)
        H = fit.H
        draw_nine(lab, name, H, labels, circles)
        if not lab.quick:
            animate(lab, name, H, labels)
        if name == "reference" and published:
            compare_with_published(lab, H, fit)
        first, last = spread(H[0]), spread(H[-1])
        lab.claim(f"{name}: at the coarsest scale all points collapse into one (spread: 0 is a point)",
                  "collapse", f"spread {last:.3f}, at the finest {first:.3f}",
                  REPRODUCED if last < 0.05 * first else DIFFERS, fit.command, value=last / first, expect=(0, 0.05))
        scales = emergence(H, labels)
        ordered = scales == sorted(scales)
        lab.claim(f"{name}: rings emerge from the outermost to the innermost: coarsest scale from which on a ring of "
                  "radius 5, 10, 20, 50 has half its final size", "outermost first",
                  ", ".join(map(str, scales)) + (" (ascending)" if ordered else " (not ascending)"),
                  REPRODUCED if ordered else DIFFERS, fit.command, value=float(ordered), expect=(1, 1))
        flat = ring_sizes(H[0], labels)
        lab.claim(f"{name}: concentric circles at the finest scale: sizes of the four rings", "concentric circles",
                  ", ".join(f"{v:.1f}" for v in flat), MEASURED, fit.command,
                  note=f"correlation of distances with those of the 3-D circles {likeness(H[:1], circles[None]):.3f}")


def compare_with_published(lab, H, fit):
    path = lab.data / "circles" / "published_embeddings.mat"
    if not path.exists():
        return
    import scipy.io
    published = scipy.io.loadmat(path)["pNMF"]
    error = float(np.abs(H - published).max())
    lab.claim("the authors' 80 published embeddings, largest difference of an entry", "published", f"{error:.1e}",
              REPRODUCED if error < 1e-9 else DIFFERS, fit.command, value=error, expect=(0, 1e-9))
