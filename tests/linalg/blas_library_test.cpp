#include "linalg/blas_library.hpp"

#include <pnmf/linalg/gemm.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>

namespace pnmf {
namespace {

TEST(BlasLibrary, UsesTheVectorsOfThisProcessor) {
    if (std::getenv("OPENBLAS_CORETYPE") != nullptr) {
        GTEST_SKIP() << "OPENBLAS_CORETYPE is set: its kernel is the user's choice";
    }
    EXPECT_FALSE(better_kernel(blas_library().kernel, cpu_features()).has_value()) << blas_description();
}

TEST(BlasLibrary, IsAskedForAnotherKernelOnlyWhereItLeavesVectorsUnused) {
    const CpuFeatures old{};
    const CpuFeatures avx2{.avx2 = true};
    const CpuFeatures avx512{.avx2 = true, .avx512 = true};
    const CpuFeatures arm{.neon = true};
    EXPECT_EQ(better_kernel("Prescott", avx512), "SkylakeX");
    EXPECT_EQ(better_kernel("Prescott", avx2), "Haswell");
    EXPECT_EQ(better_kernel("Nehalem", avx2), "Haswell");
    EXPECT_EQ(better_kernel("Sandybridge", avx2), "Haswell");
    EXPECT_EQ(better_kernel("armv8", arm), "NEOVERSEN1");
    EXPECT_EQ(better_kernel("Prescott", old), std::nullopt);
    EXPECT_EQ(better_kernel("Haswell", avx512), std::nullopt); // its own choice between two good ones
    EXPECT_EQ(better_kernel("Zen", avx2), std::nullopt);
    EXPECT_EQ(better_kernel("SkylakeX", avx512), std::nullopt);
    EXPECT_EQ(better_kernel("neoversev1", arm), std::nullopt);
}

TEST(BlasLibrary, NamesItselfAndItsKernel) {
    EXPECT_THAT(blas_description(), testing::HasSubstr("OpenBLAS"));
    EXPECT_THAT(blas_description(), testing::HasSubstr("kernel " + blas_library().kernel));
}

} // namespace
} // namespace pnmf
