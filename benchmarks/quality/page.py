"""Markdown tables, and the places between markers of a page where they stand."""

import re


def table(head, rows):
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(str(cell) for cell in line) + " |" for line in lines)


def number(value):
    """An ARI: .72, −.01."""
    return f"{value:.2f}".replace("0.", ".", 1).replace("-", "−")


def mean(value):
    return f"{value:.3f}".replace("0.", ".", 1).replace("-", "−")


def markers(name):
    return f"<!-- {name}: made by `make quality` -->", f"<!-- end of {name} -->"


def fill(text, name, content):
    """The page with `content` between the markers of that name."""
    begin, end = markers(name)
    pattern = re.escape(begin) + r"\n.*?" + re.escape(end)
    if not re.search(pattern, text, re.DOTALL):
        raise ValueError(f"the page has no place for '{name}': {begin} … {end}")
    return re.sub(pattern, lambda _: f"{begin}\n\n{content}\n\n{end}", text, flags=re.DOTALL)
