"""The tables of docs/choosing-scales.md from the answers."""

import numpy as np

import cluster_number
import contestants
import page

FAR_BEHIND = 0.15  # of plain NMF: then the page must say why


def head(sets, *more):
    return ["", *(one.name for one in sets), "mean", *more]


def row(name, values, *more):
    return [name, *map(page.number, values), page.mean(np.mean(values)), *more]


class Answers:
    """Of every contestant: a list of answers, one for each seed, for each set."""

    def __init__(self, sets, found):
        self.sets, self.found = sets, found

    def mean(self, name, what="ari"):
        return np.array([np.mean([answer[what] for answer in of_set]) for of_set in self.found[name]])

    def spread(self, name):
        """The standard deviation over the seeds, mean over the sets."""
        deviations = [of_set[0]["sd"] if "sd" in of_set[0] else np.std([answer["ari"] for answer in of_set]) for of_set in self.found[name]]
        return page.mean(np.mean(deviations))


def with_true_number(answers, rows):
    lines = [row(one.name, answers.mean(one.name), answers.spread(one.name)) for one in rows]
    lines.append(row("pNMF, best scale by labels", answers.mean(contestants.KNOWN, "best"), ""))
    numbers = ["true number of clusters", *(one.clusters for one in answers.sets), "", ""]
    return page.table(head(answers.sets, "spread"), [numbers, *lines])


def without_number(answers, rows):
    lines = [["true number of clusters", *(one.clusters for one in answers.sets), "", ""]]
    for one in rows:
        lines.append(row(one.name, answers.mean(one.name), answers.spread(one.name)))
        lines.append(["its number of clusters", *(f"{k:.1f}".removesuffix(".0") for k in answers.mean(one.name, "clusters")), "", ""])
    return page.table(head(answers.sets, "spread"), lines)


def losses(answers):
    known, unknown, best = answers.mean(contestants.KNOWN), answers.mean(contestants.UNKNOWN), answers.mean(contestants.KNOWN, "best")
    return page.table(head(answers.sets), [
        row("by the scale: best by labels minus recommended, true k", best - known),
        row("by the number of clusters: true k minus the number found", known - unknown),
        row("by both", best - unknown),
    ])


def rules(sets, measured):
    found, chosen = cluster_number.compare(measured)
    lines = [["true number of clusters", *(one.clusters for one in sets), ""]]
    cell = lambda k, ari: f"{page.number(ari)} ({k:.0f})"
    for candidate, of_sets in found.items():
        lines.append([cluster_number.name(candidate), *(cell(*one) for one in of_sets), page.mean(np.mean([ari for _, ari in of_sets]))])
    by_others = [found[candidate][i] for i, candidate in enumerate(chosen)]
    lines.append(["**chosen on the other sets**", *(cell(*one) for one in by_others), page.mean(np.mean([ari for _, ari in by_others]))])
    lines.append(["which one", *(f"{100 * share:.0f} %, {graph}" for share, graph in chosen), ""])
    return page.table(head(sets), lines)


def few_scales(sets, found):
    percent = lambda how, what: [f"{100 * one[how][what]:.3f} %".replace("-", "−") for one in found]
    aris = lambda how, what: [page.number(one[how][what]) for one in found]
    rows = [["cells", *(len(one.labels) for one in sets)], ["scales kept of all", *(f"{one['equal']['kept']} of {one['all']}" for one in found)]]
    for how, words in (("equal", "same tolerance"), ("default", "the preset's tolerance")):
        rows += [
            [f"{words}: objective at the kept scales, against all scales", *percent(how, "sum")],
            ["largest difference at one of them", *percent(how, "largest")],
            ["ARI of the recommended clusters with those of all scales", *aris(how, "recommended")],
            ["mean ARI of the clusters of each kept scale", *aris(how, "scales")],
        ]
    return page.table(["", *(one.name for one in sets)], rows)


def far_behind(answers):
    """Names of the sets where the default is far behind plain NMF."""
    behind = answers.mean(contestants.PLAIN) - answers.mean(contestants.KNOWN)
    return [one.name for one, by in zip(answers.sets, behind) if by > FAR_BEHIND]
