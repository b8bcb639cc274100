#include "io/zarr_array.hpp"

#include <pnmf/error.hpp>

#include <gmock/gmock.h>

namespace pnmf {
namespace {

using testing::AllOf;
using testing::HasSubstr;

TEST(ZarrWithoutCodecs, AChunkThatNeedsALibraryIsRefusedWithItsName) {
    for (const char* codec : {"blosc", "zstd"}) {
        try {
            zarr::decompress("cells.zarr/X/0", "bytes", {codec}, 100);
            ADD_FAILURE() << codec << " must be refused";
        } catch (const InputError& error) {
            EXPECT_THAT(error.what(),
                        AllOf(HasSubstr("cells.zarr/X/0"), HasSubstr(codec), HasSubstr("libblosc-dev")));
        }
    }
}

} // namespace
} // namespace pnmf
