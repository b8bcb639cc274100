#pragma once

#include <pnmf/parallel.hpp>

#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <optional>

namespace pnmf::python {

void bind_check(pybind11::module_& module);
void bind_fit(pybind11::module_& module);
void bind_prepare(pybind11::module_& module);
void bind_persistence(pybind11::module_& module);
void bind_metrics(pybind11::module_& module);
void bind_simulate(pybind11::module_& module);
void bind_stored(pybind11::module_& module);

/// So many threads while it lives, then as many as before; none asked for: as many as now.
class Threads {
  public:
    explicit Threads(std::optional<int> threads) {
        if (threads) {
            set_thread_count(*threads);
        }
    }
    ~Threads() { set_thread_count(before_); }
    Threads(const Threads&) = delete;
    Threads& operator=(const Threads&) = delete;

  private:
    int before_ = thread_count();
};

} // namespace pnmf::python
