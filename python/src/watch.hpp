#pragma once

#include <pnmf/cancel.hpp>

#include <pybind11/pybind11.h>

#include <atomic>
#include <functional>
#include <limits>
#include <memory>
#include <string>

namespace pnmf::python {

/// What a computation says about itself while it runs.
struct Report {
    std::string phase{}; ///< "preparing", "starting", "sweeping" or "assessing"
    std::int64_t sweep = 0;
    std::int64_t max_sweeps = 0;
    double objective = 0.0;
    double kkt = 0.0;
    double fraction = std::numeric_limits<double>::quiet_NaN(); ///< of the run that is done; NaN: not known
};

/// What a computation reports to.
class Reporter {
  public:
    Reporter(std::function<void(const Report&)> pass, const std::atomic<bool>& stop, bool saves)
        : pass_(std::move(pass)), stop_(stop), saves_(saves) {}

    /// False when a computation that saves itself is to stop; any other is cancelled here.
    bool operator()(const Report& report) const;
    /// While it lives, the computation is cancelled as soon as it is to stop.
    std::unique_ptr<CancelScope> cancelling() const { return std::make_unique<CancelScope>(stop_); }

  private:
    std::function<void(const Report&)> pass_;
    const std::atomic<bool>& stop_;
    bool saves_;
};

/// Runs `work` on a thread of its own without the interpreter's lock, and waits for it.
///
/// Meanwhile the calling thread looks for signals twenty times a second and passes reports on to `callback`
/// (none when it is None). After Ctrl-C, or when the callback throws, the computation is cancelled, or asked
/// to stop when it `saves` itself, and that error is raised. OpenBLAS, which NumPy may share, works with one
/// thread until the end and then with as many as before.
void run_watched(const std::function<void(const Reporter&)>& work, const pybind11::object& callback,
                 bool saves = false);

} // namespace pnmf::python
