#include <pnmf/diagnostics/check.hpp>
#include <pnmf/error.hpp>
#include <pnmf/results/result_file.hpp>
#include <pnmf/results/stored_result.hpp>
#include <pnmf/run/run.hpp>
#include <pnmf/solvers/option_list.hpp>

#include "support/clouds.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <numeric>

namespace pnmf {
namespace {

using ::testing::HasSubstr;

Dataset named(Matrix X) {
    Dataset data;
    data.X = std::move(X);
    for (Index i = 0; i < data.features(); ++i) {
        data.feature_names.push_back("g" + std::to_string(i));
    }
    for (Index j = 0; j < data.cells(); ++j) {
        data.cell_names.push_back("c" + std::to_string(j));
    }
    return data;
}

/// What a fit of these data stores, H and W copied so that the fit may go.
template <class Real>
AnnDataFile fitted(const Dataset& data, const FitOptions& options) {
    const Run<Real> run = run_fit<Real>(
        view_of(data.X),
        {.fit = options, .space = data.space ? &data.space->coordinates : nullptr, .clusters = 2});
    AnnDataFile file = result_file(data, run.prepared, run.result, run.assessment, {.save_basis = true});
    auto& uns = std::get<AnnDataMap>(file.uns.at("pnmf").value);
    for (const char* name : {"H", "W"}) {
        auto& array = std::get<SlabArray>(uns.at(name).value);
        const auto keep = [&](const auto& slab) {
            std::vector<std::decay_t<decltype(slab(0))>> held;
            for (Index t = 0; t < array.slabs; ++t) {
                held.push_back(slab(t));
            }
            return [held](Index t) { return held[static_cast<std::size_t>(t)]; };
        };
        if (array.slab) {
            array.slab = keep(array.slab);
        } else {
            array.float_slab = keep(array.float_slab);
        }
    }
    return file;
}

struct Case {
    Algorithm algorithm = Algorithm::stationary;
    std::optional<Index> neighbors{};
    NeighborSearch search = NeighborSearch::automatic;
    std::uint64_t seed = 0;
    Index scales = 4;
};

FitOptions options_of(const Case& one) {
    FitOptions options;
    options.rank = 3;
    options.filtration.scales.max_scales = one.scales;
    options.filtration.neighbors = one.neighbors;
    options.filtration.search = one.search;
    options.seed = one.seed;
    options.solver.algorithm = one.algorithm;
    options.solver.max_sweeps = 6;
    options.solver.inner_limit = 20;
    options.start = Start::broadcast;
    return options;
}

/// The residuals that the fit recorded are those that a check of what it stored finds.
template <class Real>
void expect_recorded_is_checked(const Dataset& data, const Case& one) {
    SCOPED_TRACE(fmt::format("{}, {} neighbours, {}, seed {}, {}", name_of(one.algorithm),
                             one.neighbors.value_or(0), name_of(one.search), one.seed,
                             name_of(precision_of<Real>)));
    const StoredResult result = stored_result(fitted<Real>(data, options_of(one)));
    EXPECT_EQ(result.precision, precision_of<Real>);
    const CheckReport report = check_result(result, view_of(data.X), {.most_intervals = 1});
    const std::vector<double> recorded = result.of_scales("kkt");
    ASSERT_EQ(report.convergence->kkt.size(), recorded.size());
    const double tolerance = rounding_of(result.precision).certificate;
    for (std::size_t t = 0; t < recorded.size(); ++t) {
        EXPECT_NEAR(report.convergence->kkt[t], recorded[t], 1e-12 + tolerance * recorded[t]) << t;
    }
    for (const Finding& finding : report.findings) {
        if (finding.statement == "eq:normalize" || finding.statement == "eq:pnmf_model" ||
            (finding.statement == "thm:global_nonincreasing" && one.algorithm != Algorithm::reference)) {
            EXPECT_EQ(finding.verdict, Verdict::holds) << finding.what << " " << finding.measured;
        }
    }
}

TEST(Check, FindsTheCertificateThatEveryKindOfFitRecorded) {
    const Dataset data = named(test::uniform_cloud(12, 40, 4));
    for (const Algorithm algorithm : {Algorithm::stationary, Algorithm::reference, Algorithm::paper}) {
        std::vector<Case> cases{{.algorithm = algorithm}};
        for (const NeighborSearch search :
             {NeighborSearch::exact, NeighborSearch::screened, NeighborSearch::clustered}) {
            for (const std::uint64_t seed : {0, 7}) {
                cases.push_back({.algorithm = algorithm, .neighbors = 4, .search = search, .seed = seed});
            }
        }
        for (const Case& one : cases) {
            expect_recorded_is_checked<double>(data, one);
            expect_recorded_is_checked<float>(data, one);
        }
    }
}

// Scales that stand for different numbers of others, and distances from another space.
TEST(Check, FindsTheCertificateOfFewScalesInASpace) {
    Dataset data = named(test::uniform_cloud(12, 40, 4));
    data.space = Space{.name = "obsm:X_other", .coordinates = test::uniform_cloud(3, 40, 9)};
    for (const std::optional<Index> neighbors : {std::optional<Index>{}, std::optional<Index>{4}}) {
        FitOptions options;
        options.rank = 3;
        options.scale_error = 1e-2;
        options.filtration.neighbors = neighbors;
        options.solver.max_sweeps = 6;
        AnnDataFile file = fitted<double>(data, options);
        StoredResult result = stored_result(file);
        ASSERT_LT(result.scales, 40);
        ASSERT_EQ(std::ssize(result.coupling), result.scales - 1);
        const std::vector<double> recorded = result.of_scales("kkt");
        const auto checked = [&] {
            return check_result(result, view_of(data.X), {.most_intervals = 1}).convergence->kkt;
        };
        const std::vector<double> found = checked();
        ASSERT_EQ(found.size(), recorded.size());
        for (std::size_t t = 0; t < recorded.size(); ++t) {
            EXPECT_NEAR(found[t], recorded[t], 1e-12 + 1e-9 * recorded[t]) << t;
        }
        const auto differs = [&] {
            const std::vector<double> other = checked();
            double most = 0.0;
            for (std::size_t t = 0; t < recorded.size(); ++t) {
                most = std::max(most, std::abs(other[t] - recorded[t]) / recorded[t]);
            }
            return most > 1e-6;
        };
        result.coupling.front() *= 3.0;
        EXPECT_TRUE(differs()) << "couplings count";
        result = stored_result(file);
        result.space->coordinates(0, 0) += 0.5;
        EXPECT_TRUE(differs()) << "the space counts";
    }
}

// With few cells every search finds the same neighbours. Of these the screened search misses some, and the
// seed decides which.
TEST(Check, SearchesNeighboursAsTheFitDid) {
    const Dataset data = named(test::uniform_cloud(700, 2500, 5));
    const Case one{.neighbors = 4, .search = NeighborSearch::screened, .seed = 7, .scales = 2};
    expect_recorded_is_checked<double>(data, one);
    AnnDataFile file = fitted<double>(data, options_of(one));
    auto& uns = std::get<AnnDataMap>(file.uns.at("pnmf").value);
    FitOptions other = options_of(one);
    other.seed = 0;
    uns["options"] = options_json(other);
    const StoredResult result = stored_result(file);
    const CheckReport report = check_result(result, view_of(data.X), {.most_intervals = 1});
    const double recorded = result.of_scales("kkt").back();
    EXPECT_GT(std::abs(report.convergence->kkt.back() - recorded), 1e-6 * recorded);
}

TEST(Check, FindsTheSameInAShuffledCopyAndRefusesAPart) {
    const Dataset data = named(test::uniform_cloud(12, 40, 6));
    const Case one{.neighbors = 4, .search = NeighborSearch::clustered, .seed = 3};
    const AnnDataFile file = fitted<double>(data, options_of(one));
    std::vector<Index> order(40);
    std::iota(order.begin(), order.end(), Index{0});
    std::reverse(order.begin(), order.begin() + 25);
    AnnDataFile shuffled = file;
    shuffled.cell_table.clear();
    shuffled.obsm.clear();
    for (std::size_t j = 0; j < order.size(); ++j) {
        shuffled.cell_names[j] = file.cell_names[static_cast<std::size_t>(order[j])];
    }
    const Matrix X = std::get<Matrix>(data.X)(Eigen::all, order);
    const CheckReport whole = check_result(stored_result(file), view_of(data.X), {.most_intervals = 1});
    const CheckReport other =
        check_result(stored_result(shuffled), DataView(view_of(X)), {.most_intervals = 1});
    EXPECT_EQ(other.convergence->kkt, whole.convergence->kkt);
    EXPECT_EQ(other.spectrum->largest, whole.spectrum->largest);

    AnnDataFile part = shuffled;
    part.cell_names.resize(10);
    const StoredResult some = stored_result(part);
    try {
        check_result(some, DataView(view_of(Matrix(X.leftCols(10)))));
        ADD_FAILURE() << "a part of the cells was checked";
    } catch (const InputError& e) {
        EXPECT_THAT(e.what(), HasSubstr("10 of its 40 cells are here"));
    }
}

TEST(Check, HoldsAFitThatStoppedOnItsCertificateAgainstThatTolerance) {
    SolverOptions options;
    options.tolerance = 1e-2;
    EXPECT_EQ(certificate_bound(options), 1e-2);
    options.stop = StopRule::relative_decrease;
    EXPECT_EQ(certificate_bound(options), 3e-4);
    options = {.algorithm = Algorithm::paper};
    EXPECT_EQ(certificate_bound(options), 3e-4);
}

TEST(Check, JudgesAFloatResultByWhatFloatCanHold) {
    Convergence convergence = trace_convergence({10.0, 9.0, 9.0 * (1.0 + 1e-7)}, Precision::single);
    EXPECT_EQ(convergence.rises, 0);
    EXPECT_EQ(trace_convergence({10.0, 9.0, 9.0 * (1.0 + 1e-7)}).rises, 1);
    convergence.normalisation = 5e-7;
    convergence.kkt_all = 3.01e-4;
    const auto verdicts = [&](Precision precision) {
        std::vector<Verdict> all;
        for (const Finding& one : findings(convergence, Algorithm::stationary, 3e-4, precision)) {
            all.push_back(one.verdict);
        }
        return all;
    };
    using enum Verdict;
    EXPECT_THAT(verdicts(Precision::single), ::testing::ElementsAre(holds, holds, holds, holds));
    EXPECT_THAT(verdicts(Precision::full), ::testing::ElementsAre(holds, fails, holds, fails));
}

} // namespace
} // namespace pnmf
