#!/usr/bin/env python3
"""Tables of pages become CSV files with the same figures, and every page of figures has them and its command.

    raw_figures_test.py ROOT
"""

import csv
import pathlib
import sys
import unittest

ROOT = pathlib.Path(sys.argv.pop(1)).resolve()
sys.path.insert(0, str(ROOT / "docs" / "site"))
import raw_figures

PAGE = """# A page

    make bench

| who | *time* | ratio |
| --- | --- | --- |
| `pnmf fit` | 1,5 s | −.10 |
| [another](x.md) | **2 s** | a \\| b − c |

Words.

| a | b |
| --- | --- |
| 1 | 2 |
"""


class RawFigures(unittest.TestCase):
    def test_a_file_has_the_cells_of_its_table_without_markdown(self):
        _, files = raw_figures.with_files(PAGE, "page")
        self.assertEqual(list(files), ["page_1.csv", "page_2.csv"])
        rows = list(csv.reader(files["page_1.csv"].splitlines()))
        self.assertEqual(rows, [["who", "time", "ratio"], ["pnmf fit", "1,5 s", "-.10"], ["another", "2 s", "a | b − c"]])

    def test_a_link_stands_below_each_table(self):
        text, _ = raw_figures.with_files(PAGE, "page")
        self.assertIn("| 1 | 2 |\n\n[These figures as CSV](page_2.csv)\n", text)

    def test_every_page_of_benchmarks_has_a_table_with_full_rows_and_its_command(self):
        pages = sorted((ROOT / "benchmarks" / "results").glob("*.md"))
        self.assertTrue(pages)
        for page in pages:
            text = page.read_text()
            self.assertEqual(raw_figures.what_is_missing(text), [], page.name)
            for name, content in raw_figures.with_files(text, page.stem)[1].items():
                rows = list(csv.reader(content.splitlines()))
                self.assertEqual({len(row) for row in rows}, {len(rows[0])}, name)

    def test_a_page_without_command_or_table_is_found(self):
        self.assertEqual(raw_figures.what_is_missing("# Words alone"), ["a table", "the command that makes its figures"])


if __name__ == "__main__":
    unittest.main()
