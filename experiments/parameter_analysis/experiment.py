"""27 combinations of λ ∈ {0.1, 1, 10}³: scores at the finest scale, as radar charts."""

import itertools

import datasets
import numpy as np
from datasets import METRICS
from lab import DIFFERS, MEASURED, REPRODUCED, plt

CLAIM = "parameter analysis"
VALUES = (0.1, 1, 10)


def run(lab):
    sets = [s for s in datasets.present(lab, 1000)[0] if s.paper]
    runs = [(one, algorithm) for one in sets for algorithm in ("reference", "stationary")
            if algorithm == "reference" or one.name.startswith("Dendritic")]
    if lab.quick:
        runs = runs[:1]
    figure = plt.figure(figsize=(5 * len(runs), 5))
    for place, (one, algorithm) in enumerate(runs):
        scores = {}
        for weights in combinations(lab):
            fitted = datasets.fit(lab, one, algorithm, scales=3 if lab.quick else 6, lambdas=weights)
            found = datasets.score(lab, fitted)
            scores[weights] = [found[m]["mean"] for m in METRICS]
        draw(figure.add_subplot(1, len(runs), place + 1, projection="polar"), one, algorithm, scores)
        verdicts(lab, one, algorithm, scores, fitted.command)
    figure.tight_layout()
    lab.figure(figure, "radar.png")


def combinations(lab):
    """All 27, or for the quick run the eight corners and the middle."""
    every = itertools.product(VALUES, repeat=3)
    return [w for w in every if not lab.quick or w == (1, 1, 1) or 1 not in w]


def draw(axes, one, algorithm, scores):
    angles = np.linspace(0, 2 * np.pi, 6)
    colors = {0.1: "C0", 1: "C1", 10: "C2"}
    for weights, values in scores.items():
        five = [*values, np.mean(values)]
        axes.plot(angles, five + five[:1], lw=0.8, color=colors[weights[0]], alpha=0.7)
    for value, color in colors.items():
        axes.plot([], [], color=color, label=f"λ₁ = {value}")
    axes.set_xticks(angles[:5], ["ARI", "NMI", "purity", "accuracy", "average"], fontsize=8)
    axes.set_ylim(0, 1), axes.legend(fontsize=7, loc="lower right")
    axes.set_title(f"{one.name}, {algorithm}", fontsize=9)


def verdicts(lab, one, algorithm, scores, command):
    average = {weights: float(np.mean(values)) for weights, values in scores.items()}
    spread = [np.ptp([np.mean([a for w, a in average.items() if w[k] == v]) for v in VALUES]) for k in range(3)]
    middle = average[(1, 1, 1)]
    best = max(average, key=average.get)
    lab.claim(f"{one.name}, {algorithm}: robust over the {len(average)} combinations: average score, lowest to highest", "robust; mild degradation",
              f"{min(average.values()):.3f} to {max(average.values()):.3f}, best at λ = {best}",
              REPRODUCED if np.ptp(list(average.values())) < 0.15 else DIFFERS, command)
    rank = 1 + sum(value > middle for value in average.values())
    lab.claim(f"{one.name}, {algorithm}: λ = (1, 1, 1) is a good choice: its place among the {len(average)}", "favourable trade-off",
              f"place {rank}, {middle:.3f}", REPRODUCED if 3 * rank <= len(average) else DIFFERS, command)
    lab.claim(f"{one.name}, {algorithm}: λ₁ matters most and λ₃ least: range of the mean over λ₁, λ₂, λ₃",
              "λ₁ central, λ₃ milder", ", ".join(f"λ{k + 1} {s:.3f}" for k, s in enumerate(spread)),
              REPRODUCED if spread[0] == max(spread) and spread[2] == min(spread) else DIFFERS, command)
