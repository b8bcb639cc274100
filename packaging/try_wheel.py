"""What an installed wheel must do, in a system that has nothing of ours: fit, write and read a result, and bring its
libraries along."""

import pathlib
import tempfile

import pnmf

X, labels = pnmf.simulate.circles()
model = pnmf.PersistentNMF(rank=2, lambda1=100, lambda2=100, lambda3=0.01, max_scales=9).fit(X)
assert model.embeddings_.shape == (9, 80, 2), model.embeddings_.shape
assert list(model.betti0_) == [80, 70, 60, 50, 40, 31, 21, 11, 1], model.betti0_

package = pathlib.Path(pnmf.__file__).parent
loaded = {line.split()[-1] for line in open("/proc/self/maps") if ".so" in line}
for name in ("libhdf5", "libopenblas"):
    found = [path for path in loaded if name in pathlib.Path(path).name]
    # NumPy may bring another BLAS of its own; ours comes from the wheel.
    assert any(str(package) in path for path in found), (name, sorted(found))
print(f"pnmf {pnmf.__version__}: fits, with {', '.join(sorted(path.name for path in (package / '_libs').iterdir()))}")
