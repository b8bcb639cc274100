#include "cells/io/local_cells.hpp"

#include "cells/shared_work.hpp"
#include "files/checksum.hpp"
#include "io/h5ad_parts.hpp"
#include "ranks/linalg/divided_columns.hpp"
#include "ranks/linalg/sparse_move.hpp"

#include <pnmf/error.hpp>

#include <array>
#include <fstream>
#include <span>
#include <utility>

namespace pnmf::io {

void add_counts(const Dataset& data, std::vector<Index>& of_gene) {
    if (!data.local) {
        return;
    }
    const std::vector<Index> counts(static_cast<std::size_t>(all_processes().count()), std::ssize(of_gene));
    const std::vector<Index> all = gather_to_all(all_processes(), std::span<const Index>(of_gene), counts);
    for (std::size_t i = 0; i < of_gene.size(); ++i) {
        of_gene[i] = 0;
        for (std::size_t r = 0; r < counts.size(); ++r) {
            of_gene[i] += all[r * of_gene.size() + i];
        }
    }
}

Matrix move_columns(const Matrix& here, const std::vector<CellRange>& from,
                    const std::vector<CellRange>& to) {
    return DividedColumns(here, from[all_processes().place()], all_processes()).moved(to);
}

SparseMatrix<double> move_columns(SparseMatrix<double> here, const std::vector<CellRange>& from,
                                  const std::vector<CellRange>& to) {
    if (from == to) {
        return here;
    }
    const SparseMove move(here.start, from, to, all_processes());
    SparseMatrix<double> result;
    result.rows = here.rows;
    result.cols = to[all_processes().place()].count;
    result.start = move.arriving();
    result.row = move(std::span<const std::int32_t>(here.row));
    here.row = {}; // its memory is needed for the values
    result.value = move(std::span<const double>(here.value));
    return result;
}

void move_to_shares(Dataset& data) {
    if (!data.local) {
        return;
    }
    Processes& processes = all_processes();
    const CellRange share = local_range(data.cells(), processes);
    const std::vector<CellRange> from = gather_one(processes, *data.local);
    const std::vector<CellRange> to = gather_one(processes, share);
    if (from != to) {
        std::visit([&](auto& X) { X = move_columns(std::move(X), from, to); }, data.X);
    }
    move_space(data, to);
    data.local = share;
}

void keep_share(Dataset& data) {
    const CellRange share = local_range(data.cells(), all_processes());
    data.local = share;
    if (auto* dense = std::get_if<Matrix>(&data.X)) {
        *dense = Matrix(dense->middleCols(share.first, share.count));
        return;
    }
    auto& X = std::get<SparseMatrix<double>>(data.X);
    const std::int64_t begin = X.start[static_cast<std::size_t>(share.first)];
    const std::int64_t end = X.start[static_cast<std::size_t>(share.past())];
    SparseMatrix<double> part;
    part.rows = X.rows;
    part.cols = share.count;
    part.start.assign(X.start.begin() + share.first, X.start.begin() + share.past() + 1);
    for (std::int64_t& place : part.start) {
        place -= begin;
    }
    part.row.assign(X.row.begin() + begin, X.row.begin() + end);
    part.value.assign(X.value.begin() + begin, X.value.begin() + end);
    X = std::move(part);
}

bool entries_repeat(const Dataset& data) {
    const bool here = std::any_of(data.notices.begin(), data.notices.end(), [](const std::string& notice) {
        return notice.find(repeated_entries_notice) != std::string::npos;
    });
    return most_of(processes_of(data), here ? 1.0 : 0.0) > 0.0;
}

void check_same_file(const std::filesystem::path& path, const Dataset& data) {
    if (!data.local) {
        return;
    }
    std::uint32_t sum = 0;
    const auto add = [&](const char* bytes, std::size_t count) { sum = add_to_checksum(sum, bytes, count); };
    for (const auto* names : {&data.cell_names, &data.feature_names}) {
        for (const std::string& name : *names) {
            add(name.c_str(), name.size() + 1);
        }
    }
    std::error_code error;
    const std::uintmax_t size = std::filesystem::file_size(path, error);
    if (!error) { // a folder has no size of its own
        constexpr std::uintmax_t places = 16;
        std::array<char, 1 << 16> bytes{};
        std::ifstream file(path, std::ios::binary);
        for (std::uintmax_t i = 0; i < places; ++i) {
            file.clear();
            file.seekg(static_cast<std::streamoff>(size * i / places));
            file.read(bytes.data(), bytes.size());
            add(bytes.data(), static_cast<std::size_t>(file.gcount()));
        }
    }
    const std::array<std::uint64_t, 3> mine{sum, error ? 0 : size, static_cast<std::uint64_t>(data.cells())};
    const auto all = gather_one(all_processes(), mine);
    for (std::size_t r = 1; r < all.size(); ++r) {
        require(all[r] == all[0],
                "all processes must have the same data and options, but the file of rank {} is not that of "
                "rank 0: "
                "is {} the same on every machine?",
                r, path.string());
    }
}

} // namespace pnmf::io

namespace pnmf {

void gather_values(Dataset& data, GatherTo by) {
    if (!data.local) {
        return;
    }
    Processes& processes = all_processes();
    const Index n = data.cells();
    std::vector<CellRange> to;
    to.reserve(static_cast<std::size_t>(processes.count()));
    for (int r = 0; r < processes.count(); ++r) {
        to.push_back(by == GatherTo::everyone || r == 0 ? CellRange{0, n, n} : CellRange{n, 0, n});
    }
    const std::vector<CellRange> from = gather_one(processes, *data.local);
    std::visit([&](auto& X) { X = io::move_columns(std::move(X), from, to); }, data.X);
    io::move_space(data, to);
    if (by == GatherTo::everyone || processes.place() == 0) {
        data.local.reset();
    } else {
        data.local = to.back();
    }
}

} // namespace pnmf
