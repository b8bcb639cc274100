"""What an installed wheel must do in a system that has no compiler and none of its libraries: fit, and bring them along."""

import ctypes
import pathlib

import pnmf

X, labels = pnmf.simulate.circles()
model = pnmf.PersistentNMF(rank=2, lambda1=100, lambda2=100, lambda3=0.01, max_scales=9).fit(X)
assert model.embeddings_.shape == (9, 80, 2), model.embeddings_.shape
assert list(model.betti0_) == [80, 70, 60, 50, 40, 31, 21, 11, 1], model.betti0_

package = pathlib.Path(pnmf.__file__).parent
loaded = {line.split()[-1] for line in open("/proc/self/maps") if ".so" in line}
hdf5 = [path for path in loaded if "libhdf5" in path]
assert hdf5 and all(path.startswith(str(package)) for path in hdf5), hdf5
# NumPy may have loaded an OpenBLAS of its own, which is then used; that of the wheel must work where it has not.
ctypes.CDLL(str(package / "_libs" / "libopenblas.so.0"))
print(f"pnmf {pnmf.__version__} fits, with {', '.join(sorted(path.name for path in (package / '_libs').iterdir()))}")
