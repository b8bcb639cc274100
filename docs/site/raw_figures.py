"""The tables of a page as CSV files, so that nobody has to copy figures from a page by hand.

A figure stands in one place, the page. The files are made from it whenever the site is made, so they cannot differ.
"""

import csv
import io
import re

TABLE = re.compile(r"(?:^\|.*\|[ \t]*\n){3,}", re.MULTILINE)
COMMAND = re.compile(r"^    \S|`make \w+`|`pnmf \w+", re.MULTILINE)


def cells_of(line):
    """The cells of one row, as text that programs can read: without Markdown, with an ordinary minus sign."""
    cells = re.split(r"(?<!\\)\|", line.strip().strip("|"))
    plain = [re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", cell) for cell in cells]
    plain = [re.sub(r"`|\*\*|(?<!\w)\*|\*(?!\w)", "", cell).replace("\\|", "|").strip() for cell in plain]
    return [re.sub(r"−(?=[\d.])", "-", cell) for cell in plain]


def as_csv(table):
    """A table of Markdown as CSV; its second line only divides the head from the rows."""
    head, _, *rows = table.strip().splitlines()
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows(cells_of(line) for line in [head, *rows])
    return text.getvalue()


def with_files(text, stem):
    """The page with a link below each table, and the files it links to: (text, {name: content})."""
    files = {}
    count = len(TABLE.findall(text))

    def linked(match):
        name = f"{stem}.csv" if count == 1 else f"{stem}_{len(files) + 1}.csv"
        files[name] = as_csv(match[0])
        return f"{match[0]}\n[These figures as CSV]({name})\n"

    return TABLE.sub(linked, text), files


def what_is_missing(text):
    """What a page of figures must have and this one has not."""
    return [what for what, pattern in (("a table", TABLE), ("the command that makes its figures", COMMAND)) if not pattern.search(text)]
