"""Persistent nonnegative matrix factorisation: one factorisation for each scale of a point cloud."""

from . import baselines, metrics, pl, simulate, tl
from ._core import __version__
from .checking import Finding, Findings, check
from .estimator import PersistentNMF
from .persistence import H0Persistence, Scales, h0_persistence, scales
from .rank import RankCurve, choose_rank
from .report import write_report
from .result import Result, read_result

__all__ = [
    "Finding",
    "Findings",
    "H0Persistence",
    "PersistentNMF",
    "RankCurve",
    "Result",
    "Scales",
    "__version__",
    "baselines",
    "check",
    "choose_rank",
    "h0_persistence",
    "metrics",
    "pl",
    "read_result",
    "scales",
    "simulate",
    "tl",
    "write_report",
]
