#!/usr/bin/env python3
"""check_links.py finds what leads nowhere, and nothing else."""

import pathlib
import tempfile
import unittest

import check_links


class Project(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = pathlib.Path(folder.name)
        self.write("docs/site/index.rst", "Site\n====\n\n.. toctree::\n   :glob:\n\n   ../decisions/0*\n\n.. toctree::\n\n   ../page\n   generated/cpp\n")
        self.write("docs/page.md", "# A page\n\n[a decision](decisions/0001-one.md#reason)\n")
        self.write("docs/decisions/0001-one.md", "# One\n\n## Reason\n")
        self.write("src/one.cpp", "// docs/decisions/0001 and docs/page.md say why\n")

    def write(self, name, text):
        file = self.root / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)

    def found(self):
        return [*check_links.broken_links(self.root), *check_links.broken_contents(self.root), *check_links.broken_comments(self.root)]

    def test_a_whole_project_passes(self):
        self.assertEqual(self.found(), [])

    def test_a_link_to_no_file_or_no_heading_is_found(self):
        self.write("docs/page.md", "[a](decisions/0002.md) [b](decisions/0001-one.md#figure)\n")
        self.assertEqual(len(self.found()), 2)

    def test_an_entry_without_a_page_is_found(self):
        self.write("docs/site/index.rst", ".. toctree::\n\n   ../page\n   ../gone\n   ../decisions/0001-one\n")
        self.assertEqual(self.found(), ["docs/site/index.rst: ../gone does not exist"])

    def test_a_page_that_the_site_forgot_is_found(self):
        self.write("docs/new.md", "# New\n")
        self.assertEqual(self.found(), ["docs/new.md is in no table of contents of docs/site"])

    def test_a_comment_that_names_no_page_is_found(self):
        self.write("src/one.cpp", "// docs/decisions/0002-two.md, docs/decisions/0003, docs/gone.md\n")
        self.assertEqual(len(self.found()), 3)


if __name__ == "__main__":
    unittest.main()
