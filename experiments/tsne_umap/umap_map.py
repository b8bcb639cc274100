#!/usr/bin/env python3
"""umap_map.py IN.npy OUT.npy EPOCHS: UMAP of the rows, seed 0. A process of its own: where Debian's numba does not
suit the processor, importing umap ends the process."""

import sys
import warnings

import numpy as np

warnings.simplefilter("ignore")
import umap

epochs = int(sys.argv[3])
places = umap.UMAP(random_state=0, n_epochs=epochs or None).fit_transform(np.load(sys.argv[1]))
np.save(sys.argv[2], places)
