#include <pnmf/error.hpp>
#include <pnmf/simulate/simulate.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

namespace pnmf {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::ThrowsMessage;

TEST(Branches, LeadFromATrunkToTheEnds) {
    BranchesOptions options{.ends = 3, .steps = 4};
    options.cells.genes = 20;
    const BranchesModel model = make_branches_model(options);
    ASSERT_EQ(model.reaches.size(), 5U) << "a trunk and two forks";
    EXPECT_THAT(model.reaches[0], ElementsAre(0, 1, 2));
    EXPECT_EQ(model.cells.profile.cols(), 20) << "four places on each";
    for (std::size_t place = 0; place < model.time.size(); ++place) {
        EXPECT_EQ(model.time[place] < 1.0, model.branch[place] == 0);
        EXPECT_NEAR(model.cells.profile.col(static_cast<Index>(place)).sum(), 1.0, 1e-12);
    }
    std::vector<Index> ends(3, 0);
    for (const auto& reached : model.reaches) {
        if (reached.size() == 1) {
            ++ends[static_cast<std::size_t>(reached.front())];
        }
    }
    EXPECT_THAT(ends, ElementsAre(1, 1, 1));
}

TEST(Branches, ChangeInStepsFromOneEndToTheOther) {
    BranchesOptions options{.ends = 2, .steps = 10};
    options.cells.genes = 50;
    const BranchesModel model = make_branches_model(options);
    const auto apart = [&](Index a, Index b) {
        return (model.cells.profile.col(a).array().log() - model.cells.profile.col(b).array().log())
            .matrix()
            .norm();
    };
    for (Index place = 1; place < 10; ++place) { // along the trunk
        EXPECT_GT(apart(0, place), apart(0, place - 1));
    }
    const Index first = 10;
    const Index second = 20; // the beginnings of both arms are near each other, their ends are not
    EXPECT_LT(apart(first, second), apart(first + 9, second + 9));
}

TEST(Branches, RefuseWhatCannotBe) {
    EXPECT_THAT([] { make_branches_model({.ends = 0}); }, ThrowsMessage<InputError>(HasSubstr("1 end")));
    EXPECT_THAT([] { make_branches_model({.steps = 0}); }, ThrowsMessage<InputError>(HasSubstr("1 place")));
}

} // namespace
} // namespace pnmf
