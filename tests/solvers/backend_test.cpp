#include "solvers/backend_body.hpp"
#include "solvers/device.hpp"

#include <pnmf/error.hpp>

namespace pnmf::test {
namespace {

template <class R>
struct MakeCpu {
    using Real = R;
    static std::unique_ptr<Backend<R>> make(const Problem<R>& problem) {
        return make_backend(Device::cpu, problem);
    }
};

/// The twin is held to its own body: what it is compared with must itself be right.
template <class R>
struct MakePlain {
    using Real = R;
    static std::unique_ptr<Backend<R>> make(const Problem<R>& problem) {
        return std::make_unique<PlainBackend<R>>(problem);
    }
};

using Cpu = ::testing::Types<MakeCpu<float>, MakeCpu<double>>;
using Plain = ::testing::Types<MakePlain<float>, MakePlain<double>>;
INSTANTIATE_TYPED_TEST_SUITE_P(Cpu, BackendBody, Cpu);
INSTANTIATE_TYPED_TEST_SUITE_P(Plain, BackendBody, Plain);

TEST(MakeBackend, NamesTheDevicesThatThereAre) {
    const bool cuda = facts_of(Device::cuda).built;
    EXPECT_EQ(devices(), cuda ? (std::vector<std::string>{"cpu", "cuda"}) : std::vector<std::string>{"cpu"});
    const auto made = body_problem<double>({});
    try {
        make_backend(Device::automatic, made.problem);
        FAIL() << "an unknown device was taken";
    } catch (const InputError& e) {
        EXPECT_EQ(e.what(),
                  fmt::format("the device must be one of {}, got auto", fmt::join(devices(), ", ")));
    }
}

} // namespace
} // namespace pnmf::test
