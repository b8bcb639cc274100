"""One cluster of an AnnData divided further."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pandas as pd

from ._adata import anndata_of


def refine(
    adata: Any,
    cluster: Any,
    *,
    key: str = "pnmf",
    column: str | None = None,
    key_added: str | None = None,
    copy: bool = False,
    **options: Any,
) -> Any:
    """Fit the cells of one cluster alone, and divide it where tests say that it is more than one population.

    Genes, components and scales are chosen anew among these cells. Cluster "3" becomes "3.1", "3.2", ...; the others
    keep their names and order. It stays whole where no division passes the test.

    Parameters
    ----------
    adata : AnnData
        With a result of `pnmf.tl.pnmf`, or any column of clusters.
    cluster : str or iterable of str
        The name of the cluster, as it is now; of several, their cells are fitted together and named "3+4.1", ...
    key : str
        ``key_added`` of the fit. Its layer, or entry of obsm, is taken again.
    column : str, optional
        The column of obs with the clusters; default "<key>_clusters".
    key_added : str, optional
        The column of obs for the new clusters; default the same column.
    copy : bool
        Leave adata as it is and return a copy with the result.
    **options
        As in `pnmf.tl.pnmf`, such as ``clusters=2``, which divides without a test.

    Returns
    -------
    AnnData or None

    Examples
    --------
    >>> import pnmf
    >>> adata = pnmf.simulate.cells(cells=200, genes=60, types=3).to_anndata()
    >>> adata.obs["group"] = ["T"] * 150 + ["B"] * 50
    >>> pnmf.tl.refine(adata, "T", column="group", clusters=2, rank=4, max_scales=3)
    >>> list(adata.obs["group"].cat.categories)
    ['B', 'T.1', 'T.2']
    """
    from .tl import pnmf

    adata = anndata_of(adata)
    column = column or f"{key}_clusters"
    if column not in adata.obs:
        raise ValueError(f"obs[{column!r}] is missing; there are {sorted(map(str, adata.obs))}")
    if copy:
        adata = adata.to_memory() if getattr(adata, "isbacked", False) else adata.copy()
    clusters = adata.obs[column].astype("category")
    wanted = _wanted(cluster, clusters, column)
    inside = clusters.isin(wanted).to_numpy()
    part = adata[inside].to_memory() if getattr(adata, "isbacked", False) else adata[inside].copy()
    pnmf(part, key_added=key, **{**_as_before(adata, key, options), **options})
    found = part.obs[f"{key}_clusters"]
    name = "+".join(map(str, wanted))
    if len(found.cat.categories) > 1:
        parts = [f"{name}.{i}" for i in found.cat.categories]
        taken = sorted(set(parts) & set(map(str, clusters.cat.categories)))
        if taken:
            raise ValueError(f"obs[{column!r}] has a cluster {taken[0]!r} already: rename it first")
        names = clusters.astype(object)
        names[inside] = [f"{name}.{i}" for i in found]
        first = next(i for i, category in enumerate(clusters.cat.categories) if category in wanted)
        others = [category for category in clusters.cat.categories if category not in wanted]
        before = sum(category not in wanted for category in clusters.cat.categories[:first])
        clusters = pd.Series(pd.Categorical(names, categories=[*others[:before], *parts, *others[before:]]), index=adata.obs_names)
        adata.uns.pop(f"{key_added or column}_colors", None)  # Scanpy's, one for each category
    adata.obs[key_added or column] = clusters
    return adata if copy else None


def _wanted(cluster: Any, clusters: Any, column: str) -> list[Any]:
    """The categories asked for, in their order; ValueError for one that is not there."""
    asked = [cluster] if isinstance(cluster, str) or not isinstance(cluster, Iterable) else list(cluster)
    names = {str(category): category for category in clusters.cat.categories}
    missing = [str(one) for one in asked if str(one) not in names]
    if missing or not asked:
        raise ValueError(f"obs[{column!r}] has no cluster {missing[0] if missing else cluster!r}; there are {list(names)}")
    wanted = {str(one) for one in asked}
    return [category for name, category in names.items() if name in wanted]


def _as_before(adata: Any, key: str, options: dict[str, Any]) -> dict[str, Any]:
    """The values that the fit took, unless others are asked for; genes anew, unless all of them took part."""
    chosen: dict[str, Any] = {}
    if key in adata.uns and not {"layer", "use_rep"} & set(options):
        from .result import as_result

        layer = as_result(adata, key=key).input.get("layer")
        if layer is not None and str(layer).startswith("obsm:"):
            chosen["use_rep"] = str(layer)[5:]
        elif layer is not None:
            chosen["layer"] = str(layer)
    if "highly_variable" in adata.var and not {"genes", "mask_var"} & set(options) and "use_rep" not in {**chosen, **options}:
        chosen["genes"] = min(2000, adata.n_vars)
    return chosen
