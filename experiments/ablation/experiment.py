"""The model without one or two of its terms."""

import numpy as np
from lab import DIFFERS, MEASURED, REPRODUCED, draw_embedding, likeness, nine, path_shares, plt, spread

CLAIM = "ablation of the regularisation terms"
VARIANTS = [("Full", 100, 100, 1), ("noGeom", 0, 100, 1), ("noSmooth", 100, 0, 1), ("noAnchor", 100, 100, 0),
            ("GeomOnly", 100, 0, 0), ("SmoothOnly", 0, 100, 0)]


def change(H):
    """Largest relative distance from the finest embedding: 0 when all scales are alike."""
    return float(max(np.linalg.norm(one - H[0]) for one in H) / np.linalg.norm(H[0]))


def finest(H):
    """The finest embedding in the place of every one."""
    return np.repeat(H[:1], len(H), axis=0)


def jumpiness(H):
    """Path length over the distance between its ends: 1 for a straight way."""
    steps = np.sqrt(((H[1:] - H[:-1]) ** 2).sum(axis=(1, 2)))
    return float(steps.sum() / max(np.linalg.norm(H[-1] - H[0]), 1e-300))


def run(lab):
    data, labels, published = lab.circles()
    fits = {}
    figure, axes = plt.subplots(6, 9, figsize=(18, 12.4))
    for row, (name, graph, smooth, anchor) in zip(axes, VARIANTS):
        fits[name] = lab.fit(*data, "--algorithm", "reference", "--rank", 2, "--lambda1", graph, "--lambda2", smooth,
                             "--lambda3", anchor)
        H = fits[name].H
        for panel, t in zip(row, nine(len(H))):
            draw_embedding(panel, H[t], labels, f"{name}, t = {t + 1}", H[0])
    figure.tight_layout()
    lab.figure(figure, "ablation.png")
    H = {name: fit.H for name, fit in fits.items()}

    full = change(H["Full"])
    lab.claim("Full: scales differ: largest distance from the finest embedding, relative", "distinct resolutions",
              f"{full:.3f}", REPRODUCED if full > 0.3 else DIFFERS, fits["Full"].command, value=full,
              expect=(0.3, 2) if published else None)
    for name in ("noGeom", "SmoothOnly"):
        value = change(H[name])
        lab.claim(f"{name}: every scale is like the finest: the same measure", "collapses into a single configuration",
                  f"{value:.3f}; correlation of distances with the finest {likeness(H[name], finest(H[name])):.3f} (Full "
                  f"{likeness(H['Full'], finest(H['Full'])):.3f})", REPRODUCED if value < 0.25 * full else DIFFERS,
                  fits[name].command, value=value, expect=(0, 0.25 * full) if published else None)
    smooth = jumpiness(H["Full"])
    rough = jumpiness(H["noSmooth"])
    lab.claim("noSmooth: fragmented evolution: path length over the distance between its ends (1 is straight)",
              "distorted or unstable at intermediate scales", f"{rough:.2f} against {smooth:.2f} of Full",
              REPRODUCED if rough > 1.2 * smooth else DIFFERS, fits["noSmooth"].command,
              note=f"largest step {path_shares(H['noSmooth']).max():.2f} of the path against {path_shares(H['Full']).max():.2f}; "
                   f"mean correlation of distances with Full at equal t {likeness(H['noSmooth'], H['Full']):.3f}")
    for name in ("noAnchor", "GeomOnly"):
        value = likeness(H[name], H["Full"])
        lab.claim(f"{name}: visually similar to Full: mean correlation of distances at equal t", "similar",
                  f"{value:.3f}", REPRODUCED if value > 0.9 else DIFFERS, fits[name].command)
    lab.claim("spread at the coarsest scale (0: a point)", "Full collapses there",
              ", ".join(f"{name} {spread(one[-1]):.3f}" for name, one in H.items()), MEASURED, "")
