#pragma once

#include "solvers/device.hpp"

#include <string>

namespace pnmf::test {

/// For the word that a test is skipped with; empty where there is a device.
inline std::string why_no_cuda() {
    const DeviceFacts facts = facts_of(Device::cuda);
    return !facts.built ? "this build has no code for CUDA devices (PNMF_CUDA)"
                        : (facts.found ? "" : "no CUDA device: " + facts.reason);
}

} // namespace pnmf::test
