#include "report/plane.hpp"

#include "linalg/decompositions.hpp"

#include "report/payload.hpp"

#include <gmock/gmock.h>
#include <zlib.h>

#include <random>

namespace pnmf::report {
namespace {

using ::testing::DoubleNear;

Matrix random_matrix(Index rows, Index cols, unsigned seed) {
    std::mt19937 random(seed);
    std::normal_distribution<double> normal;
    return Matrix::NullaryExpr(rows, cols, [&] { return std::abs(normal(random)); });
}

TEST(Plane, OfTwoComponentsIsTheEmbeddingItself) {
    const Matrix H = random_matrix(2, 9, 1);
    const Plane plane = common_plane([&](Index) { return H; }, {0}, 2);
    EXPECT_EQ(plane.directions, Matrix::Identity(2, 2));
    EXPECT_EQ(plane.centre, Vector::Zero(2));
}

TEST(Plane, OfOneComponentHasNothingOnTheSecondAxis) {
    const Matrix H = random_matrix(1, 5, 2);
    const Plane plane = common_plane([&](Index) { return H; }, {0}, 1);
    const ScalePositions at = quantised_positions(plane, H);
    EXPECT_EQ(at.box[1], 0.0);
    EXPECT_EQ(at.box[3], 0.0);
    EXPECT_THAT(at.y, ::testing::Each(0));
}

TEST(Plane, KeepsMoreVarianceThanAnyOtherPlane) {
    const std::vector<Matrix> H{random_matrix(5, 40, 3), random_matrix(5, 40, 4) * 2.0};
    const Plane plane = common_plane([&](Index t) { return H[static_cast<std::size_t>(t)]; }, {0, 1}, 5);
    EXPECT_TRUE((plane.directions.transpose() * plane.directions).isIdentity(1e-12));
    Matrix all(5, 80);
    all << H[0], H[1];
    EXPECT_TRUE(plane.centre.isApprox(all.rowwise().mean(), 1e-12));
    const Matrix centred = all.colwise() - all.rowwise().mean();
    const double kept = (plane.directions.transpose() * centred).squaredNorm();
    EXPECT_THAT(plane.share[0] + plane.share[1], DoubleNear(kept / centred.squaredNorm(), 1e-12));
    for (unsigned seed = 10; seed < 60; ++seed) {
        const Matrix other = thin_qr(random_matrix(5, 2, seed).array() - 0.7).Q;
        EXPECT_LE((other.transpose() * centred).squaredNorm(), kept * (1.0 + 1e-12));
    }
}

TEST(Plane, PositionsAreExactToOneStepOfSixteenBits) {
    const Matrix H = random_matrix(2, 50, 5);
    const ScalePositions at = quantised_positions(common_plane([&](Index) { return H; }, {0}, 2), H);
    for (Index j = 0; j < H.cols(); ++j) {
        const double step = (at.box[2] - at.box[0]) / 65535.0;
        EXPECT_NEAR(at.box[0] + step * at.x[static_cast<std::size_t>(j)], H(0, j), 0.5000001 * step);
    }
}

TEST(PositionCoder, IsUndoneByAddingDifferencesModuloSixteenBits) {
    std::mt19937 random(6);
    std::uniform_int_distribution<int> any(0, 65535);
    const std::size_t cells = 17;
    const std::size_t scales = 5;
    std::vector<ScalePositions> given(scales);
    PositionCoder coder(cells);
    for (ScalePositions& at : given) {
        for (std::size_t j = 0; j < cells; ++j) {
            at.x.push_back(static_cast<std::uint16_t>(any(random)));
            at.y.push_back(static_cast<std::uint16_t>(j == 0 ? 0 : 65535));
        }
        coder.add(at);
    }
    const std::vector<std::uint8_t> bytes = coder.bytes();
    const std::size_t count = scales * 2 * cells;
    ASSERT_EQ(bytes.size(), 2 * count);
    std::vector<std::uint16_t> values(count);
    for (std::size_t i = 0; i < count; ++i) {
        const unsigned code = bytes[i] | (static_cast<unsigned>(bytes[count + i]) << 8U);
        const int step = (code & 1U) != 0 ? -static_cast<int>((code + 1) / 2) : static_cast<int>(code / 2);
        values[i] = static_cast<std::uint16_t>((i >= 2 * cells ? values[i - 2 * cells] : 0) + step);
    }
    for (std::size_t t = 0; t < scales; ++t) {
        for (std::size_t j = 0; j < cells; ++j) {
            EXPECT_EQ(values[t * 2 * cells + j], given[t].x[j]);
            EXPECT_EQ(values[t * 2 * cells + cells + j], given[t].y[j]);
        }
    }
}

TEST(Base64, AgreesWithTheExamplesOfItsStandard) {
    const std::vector<std::pair<std::string, std::string>> pairs{{"", ""},
                                                                 {"f", "Zg=="},
                                                                 {"fo", "Zm8="},
                                                                 {"foo", "Zm9v"},
                                                                 {"foob", "Zm9vYg=="},
                                                                 {"fooba", "Zm9vYmE="},
                                                                 {"foobar", "Zm9vYmFy"}};
    for (const auto& [plain, coded] : pairs) {
        EXPECT_EQ(base64(plain), coded);
    }
    EXPECT_EQ(base64("\xff\xfe\xfb"), "//77");
}

TEST(Deflated, IsUndoneByZlibAlsoBeyondItsBuffers) {
    std::mt19937 random(7);
    for (const std::size_t size :
         {std::size_t{0}, std::size_t{1}, std::size_t{1} << 18U, std::size_t{600000}}) {
        std::string plain(size, '\0');
        for (char& letter : plain) {
            letter = static_cast<char>(random());
        }
        const std::string packed = deflated(plain);
        std::string back(size + 1, 'x');
        uLongf length = back.size();
        ASSERT_EQ(uncompress(reinterpret_cast<Bytef*>(back.data()), &length,
                             reinterpret_cast<const Bytef*>(packed.data()), packed.size()),
                  Z_OK);
        back.resize(length);
        EXPECT_TRUE(back == plain) << size;
    }
}

} // namespace
} // namespace pnmf::report
