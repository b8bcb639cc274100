"""Tables that several tests begin with."""

import anndata
import numpy as np
import pandas as pd


def anndata_of(X):
    """An AnnData that holds X itself: AnnData 0.8 rounds what its constructor is given, later ones do not."""
    adata = anndata.AnnData(obs=pd.DataFrame(index=np.arange(X.shape[0]).astype(str)), var=pd.DataFrame(index=np.arange(X.shape[1]).astype(str)))
    adata.X = X
    return adata
