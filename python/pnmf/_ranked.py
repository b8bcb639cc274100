"""Gene programs where Scanpy's plots look for the genes of groups."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from ._adata import anndata_of
from .result import as_result


def rank_genes_groups(adata: Any, count: int | None = 100, *, key: str = "pnmf", key_added: str = "rank_genes_groups") -> None:
    """The genes that mark each program, best first, as `scanpy.tl.rank_genes_groups` stores the genes of groups.

    `scanpy.pl.rank_genes_groups`, `scanpy.pl.rank_genes_groups_dotplot` and `scanpy.get.rank_genes_groups_df` then show
    programs. A cell is of the group of the program that it uses most, each program counted from 0 to its largest usage.

    Parameters
    ----------
    adata : AnnData
        One that `pnmf.tl.pnmf` was run on.
    count : int, optional
        Genes of each program; None for all.
    key : str
        ``key_added`` of `pnmf.tl.pnmf`.
    key_added : str
        The name in uns.

    Notes
    -----
    Stored: obs["<key>_program"], categories "P1", "P2", ...; uns[key_added] with params, names and scores, the
    coefficients of `pnmf.tl.programs`. Nothing is tested: logfoldchanges, pvals and pvals_adj are there and NaN. The tests
    are for calls of Scanpy's layout, not for Scanpy itself.

    Examples
    --------
    >>> import pnmf
    >>> adata = pnmf.simulate.cells(cells=60, genes=40, types=3).to_anndata()
    >>> pnmf.tl.pnmf(adata, rank=4, max_scales=3)
    >>> pnmf.tl.rank_genes_groups(adata, 5)
    >>> adata.uns["rank_genes_groups"]["names"].dtype.names, len(adata.uns["rank_genes_groups"]["names"]["P1"])
    (('P1', 'P2', 'P3', 'P4'), 5)
    """
    adata = anndata_of(adata)
    result = as_result(adata, key=key)
    table = result.programs(count).assign(untested=np.nan)
    groups = [f"P{k + 1}" for k in range(result.embeddings[result.recommended].shape[1])]
    of_group = {name: rows for name, rows in table.groupby("program", sort=False)}

    def records(column: str, dtype: str) -> Any:
        values = pd.DataFrame({name: of_group[name][column].to_numpy() for name in groups})
        return values.to_records(index=False, column_dtypes={name: dtype for name in groups})

    usages = np.asarray(adata.obsm[f"X_{key}"], dtype=float)
    largest = usages.max(axis=0)
    strongest = (usages / np.where(largest > 0, largest, 1.0)).argmax(axis=1)
    groupby = f"{key}_program"
    adata.obs[groupby] = pd.Categorical.from_codes(strongest, groups)
    adata.uns[key_added] = {
        "params": {"groupby": groupby, "reference": "rest", "method": "pnmf", "use_raw": False, "corr_method": "none"},
        "names": records("gene", "O"),
        "scores": records("score", "float32"),
        "logfoldchanges": records("untested", "float32"),
        "pvals": records("untested", "float64"),
        "pvals_adj": records("untested", "float64"),
    }
