"""The objective after every sweep and every inner step, for all three algorithms."""

import numpy as np
from lab import DIFFERS, MEASURED, REPRODUCED, plt

CLAIM = "empirical convergence"
ROUNDING = 1e-11


def rises(values):
    values = np.asarray(values)
    change = np.diff(values) / values[:-1]
    return int((change > ROUNDING).sum()), float(max(change.max(initial=0.0), 0.0))


def run(lab):
    data, _, published = lab.circles()
    common = ["--rank", 2, "--lambda1", 100, "--lambda2", 100, "--lambda3", 1]
    sweeps_of_paper = 10 if lab.quick else 50
    runs = [("reference", ["--algorithm", "reference"]), ("paper", ["--algorithm", "paper", "--max-sweeps", sweeps_of_paper]),
            ("stationary", ["--start", "chained"]),
            ("stationary without momentum", ["--start", "chained", "--extrapolate", "false"])]
    figure, axes = plt.subplots(4, 3, figsize=(13, 13))
    for row, (name, options) in zip(axes, runs):
        fit = lab.fit(*data, *common, *options, trace=True)
        sweeps, steps = fit.trace()
        values = [sweeps[s] for s in sorted(sweeps)]
        inner = [value for _, value in steps]
        draw(row, name, values, inner)
        outer_rises, outer_most = rises(values)
        inner_rises, inner_most = rises([values[0], *inner])
        promised = name != "reference"
        lab.claim(f"{name}: the objective falls monotonically from sweep to sweep", "decreases monotonically",
                  f"rises after {outer_rises} of {len(values) - 1} sweeps" +
                  (f", by {100 * outer_most:.2g} % at most" if outer_rises else ""),
                  REPRODUCED if outer_rises == 0 else DIFFERS, fit.command, value=outer_rises,
                  expect=(0, 0) if promised else None,
                  note="" if promised else "rescaling W and H after a step changes the penalties on H")
        lab.claim(f"{name}: every single update is non-increasing", "non-increasing",
                  f"{inner_rises} of {len(inner)} steps rise" + (f", by {100 * inner_most:.2g} % at most" if inner_rises else ""),
                  REPRODUCED if inner_rises == 0 else DIFFERS, fit.command, value=inner_rises,
                  expect=(0, 0) if name in ("paper", "stationary without momentum") else None,
                  note="a sweep may begin at an extrapolated point above the last; it never ends above it"
                       if name == "stationary" else "")
        drop = abs(values[-1] - values[-2]) / values[-2] if len(values) > 1 else 0.0
        lab.claim(f"{name}: relative decrease in the last sweep", "rapid decay", f"{drop:.1e} after {len(values) - 1} sweeps",
                  MEASURED, fit.command)
        lab.claim(f"{name}: where it ends: objective and KKT residual", "approaches a stationary point",
                  f"{values[0]:.4g} → {values[-1]:.4g}, residual {fit.summary['kkt']:.1e}, {fit.summary['stop']}",
                  REPRODUCED if fit.summary["kkt"] <= 3e-4 else DIFFERS, fit.command,
                  note={"reference": "stopped by its rule of ten sweeps, far from stationary",
                        "paper": "W and H drift apart for ever: the model alone has no stationary point but H = 0",
                        "stationary without momentum": "",
                        "stationary": "converged to its certificate; at λ₃ = 1 the embedding there has collapsed "
                                      f"(effective rank {fit.summary['effective_rank_finest']:.2f} at the finest scale)"}[name])
    figure.tight_layout()
    lab.figure(figure, "convergence.png")


def draw(row, name, values, inner):
    row[0].plot(values, "o-", ms=3)
    row[0].set_title(f"{name}: objective after each sweep", fontsize=9)
    change = np.abs(np.diff(values)) / np.array(values[:-1])
    row[1].semilogy(range(1, len(values)), np.maximum(change, 1e-16), "o-", ms=3)
    row[1].set_title("relative change", fontsize=9)
    row[2].plot(inner, lw=0.8)
    row[2].set_title("after every inner step", fontsize=9)
    for axes in row:
        axes.tick_params(labelsize=7)
