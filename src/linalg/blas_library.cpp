#include "linalg/blas_library.hpp"

#include <pnmf/error.hpp>

#include <dlfcn.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <optional>
#include <string>

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

BlasLibrary load() {
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
    return library;
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
    static const BlasLibrary library = load();
    return library;
}

} // namespace pnmf
