#!/usr/bin/env python3
"""The quick run of the quality tables: quality_run_test.py RUN PROGRAM DATA; ends with 77 when the data are not there."""

import pathlib
import subprocess
import sys
import tempfile

PLACES = ["sets", "means", "rules", "one population", "two populations", "few scales"]


def run(folder):
    command = [sys.executable, "-B", *sys.argv[1:], "--quick", "--out", folder / "kept", "--page", folder / "page.md"]
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True)
    if done.returncode == 77:
        print(done.stdout)
        sys.exit(77)
    if done.returncode:
        sys.exit(f"exit {done.returncode}\n{done.stdout}{done.stderr}")
    return done.stderr


def main():
    sys.path.insert(0, str(pathlib.Path(sys.argv[1]).parent))
    import contestants
    import page

    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        (folder / "page.md").write_text("".join("{}\n{}\n".format(*page.markers(place)) for place in PLACES))
        first = run(folder)
        text = (folder / "page.md").read_text()
        for row in (contestants.KNOWN, contestants.UNKNOWN, contestants.of_method("nmf", "cp10k"), "Poisson", "the coarsest", "scales kept of all", "mean ARI"):
            assert f"| {row} |" in text, f"no row '{row}' in\n{text}"
        ari = float(next(line for line in text.splitlines() if line.startswith(f"| {contestants.KNOWN} |")).split("|")[2])
        assert ari > 0.4, f"the default's mean agreement with the labels is {ari}"
        assert "1 of" in first, first
        assert run(folder) == "", "what was kept is not asked again"
        assert (folder / "page.md").read_text() == text


if __name__ == "__main__":
    main()
