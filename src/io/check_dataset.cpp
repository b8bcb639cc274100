#include "cells/io/local_cells.hpp"
#include "io/formats.hpp"
#include "io/local_values.hpp"

#include <pnmf/error.hpp>

#include <cmath>
#include <limits>
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

    /// Those of later cells.
    void add(const Fault& later) {
        const Index before = count;
        if (before == 0) {
            *this = later;
        }
        count = before + later.count;
    }
};

struct Faults {
    Fault nan;
    Fault infinite;
    Fault negative;

    void add(Index j, Index i, double x) {
        if (x >= 0.0 && x <= std::numeric_limits<double>::max()) {
            return;
        }
        (std::isnan(x) ? nan : std::isinf(x) ? infinite : negative).add(j, i, x);
    }
};

void report(const Dataset& data, const Fault& of_this_process, const char* what) {
    Fault fault;
    for (const Fault& of_process : gather_one(io::processes_of(data), of_this_process)) {
        fault.add(of_process);
    }
    require(fault.count == 0,
            "values must be finite and at least 0, {} {} {}; the first is {} at cell {}, gene {}",
            fault.count, fault.count == 1 ? "is" : "are", what, fault.value, data.cell_names[fault.cell],
            data.feature_names[fault.feature]);
}

} // namespace

void check_dataset(const Dataset& data) {
    check_unique(data.cell_names, data.cells(), "cell");
    check_unique(data.feature_names, data.features(), "gene");
    Faults all;
    for (const Faults& found : io::found_in_values<Faults>(data)) {
        all.nan.add(found.nan);
        all.infinite.add(found.infinite);
        all.negative.add(found.negative);
    }
    report(data, all.nan, "NaN");
    report(data, all.infinite, "infinite");
    report(data, all.negative, "negative");
}

} // namespace pnmf
