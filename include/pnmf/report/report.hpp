#pragma once

#include <pnmf/io/dataset.hpp>
#include <pnmf/types.hpp>

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

namespace pnmf {

/// One result for a page: its file, and what is at hand beside it.
struct ReportSource {
    std::filesystem::path result; ///< what `write_result` wrote, or another file with `uns/pnmf/H`
    std::string name{};           ///< shown as the title; empty: the file's folder and name
    /// The data as the fit had them, for colours by gene and the graph over the cells; null: the page has
    /// neither. Must have the result's cells and features, in its order.
    const Dataset* data = nullptr;
    /// W_t, p × d, for 0 ≤ t < T; empty: `uns/pnmf/W` of the file, or `varm/pnmf_W` for the recommended
    /// scale.
    std::function<Matrix(Index)> basis{};
};

/// Bytes before compression that parts of a page may take; what does not fit is left out, evenly over the
/// scales, and the page says so. Together they keep a page of one result under 60 MB.
struct ReportOptions {
    std::string program = "pnmf"; ///< name and version of the program, for the page's `Run`
    Index position_bytes = 20'000'000;
    Index component_bytes = 12'000'000;
    Index program_bytes = 3'000'000;
    Index expression_bytes = 6'000'000;
    Index largest_graph = 400; ///< cells up to which the graph is drawn
    Index largest_edges = 30'000;
};

/// One self-contained page: HTML, style, program and data; it opens from disk and asks nothing of a network.
///
/// All data are compressed and written in base64, so that no name in them can be markup. One or two results;
/// positions of the cells in one plane for all scales: H itself for d = 2, else the two leading principal
/// directions of all H_t together. InputError when a file is not a result or `data` do not belong to it.
std::string report_html(const std::vector<ReportSource>& results, const ReportOptions& options = {});

} // namespace pnmf
