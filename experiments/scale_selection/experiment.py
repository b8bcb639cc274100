"""Canonical scales against uniform (UDS), random (RDS) and arbitrary minimal sufficient (MSS) ones."""

import numpy as np
from lab import DIFFERS, MEASURED, REPRODUCED, draw_embedding, likeness, nine, path_shares, plt, ring_sizes, rings_standing_out, spread

CLAIM = "effect of persistence-based scale selection"
STRATEGIES = [("pNMF", "canonical"), ("pNMF-UDS", "uniform"), ("pNMF-RDS", "random"), ("pNMF-MSS", "sufficient")]


def run(lab):
    data, labels, published = lab.circles()
    weights = ["--algorithm", "reference", "--rank", 2, "--lambda1", 100, "--lambda2", 100, "--lambda3", 1]
    fits, spreads, likenesses = {}, {}, {}
    figure, axes = plt.subplots(4, 9, figsize=(18, 8.4))
    for row, (name, strategy) in enumerate(STRATEGIES):
        fit = fits[name] = lab.fit(*data, *weights, "--scales", strategy)
        H = fit.H
        for column, t in enumerate(nine(len(H))):
            draw_embedding(axes[row, column], H[t], labels, f"{name}, t = {t + 1}", fits["pNMF"].H[0])
        spreads[name] = np.array([spread(one) for one in H])
    figure.tight_layout()
    lab.figure(figure, "strategies.png")
    draw_spread(lab, spreads)

    reference = fits["pNMF"].H
    final = ring_sizes(reference[0], labels)
    steps = {name: path_shares(fit.H).max() for name, fit in fits.items()}
    for name, strategy in STRATEGIES:
        heuristic = name in ("pNMF-UDS", "pNMF-RDS")
        standing = rings_standing_out(fits[name].H, labels, final)
        collapsed = float((standing <= 1).mean())
        covered = lab.json("check", *data, "--preset", "paper", "--scales", strategy)["scales_used"]
        command = fits[name].command
        lab.claim(f"{name}: share of the scales at which at most one of the four rings has half its size",
                  "a large portion" if heuristic else "few", f"{collapsed:.2f}; rings that stand out, on average "
                  f"{standing.mean():.2f} of 4", REPRODUCED if (collapsed > 0.5) == heuristic else DIFFERS, command,
                  note=f"its scales meet {covered['covered']} of the {covered['states']} values of β₀; spread below a tenth "
                       f"of pNMF's finest at {(spreads[name] < 0.1 * spreads['pNMF'][0]).mean():.2f} of the scales",
                  value=collapsed, expect=((0.5, 1) if heuristic else (0, 0.5)) if published else None)
        abrupt = steps[name] > 1.5 * steps["pNMF"]
        lab.claim(f"{name}: largest single step, as a share of the whole path", "abrupt" if heuristic else "gradual",
                  f"{steps[name]:.2f}", REPRODUCED if abrupt == heuristic else DIFFERS, command,
                  note="abrupt would be more than half as much again as pNMF's")
    same = likeness(fits["pNMF-MSS"].H, reference)
    lab.claim("pNMF-MSS resembles pNMF: mean correlation of distances at equal t", "qualitatively similar",
              f"{same:.3f} (UDS {likeness(fits['pNMF-UDS'].H, reference):.3f}, RDS "
              f"{likeness(fits['pNMF-RDS'].H, reference):.3f})", REPRODUCED if same > 0.9 else DIFFERS,
              fits["pNMF-MSS"].command, value=same, expect=(0.85, 1.0) if published else None)


def draw_spread(lab, spreads):
    figure, axes = plt.subplots(figsize=(7, 3.5))
    for name, values in spreads.items():
        axes.plot(range(1, len(values) + 1), values, label=name)
    axes.set_xlabel("scale t"), axes.set_ylabel("spread (0: a point)"), axes.legend()
    figure.tight_layout()
    lab.figure(figure, "spread.png")
