"""What a computation says while it runs: in notebooks and terminals a bar of tqdm when that is installed, else lines on stderr."""

from __future__ import annotations

import math
import sys
import warnings
from collections.abc import Callable
from typing import Any

Callback = Callable[[dict[str, Any]], None]


def is_verbose(verbose: bool | None) -> bool:
    """What None stands for: speak in a terminal and in a notebook."""
    if verbose is not None:
        return bool(verbose)
    return _in_notebook() or sys.stderr.isatty()


class _Lines:
    """A line for each of the first sweeps, then for every tenth."""

    def __call__(self, report: dict[str, Any]) -> None:
        sweep = report["sweep"]
        if report["phase"] == "restarts":
            tenth = max(1, report["max_sweeps"] // 10)
            if sweep % tenth == 0:
                print(f"{sweep} of {report['max_sweeps']} fits", file=sys.stderr)
        if report["phase"] == "sweeping" and (sweep < 10 or sweep % 10 == 0):
            print(f"sweep {sweep}: objective {report['objective']:.6g}, KKT residual {report['kkt']:.1e}", file=sys.stderr)

    def close(self, done: bool) -> None:
        pass


class _Bar:
    """A bar of tqdm, in percent: a run that converges ends long before its largest number of sweeps."""

    def __init__(self, tqdm: Any) -> None:
        self._bar = tqdm(total=100, desc="pnmf", bar_format="{desc}: {percentage:3.0f} % |{bar}| {elapsed} < {remaining}{postfix}", file=sys.stderr)

    def __call__(self, report: dict[str, Any]) -> None:
        self._bar.set_description_str(f"pnmf {report['phase']}", refresh=False)
        if math.isfinite(report["fraction"]):  # of the whole run
            self._bar.n = round(100 * report["fraction"])
        if report["phase"] == "sweeping":
            self._bar.set_postfix_str(f"sweep {report['sweep']}, KKT residual {report['kkt']:.1e}", refresh=False)
        elif report["phase"] == "restarts":
            self._bar.set_postfix_str(f"{report['sweep']} of {report['max_sweeps']} fits", refresh=False)
        self._bar.refresh()

    def close(self, done: bool) -> None:
        if done:
            self._bar.n = 100
            self._bar.refresh()
        self._bar.close()


def _in_notebook() -> bool:
    return "ipykernel" in sys.modules


def _bar() -> Any:
    """A bar where one can be seen: a widget in notebooks that have them, text in others and in terminals.

    A log gets lines: what a bar rewrites would fill it.
    """
    if not (_in_notebook() or sys.stderr.isatty()):
        return _Lines()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # a notebook without widgets gets a bar of text, and no lecture
            from tqdm.auto import tqdm
    except ImportError:
        return _Lines()
    return _Bar(tqdm)


class Progress:
    """A callback from `verbose` and the user's own `callback`; `with` closes the bar."""

    def __init__(self, verbose: bool | None, callback: Callback | None) -> None:
        self._own: Any = None
        if is_verbose(verbose):
            self._own = _bar()
        self._callback = callback

    def callback(self) -> Callback | None:
        if self._own is None:
            return self._callback
        if self._callback is None:
            own: Callback = self._own
            return own
        return self._both

    def _both(self, report: dict[str, Any]) -> None:
        self._own(report)
        if self._callback is not None:
            self._callback(report)

    def __enter__(self) -> Progress:
        return self

    def __exit__(self, error: object, *_: object) -> None:
        if self._own is not None:
            self._own.close(done=error is None)
