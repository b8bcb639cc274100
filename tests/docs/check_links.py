#!/usr/bin/env python3
"""Checks that links from page to page lead to files, and to headings that exist.

    check_links.py ROOT

Looks at all Markdown pages of the project. Addresses on the net are not followed.
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


def main():
    broken = list(broken_links(pathlib.Path(sys.argv[1])))
    if broken:
        sys.exit("\n".join(broken))
    print("all links between pages lead somewhere")


if __name__ == "__main__":
    main()
