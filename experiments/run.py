#!/usr/bin/env python3
"""Runs the experiments of the paper and collects claim · paper · ours · verdict on one page.

    run.py [--quick] [--program PNMF] [--data DIR] [--out DIR] [--only NAME]… [--write-docs]

Each folder beside this file holds one experiment. Data that are absent: the experiment says so and is marked
as not run. Exit code 1 when an experiment breaks or a number is not as this project expects it.
"""

import argparse
import dataclasses
import html
import importlib.util
import json
import pathlib
import sys
import time
import traceback

sys.dont_write_bytecode = True
HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
import lab as laboratory

EXPERIMENTS = ["from_persistence_to_graphs", "multi_scale_embeddings", "scale_selection", "increment_correlations",
               "convergence", "ablation", "clustering_table", "accuracy_over_scales", "label_granularity",
               "tsne_umap", "parameter_analysis"]


def load(name):
    spec = importlib.util.spec_from_file_location(name, HERE / name / "experiment.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def run_one(lab, name):
    """Runs one experiment; the seconds it took, and what broke."""
    module = load(name)
    lab.folder = lab.out / name
    lab.folder.mkdir(parents=True, exist_ok=True)
    begin = time.monotonic()
    broken = ""
    try:
        module.run(lab)
    except laboratory.Missing as missing:
        lab.claim(module.CLAIM, "", "", laboratory.NOT_RUN, command="", note=str(missing))
    except Exception:
        broken = traceback.format_exc()
        lab.claim(module.CLAIM, "", "", laboratory.NOT_RUN, command="", note="broke: " + broken.splitlines()[-1])
    return time.monotonic() - begin, broken


def keep_claims(lab, name, seconds):
    """What an experiment found stays with its figures, for the page of a later run of others."""
    kept = {"quick": lab.quick, "seconds": seconds,
            "claims": [dataclasses.asdict(c) for c in lab.claims if c.experiment == name],
            "figures": [path.name for owner, path in lab.figures if owner == name]}
    (lab.out / name / "claims.json").write_text(json.dumps(kept, indent=1, ensure_ascii=False))


def recall_claims(lab, name):
    """The claims of an earlier run of the same kind, or nothing; the seconds it took."""
    path = lab.out / name / "claims.json"
    if not path.exists():
        return 0.0
    kept = json.loads(path.read_text())
    if kept["quick"] == lab.quick:
        lab.claims += [laboratory.Claim(**claim) for claim in kept["claims"]]
        lab.figures += [(name, lab.out / name / figure) for figure in kept["figures"]]
    return kept["seconds"]


def write_page(lab, seconds):
    """OUT/index.html: every verdict and every figure."""
    text = ["<!doctype html><meta charset='utf-8'><title>pnmf: the paper's experiments</title>",
            "<style>body{font:15px/1.5 sans-serif;max-width:1200px;margin:2em auto;padding:0 1em}",
            "table{border-collapse:collapse;width:100%}td,th{border-bottom:1px solid #ccc;padding:.35em;text-align:left;",
            "vertical-align:top;font-size:13px}img{max-width:100%}code{font-size:11px;word-break:break-all}",
            ".differs,.broken{background:#fdecea}.not{background:#f4f4f4}</style>",
            "<h1>The paper's experiments</h1>",
            f"<p>{'Quick run: fewer scales and data sets.' if lab.quick else 'Full run.'} {html.escape(lab.note)} "
            "Every number comes from the program pnmf; figures are drawn with matplotlib.</p>"]
    for name in EXPERIMENTS:
        claims = [c for c in lab.claims if c.experiment == name]
        if not claims:
            continue
        text.append(f"<h2>{html.escape(name.replace('_', ' '))}</h2><p>{seconds.get(name, 0):.0f} s</p>")
        text.append("<table><tr><th>claim<th>paper<th>ours<th>verdict<th>command and notes</tr>")
        for c in claims:
            kind = {laboratory.DIFFERS: "differs", laboratory.NOT_RUN: "not"}.get(c.verdict, "")
            cells = [c.what, c.paper, c.ours, c.verdict + (": " + c.failed if c.failed else "")]
            text.append(f"<tr class='{'broken' if c.failed else kind}'>" + "".join(
                f"<td>{html.escape(cell)}" for cell in cells) +
                f"<td>{html.escape(c.note)}<br><code>{html.escape(c.command)}</code></tr>")
        text.append("</table>")
        for owner, path in lab.figures:
            if owner == name:
                text.append(f"<p><img src='{path.relative_to(lab.out)}' alt='{html.escape(path.stem)}'>")
    (lab.out / "index.html").write_text("\n".join(text))


def write_docs(lab, path):
    """docs/reproduction.md: claims with something in the paper to compare with, to be read without running anything."""
    def cell(text):
        return text.replace("|", "\\|").replace("\n", " ")

    lines = ["# The paper's experiments, reproduced", "",
             "`make reproduce` runs all of them and writes `experiments/out/index.html` with the figures; "
             "`make reproduce QUICK=1` takes a few minutes. This page is written by the same command "
             "(`experiments/run.py --write-docs`); it has the claims for which the paper says something. What else was "
             "measured, and the command of each number, are on the page with the figures. What each experiment does is in "
             "`experiments/<name>/README.md`; how to get the paper's full data in "
             "[experiments/README.md](../experiments/README.md).", "",
             "*Verdicts*: **as in the paper**; **differs**, with the reason where it is known; *measured*: the data are not "
             "the paper's, or it gives no number; *vacuous*: true for a trivial reason, or its assumption does not hold; "
             "*not run*: data are not there or were left out.", ""]
    if lab.note:
        lines += [lab.note, ""]
    lines += ["| experiment | as in the paper | differs | measured | vacuous | not run |", "| --- | --- | --- | --- | --- | --- |"]
    by_name = {name: [c for c in lab.claims if c.experiment == name] for name in EXPERIMENTS}
    for name, claims in by_name.items():
        counts = [sum(c.verdict == v for c in claims) for v in (laboratory.REPRODUCED, laboratory.DIFFERS,
                                                                laboratory.MEASURED, "vacuous", laboratory.NOT_RUN)]
        if claims:
            lines.append(f"| [{name.replace('_', ' ')}](#{name.replace('_', '-')}) | " + " | ".join(map(str, counts)) + " |")
    for name, claims in by_name.items():
        if not claims:
            continue
        lines += ["", f"## {name.replace('_', ' ').capitalize()}", "",
                  "| claim | paper | ours | verdict | note |", "| --- | --- | --- | --- | --- |"]
        for c in claims:
            verdict = f"**{c.verdict}**" if c.verdict in (laboratory.REPRODUCED, laboratory.DIFFERS) else c.verdict
            if c.paper or c.verdict == laboratory.NOT_RUN:
                lines.append("| " + " | ".join([cell(c.what), cell(c.paper), cell(c.ours), verdict, cell(c.note)]) + " |")
    lines.append("")
    path.write_text("\n".join(lines))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="fewer scales and data sets, under five minutes")
    parser.add_argument("--program", default=laboratory.ROOT / "build" / "release" / "pnmf")
    parser.add_argument("--data", default=laboratory.ROOT.parent / "shared" / "data",
                        help="folder of the data sets, one folder each")
    parser.add_argument("--out", default=HERE / "out")
    parser.add_argument("--limit-cells", type=int, default=20000, help="leave out data sets with more cells")
    parser.add_argument("--only", action="append", choices=EXPERIMENTS)
    parser.add_argument("--note", default="", help="a sentence about this run for the page")
    parser.add_argument("--write-docs", action="store_true", help="write docs/reproduction.md")
    options = parser.parse_args()
    lab = laboratory.Lab(options.program, options.data, options.out, options.quick)
    lab.limit_cells = options.limit_cells
    lab.note = options.note
    (lab.out / "runs").mkdir(parents=True, exist_ok=True)
    seconds, failed = {}, False
    for name in options.only or EXPERIMENTS:
        seconds[name], broken = run_one(lab, name)
        claims = [c for c in lab.claims if c.experiment == name]
        print(f"{name.replace('_', ' ')} ({seconds[name]:.0f} s)", flush=True)
        for c in claims:
            print(f"  {c.verdict:16} {c.what}: {c.ours}" + (f" (paper: {c.paper})" if c.paper else "") +
                  (f" [{c.note}]" if c.verdict == laboratory.NOT_RUN else ""), flush=True)
            if c.failed:
                print(f"  NOT AS EXPECTED  {c.failed}")
        if broken:
            print(broken, file=sys.stderr)
        failed = failed or bool(broken) or any(c.failed for c in claims)
        keep_claims(lab, name, seconds[name])
    took = sum(seconds.values())
    for name in EXPERIMENTS:
        if name not in seconds:
            seconds[name] = recall_claims(lab, name)
    write_page(lab, seconds)
    if options.write_docs:
        write_docs(lab, laboratory.ROOT / "docs" / "reproduction.md")
    print(f"\n{took:.0f} s; page: {lab.shown(lab.out / 'index.html')}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
