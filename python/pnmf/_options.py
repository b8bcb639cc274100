"""Descriptions of options, from the one list that the program's flags are made from too."""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Set
from typing import Any, TypeVar

from . import _core

T = TypeVar("T")


def _entry(option: tuple[str, str, Any, list[str], str]) -> str:
    name, kind, default, choices, text = option
    types = "{" + ", ".join(f'"{choice}"' for choice in choices) + "}" if choices else {"truth": "bool", "integer": "int", "number": "float", "text": "str"}[kind]
    start = "optional" if default in (None, "") else f"default {default!r}"
    lines = textwrap.wrap(text[0].upper() + text[1:] + ".", 112, break_on_hyphens=False)
    return "\n".join([f"    {name} : {types}, {start}", *("        " + line for line in lines)])


def described(whose: str, *, only: Set[str] = frozenset(), without: Set[str] = frozenset()) -> Callable[[T], T]:
    """Puts the options of a "fit" or of an "input" into a docstring, where it says {options}."""

    def fill(documented: T) -> T:
        names = [one for one in _core.options()[whose] if one[0] not in without and (not only or one[0] in only)]
        if documented.__doc__:  # not with python -OO
            documented.__doc__ = documented.__doc__.replace("    {options}", "\n".join(map(_entry, names)))
        return documented

    return fill
