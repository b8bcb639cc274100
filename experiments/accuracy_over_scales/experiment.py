"""Accuracy of k-means at every scale, with the baselines as lines."""

import datasets
import numpy as np
from datasets import BASELINES, NAMES
from lab import DIFFERS, REPRODUCED, plt, trend

CLAIM = "clustering accuracy across scales"


def run(lab):
    sets, _ = datasets.present(lab, 1000)
    figure, axes = plt.subplots((len(sets) + 1) // 2, 2, figsize=(12, 3.2 * ((len(sets) + 1) // 2)), squeeze=False)
    for panel, one in zip(axes.flat, sets):
        for method in BASELINES:
            value = datasets.score(lab, datasets.baseline(lab, one, method))["accuracy"]["mean"]
            panel.axhline(value, ls="--", lw=1, color=f"C{BASELINES.index(method) + 2}", label=NAMES[method])
        for algorithm in (["reference", "stationary"] if one.reference else ["stationary"]):
            fitted = datasets.fit(lab, one, algorithm)
            values = np.array([s["accuracy"]["mean"] for s in datasets.score(lab, fitted)["scales"]])
            betti = fitted.array("betti0")
            panel.plot(betti.max() - betti + 1, values, "o-", ms=3, label=f"pNMF {algorithm}")
            third = max(len(values) // 3, 1)
            fine, coarse = values[:third].mean(), values[-third:].mean()
            lab.claim(f"{one.name}, {algorithm}: accuracy is highest at fine scales and falls towards coarse ones",
                      "gradually decreases",
                      f"finest third {fine:.3f}, coarsest third {coarse:.3f}; Spearman with t {trend(values):.2f}; "
                      f"highest {values.max():.3f} at scale {values.argmax() + 1} of {len(values)}",
                      REPRODUCED if fine > coarse and trend(values) < -0.3 else DIFFERS, fitted.command)
        panel.set_title(one.name, fontsize=9), panel.set_xlabel("canonical scale t"), panel.set_ylabel("accuracy")
        panel.legend(fontsize=6)
    for panel in axes.flat[len(sets):]:
        panel.axis("off")
    figure.tight_layout()
    lab.figure(figure, "accuracy.png")
