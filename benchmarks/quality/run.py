#!/usr/bin/python3
"""The quality tables of docs/choosing-scales.md: run.py PROGRAM DATA [--page PAGE]  (`make quality`)

Goes over the labelled sets of DATA, runs every contestant on each, and prints the tables; with --page they replace those
between the markers of that page. Answers are kept in a folder, so that an interrupted run goes on where it was; those of
the program are kept for this build of it. --quick: two small sets, one seed, fewer contestants.
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

import cluster_number
import contestants
import few_scales
import page
import sets
import tables
from program import Failed, Kept, Program

REVISION = 1  # raised when answers change although the program does not
SKIPPED = 77
QUICK_CONTESTANTS = {contestants.PLAIN, contestants.KNOWN, contestants.UNKNOWN, "PCA + k-means", "Leiden, space and graph of pNMF"}
NOTES = "## Where the default is far behind NMF"


def asked(quick, seeds=contestants.SEEDS):
    """Every question by name: (function of program, set and seed; number of seeds; whether it needs the program)."""
    questions = {}
    seeds = 1 if quick else seeds
    for one in contestants.WITH_TRUE_NUMBER + contestants.WITHOUT_NUMBER:
        if one.missing() or (quick and one.name not in QUICK_CONTESTANTS):
            continue
        questions[one.name] = (one.answer, min(one.seeds, seeds), one.program)
    questions["cluster number"] = (cluster_number.measure, min(cluster_number.SEEDS, seeds), True)
    questions["few and all scales"] = (few_scales.compare, 1, True)
    return questions


def answer(program, name, one, seed):
    """In a process of its own: (answer, None) or (None, what went wrong)."""
    try:
        return asked(False)[name][0](program, one, seed), None
    except (Failed, OSError, ValueError, KeyError) as error:
        return None, f"{one.name}, {name}: {error!r}"


def answer_all(program, questions, sets_of, kept, jobs):
    """Answers by question, a list over sets of lists over seeds; and what went wrong."""
    found = {name: [[None] * seeds for _ in sets_of[name]] for name, (_, seeds, _) in questions.items()}
    wrong, waiting = [], {}
    began = time.monotonic()
    with concurrent.futures.ProcessPoolExecutor(jobs, multiprocessing.get_context("fork")) as pool:
        # The first seed of everything first: what an interrupted run has kept is then most of use.
        for seed in range(max(seeds for _, seeds, _ in questions.values())):
            for name, (_, seeds, needs_program) in questions.items():
                for place, one in enumerate(sets_of[name] if seed < seeds else []):
                    key = (REVISION, name, one.folder.name, seed, program.identity if needs_program else "")
                    found[name][place][seed] = kept.find(key)
                    if found[name][place][seed] is None:
                        waiting[pool.submit(answer, program, name, one, seed)] = (key, name, place, seed)
        for done, future in enumerate(concurrent.futures.as_completed(waiting), 1):
            key, name, place, seed = waiting[future]
            found[name][place][seed], error = future.result()
            if error:
                wrong.append(error)
                print(error, file=sys.stderr, flush=True)
            else:
                kept.keep(key, found[name][place][seed])
            print(f"{time.monotonic() - began:5.0f} s  {done} of {len(waiting)}: {sets_of[name][place].name}, {name}, seed {seed}", file=sys.stderr, flush=True)
    return found, wrong


def tables_of(labelled, few, found):
    """Name of the place in the page → text."""
    answers = tables.Answers(labelled, found)
    known = [one for one in contestants.WITH_TRUE_NUMBER if one.name in found]
    unknown = [one for one in contestants.WITHOUT_NUMBER if one.name in found]
    return {
        "true number": tables.with_true_number(answers, known),
        "number unknown": tables.without_number(answers, unknown),
        "losses": tables.losses(answers),
        "rules": tables.rules(labelled, found["cluster number"]),
        "few scales": tables.few_scales(few, [of_set[0] for of_set in found["few and all scales"]]),
    }, tables.far_behind(answers)


def unexplained(text, names):
    """Those sets that the page's section about them does not name."""
    section = text.partition(NOTES)[2].partition("\n## ")[0]
    return [name for name in names if f"- {name}: " not in section]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program", type=pathlib.Path)
    parser.add_argument("data", type=pathlib.Path)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--out", type=pathlib.Path, default=pathlib.Path("build/quality"), help="folder for what is kept")
    parser.add_argument("--page", type=pathlib.Path, help="page to fill")
    parser.add_argument("--seeds", type=int, default=contestants.SEEDS, help="fewer take less time and give wider spreads")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="processes, one thread each")
    options = parser.parse_args()
    labelled, left = sets.load(options.data, options.out, options.quick)
    few, _ = sets.load(options.data, options.out, options.quick, few_scales.CELLS)
    left += [f"{one.name}: left out, {one.missing()}" for one in contestants.WITHOUT_NUMBER if one.missing()]
    print("\n".join(left))
    if not labelled:
        print(f"skipped: no labelled set is in {options.data}")
        sys.exit(SKIPPED)
    questions = asked(options.quick, options.seeds)
    sets_of = {name: few if name == "few and all scales" else labelled for name in questions}
    found, wrong = answer_all(Program(options.program), questions, sets_of, Kept(options.out / "answers"), options.jobs)
    if wrong:
        sys.exit("\n".join(["not all was answered:", *wrong]))
    made, behind = tables_of(labelled, few, found)
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
