#include "linalg/blas_library.hpp"

#include <pnmf/error.hpp>
#include <pnmf/parallel.hpp>

#include <dlfcn.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/resource.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdlib>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

namespace pnmf {
namespace {

constexpr const char* library_name = "libopenblas.so.0";
constexpr const char* kernel_variable = "OPENBLAS_CORETYPE";
constexpr const char* threads_variable = "OPENBLAS_NUM_THREADS";

/// Loads the library with the one thread that is used of it. Otherwise it starts one for each core, and where
/// the system gives it none, it sends the process an interrupt.
void* load_with_one_thread() {
    const char* const value = std::getenv(threads_variable);
    const std::optional<std::string> before =
        value != nullptr ? std::optional<std::string>(value) : std::nullopt;
    setenv(threads_variable, "1", 1);
    void* const handle = dlopen(library_name, RTLD_NOW | RTLD_LOCAL);
    if (before) {
        setenv(threads_variable, before->c_str(), 1);
    } else {
        unsetenv(threads_variable);
    }
    return handle;
}

void* open_library() {
    void* handle = load_with_one_thread();
    if (handle == nullptr) {
        throw SystemError(
            fmt::format("the matrix product needs OpenBLAS (Debian: libopenblas0): {}", dlerror()));
    }
    return handle;
}

template <class Function>
Function find(void* handle, const char* name) {
    void* symbol = dlsym(handle, name);
    if (symbol == nullptr) {
        throw SystemError(
            fmt::format("{} has no function {}: not an OpenBLAS with CBLAS", library_name, name));
    }
    return reinterpret_cast<Function>(symbol);
}

std::string kernel_of(void* handle) {
    return find<decltype(&openblas_get_corename)>(handle, "openblas_get_corename")();
}

bool is_loaded() {
    void* handle = dlopen(library_name, RTLD_NOW | RTLD_NOLOAD);
    if (handle != nullptr) {
        dlclose(handle);
    }
    return handle != nullptr;
}

/// The library once more, told which kernel to take; the variable is gone again afterwards.
void* reload(void* handle, std::string_view kernel) {
    dlclose(handle);
    if (is_loaded()) {
        return open_library(); // someone else holds it
    }
    setenv(kernel_variable, std::string(kernel).c_str(), 1);
    void* again = open_library();
    unsetenv(kernel_variable);
    return again;
}

bool has_limit(decltype(RLIMIT_AS) what) {
    rlimit limit{};
    return getrlimit(what, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY;
}

/// Whether so much address space is there now.
bool is_there(std::size_t bytes) {
    void* const found = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return found != MAP_FAILED && munmap(found, bytes) == 0;
}

/// Each product that runs needs a buffer, which the library keeps for later products. Where it finds no
/// address space for one it tries again for ever. So under a limit (`ulimit -v`, batch systems) it gets those
/// of all threads before the first product, and only while there is enough.
class Buffers {
  public:
    explicit Buffers(void* handle)
        : limited_(has_limit(RLIMIT_AS) || has_limit(RLIMIT_DATA)),
          take_(find<void* (*)(int)>(handle, "blas_memory_alloc")),
          free_(find<void (*)(void*)>(handle, "blas_memory_free")) {}

    void have(int threads) {
        if (!limited_ || count_.load(std::memory_order_relaxed) >= threads) {
            return;
        }
        const std::lock_guard lock(mutex_);
        const int before = count_;
        if (before >= threads) {
            return;
        }
        std::vector<void*> taken;
        while (std::ssize(taken) < threads &&
               (std::ssize(taken) < before || is_there(bytes + bytes / 8))) { // others ask for memory too
            taken.push_back(take_(0));
        }
        std::for_each(taken.begin(), taken.end(), free_);
        if (std::ssize(taken) < threads) {
            throw SystemError(fmt::format(
                "out of memory: the matrix product (OpenBLAS) needs {} MB of address space for each of {} "
                "thread{}, and the limit of this process leaves less: raise it (ulimit -v) or use fewer "
                "threads",
                bytes / 1'000'000, threads, threads == 1 ? "" : "s"));
        }
        count_ = threads;
    }

  private:
    static constexpr std::size_t bytes = std::size_t{1} << 27U; ///< of a buffer: OpenBLAS 0.3, x86-64

    bool limited_;
    void* (*take_)(int);
    void (*free_)(void*);
    std::atomic<int> count_ = 0;
    std::mutex mutex_;
};

/// The library in use, and its buffers.
struct Loaded {
    BlasLibrary library;
    void* handle;
};

Loaded load() {
    void* handle = open_library();
    BlasLibrary library;
    library.picked_kernel = kernel_of(handle);
    const auto better = better_kernel(library.picked_kernel, cpu_features());
    if (better && std::getenv(kernel_variable) == nullptr) {
        handle = reload(handle, *better);
    }
    library.kernel = kernel_of(handle);
    library.config = find<decltype(&openblas_get_config)>(handle, "openblas_get_config")();
    library.sgemm = find<decltype(&cblas_sgemm)>(handle, "cblas_sgemm");
    library.dgemm = find<decltype(&cblas_dgemm)>(handle, "cblas_dgemm");
    // One thread a call: threads come from `parallel_for`, and results must not depend on their number.
    find<decltype(&openblas_set_num_threads)>(handle, "openblas_set_num_threads")(1);
    return {library, handle};
}

} // namespace

CpuFeatures cpu_features() {
    CpuFeatures features;
#if defined(__x86_64__)
    features.avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
    features.avx512 = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512cd") &&
                      __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq") &&
                      __builtin_cpu_supports("avx512vl");
#elif defined(__aarch64__)
    features.neon = true;
#endif
    return features;
}

std::optional<std::string_view> better_kernel(std::string_view picked, const CpuFeatures& cpu) {
    // Kernels without AVX, by OpenBLAS's names for them.
    constexpr std::array<std::string_view, 14> plain = {
        "Katmai", "Coppermine", "Northwood", "Prescott", "Banias",  "Atom",         "Core2",
        "Penryn", "Dunnington", "Nehalem",   "Athlon",   "Opteron", "Opteron_SSE3", "Barcelona"};
    constexpr std::array<std::string_view, 6> avx = {"Sandybridge", "Bulldozer", "Piledriver",
                                                     "Steamroller", "Excavator", "Bobcat"};
    const auto among = [&](const auto& names) {
        return std::find(names.begin(), names.end(), picked) != names.end();
    };
    if (among(plain) || among(avx)) {
        if (cpu.avx512) {
            return "SkylakeX";
        }
        if (cpu.avx2) {
            return "Haswell";
        }
    }
    if (cpu.neon && (picked == "armv8" || picked == "ARMV8")) {
        return "NEOVERSEN1";
    }
    return std::nullopt;
}

const BlasLibrary& blas_library() {
    static const Loaded loaded = load();
    static Buffers buffers(loaded.handle);
    buffers.have(thread_count());
    return loaded.library;
}

} // namespace pnmf
