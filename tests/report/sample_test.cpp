#include "report/payload.hpp"
#include "report/report_fixture.hpp"
#include "report/sample.hpp"
#include "report/unpacked.hpp"

#include <pnmf/report/report.hpp>

#include <gmock/gmock.h>

#include <algorithm>
#include <set>

namespace pnmf::report {
namespace {

using ::testing::HasSubstr;

/// Of very many cells a page has some, each with its own values.
TEST_F(Report, ShowsASampleOfVeryManyCells) {
    const auto path = fitted();
    const std::string all = report_html({{.result = stored(path), .data = &data_}});
    const std::string html = report_html({{.result = stored(path), .data = &data_}}, {.most_cells = 7});
    const Json meta = meta_of(html);
    EXPECT_EQ(meta["cells"], 7);
    EXPECT_EQ(meta["cells_of_fit"], 16);
    EXPECT_FALSE(meta_of(all).contains("cells_of_fit"));
    EXPECT_THAT(meta["run"]["notices"].dump(), HasSubstr("7 of the 16 cells of the fit are shown"));
    const Matrix values = expression_of(html, meta);
    const auto& X = std::get<Matrix>(data_.X);
    const auto genes = meta["genes"].get<std::vector<std::string>>();
    ASSERT_EQ(std::ssize(genes), X.rows());
    const auto labels = array_of<std::uint16_t>(html, meta, "column0");
    const auto all_labels = array_of<std::uint16_t>(all, meta_of(all), "column0");
    const auto clusters = array_of<std::uint8_t>(html, meta, "clusters");
    const auto all_clusters = array_of<std::uint8_t>(all, meta_of(all), "clusters");
    const auto scales = static_cast<Index>(clusters.size()) / 7;
    ASSERT_EQ(all_clusters.size(), static_cast<std::size_t>(16 * scales));
    for (Index j = 0; j < 7; ++j) {
        const auto name = meta["cell_names"][static_cast<std::size_t>(j)].get<std::string>();
        const Index of_all = std::stoi(name.substr(4));
        EXPECT_EQ(labels[j], all_labels[of_all]) << name;
        for (Index g = 0; g < X.rows(); ++g) {
            const Index gene = std::stoi(genes[static_cast<std::size_t>(g)].substr(4));
            EXPECT_NEAR(values(g, j), std::max(0.0, X(gene, of_all)), X.maxCoeff() / 255.0) << name;
        }
        for (Index t = 0; t < scales; ++t) {
            EXPECT_EQ(clusters[t * 7 + j], all_clusters[t * 16 + of_all]) << name;
        }
    }
}

/// Two results on a page have their cells in common, though the file of one was sorted.
TEST(SampleOfCells, DoesNotDependOnTheirOrder) {
    std::vector<std::string> names;
    for (int j = 0; j < 1000; ++j) {
        names.push_back(std::to_string(j) + "-1");
    }
    const auto drawn = [&] {
        std::set<std::string> some;
        for (const Index cell : drawn_by_name(names, 300)) {
            some.insert(names[static_cast<std::size_t>(cell)]);
        }
        return some;
    };
    const std::set<std::string> some = drawn();
    EXPECT_EQ(some.size(), 300);
    int of_first = 0;
    for (const std::string& name : some) {
        of_first += std::stoi(name) < 500 ? 1 : 0;
    }
    EXPECT_NEAR(of_first, 150, 40); // four standard deviations: drawn evenly
    std::reverse(names.begin(), names.end());
    EXPECT_EQ(drawn(), some);
    EXPECT_EQ(drawn_by_name({"a", "a", "b"}, 3), (std::vector<Index>{0, 1, 2}));
}

} // namespace
} // namespace pnmf::report
