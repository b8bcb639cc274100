from collections.abc import Callable
from typing import Any

import numpy as np


__version__: str

class _Metrics:
    @staticmethod
    def adjusted_rand_index(labels: np.ndarray, clusters: np.ndarray) -> float: ...
    @staticmethod
    def normalized_mutual_information(labels: np.ndarray, clusters: np.ndarray) -> float: ...
    @staticmethod
    def adjusted_mutual_information(labels: np.ndarray, clusters: np.ndarray) -> float: ...
    @staticmethod
    def purity(labels: np.ndarray, clusters: np.ndarray) -> float: ...
    @staticmethod
    def accuracy(labels: np.ndarray, clusters: np.ndarray) -> float: ...
    @staticmethod
    def silhouettes(X: np.ndarray, clusters: np.ndarray) -> np.ndarray: ...
    @staticmethod
    def kmeans(
        X: np.ndarray, clusters: int, starts: int, max_iterations: int, tolerance: float, seed: int
    ) -> dict[str, Any]: ...
    @staticmethod
    def score_embedding(
        H: np.ndarray, labels: np.ndarray, clusters: int | None, starts: int, seeds: int, first_seed: int, silhouette: bool
    ) -> dict[str, Any]: ...
    @staticmethod
    def resampling_stability(
        H: np.ndarray, clusters: int, repeats: int, fraction: float, starts: int, seed: int
    ) -> float: ...
    @staticmethod
    def neighbor_stability(clusters: np.ndarray, window: int) -> np.ndarray: ...
    @staticmethod
    def score_result(
        parts: dict[str, Any],
        labels: np.ndarray,
        clusters: int | None,
        starts: int,
        seeds: int,
        first_seed: int,
        threads: int | None,
    ) -> dict[str, Any]: ...
    @staticmethod
    def neighborhood_scores(
        X: np.ndarray, batch: np.ndarray, labels: np.ndarray, neighbors: int, cells: int
    ) -> dict[str, float]: ...
    @staticmethod
    def batch_scores(parts: dict[str, Any], labels: np.ndarray) -> str | None: ...
    @staticmethod
    def consensus_over_scales(clusters: np.ndarray) -> np.ndarray: ...
    @staticmethod
    def hierarchy_along_scales(embeddings: list[np.ndarray]) -> np.ndarray: ...
    @staticmethod
    def hierarchy_of_groups(
        embeddings: list[np.ndarray], groups: np.ndarray, weight: list[float]
    ) -> dict[str, np.ndarray]: ...
    @staticmethod
    def loops(X: Any, space: np.ndarray | None, level: float, clouds: int, seed: int, threads: int | None) -> dict[str, Any]: ...
    @staticmethod
    def phase_genes(X: Any, phase: np.ndarray, zero: list[int], next: list[int]) -> tuple[np.ndarray, np.ndarray]: ...
    @staticmethod
    def cut(merges: np.ndarray, clusters: int) -> np.ndarray: ...
    @staticmethod
    def merge_labels(labels: list[str], groups: str) -> list[str]: ...
    @staticmethod
    def gap_prominence(epsilon: list[float], deaths: list[float]) -> np.ndarray: ...

class _Simulate:
    @staticmethod
    def circles(
        radii: list[float],
        points: int,
        noise: float,
        minimum: float,
        noise_dimensions: int,
        noise_mean: float,
        noise_deviation: float,
        meet_ends: bool,
        seed: int,
    ) -> tuple[np.ndarray, np.ndarray]: ...
    @staticmethod
    def cells(options: dict[str, Any]) -> dict[str, Any]: ...
    @staticmethod
    def branches(options: dict[str, Any]) -> dict[str, Any]: ...

metrics: _Metrics
simulate: _Simulate

def thread_count() -> int: ...
def options() -> dict[str, list[tuple[str, str, Any, list[str], str]]]: ...
def fit(
    X: Any,
    options: dict[str, Any],
    clusters: int | None,
    precision: str,
    threads: int | None,
    callback: Callable[[dict[str, Any]], None] | None,
    checkpoint: str | None = None,
    resume: bool = False,
    checkpoint_every: float = 300.0,
    memory: str | None = None,
    space: np.ndarray | None = None,
    columns: dict[str, Any] = ...,
    batch: tuple[str, list[str]] | None = None,
    domains: int | None = None,
    expression: np.ndarray | None = None,
) -> dict[str, Any]: ...
def report(
    parts: dict[str, Any], columns: dict[str, Any], basis: np.ndarray | None, cells: tuple[Any, list[str], list[str]] | None, name: str
) -> tuple[str, bytes]: ...
def paths(
    parts: dict[str, Any],
    column: str,
    groups: list[str],
    names: list[str],
    root: str,
    ends: list[str],
    direction: float,
    cells: tuple[Any, list[str], list[str]] | None,
    threads: int | None,
) -> dict[str, Any]: ...
def enriched(scores: np.ndarray, genes: list[str], path: str, best: int, smallest_set: int) -> dict[str, list[Any]]: ...
def choose_rank(
    X: Any,
    ranks: list[int],
    restarts: int,
    held_out: float,
    rule: str,
    seed: int,
    device: str,
    threads: int | None,
    callback: Callable[[dict[str, Any]], None] | None,
) -> dict[str, Any]: ...
def baseline(
    X: Any,
    method: str,
    options: dict[str, Any],
    clusters: int | None,
    precision: str,
    threads: int | None,
    callback: Callable[[dict[str, Any]], None] | None,
) -> dict[str, Any]: ...
def embed(X: Any, basis: np.ndarray, lambda3: float, threads: int | None) -> dict[str, Any]: ...
def prepare(X: Any, asked: dict[str, Any], options: dict[str, Any], about: dict[str, Any]) -> dict[str, Any]: ...
def kind_of_values(X: Any, log_recorded: bool) -> str: ...
def persistence(X: Any, metric: str, threads: int | None) -> dict[str, Any]: ...
def scales(
    X: Any, strategy: str, max_scales: int | None, metric: str, seed: int, count_edges: bool, threads: int | None
) -> dict[str, Any]: ...
def components(edges: np.ndarray, epsilon: float) -> np.ndarray: ...
def merge_tree(edges: np.ndarray) -> np.ndarray: ...
def check(
    X: Any, options: dict[str, Any], fit: Any, most_intervals: int | None, threads: int | None
) -> list[tuple[str, str, float, float, str, str]]: ...
def stored(parts: dict[str, Any], name: str) -> dict[str, Any]: ...
def transform_result(
    parts: dict[str, Any],
    cells: tuple[Any, list[str], list[str]],
    scales: list[int],
    data_of_fit: tuple[Any, list[str], list[str]] | None,
    transform: str | None,
    drop_empty_cells: bool,
    threads: int | None,
) -> dict[str, Any]: ...
