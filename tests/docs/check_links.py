#!/usr/bin/env python3
"""Checks that links lead to files, and to headings that exist; without building anything.

    check_links.py ROOT

Looks at links of all Markdown pages, at the table of contents of the site (docs/site), and at pages of docs/ that
comments in the sources name. Addresses on the net are not followed.
"""

import pathlib
import re
import sys

LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")
OUTSIDE = re.compile(r"[a-z]+:")
NOT_OURS = {"node_modules", "build", ".git"}


def without_code(text):
    """The text without code, where brackets are no links."""
    return re.sub(r"`[^`\n]*`", "", re.sub(r"^```.*?^```", "", text, flags=re.MULTILINE | re.DOTALL))


def anchors_of(text):
    """The names GitHub gives to the headings of a page: small letters, digits, dashes for spaces; a second one gets -1."""
    found = set()
    for heading in re.findall(r"^#+ (.*)$", text, re.MULTILINE):
        name = re.sub(r"[^\w\- ]", "", heading.strip().lower()).replace(" ", "-")
        repeated = sum(1 for other in found if re.fullmatch(re.escape(name) + r"(-\d+)?", other))
        found.add(f"{name}-{repeated}" if repeated else name)
    return found


def broken_links(root):
    for page in sorted(root.rglob("*.md")):
        if NOT_OURS & set(page.relative_to(root).parts):
            continue
        text = page.read_text()
        for target in LINK.findall(without_code(text)):
            if OUTSIDE.match(target):
                continue
            path, _, anchor = target.partition("#")
            file = page.parent / path if path else page
            if not file.exists():
                yield f"{page.relative_to(root)}: {target} does not exist"
            elif anchor and file.suffix == ".md" and anchor not in anchors_of(file.read_text()):
                yield f"{page.relative_to(root)}: {path or page.name} has no heading #{anchor}"


def contents_of(page):
    """The entries of the tables of contents in a page of reStructuredText: (entry, whether it is a pattern)."""
    for block in re.findall(r"^\.\. toctree::\n((?:(?: +.*)?\n)+)", page.read_text(), re.MULTILINE):
        lines = [line.strip() for line in block.splitlines() if line.strip()]
        for line in lines:
            if not line.startswith(":"):
                yield line, ":glob:" in lines


def broken_contents(root):
    """Entries of the site without a page, and pages of docs/ that the site does not have. What is below `generated`
    is made with the site; a notebook becomes a page."""
    site = root / "docs" / "site"
    found = set()
    for page in sorted(site.glob("*.rst")):
        for entry, pattern in contents_of(page):
            if entry.startswith("generated/"):
                continue
            endings = [".md", ".ipynb"]
            pages = [file for ending in endings for file in site.glob(entry + ending)] if pattern else [site / (entry + ending) for ending in endings if (site / (entry + ending)).exists()]
            if not pages:
                yield f"{page.relative_to(root)}: {entry} does not exist"
            found |= {file.resolve() for file in pages}
    for page in sorted((root / "docs").rglob("*.md")):
        if site.exists() and page.resolve() not in found:
            yield f"{page.relative_to(root)} is in no table of contents of docs/site"


def broken_comments(root):
    """Pages that comments name as docs/…, with or without the words after a decision's number."""
    sources = [file for folder in ["include", "src", "apps", "python", "tests", "benchmarks", "cmake", "web/src"] for file in (root / folder).rglob("*")]
    for source in sorted(sources):
        if source.parent == root / "tests" / "docs":
            continue  # these make up pages
        if source.suffix not in {".hpp", ".cpp", ".cu", ".cuh", ".py", ".cmake", ".ts", ".md", ".txt"} or NOT_OURS & set(source.parts):
            continue
        for name in re.findall(r"docs/(?:decisions/\d{4}[\w-]*|[\w/-]+)(?:\.md)?", source.read_text(errors="replace")):
            if not (name.endswith(".md") or re.match(r"docs/decisions/\d", name)):
                continue
            if not list(root.glob(name if name.endswith(".md") else name + "*.md")):
                yield f"{source.relative_to(root)}: {name} does not exist"


def main():
    root = pathlib.Path(sys.argv[1]).resolve()
    broken = [*broken_links(root), *broken_contents(root), *broken_comments(root)]
    if broken:
        sys.exit("\n".join(broken))
    print("all links between pages, and those of the site and of comments, lead somewhere")


if __name__ == "__main__":
    main()
