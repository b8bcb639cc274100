#include "io/files.hpp"
#include "support/paths.hpp"

#include "io/mat.hpp"

#include <gmock/gmock.h>

namespace pnmf {
namespace {

using namespace test;
using testing::AllOf;
using testing::HasSubstr;

/// The 128 bytes that begin a MATLAB file: text, the version, the byte order.
std::string mat_header(char version) {
    std::string header(128, ' ');
    header[124] = 0;
    header[125] = version;
    header[126] = 'I';
    header[127] = 'M';
    return header;
}

TEST(MatWithoutMatio, AFileOfVersionFiveIsRefusedWithTheReasonAndAWayOut) {
    const TemporaryFolder folder;
    const auto path = write_text(folder / "five.mat", mat_header(1));
    const auto says_why =
        AllOf(HasSubstr("five.mat"), HasSubstr("made without the library matio"), HasSubstr("-v7.3"));
    EXPECT_THAT(complaint_of([&] { read_dataset(path); }), says_why);
    EXPECT_THAT(complaint_of([&] { read_dataset(path, {.variable = "X"}); }), says_why);
    EXPECT_THAT(complaint_of([&] { read_mat_array(path, "X"); }), says_why);
}

} // namespace
} // namespace pnmf
