#include "support/paths.hpp"

#include <pnmf/error.hpp>
#include <pnmf/linalg/random.hpp>
#include <pnmf/results/result_file.hpp>
#include <pnmf/run/checkpoint.hpp>

#include <gmock/gmock.h>
#include <sys/resource.h>

#include <csignal>
#include <fstream>
#include <sstream>

namespace pnmf {
namespace {

namespace fs = std::filesystem;
using test::TemporaryFolder;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

const std::string mark = "data 1234\nrank 2\nlambda1 1.0\n";

template <class Real>
std::vector<DenseMatrix<Real>> random_matrices(Random& random, Index count, Index rows, Index cols) {
    std::vector<DenseMatrix<Real>> matrices;
    for (Index t = 0; t < count; ++t) {
        matrices.push_back(DenseMatrix<Real>::NullaryExpr(
            rows, cols, [&](Index, Index) { return static_cast<Real>(random.normal()); }));
    }
    return matrices;
}

template <class Real>
SolverState<Real> random_state(std::uint64_t seed, bool with_previous = true) {
    Random random(seed);
    SolverState<Real> state;
    state.current.W = random_matrices<Real>(random, 2, 3, 1);
    state.current.H = random_matrices<Real>(random, 2, 1, 2);
    if (with_previous) {
        state.previous.W = random_matrices<Real>(random, 2, 3, 1);
        state.previous.H = random_matrices<Real>(random, 2, 1, 2);
    }
    state.momentum = {{random.uniform(), random.uniform()}, {random.uniform(), random.uniform()}};
    for (int sweep = 0; sweep < 3; ++sweep) {
        state.trace.push_back({.fit = random.uniform(),
                               .graph = random.uniform(),
                               .smoothness = random.uniform(),
                               .anchor = random.uniform()});
        state.inner_steps.push_back(random.below(100));
    }
    return state;
}

template <class Real>
void expect_same(const SolverState<Real>& a, const SolverState<Real>& b) {
    EXPECT_EQ(a.current.W, b.current.W);
    EXPECT_EQ(a.current.H, b.current.H);
    EXPECT_EQ(a.previous.W, b.previous.W);
    EXPECT_EQ(a.previous.H, b.previous.H);
    ASSERT_EQ(a.momentum.size(), b.momentum.size());
    for (std::size_t t = 0; t < a.momentum.size(); ++t) {
        EXPECT_EQ(a.momentum[t].t, b.momentum[t].t);
        EXPECT_EQ(a.momentum[t].objective, b.momentum[t].objective);
    }
    EXPECT_EQ(a.inner_steps, b.inner_steps);
    ASSERT_EQ(a.trace.size(), b.trace.size());
    for (std::size_t i = 0; i < a.trace.size(); ++i) {
        EXPECT_EQ(a.trace[i].fit, b.trace[i].fit);
        EXPECT_EQ(a.trace[i].graph, b.trace[i].graph);
        EXPECT_EQ(a.trace[i].smoothness, b.trace[i].smoothness);
        EXPECT_EQ(a.trace[i].anchor, b.trace[i].anchor);
    }
}

std::string read_bytes(const fs::path& path) {
    std::ostringstream text;
    text << std::ifstream(path, std::ios::binary).rdbuf();
    return text.str();
}

void write_bytes(const fs::path& path, const std::string& bytes) {
    std::ofstream(path, std::ios::binary) << bytes;
}

/// The message of the InputError that loading throws; empty when the file is accepted.
template <class Real>
std::string complaint(const fs::path& path, const std::string& fingerprint = mark) {
    try {
        load_checkpoint<Real>(path, fingerprint);
    } catch (const InputError& e) {
        return e.what();
    }
    return "";
}

template <class Real>
class Checkpoint : public testing::Test {};
using Reals = testing::Types<float, double>;
TYPED_TEST_SUITE(Checkpoint, Reals);

TYPED_TEST(Checkpoint, IsLoadedAsItWasSaved) {
    const TemporaryFolder folder;
    for (const bool with_previous : {true, false}) {
        const auto state = random_state<TypeParam>(1, with_previous);
        save_checkpoint(folder / "c.bin", state, mark);
        expect_same(load_checkpoint<TypeParam>(folder / "c.bin", mark), state);
    }
}

TYPED_TEST(Checkpoint, OfBasesThatRestInAFileIsThatOfBasesInMemory) {
    const TemporaryFolder folder;
    const auto state = random_state<TypeParam>(1);
    save_checkpoint(folder / "memory.bin", state, mark);
    const auto in_file = load_checkpoint<TypeParam>(folder / "memory.bin", mark, folder.path());
    for (const Factors<TypeParam>& factors : {in_file.current, in_file.previous}) {
        ASSERT_TRUE(factors.file.has_value());
        EXPECT_EQ(factors.W[0].size() + factors.W[1].size(), 0);
    }
    save_checkpoint(folder / "file.bin", in_file, mark);
    expect_same(load_checkpoint<TypeParam>(folder / "file.bin", mark), state);
}

TYPED_TEST(Checkpoint, CutAtAnyByteIsRefused) {
    const TemporaryFolder folder;
    save_checkpoint(folder / "c.bin", random_state<TypeParam>(2), mark);
    const std::string whole = read_bytes(folder / "c.bin");
    for (std::size_t length = 0; length < whole.size(); ++length) {
        write_bytes(folder / "cut.bin", whole.substr(0, length));
        EXPECT_THAT(complaint<TypeParam>(folder / "cut.bin"), HasSubstr("cut.bin")) << length;
    }
    write_bytes(folder / "long.bin", whole + '\0');
    EXPECT_THAT(complaint<TypeParam>(folder / "long.bin"), HasSubstr("damaged"));
}

TYPED_TEST(Checkpoint, WithAnyByteDamagedIsRefused) {
    const TemporaryFolder folder;
    save_checkpoint(folder / "c.bin", random_state<TypeParam>(3), mark);
    const std::string whole = read_bytes(folder / "c.bin");
    for (std::size_t i = 0; i < whole.size(); ++i) {
        // The second highest bit: it makes counts larger than any memory.
        std::string flipped = whole;
        flipped[i] = static_cast<char>(flipped[i] ^ 0x40);
        write_bytes(folder / "flipped.bin", flipped);
        ASSERT_THAT(complaint<TypeParam>(folder / "flipped.bin"), HasSubstr("flipped.bin")) << "byte " << i;
    }
}

TEST(CheckpointRefusal, NamesTheOptionThatDiffers) {
    const TemporaryFolder folder;
    save_checkpoint(folder / "c.bin", random_state<double>(4), mark);
    const std::string other = complaint<double>(folder / "c.bin", "data 1234\nrank 2\nlambda1 3.0\n");
    EXPECT_THAT(other, AllOf(HasSubstr("lambda1 1.0"), HasSubstr("lambda1 3.0"), Not(HasSubstr("rank"))));
    EXPECT_THAT(complaint<double>(folder / "c.bin", "data 99\nrank 2\nlambda1 1.0\n"), HasSubstr("data"));
}

TEST(CheckpointRefusal, SaysThatThePrecisionDiffers) {
    const TemporaryFolder folder;
    save_checkpoint(folder / "c.bin", random_state<double>(5), mark);
    EXPECT_THAT(complaint<float>(folder / "c.bin"), HasSubstr("made in double precision"));
    save_checkpoint(folder / "c.bin", random_state<float>(5), mark);
    EXPECT_THAT(complaint<double>(folder / "c.bin"), HasSubstr("made in float precision"));
}

TEST(CheckpointRefusal, SaysThatTheFileIsMissingOrNoCheckpoint) {
    const TemporaryFolder folder;
    EXPECT_THAT(complaint<double>(folder / "absent.bin"), HasSubstr("no checkpoint"));
    EXPECT_THAT(complaint<double>(folder.path()), HasSubstr("checkpoint"));
    write_bytes(folder / "text.bin", "gene,cell1,cell2\na,1,2\n");
    EXPECT_THAT(complaint<double>(folder / "text.bin"), HasSubstr("not a checkpoint"));
}

TEST(CheckpointSaving, ReplacesTheOldOneAndLeavesNothingElse) {
    const TemporaryFolder folder;
    save_checkpoint(folder / "c.bin", random_state<double>(6), mark);
    const auto state = random_state<double>(7);
    save_checkpoint(folder / "c.bin", state, mark);
    expect_same(load_checkpoint<double>(folder / "c.bin", mark), state);
    EXPECT_EQ(std::distance(fs::directory_iterator(folder.path()), fs::directory_iterator()), 1);
}

/// Files can grow to `bytes` and no further while this lives, as on a full disk.
class FileSizeLimit {
  public:
    explicit FileSizeLimit(rlim_t bytes) : handler_(std::signal(SIGXFSZ, SIG_IGN)) {
        getrlimit(RLIMIT_FSIZE, &old_);
        const rlimit small{bytes, old_.rlim_max};
        setrlimit(RLIMIT_FSIZE, &small);
    }
    ~FileSizeLimit() {
        setrlimit(RLIMIT_FSIZE, &old_);
        std::signal(SIGXFSZ, handler_);
    }
    FileSizeLimit(const FileSizeLimit&) = delete;
    FileSizeLimit& operator=(const FileSizeLimit&) = delete;

  private:
    rlimit old_{};
    void (*handler_)(int);
};

TEST(CheckpointSaving, ThatFailsLeavesTheOldOneWhole) {
    const TemporaryFolder folder;
    const auto old = random_state<double>(8);
    save_checkpoint(folder / "c.bin", old, mark);
    {
        const FileSizeLimit limit(100);
        EXPECT_THROW(save_checkpoint(folder / "c.bin", random_state<double>(9), mark), SystemError);
    }
    expect_same(load_checkpoint<double>(folder / "c.bin", mark), old);
    EXPECT_EQ(std::distance(fs::directory_iterator(folder.path()), fs::directory_iterator()), 1);
    EXPECT_THROW(save_checkpoint(folder / "absent" / "c.bin", old, mark), SystemError);
    EXPECT_THROW(save_checkpoint(folder / "c.bin" / "c.bin", old, mark), SystemError);
}

TEST(RunFingerprint, DiffersWithDataAndShapingOptionsButNotWithStoppingRules) {
    const Matrix X = Matrix::Constant(3, 4, 0.5);
    const FitOptions options;
    const std::string found = run_fingerprint(options, X);
    const auto with = [&](auto change) {
        FitOptions changed;
        change(changed);
        return run_fingerprint(changed, X);
    };
    EXPECT_EQ(with([](FitOptions& o) { o.solver.max_sweeps = 3; }), found);
    EXPECT_EQ(with([](FitOptions& o) { o.solver.tolerance = 0.0; }), found);
    EXPECT_NE(with([](FitOptions& o) { o.rank = 2; }), found);
    EXPECT_NE(with([](FitOptions& o) { o.penalty.graph = 2; }), found);
    EXPECT_NE(with([](FitOptions& o) { o.seed = 1; }), found);
    Matrix Y = X;
    Y(2, 3) = std::nextafter(0.5, 1.0);
    EXPECT_NE(run_fingerprint(options, Y), found);
    EXPECT_NE(run_fingerprint(options, Matrix(Matrix::Constant(4, 3, 0.5))), found);
}

TEST(RunFingerprint, OfSparseDataKnowsItsShape) {
    SparseMatrix<double> X;
    X.rows = 3;
    X.cols = 1;
    X.start = {0, 1};
    X.row = {0};
    X.value = {2.0};
    const std::string found = run_fingerprint({}, X);
    X.rows = 4;
    EXPECT_NE(run_fingerprint({}, X), found);
}

} // namespace
} // namespace pnmf
