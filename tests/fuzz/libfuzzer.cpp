#include "fuzz/targets.hpp"

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>

/// libFuzzer's entry; the environment's PNMF_FUZZ_TARGET says which reader.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    static const pnmf::fuzz::Target* const chosen = [] {
        const char* const name = std::getenv("PNMF_FUZZ_TARGET");
        for (const pnmf::fuzz::Target& target : pnmf::fuzz::targets()) {
            if (name != nullptr && target.name == name) {
                return &target;
            }
        }
        std::fputs("PNMF_FUZZ_TARGET names no target\n", stderr);
        std::exit(2);
    }();
    pnmf::fuzz::accepts(*chosen, {reinterpret_cast<const char*>(data), size});
    return 0;
}
