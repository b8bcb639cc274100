#include "watch.hpp"

#include <dlfcn.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <exception>
#include <mutex>
#include <optional>
#include <thread>

namespace pnmf::python {
namespace {

namespace py = pybind11;

/// OpenBLAS as NumPy may have loaded it; its own functions, null where it is not there.
struct SharedBlas {
    int (*get_threads)() = nullptr;
    void (*set_threads)(int) = nullptr;

    static SharedBlas find() {
        SharedBlas blas;
        if (void* const library = dlopen("libopenblas.so.0", RTLD_NOW | RTLD_NOLOAD)) {
            blas.get_threads = reinterpret_cast<int (*)()>(dlsym(library, "openblas_get_num_threads"));
            blas.set_threads = reinterpret_cast<void (*)(int)>(dlsym(library, "openblas_set_num_threads"));
            dlclose(library);
        }
        return blas;
    }
};

/// One thread in a shared OpenBLAS while any computation lives, then as many as before. Made and destroyed
/// with the interpreter's lock held.
class OneBlasThread {
  public:
    OneBlasThread() {
        if (living++ == 0) {
            blas = SharedBlas::find();
            if (blas.get_threads != nullptr && blas.set_threads != nullptr) {
                before = blas.get_threads();
                blas.set_threads(1);
            }
        }
    }
    ~OneBlasThread() {
        if (--living == 0 && blas.get_threads != nullptr && blas.set_threads != nullptr) {
            blas.set_threads(before);
        }
    }
    OneBlasThread(const OneBlasThread&) = delete;
    OneBlasThread& operator=(const OneBlasThread&) = delete;

  private:
    static inline int living = 0;
    static inline int before = 1;
    static inline SharedBlas blas{};
};

/// What the two threads share.
struct Exchange {
    std::mutex mutex;
    std::condition_variable news;
    std::deque<Report> reports;
    std::exception_ptr error;
    bool done = false;
    std::atomic<bool> stop = false;
};

void compute(Exchange& exchange, const std::function<void(const Reporter&)>& work, bool wanted, bool saves) {
    const auto pass = [&](const Report& report) {
        if (wanted) {
            const std::lock_guard lock(exchange.mutex);
            exchange.reports.push_back(report);
            exchange.news.notify_one();
        }
    };
    const Reporter reporter(pass, exchange.stop, saves);
    const auto scope = saves ? nullptr : reporter.cancelling();
    try {
        work(reporter);
    } catch (...) {
        exchange.error = std::current_exception();
    }
    const std::lock_guard lock(exchange.mutex);
    exchange.done = true;
    exchange.news.notify_one();
}

/// Waits for news without the interpreter's lock; whether the computation has ended.
bool wait_for_news(Exchange& exchange, std::deque<Report>& reports) {
    const py::gil_scoped_release unlocked;
    std::unique_lock lock(exchange.mutex);
    exchange.news.wait_for(lock, std::chrono::milliseconds(50),
                           [&] { return exchange.done || !exchange.reports.empty(); });
    reports.swap(exchange.reports);
    return exchange.done;
}

void pass_on(const std::deque<Report>& reports, const py::object& callback) {
    for (const Report& report : reports) {
        py::dict entry;
        entry["phase"] = report.phase;
        entry["sweep"] = report.sweep;
        entry["max_sweeps"] = report.max_sweeps;
        entry["objective"] = report.objective;
        entry["kkt"] = report.kkt;
        entry["fraction"] = report.fraction;
        callback(entry);
    }
    if (PyErr_CheckSignals() != 0) {
        throw py::error_already_set();
    }
}

} // namespace

bool Reporter::operator()(const Report& report) const {
    if (stop_ && !saves_) {
        throw Cancelled();
    }
    pass_(report);
    return !stop_;
}

void run_watched(const std::function<void(const Reporter&)>& work, const py::object& callback, bool saves) {
    const OneBlasThread one_blas_thread;
    Exchange exchange;
    std::optional<py::error_already_set> raised;
    std::thread worker([&] { compute(exchange, work, !callback.is_none(), saves); });
    for (bool done = false; !done;) {
        std::deque<Report> reports;
        done = wait_for_news(exchange, reports);
        if (raised) {
            continue;
        }
        try {
            pass_on(reports, callback);
        } catch (py::error_already_set& error) {
            raised.emplace(std::move(error));
            exchange.stop = true;
        }
    }
    worker.join();
    if (raised) {
        throw py::error_already_set(*raised);
    }
    if (exchange.error) {
        std::rethrow_exception(exchange.error);
    }
}

} // namespace pnmf::python
