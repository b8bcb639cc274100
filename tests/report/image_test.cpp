#include "report/image.hpp"

#include <gmock/gmock.h>

#include <cmath>

namespace pnmf::report {
namespace {

/// Libraries with an image of 40 x 60 pixels for places up to (120, 80): red, from column 30 on blue.
AnnDataMap libraries(const std::vector<std::string>& names, bool bytes = false) {
    std::vector<float> colours(40 * 60 * 3, 0.0F);
    for (std::size_t i = 0; i < 40 * 60; ++i) {
        colours[3 * i + (i % 60 < 30 ? 0 : 2)] = bytes ? 255.0F : 1.0F;
    }
    NumericArray pixels{.shape = {40, 60, 3}, .values = colours};
    if (bytes) {
        pixels.values = std::vector<std::int64_t>(colours.begin(), colours.end());
    }
    AnnDataMap spatial;
    for (const std::string& name : names) {
        spatial[name] = {AnnDataMap{{"images", {AnnDataMap{{"lowres", {pixels}}}}},
                                    {"scalefactors", {AnnDataMap{{"tissue_lowres_scalef", {0.5}}}}}}};
    }
    return spatial;
}

TEST(PackedImage, HasThePixelsInTheBoxAsStepsOfLightnessAndColour) {
    const auto image = packed_image(libraries({"slide"}), "", {8.2, 18.2, 71.8, 61.8}, 1'000'000);
    ASSERT_TRUE(image.has_value());
    EXPECT_EQ(image->box, (std::array<double, 4>{8.0, 18.0, 72.0, 62.0})); // whole pixels
    EXPECT_EQ(image->width, 32);
    EXPECT_EQ(image->height, 22);
    ASSERT_EQ(image->bytes.size(), 32U * 22 + 2 * 16 * 11);
    const auto step = [&](std::size_t i) {
        return static_cast<int>(static_cast<signed char>(image->bytes[i]));
    };
    EXPECT_EQ(step(0), 15);                  // 255 / 16
    EXPECT_EQ(step(26), 0);                  // column 30: blue is as light
    EXPECT_EQ(step(32 * 22), 31);            // 255 / 8: red above blue
    EXPECT_EQ(step(32 * 22 + 13), -32 - 31); // and below it from there on
    EXPECT_EQ(step(32 * 22 + 16 * 11), -16); // 255 / 16: green below both
}

TEST(PackedImage, OfBytesIsThatOfSharesOfOne) {
    const std::array<double, 4> all{0.0, 0.0, 120.0, 80.0};
    EXPECT_EQ(packed_image(libraries({"a"}, true), "a", all, 100)->bytes,
              packed_image(libraries({"a"}), "a", all, 100)->bytes);
}

TEST(PackedImage, BecomesSmallerUntilItHasFewEnoughPixels) {
    const auto image = packed_image(libraries({"a"}), "a", {-50.0, 0.0, 500.0, 80.0}, 300);
    EXPECT_EQ(image->width, 20);
    EXPECT_EQ(image->height, 13);
    EXPECT_EQ(image->box, (std::array<double, 4>{0.0, 0.0, 120.0, 78.0}));
}

TEST(PackedImage, IsOfTheLibraryOfTheSliceOrTheOnlyOne) {
    const std::array<double, 4> all{0.0, 0.0, 120.0, 80.0};
    EXPECT_TRUE(packed_image(libraries({"a", "b"}), "b", all, 100).has_value());
    EXPECT_TRUE(packed_image(libraries({"a"}), "c", all, 100).has_value());
    EXPECT_FALSE(packed_image(libraries({"a", "b"}), "c", all, 100).has_value());
    EXPECT_FALSE(packed_image({}, "a", all, 100).has_value());
}

TEST(PackedImage, IsMissingWhereThereIsNothingToShow) {
    const std::array<double, 4> all{0.0, 0.0, 120.0, 80.0};
    for (const char* part : {"images", "scalefactors"}) {
        AnnDataMap damaged = libraries({"a"});
        std::get<AnnDataMap>(damaged.at("a").value)[part] = {AnnDataMap{}};
        EXPECT_FALSE(packed_image(damaged, "a", all, 100).has_value()) << part;
    }
    EXPECT_FALSE(packed_image(libraries({"a"}), "a", {200.0, 0.0, 300.0, 80.0}, 100).has_value());
    EXPECT_FALSE(packed_image(libraries({"a"}), "a", {HUGE_VAL, HUGE_VAL, -HUGE_VAL, -HUGE_VAL}, 100));
}

} // namespace
} // namespace pnmf::report
