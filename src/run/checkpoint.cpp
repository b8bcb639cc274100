#include "cells/processes.hpp"
#include "run/state_file.hpp"

#include <pnmf/error.hpp>
#include <pnmf/run/checkpoint.hpp>

#include <algorithm>
#include <array>
#include <cstring>
#include <exception>
#include <fstream>
#include <optional>
#include <span>
#include <sstream>
#include <system_error>

namespace pnmf {
namespace {

// Layout: magic, size of a number, fingerprint, scales of the start (0: it is done) and how many of them are
// not chained yet, positions of the scales kept (none: all are), momentum, trace, inner steps, current
// factors, previous factors.
constexpr std::array<char, 8> magic{'p', 'n', 'm', 'f', 'c', 'k', 'p', '5'};

template <class Real>
void write_matrix(StateWriter& writer, const DenseMatrix<Real>& matrix) {
    writer.value(static_cast<std::int64_t>(matrix.rows()));
    writer.value(static_cast<std::int64_t>(matrix.cols()));
    writer.bytes(matrix.data(), static_cast<std::size_t>(matrix.size()) * sizeof(Real));
}

/// The columns of all processes, as they arrive at the first process, which never holds more than those of
/// one other.
template <class Real>
void write_columns_of_all(StateWriter& writer, const DenseMatrix<Real>& here, const CellRange& held) {
    Processes& processes = all_processes();
    const std::vector<Index> counts = gather_one<Index>(processes, here.size());
    if (processes.place() == 0) {
        writer.value(static_cast<std::int64_t>(here.rows()));
        writer.value(static_cast<std::int64_t>(held.all));
    }
    pass_to_first(processes, std::span<const Real>(here.data(), static_cast<std::size_t>(here.size())),
                  counts,
                  [&](std::span<const Real> columns) { writer.bytes(columns.data(), columns.size_bytes()); });
}

/// With `held` the columns of these cells alone.
template <class Real>
DenseMatrix<Real> read_matrix(StateReader& reader, const std::optional<CellRange>& held = {}) {
    const auto rows = reader.count(1); // bounded by the file, so that the next product is exact
    const auto column = static_cast<std::size_t>(rows) * sizeof(Real);
    const auto cols = reader.count(column);
    reader.expect(!held || held->all == cols);
    const CellRange kept = held.value_or(CellRange{0, cols, cols});
    DenseMatrix<Real> matrix(rows, kept.count);
    reader.skip(static_cast<std::size_t>(kept.first) * column);
    reader.bytes(matrix.data(), static_cast<std::size_t>(matrix.size()) * sizeof(Real));
    reader.skip(static_cast<std::size_t>(cols - kept.past()) * column);
    return matrix;
}

/// The scales from `first` on.
template <class Real>
void write_factors(StateWriter& writer, const Factors<Real>& factors, const std::optional<CellRange>& held,
                   Index first = 0) {
    DenseMatrix<Real> buffer;
    writer.value(static_cast<std::int64_t>(factors.W.size()));
    for (Index t = first; t < std::ssize(factors.W); ++t) {
        write_matrix(writer, factors.basis(t, buffer));
    }
    writer.value(static_cast<std::int64_t>(factors.H.size()));
    for (Index t = first; t < std::ssize(factors.H); ++t) {
        const DenseMatrix<Real>& H = factors.H[static_cast<std::size_t>(t)];
        if (held) {
            write_columns_of_all(writer, H, *held);
        } else {
            write_matrix(writer, H);
        }
    }
}

/// A count of scales, of which those from `first` on follow.
std::int64_t read_count(StateReader& reader, Index first) {
    const auto result = reader.value<std::int64_t>();
    reader.expect(result >= first && reader.fits(result - first, 2 * sizeof(std::int64_t)));
    return result;
}

template <class Real>
Factors<Real> read_factors(StateReader& reader, const std::filesystem::path& bases_in,
                           const std::optional<CellRange>& held, Index first = 0) {
    Factors<Real> factors;
    factors.W.resize(static_cast<std::size_t>(read_count(reader, first)));
    Index rows = 0;
    Index cols = 0;
    for (Index t = first; t < std::ssize(factors.W); ++t) {
        factors.W[t] = read_matrix<Real>(reader);
        reader.expect(t == first || (factors.W[t].rows() == rows && factors.W[t].cols() == cols));
        rows = factors.W[t].rows();
        cols = factors.W[t].cols();
        reader.expect(
            reader.fits(std::ssize(factors.W) - t - 1, rows * cols * static_cast<Index>(sizeof(Real))));
        if (!bases_in.empty() && !factors.file) {
            factors.file.emplace(bases_in, std::ssize(factors.W), rows, cols);
        }
        factors.rest(t);
    }
    factors.H.resize(static_cast<std::size_t>(read_count(reader, first)));
    for (Index t = first; t < std::ssize(factors.H); ++t) {
        factors.H[t] = read_matrix<Real>(reader, held);
    }
    return factors;
}

/// What stands before the state.
struct Head {
    std::int64_t bytes_of_number = 0;
    std::string fingerprint;
    std::int64_t start_scales = 0;
    std::int64_t unchained = 0;
};

Head read_head(StateReader& reader) {
    std::array<char, magic.size()> found{};
    reader.bytes(found.data(), found.size());
    require(found == magic, "{}: this is not a checkpoint of this version of pnmf", reader.path().string());
    Head head;
    head.bytes_of_number = reader.value<std::int64_t>();
    reader.expect(head.bytes_of_number == sizeof(float) || head.bytes_of_number == sizeof(double));
    reader.list(head.fingerprint);
    head.start_scales = reader.value<std::int64_t>();
    head.unchained = reader.value<std::int64_t>();
    constexpr std::int64_t most_scales = std::int64_t{1} << 22U; // so that a damaged count asks for little
    reader.expect(head.start_scales >= 0 && head.start_scales < most_scales && head.unchained >= 0 &&
                  head.unchained <= head.start_scales);
    return head;
}

/// The lines of one fingerprint that the other has not, in one line.
std::string lines_only_in(const std::string& fingerprint, const std::string& other) {
    const auto lines = [](const std::string& text) {
        std::vector<std::string> result;
        std::istringstream in(text);
        for (std::string line; std::getline(in, line);) {
            result.push_back(line);
        }
        return result;
    };
    const std::vector<std::string> known = lines(other);
    std::string result;
    for (const std::string& line : lines(fingerprint)) {
        if (std::find(known.begin(), known.end(), line) == known.end()) {
            result += (result.empty() ? "" : ", ") + line;
        }
    }
    return result;
}

template <class Real>
void write_checkpoint(const std::filesystem::path& path, Index start_scales, Index unchained,
                      const std::vector<Index>& kept, const SolverState<Real>& state,
                      const std::string& fingerprint, const std::optional<CellRange>& held) {
    StateWriter writer(held && all_processes().place() > 0 ? nullptr : &path);
    writer.bytes(magic.data(), magic.size());
    writer.value(static_cast<std::int64_t>(sizeof(Real)));
    writer.list(fingerprint);
    writer.value(static_cast<std::int64_t>(start_scales));
    writer.value(static_cast<std::int64_t>(unchained));
    writer.list(kept);
    writer.list(state.momentum);
    writer.list(state.trace);
    writer.list(state.inner_steps);
    write_factors(writer, state.current, held, unchained);
    write_factors(writer, state.previous, held);
    writer.commit();
}

} // namespace

template <class Real>
void save_checkpoint(const std::filesystem::path& path, const SolverState<Real>& state,
                     const std::string& fingerprint, const std::vector<Index>& kept,
                     const std::optional<CellRange>& held) {
    write_checkpoint(path, 0, 0, kept, state, fingerprint, held);
}

template <class Real>
void save_checkpoint(const std::filesystem::path& path, const StartState<Real>& start,
                     const std::string& fingerprint, const std::optional<CellRange>& held) {
    write_checkpoint(path, start.scales, start.unchained, start.kept, start.state, fingerprint, held);
}

std::string checkpoint_fingerprint(const std::filesystem::path& path) {
    StateReader reader(path);
    return read_head(reader).fingerprint;
}

bool saved_in_start(const std::filesystem::path& path) {
    StateReader reader(path);
    return read_head(reader).start_scales > 0;
}

template <class Real>
StartState<Real> load_start(const std::filesystem::path& path, const std::string& fingerprint,
                            const std::filesystem::path& bases_in, const std::optional<CellRange>& held) {
    StateReader reader(path);
    const Head head = read_head(reader);
    require(head.bytes_of_number == sizeof(Real), Remedy::same_precision,
            "{}: the checkpoint was made in {} precision; resume with the same", path.string(),
            head.bytes_of_number == sizeof(float) ? "float" : "double");
    require(head.fingerprint == fingerprint,
            "{}: the checkpoint belongs to another run, with other data or options\n  there: {}\n  here:  {}",
            path.string(), lines_only_in(head.fingerprint, fingerprint),
            lines_only_in(fingerprint, head.fingerprint));
    StartState<Real> start{.scales = head.start_scales, .unchained = head.unchained, .kept = {}, .state = {}};
    reader.list(start.kept);
    SolverState<Real>& state = start.state;
    reader.list(state.momentum);
    reader.list(state.trace);
    reader.list(state.inner_steps);
    state.current = read_factors<Real>(reader, bases_in, held, head.unchained);
    state.previous = read_factors<Real>(reader, bases_in, held);
    reader.finish();
    return start;
}

template <class Real>
SolverState<Real> load_checkpoint(const std::filesystem::path& path, const std::string& fingerprint,
                                  const std::filesystem::path& bases_in) {
    StartState<Real> start = load_start<Real>(path, fingerprint, bases_in);
    require(start.scales == 0, "{}: the checkpoint was saved before the first sweep", path.string());
    return std::move(start.state);
}

#define PNMF_INSTANTIATE(Real)                                                                               \
    template void save_checkpoint(const std::filesystem::path&, const SolverState<Real>&,                    \
                                  const std::string&, const std::vector<Index>&,                             \
                                  const std::optional<CellRange>&);                                          \
    template void save_checkpoint(const std::filesystem::path&, const StartState<Real>&, const std::string&, \
                                  const std::optional<CellRange>&);                                          \
    template SolverState<Real> load_checkpoint(const std::filesystem::path&, const std::string&,             \
                                               const std::filesystem::path&);                                \
    template StartState<Real> load_start(const std::filesystem::path&, const std::string&,                   \
                                         const std::filesystem::path&, const std::optional<CellRange>&);
PNMF_INSTANTIATE(float)
PNMF_INSTANTIATE(double)
#undef PNMF_INSTANTIATE

} // namespace pnmf
