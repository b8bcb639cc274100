#!/usr/bin/python3
"""The quality tables of docs/choosing-scales.md: run.py PROGRAM DATA [--page PAGE]  (`make quality`)

Runs every contestant on each labelled set of DATA, and the default on simulated populations, and prints the tables; with
--page they replace those between the markers of that page. Answers are kept in a folder, so that an interrupted run goes on
where it was; those of the program are kept for this build of it. --parts: some of the tables. --quick: two small sets, fewer
contestants, a simulated set of each sort.
Ends with 77 when no set is there, with 1 when a contestant failed or when the page does not say why the default is far
behind plain NMF on a set.
"""

import argparse
import os
import pathlib
import sys
import time

for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
    os.environ[name] = "1"  # sets run side by side

import concurrent.futures
import multiprocessing

import contestants
import few_scales
import page
import populations
import rules
import sets
import tables
from program import Failed, Kept, Program

REVISION = 2  # raised when answers change although the program does not
SKIPPED = 77
PARTS = ("sets", "rules", "populations", "few scales")
QUICK_CONTESTANTS = {contestants.UNKNOWN, contestants.KNOWN, contestants.PART, contestants.LEIDEN, contestants.of_method("nmf", "cp10k")}
NOTES = "## Where the default is far behind NMF"


def takes_part(one, quick):
    return not one.missing() and (not quick or one.name in QUICK_CONTESTANTS)


def asked(parts, quick, whole, part, few):
    """Every question: (kind, name, key, function of the program and of what is asked about, that, whether it needs the program)."""
    questions = []
    if "sets" in parts:
        for one in contestants.CONTESTANTS:
            if takes_part(one, quick):
                questions += [("sets", one.name, on.folder.name, one.answer, on, one.program) for on in (whole if one.whole else part)]
    if "populations" in parts:
        ones, reals, twos = populations.questions(quick, whole)
        questions += [("one", "one population", key, populations.single, key, True) for key in ones]
        questions += [("real", "one label", key, populations.real, key, True) for key in reals]
        questions += [("two", "two populations", key, populations.pair, key, True) for key in twos]
    if "rules" in parts:
        questions += [("rules", "rules", on.folder.name, rules.compare, on, True) for on in part]
    if "few scales" in parts:
        questions += [("few", "few and all scales", on.folder.name, few_scales.compare, on, True) for on in few]
    return questions


def answer(program, question):
    """In a process of its own: (answer, None) or (None, what went wrong)."""
    _, name, key, function, about, _ = question
    try:
        return function(program, about), None
    except (Failed, OSError, ValueError, KeyError) as error:
        return None, f"{key}, {name}: {error!r}"


def answer_all(program, questions, kept, jobs):
    """(kind, name) → key → answer; and what went wrong."""
    found, wrong, waiting = {}, [], {}
    began = time.monotonic()
    with concurrent.futures.ProcessPoolExecutor(jobs, multiprocessing.get_context("fork")) as pool:
        for question in questions:
            kind, name, key, _, _, needs_program = question
            kept_as = (REVISION, name, key, program.identity if needs_program else "")
            found.setdefault((kind, name), {})[key] = kept.find(kept_as)
            if found[kind, name][key] is None:
                waiting[pool.submit(answer, program, question)] = (kept_as, kind, name, key)
        for done, future in enumerate(concurrent.futures.as_completed(waiting), 1):
            kept_as, kind, name, key = waiting[future]
            found[kind, name][key], error = future.result()
            if error:
                wrong.append(error)
                print(error, file=sys.stderr, flush=True)
            else:
                kept.keep(kept_as, found[kind, name][key])
            print(f"{time.monotonic() - began:5.0f} s  {done} of {len(waiting)}: {key}, {name}", file=sys.stderr, flush=True)
    return found, wrong


def tables_of(whole, few, found):
    """(name of the place in the page → text, sets where the default is far behind)."""
    made, behind = {}, []
    by_name = {name: answers for (kind, name), answers in found.items() if kind == "sets"}
    if by_name:
        answers = tables.Answers(whole, {name: list(of_sets.values()) for name, of_sets in by_name.items()})
        made.update({"sets": tables.of_sets(answers), "means": tables.means(answers)})
        behind = tables.far_behind(answers)
    if ("one", "one population") in found:
        made["one population"] = tables.one_population(found["one", "one population"])
        if ("real", "one label") in found:
            made["one label"] = tables.one_label(found["real", "one label"])
        made["two populations"] = tables.two_populations(found["two", "two populations"])
    if ("rules", "rules") in found:
        made["rules"] = tables.scale_rules(whole, list(found["rules", "rules"].values()))
    if ("few", "few and all scales") in found:
        made["few scales"] = tables.few_scales(few, list(found["few", "few and all scales"].values()))
    return made, behind


def unexplained(text, names):
    """Those sets that the page's section about them does not name."""
    section = text.partition(NOTES)[2].partition("\n## ")[0]
    return [name for name in names if f"- {name}: " not in section]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program", type=pathlib.Path)
    parser.add_argument("data", type=pathlib.Path)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--parts", default=",".join(PARTS), help=f"of {', '.join(PARTS)}")
    parser.add_argument("--out", type=pathlib.Path, default=pathlib.Path("build/quality"), help="folder for what is kept")
    parser.add_argument("--page", type=pathlib.Path, help="page to fill")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="processes, one thread each")
    options = parser.parse_args()
    parts = options.parts.split(",")
    whole, left = sets.load(options.data, options.out, options.quick, sets.ALL_CELLS)
    part, _ = sets.load(options.data, options.out, options.quick)
    few, _ = sets.load(options.data, options.out, options.quick, few_scales.CELLS)
    few = [one for one in few if one.name in few_scales.SETS]
    left += [f"{one.name}: left out, {one.missing()}" for one in contestants.CONTESTANTS if one.missing()]
    print("\n".join(left))
    if not whole:
        print(f"skipped: no labelled set is in {options.data}")
        sys.exit(SKIPPED)
    questions = asked(parts, options.quick, whole, part, few)
    found, wrong = answer_all(Program(options.program), questions, Kept(options.out / "answers"), options.jobs)
    if wrong:
        sys.exit("\n".join(["not all was answered:", *wrong]))
    made, behind = tables_of(whole, few, found)
    for name, text in made.items():
        print(f"\n{name}\n\n{text}")
    print("\nfar behind NMF with the true number of clusters:", ", ".join(behind) or "none")
    if options.page:
        text = options.page.read_text()
        for name, content in made.items():
            text = page.fill(text, name, content)
        options.page.write_text(text)
        if missing := unexplained(text, behind):
            sys.exit(f"{options.page} must say why the default is far behind NMF on {', '.join(missing)}, under '{NOTES}'")


if __name__ == "__main__":
    main()
