#pragma once

#include <pybind11/pybind11.h>

#include <functional>

namespace pnmf::python {

/// What a computation says about itself while it runs.
struct Report {
    const char* phase = ""; ///< "preparing", "starting" or "sweeping"
    std::int64_t sweep = 0;
    std::int64_t max_sweeps = 0;
    double objective = 0.0;
    double kkt = 0.0;
};

using Reporter = std::function<void(const Report&)>;

/// Runs `work` on a thread of its own without the interpreter's lock, and waits for it.
///
/// Meanwhile the calling thread looks for signals twenty times a second and passes reports on to `callback`
/// (none when it is None). After Ctrl-C, or when the callback throws, the computation is cancelled and that
/// error is raised. OpenBLAS, which NumPy may share, works with one thread until the end and then with as
/// many as before.
void run_watched(const std::function<void(const Reporter&)>& work, const pybind11::object& callback);

} // namespace pnmf::python
