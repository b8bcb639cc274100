"""The tables of docs/choosing-scales.md from the answers."""

import numpy as np

import contestants
import page
import populations
import rules
import sets

FAR_BEHIND = 0.15  # of plain NMF: then the page must say why


class Answers:
    """Of every contestant: an answer for each set."""

    def __init__(self, of_sets, found):
        self.sets, self.found = of_sets, found

    def values(self, name, what="ari"):
        return np.array([answer[what] for answer in self.found[name]])

    def better(self, method):
        """The preparation with which a method has the larger mean ARI."""
        there = [preparation for preparation in sets.PREPARATIONS if contestants.of_method(method, preparation) in self.found]
        return max(there, key=lambda preparation: np.mean(self.values(contestants.of_method(method, preparation)))) if there else None


def levels_of(answer):
    return " · ".join(f"{clusters} {page.number(ari)}" for clusters, ari, _ in answer["levels"])


def of_sets(answers):
    """A row for each set."""
    methods = [contestants.of_method(method, answers.better(method)) for method in contestants.METHODS if answers.better(method)]
    known = [contestants.KNOWN, contestants.PART, *methods]
    others = [contestants.LEIDEN] if contestants.LEIDEN in answers.found else []
    head = ["set", "cells", "labels", "found", contestants.UNKNOWN, "levels", *others, *known]
    rows = []
    for i, one in enumerate(answers.sets):
        default = answers.found[contestants.UNKNOWN][i]
        rows.append([one.name, f"{len(one.labels):,}", one.clusters, default["clusters"], page.number(default["ari"]), levels_of(default),
                     *(page.number(answers.found[name][i]["ari"]) for name in (*others, *known))])
    for what in contestants.SCORES:
        rows.append([f"mean {what.upper()}", "", "", "", *(page.mean(np.mean(answers.values(name, what))) if name else "" for name in
                     (contestants.UNKNOWN, None, *others, *known))])
    return page.table(head, rows)


def means(answers):
    """What the table of sets leaves out: the other preparations, the best level, the best scale."""
    rows = [[name, *(page.mean(np.mean(answers.values(name, what))) for what in contestants.SCORES)] for name in answers.found]
    default = answers.found[contestants.UNKNOWN]
    best = [[max(level[at] for level in answer["levels"][:4]) for answer in default] for at in (1, 2)]
    rows.insert(1, ["the best of its first four levels", page.mean(np.mean(best[0])), "", page.mean(np.mean(best[1]))])
    rows.append(["best scale by labels, true k", page.mean(np.mean(answers.values(contestants.KNOWN, "best"))), "", ""])
    return page.table(["", *(what.upper() for what in contestants.SCORES)], rows)


def one_population(found):
    """`found`: (kind, cells, seed) → answer."""
    sizes = sorted({cells for _, cells, _ in found})
    rows = []
    for kind in dict.fromkeys(kind for kind, _, _ in found):
        of = lambda cells: [answer["clusters"] > 1 for (a, n, _), answer in found.items() if (a, n) == (kind, cells)]
        rows.append([kind, *(f"{sum(of(cells))} of {len(of(cells))}" if of(cells) else "" for cells in sizes)])
    return page.table(["more than one cluster", *(f"{cells:,} cells" for cells in sizes)], rows)


def one_label(found):
    """`found`: (folder, set, number of the label) → answer."""
    rows = []
    for name in dict.fromkeys(name for _, name, _ in found):
        divided = [f"{answer['label']} ({answer['clusters']})" for (_, of, _), answer in found.items() if of == name and answer["clusters"] > 1]
        rows.append([name, sum(of == name for _, of, _ in found), ", ".join(divided) or "none"])
    return page.table(["set", "labels", "divided (clusters found)"], rows)


def two_populations(found):
    """`found`: (fold, share, cells, seed) → answer."""
    columns = list(dict.fromkeys((share, cells) for _, share, cells, _ in found))
    rows = []
    for fold in dict.fromkeys(fold for fold, _, _, _ in found):
        row = [f"{fold:g}"]
        for share, cells in columns:
            of = [answer for (f, s, n, _), answer in found.items() if (f, s, n) == (fold, share, cells)]
            text = f"{sum(one['clusters'] > 1 for one in of)} of {len(of)}, {page.number(np.mean([one['ari'] for one in of]))}"
            others = [page.number(np.mean([one[other] for one in of])) for other in ("leiden", "stable") if other in of[0]]
            row.append(f"{text} ({', '.join(others)})")
        rows.append(row)
    return page.table(["f", *(f"{100 * share:.0f} %, {cells:,} cells" for share, cells in columns)], rows)


def few_scales(of_sets, found):
    percent = lambda how, what: [f"{100 * one[how][what]:.3f} %".replace("-", "−") for one in found]
    aris = lambda how, what: [page.number(one[how][what]) for one in found]
    rows = [["cells", *(len(one.labels) for one in of_sets)], ["scales kept of all", *(f"{one['equal']['kept']} of {one['all']}" for one in found)]]
    for how, words in (("equal", "same tolerance"), ("default", "the preset's tolerance")):
        rows += [
            [f"{words}: objective at the kept scales, against all scales", *percent(how, "sum")],
            ["largest difference at one of them", *percent(how, "largest")],
            ["ARI of the recommended clusters with those of all scales", *aris(how, "recommended")],
            ["mean ARI of the clusters of each kept scale", *aris(how, "scales")],
        ]
    return page.table(["", *(one.name for one in of_sets)], rows)


def scale_rules(of_sets, answers):
    """`answers`: one of each set."""
    rows = [[rule, *(page.mean(np.mean([answer[rule][what] for answer in answers])) for what in contestants.SCORES)] for rule in rules.RULES]
    chosen = rules.left_out([one.name for one in of_sets], answers)
    rows.append(["the best rule of all other studies, for each set", page.mean(np.mean(chosen)), "", ""])
    rows.append(["best scale by labels", page.mean(np.mean([answer["best"] for answer in answers])), "", ""])
    return page.table(["scale chosen by", *(what.upper() for what in contestants.SCORES)], rows)


def far_behind(answers):
    """Names of the sets where the default with the true number is far behind plain NMF."""
    behind = answers.values(contestants.of_method("nmf", answers.better("nmf"))) - answers.values(contestants.PART)
    return [one.name for one, by in zip(answers.sets, behind) if by > FAR_BEHIND]
