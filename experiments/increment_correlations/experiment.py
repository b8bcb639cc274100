"""Correlations between scale, Laplacian and embedding increments; the bounds of the theorems."""

import numpy as np
from lab import DIFFERS, MEASURED, REPRODUCED, plt

CLAIM = "correlations of increments"
PAPER = {"epsilon_laplacian": (0.9995, 5.57e-118), "laplacian_embedding": (0.5700, 4.17e-8),
         "epsilon_embedding": (0.5571, 9.71e-8)}
WORDS = {"epsilon_laplacian": "Δε – ΔL", "laplacian_embedding": "ΔL – ΔH", "epsilon_embedding": "Δε – ΔH"}


def draw(lab, name, check):
    scales = check["scales"][1:]
    columns = {"Δε": "epsilon_increment", "‖ΔL‖": "laplacian_increment", "‖ΔH‖": "embedding_increment"}
    values = {label: np.array([s[key] for s in scales]) for label, key in columns.items()}
    figure, axes = plt.subplots(1, 3, figsize=(13, 4))
    for panel, (x, y, key) in zip(axes, [("Δε", "‖ΔL‖", "epsilon_laplacian"), ("‖ΔL‖", "‖ΔH‖", "laplacian_embedding"),
                                         ("Δε", "‖ΔH‖", "epsilon_embedding")]):
        panel.loglog(values[x], values[y], "o", ms=4)
        found = check["correlations"][key]
        panel.set_xlabel(x), panel.set_ylabel(y)
        panel.set_title(f"r = {found['r']:.4f}, p = {found['p']:.3g}", fontsize=10)
    figure.suptitle(name)
    figure.tight_layout()
    lab.figure(figure, f"{name}.png")


def run(lab):
    data, _, published = lab.circles()
    for name, options in [("reference", ["--algorithm", "reference", "--lambda3", 1]), ("stationary", ["--lambda3", 0.1])]:
        fit = lab.fit(*data, "--rank", 2, "--lambda1", 100, "--lambda2", 100, *options)
        check = lab.json("check", fit.folder, "--data", *data)
        command = fit.command + "; pnmf check DIR --data " + " ".join(lab.shown(word) for word in data)
        draw(lab, name, check)
        for key, (r, p) in PAPER.items():
            found = check["correlations"][key]
            exact = name == "reference" and published
            close = abs(found["r"] - r) < 5e-5
            lab.claim(f"{name}: Pearson's r of {WORDS[key]}", f"r = {r:.4f}, p = {p:.3g}",
                      f"r = {found['r']:.4f}, p = {found['p']:.3g}",
                      (REPRODUCED if close else DIFFERS) if exact else MEASURED, command, value=found["r"],
                      expect=(r - 5e-5, r + 5e-5) if exact else None)
        without = leave_last_out(check)
        gaps = [scale["epsilon_increment"] for scale in check["scales"][1:]]
        lab.claim(f"{name}: the same without the last increment, whose Δε is {gaps[-1] / np.mean(gaps[:-1]):.0f} times the "
                  "mean of the others",
                  "", ", ".join(f"{WORDS[key]} {value:.3f}" for key, value in without.items()), MEASURED, command,
                  note="r of 79 pairs is carried by one of them")
        bounds(lab, name, check, command)


def leave_last_out(check):
    """r by NumPy, of the program's increments without the coarsest scale."""
    scales = check["scales"][1:-1]
    e, L, H = (np.array([s[k] for s in scales]) for k in
               ("epsilon_increment", "laplacian_increment", "embedding_increment"))
    return {"epsilon_laplacian": np.corrcoef(e, L)[0, 1], "laplacian_embedding": np.corrcoef(L, H)[0, 1],
            "epsilon_embedding": np.corrcoef(e, H)[0, 1]}


def bounds(lab, name, check, command):
    def number(value):
        return "–" if value is None else f"{value:.3g}"

    for finding in check["findings"]:
        if finding["statement"] not in ("thm:lipschitz_bound", "thm:embedding_increment_bounds",
                                        "eq:recursive_inequality", "thm:piecewise_lipschitz_continuity"):
            continue
        verdict = {"holds": REPRODUCED, "fails": DIFFERS}.get(finding["verdict"], "vacuous")
        lab.claim(f"{name}: {finding['statement']}: {finding['what']}", f"bound {number(finding['bound'])}",
                  f"{number(finding['measured'])}: {finding['verdict']}", verdict, command, note=finding["note"])
