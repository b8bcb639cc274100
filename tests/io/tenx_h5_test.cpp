#include "io/h5_files.hpp"

#include <gmock/gmock.h>

namespace pnmf {
namespace {

using namespace test;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;

class TenxH5 : public H5Files {};

TEST_F(TenxH5, CellRanger2HasAGroupForTheGenome) {
    const Dataset data = read_dataset(h5_file("tenx_v2.h5"));
    EXPECT_TRUE(data.is_sparse());
    EXPECT_EQ(dense(data), full());
    EXPECT_THAT(data.feature_names, ElementsAre("A", "B", "A-1", "C", "antibody"));
    EXPECT_EQ(texts(column(data.feature_table, "gene_ids"))[2], "ENSG2");
    EXPECT_EQ(data.cell_names[6], "AAAC6-1");
    EXPECT_THAT(data.notices, Contains(HasSubstr("1 gene symbols occur more than once")));
}

TEST_F(TenxH5, CellRanger3MixesKindsOfFeaturesAndGenesAreKept) {
    const Dataset data = read_dataset(h5_file("tenx_v3.h5"));
    EXPECT_EQ(dense(data), full().topRows(4));
    EXPECT_THAT(data.feature_names, ElementsAre("A", "B", "A-1", "C"));
    EXPECT_EQ(texts(column(data.feature_table, "genome")).size(), 4U);
    EXPECT_THAT(data.notices, Contains(HasSubstr("4 of 5 features are of the type Gene Expression")));
}

} // namespace
} // namespace pnmf
