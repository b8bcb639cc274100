#include "linalg/kernels/kernels.hpp"

#include <pnmf/linalg/gemm.hpp>

#include <algorithm>
#include <cstdlib>
#include <string_view>

namespace pnmf {

namespace baseline {
extern const Kernels table;
}
#ifdef __x86_64__
namespace avx2 {
extern const Kernels table;
}
namespace avx512 {
extern const Kernels table;
}
#endif

std::vector<const Kernels*> kernels_of_processor() {
    std::vector<const Kernels*> sets{&baseline::table};
#ifdef __x86_64__
    if (__builtin_cpu_supports("avx2")) {
        sets.push_back(&avx2::table);
    }
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl") &&
        __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512bw")) {
        sets.push_back(&avx512::table);
    }
#endif
    return sets;
}

const Kernels& kernels_called(const char* name) {
    const std::vector<const Kernels*> sets = kernels_of_processor();
    const auto found = std::find_if(sets.begin(), sets.end(), [&](const Kernels* set) {
        return name != nullptr && std::string_view(name) == set->name;
    });
    if (found != sets.end()) {
        return **found;
    }
    return *sets.back();
}

const Kernels& kernels() {
    static const Kernels& chosen = kernels_called(std::getenv("PNMF_KERNELS"));
    return chosen;
}

std::string instruction_set() {
#if defined(__x86_64__)
    const std::string_view name = kernels().name;
    return std::string("x86-64, ") + (name == "avx512" ? "AVX-512" : name == "avx2" ? "AVX2" : "SSE2");
#elif defined(__aarch64__)
    return "ARM64, NEON";
#else
    return "as compiled";
#endif
}

} // namespace pnmf
