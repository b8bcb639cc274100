#include <pnmf/io/annotations.hpp>

#include "support/paths.hpp"

#include <pnmf/error.hpp>
#include <pnmf/io/write.hpp>

#include <gmock/gmock.h>

namespace pnmf {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::ThrowsMessage;

TEST(GeneSets, AreReadLineByLineAndFoundByName) {
    const test::TemporaryFolder folder;
    write_text(folder / "sets.gmt",
               "B cells\thttp://x\tCD79A\tMS4A1\tCD79A\r\n\nempty\t\t\nT\tna\tCD3D\t\tCD3E");
    const std::vector<GeneSet> sets = read_gene_sets(folder / "sets.gmt");
    ASSERT_EQ(sets.size(), 3U);
    EXPECT_EQ(sets[0].name, "B cells");
    EXPECT_THAT(sets[0].genes, ElementsAre("CD79A", "MS4A1"));
    EXPECT_TRUE(sets[1].genes.empty());
    EXPECT_THAT(sets[2].genes, ElementsAre("CD3D", "CD3E"));
    EXPECT_THAT(positions_of_sets(sets, {"MS4A1", "cd3d", "CD3E"}),
                ElementsAre(ElementsAre(0), ElementsAre(), ElementsAre(2)));
}

TEST(GeneSets, ThatAreNoneAreRefusedWithTheLine) {
    const test::TemporaryFolder folder;
    write_text(folder / "bad.gmt", "one\tna\tA\ntwo,na,B\n");
    EXPECT_THAT([&] { read_gene_sets(folder / "bad.gmt"); },
                ThrowsMessage<InputError>(HasSubstr("bad.gmt:2: a gene set is a name")));
    write_text(folder / "none.gmt", "\n");
    EXPECT_THAT([&] { read_gene_sets(folder / "none.gmt"); },
                ThrowsMessage<InputError>(HasSubstr("there is no gene set")));
}

} // namespace
} // namespace pnmf
