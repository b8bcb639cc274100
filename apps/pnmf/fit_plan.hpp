#pragma once

#include "input_flags.hpp"

#include <pnmf/run/run.hpp>

namespace pnmf::cli {

/// What a run will need, as `pnmf fit --plan` tells it; nothing is written. `page`: whether there will be
/// one.
void print_plan(const Work& work, const RunOptions& run, bool page, bool as_json);

} // namespace pnmf::cli
