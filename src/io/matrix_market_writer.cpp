#include <pnmf/io/write.hpp>

#include "files/atomic_file.hpp"
#include "io/gzip.hpp"
#include "io/sidecar_texts.hpp"

#include <pnmf/error.hpp>
#include <pnmf/parallel.hpp>

#include <cstdint>
#include <iterator>
#include <string>
#include <vector>

namespace pnmf {

struct MatrixMarketWriter::State {
    State(const std::filesystem::path& target, Index rows_, bool integers_)
        : rows(rows_), integers(integers_), compressed(target.extension() == ".gz"),
          file(target, header().size()) {}

    Index rows = 0;
    Index columns = 0;
    std::int64_t entries = 0;
    bool integers = false;
    bool compressed = false;
    AtomicFile file; ///< its head is the header, which counts what follows

    /// The same number of bytes whatever the counts.
    std::string header() const {
        const std::string text =
            fmt::format("%%MatrixMarket matrix coordinate {} general\n{:<19} {:<19} {:<19}\n",
                        integers ? "integer" : "real", rows, columns, entries);
        return compressed ? io::gzip_member(text, 0) : text;
    }

    std::string text_of(const SparseMatrix<double>& block, Index begin, Index end) const {
        std::string text;
        auto out = std::back_inserter(text);
        for (Index j = begin; j < end; ++j) {
            for (auto e = block.start[j]; e < block.start[j + 1]; ++e) {
                const double value = block.value[e];
                if (integers) {
                    fmt::format_to(out, "{} {} {}\n", block.row[e] + 1, columns + j + 1,
                                   static_cast<std::int64_t>(value));
                } else {
                    fmt::format_to(out, "{} {} {}\n", block.row[e] + 1, columns + j + 1, value);
                }
            }
        }
        return compressed ? io::gzip_member(text, 1) : text;
    }
};

MatrixMarketWriter::MatrixMarketWriter(const std::filesystem::path& path, Index rows, bool integers)
    : state_(std::make_unique<State>(path, rows, integers)) {}

MatrixMarketWriter::~MatrixMarketWriter() = default;
MatrixMarketWriter::MatrixMarketWriter(MatrixMarketWriter&&) noexcept = default;
MatrixMarketWriter& MatrixMarketWriter::operator=(MatrixMarketWriter&&) noexcept = default;

void MatrixMarketWriter::append(const SparseMatrix<double>& columns) {
    require(columns.rows == state_->rows, "columns of {} rows cannot follow columns of {}", columns.rows,
            state_->rows);
    constexpr Index chunk = 512; // columns to a gzip member
    std::vector<std::string> parts(static_cast<std::size_t>((columns.cols + chunk - 1) / chunk));
    parallel_blocks(columns.cols, chunk, [&](Index begin, Index end) {
        parts[begin / chunk] = state_->text_of(columns, begin, end);
    });
    for (const std::string& part : parts) {
        state_->file.write(part);
    }
    state_->columns += columns.cols;
    state_->entries += columns.nonzeros();
}

void MatrixMarketWriter::finish(const std::vector<TextFile>& beside) {
    state_->file.write_head(state_->header());
    io::SidecarTexts(beside).commit_with(state_->file);
}

Index MatrixMarketWriter::columns() const {
    return state_->columns;
}

std::int64_t MatrixMarketWriter::entries() const {
    return state_->entries;
}

} // namespace pnmf
