#!/usr/bin/env python3
"""run_blocks.py accepts a page that tells the truth and names the line of one that does not."""

import argparse
import pathlib
import tempfile
import unittest

import run_blocks


def page(*blocks):
    return "\n".join(f"```{info}\n{body}\n```\n" for info, body in blocks)


class Pages(unittest.TestCase):
    def run_page(self, text, data=None):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "page.md"
            path.write_text(text)
            here = pathlib.Path(folder)
            return run_blocks.run_page(argparse.Namespace(page=path, program=here / "pnmf", source=here, prefix=here, compiler="c++", python=here, data=data))

    def assert_fails(self, text, message):
        with self.assertRaisesRegex(run_blocks.Failure, message):
            self.run_page(text)

    def test_a_true_page_passes_and_its_blocks_share_a_folder(self):
        self.assertEqual(self.run_page(page(("sh test", "echo 1 >a"), ("sh test", "cat a; echo 2; echo 3"), ("text output", "1\n…\n3"))), 3)

    def test_a_data_set_is_there_under_its_name(self):
        with tempfile.TemporaryDirectory(suffix="cells") as folder:
            (pathlib.Path(folder) / "a").write_text("1\n")
            blocks = page(("sh test", f"cat {pathlib.Path(folder).name}/a"), ("text output", "1"))
            with self.assertRaises(run_blocks.Failure):
                self.run_page(blocks)
            self.assertEqual(self.run_page(blocks, pathlib.Path(folder)), 2)

    def test_other_output_fails_and_names_the_line(self):
        self.assert_fails(page(("sh test", "echo 1"), ("text output", "2")), r"page\.md:5: the page says\n2\n\nit prints\n1\n")

    def test_python_is_run_in_the_same_folder(self):
        self.assertEqual(self.run_page(page(("sh test", "echo 1 >a"), ("python test", "print(open('a').read() + '2')"), ("text output", "1\n2"))), 3)

    def test_missing_output_fails(self):
        self.assert_fails(page(("sh test", "echo 1; echo 2"), ("text output", "1")), r"page\.md:5")

    def test_a_failing_command_fails_even_before_others(self):
        self.assert_fails(page(("sh test", "false\necho 1")), r"page\.md:1: exit 1")

    def test_a_block_that_nothing_runs_fails(self):
        for info in ["", "sh", "cpp", "python"]:
            self.assert_fails(page((info, "anything")), r"page\.md:1: a block marked '.*', which no test runs")

    def test_a_block_without_an_end_fails(self):
        self.assert_fails("```sh test\necho 1\n", "line 1: a block that does not end")

    def test_output_needs_a_block_that_was_run(self):
        self.assert_fails(page(("sh ci", "make test"), ("text output", "1")), r"page\.md:5: output of a block that is not run")


if __name__ == "__main__":
    unittest.main()
