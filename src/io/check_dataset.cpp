#include "io/divided.hpp"
#include "io/formats.hpp"
#include "io/held_values.hpp"

#include <pnmf/error.hpp>

#include <cmath>
#include <unordered_set>

namespace pnmf {

namespace {

void check_unique(const std::vector<std::string>& names, Index count, const char* thing) {
    require(static_cast<Index>(names.size()) == count, "X has {} {}s, but {} names of them are given", count,
            thing, names.size());
    std::unordered_set<std::string_view> seen;
    std::unordered_set<std::string_view> reported;
    std::vector<std::string> repeated;
    for (const std::string& name : names) {
        if (!seen.insert(name).second && reported.insert(name).second) {
            repeated.push_back(name);
        }
    }
    require(repeated.empty(), "names of {}s must differ, {} occur{} more than once: {}", thing,
            repeated.size(), repeated.size() == 1 ? "s" : "", io::abbreviate(repeated));
}

/// How many values are of one bad kind, and where the first is.
struct Fault {
    Index count = 0;
    Index cell = 0;
    Index feature = 0;
    double value = 0.0;

    void add(Index j, Index i, double x) {
        if (count++ == 0) {
            cell = j;
            feature = i;
            value = x;
        }
    }
};

void report(const Dataset& data, Fault fault, const char* what) {
    Fault all;
    for (const Fault& of_rank : gather_one(io::ranks_of(data), fault)) {
        const Index before = all.count;
        if (before == 0) {
            all = of_rank;
        }
        all.count = before + of_rank.count;
    }
    fault = all;
    require(fault.count == 0,
            "values must be finite and at least 0, {} {} {}; the first is {} at cell {}, gene {}",
            fault.count, fault.count == 1 ? "is" : "are", what, fault.value, data.cell_names[fault.cell],
            data.feature_names[fault.feature]);
}

} // namespace

void check_dataset(const Dataset& data) {
    check_unique(data.cell_names, data.cells(), "cell");
    check_unique(data.feature_names, data.features(), "gene");
    Fault nan;
    Fault infinite;
    Fault negative;
    io::for_each_value(data, [&](Index j, Index i, double x) {
        if (std::isnan(x)) {
            nan.add(j, i, x);
        } else if (std::isinf(x)) {
            infinite.add(j, i, x);
        } else if (x < 0.0) {
            negative.add(j, i, x);
        }
    });
    report(data, nan, "NaN");
    report(data, infinite, "infinite");
    report(data, negative, "negative");
}

} // namespace pnmf
