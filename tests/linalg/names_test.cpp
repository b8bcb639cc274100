#include <pnmf/names.hpp>

#include <gtest/gtest.h>

namespace pnmf {

enum class Fruit { apple, red_currant, unnamed };

template <>
struct EnumNames<Fruit> {
    static constexpr auto values =
        name_table<Fruit>({{"apple", Fruit::apple}, {"red-currant", Fruit::red_currant}});
};

namespace {

TEST(Names, LeadFromValuesToNamesAndBack) {
    for (const auto& [name, value] : EnumNames<Fruit>::values) {
        EXPECT_EQ(name_of(value), name);
        EXPECT_EQ(value_named<Fruit>(name), value);
    }
    static_assert(name_of(Fruit::red_currant) == "red-currant");
    EXPECT_EQ(joined_names<Fruit>("|"), "apple|red-currant");
}

TEST(Names, OfWhatTheTableDoesNotHaveAreNone) {
    EXPECT_EQ(name_of(Fruit::unnamed), "");
    EXPECT_EQ(value_named<Fruit>("Apple"), std::nullopt);
    EXPECT_EQ(value_named<Fruit>(""), std::nullopt);
}

} // namespace
} // namespace pnmf
