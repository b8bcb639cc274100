#include "linalg/kernels/kernels.hpp"

#include <pnmf/linalg/instruction_set.hpp>

#include <algorithm>
#include <cstdlib>
#include <string_view>

#ifdef __aarch64__
#include <sys/auxv.h>
#include <sys/prctl.h>
#endif

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
#ifdef __aarch64__
namespace sve {
extern const Kernels table;
}
namespace {

/// SVE with vectors of the length that sve.cpp is compiled for: others would give wrong numbers.
bool has_sve_of_32_bytes() {
    constexpr unsigned long sve = 1UL << 22U; // of AT_HWCAP, in Linux's <asm/hwcap.h>
    if ((getauxval(AT_HWCAP) & sve) == 0) {
        return false;
    }
    constexpr int get_vector_length = 51; // PR_SVE_GET_VL
    constexpr int length_of = 0xffff;     // PR_SVE_VL_LEN_MASK
    const int answer = prctl(get_vector_length);
    return answer >= 0 && (answer & length_of) == 32;
}

} // namespace
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
#ifdef __aarch64__
    if (has_sve_of_32_bytes()) {
        sets.push_back(&sve::table);
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
#ifdef __aarch64__
    return baseline::table; // the speed of SVE is not known (docs/decisions/0160-kernels.md)
#else
    return *sets.back();
#endif
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
    return std::string("ARM64, ") + (std::string_view(kernels().name) == "sve" ? "SVE" : "NEON");
#else
    return "as compiled";
#endif
}

} // namespace pnmf
