"""What a computation says while it runs: a bar of tqdm when that is installed, else lines on stderr."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

Callback = Callable[[dict[str, Any]], None]


def is_verbose(verbose: bool | None) -> bool:
    """What None stands for: speak in a terminal and in a notebook."""
    if verbose is not None:
        return bool(verbose)
    return "ipykernel" in sys.modules or sys.stderr.isatty()


class _Lines:
    """A line for each of the first sweeps, then for every tenth."""

    def __call__(self, report: dict[str, Any]) -> None:
        sweep = report["sweep"]
        if report["phase"] == "sweeping" and (sweep < 10 or sweep % 10 == 0):
            print(f"sweep {sweep}: objective {report['objective']:.6g}, KKT residual {report['kkt']:.1e}", file=sys.stderr)

    def close(self) -> None:
        pass


class _Bar:
    def __init__(self, tqdm: Any) -> None:
        self._bar = tqdm(desc="pnmf", unit=" sweeps", file=sys.stderr)

    def __call__(self, report: dict[str, Any]) -> None:
        if report["phase"] != "sweeping":
            self._bar.set_postfix_str(report["phase"])
            return
        self._bar.set_postfix_str(f"objective {report['objective']:.6g}, KKT residual {report['kkt']:.1e}")
        self._bar.n = report["sweep"]
        self._bar.refresh()

    def close(self) -> None:
        self._bar.close()


class Progress:
    """A callback from `verbose` and the user's own `callback`; `with` closes the bar."""

    def __init__(self, verbose: bool | None, callback: Callback | None) -> None:
        self._own: Any = None
        if is_verbose(verbose):
            try:
                from tqdm.auto import tqdm
            except ImportError:
                self._own = _Lines()
            else:
                self._own = _Bar(tqdm)
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

    def __exit__(self, *_: object) -> None:
        if self._own is not None:
            self._own.close()
