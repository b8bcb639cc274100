#pragma once

#include <pnmf/names.hpp>

#include <limits>
#include <string>
#include <vector>

namespace pnmf {

/// What the data say about a statement.
enum class Verdict {
    holds,
    fails,
    vacuous,     ///< true, but says nothing: its bound is trivial, or its assumption does not hold
    not_checked, ///< something it needs is not there
};

template <>
struct EnumNames<Verdict> {
    static constexpr auto values = name_table<Verdict>({{"holds", Verdict::holds},
                                                        {"fails", Verdict::fails},
                                                        {"vacuous", Verdict::vacuous},
                                                        {"not checked", Verdict::not_checked}});
};

/// One statement of the paper held against the data.
struct Finding {
    std::string statement; ///< the paper's label, or a word of ours
    std::string what;      ///< what is claimed, in plain words
    double measured = std::numeric_limits<double>::quiet_NaN();
    double bound = std::numeric_limits<double>::quiet_NaN(); ///< NaN where the statement has none
    Verdict verdict = Verdict::not_checked;
    std::string note{}; ///< what a reader should know beside
};

using Findings = std::vector<Finding>;

inline Verdict verdict_of(bool holds) {
    return holds ? Verdict::holds : Verdict::fails;
}

} // namespace pnmf
