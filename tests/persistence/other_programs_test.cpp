// The diagrams of GUDHI and Ripser on the same distances.

#include "persistence/loops.hpp"
#include "support/clouds.hpp"
#include "support/paths.hpp"

#include <pnmf/persistence/diagram.hpp>

#include <gtest/gtest.h>

#include <gudhi/Persistent_cohomology.h>
#include <gudhi/Rips_complex.h>
#include <gudhi/Simplex_tree.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <regex>

namespace pnmf {
namespace {

using test::all_clouds;

std::vector<double> gudhi_deaths(const Points& points) {
    std::vector<std::vector<double>> rows(static_cast<std::size_t>(points.count()));
    for (Index i = 0; i < points.count(); ++i) {
        for (Index j = 0; j < i; ++j) {
            rows[i].push_back(points.distance(i, j));
        }
    }
    Gudhi::rips_complex::Rips_complex<double> rips(rows, std::numeric_limits<double>::infinity());
    Gudhi::Simplex_tree<> complex;
    rips.create_complex(complex, 1);
    using Cohomology =
        Gudhi::persistent_cohomology::Persistent_cohomology<Gudhi::Simplex_tree<>,
                                                            Gudhi::persistent_cohomology::Field_Zp>;
    Cohomology cohomology(complex);
    cohomology.init_coefficients(2);
    cohomology.compute_persistent_cohomology(-1.0); // also the classes that die at once
    std::vector<double> deaths;
    for (const auto& [birth, death] : cohomology.intervals_in_dimension(0)) {
        if (std::isfinite(death)) {
            deaths.push_back(death);
        }
    }
    std::sort(deaths.begin(), deaths.end());
    return deaths;
}

std::vector<std::pair<double, double>> gudhi_loops(const Matrix& distances) {
    std::vector<std::vector<double>> rows(static_cast<std::size_t>(distances.rows()));
    for (Index i = 0; i < distances.rows(); ++i) {
        for (Index j = 0; j < i; ++j) {
            rows[i].push_back(distances(i, j));
        }
    }
    Gudhi::rips_complex::Rips_complex<double> rips(rows, std::numeric_limits<double>::infinity());
    Gudhi::Simplex_tree<> complex;
    rips.create_complex(complex, 2);
    using Cohomology =
        Gudhi::persistent_cohomology::Persistent_cohomology<Gudhi::Simplex_tree<>,
                                                            Gudhi::persistent_cohomology::Field_Zp>;
    Cohomology cohomology(complex);
    cohomology.init_coefficients(cocycle_prime);
    cohomology.compute_persistent_cohomology(0.0);
    std::vector<std::pair<double, double>> found;
    for (const auto& [birth, death] : cohomology.intervals_in_dimension(1)) {
        if (birth < death) {
            found.emplace_back(birth, death);
        }
    }
    std::sort(found.begin(), found.end());
    return found;
}

/// Ripser computes in float, prints six digits and leaves out deaths at 0. Asked for dimension 0 alone,
/// version 1.2.1 ends in a failed assertion of its own; dimension 1 brings both.
std::vector<double> ripser_deaths(const Points& points) {
    const test::TemporaryFolder folder;
    std::ofstream file(folder / "lower");
    file.precision(9);
    for (Index i = 1; i < points.count(); ++i) {
        for (Index j = 0; j < i; ++j) {
            file << points.distance(i, j) << (j + 1 < i ? "," : "\n");
        }
    }
    file.close();
    const auto result =
        test::run_command("ripser --format lower-distance --dim 1 " + (folder / "lower").string());
    EXPECT_EQ(result.exit_code, 0) << result.err;
    const std::string dimension0 = result.out.substr(0, result.out.find("in dim 1"));
    std::vector<double> deaths;
    const std::regex interval(R"(\[0,([0-9.e+-]+)\))");
    for (auto m = std::sregex_iterator(dimension0.begin(), dimension0.end(), interval);
         m != std::sregex_iterator(); ++m) {
        deaths.push_back(std::stod((*m)[1]));
    }
    std::sort(deaths.begin(), deaths.end());
    return deaths;
}

TEST(OtherPrograms, GudhiFindsTheSameDeaths) {
    for (const auto& [name, X] : all_clouds(90)) {
        const Points points(X);
        EXPECT_EQ(h0_diagram(minimum_spanning_tree(points)).deaths, gudhi_deaths(points)) << name;
    }
    const Points sparse(test::sparse_cloud(40, 90, 0.1, 41));
    EXPECT_EQ(h0_diagram(minimum_spanning_tree(sparse)).deaths, gudhi_deaths(sparse));
}

TEST(OtherPrograms, GudhiFindsTheSameLoops) {
    for (const auto& [name, X] : all_clouds(90)) {
        const Matrix distances = Points(X).table();
        std::vector<std::pair<double, double>> ours;
        for (const Loop& loop : h1_diagram(distances)) {
            ours.emplace_back(loop.birth, loop.death);
        }
        std::sort(ours.begin(), ours.end());
        EXPECT_EQ(ours, gudhi_loops(distances)) << name;
    }
}

TEST(OtherPrograms, RipserFindsTheSameDeathsToItsDigits) {
    for (const auto& [name, X] : all_clouds(90)) {
        const Points points(X);
        auto deaths = h0_diagram(minimum_spanning_tree(points)).deaths;
        std::erase(deaths, 0.0);
        const auto found = ripser_deaths(points);
        ASSERT_EQ(found.size(), deaths.size()) << name;
        for (std::size_t t = 0; t < deaths.size(); ++t) {
            EXPECT_NEAR(found[t], deaths[t], 1e-5 * deaths[t]) << name;
        }
    }
}

} // namespace
} // namespace pnmf
