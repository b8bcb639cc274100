#pragma once

#include <pnmf/io/dataset.hpp>
#include <pnmf/results/stored_result.hpp>
#include <pnmf/types.hpp>

#include <filesystem>
#include <string>
#include <vector>

namespace pnmf {

/// One result for a page, and what is at hand beside it. What is pointed to must outlive the call.
struct ReportSource {
    const StoredResult* result = nullptr;
    std::string name{}; ///< shown as the title; empty: that of the result's folder or file
    /// The data as the fit had them, for colours by gene and the graph over the cells; null: the page has
    /// neither. Must have the result's cells and features, in its order (`read_data_of`).
    const Dataset* data = nullptr;
};

/// Bytes before compression that parts of a page may take; what does not fit is left out, evenly over the
/// scales, and the page says so. Together they keep a page of one result under 60 MB.
struct ReportOptions {
    std::string program = "pnmf"; ///< name and version of the program, for the page's `Run`
    Index position_bytes = 20'000'000;
    Index component_bytes = 12'000'000;
    Index program_bytes = 3'000'000;
    Index expression_bytes = 25'000'000;
    Index most_cells = 100'000; ///< above, the page shows so many of them, drawn at random
    Index largest_graph = 400;  ///< cells up to which the graph is drawn
    Index largest_edges = 30'000;
};

/// One self-contained page: HTML, style, program and data; it opens from disk and asks nothing of a network.
///
/// All data are compressed and written in base64, so that no name in them can be markup. One or two results;
/// positions of the cells in one plane for all scales: H itself for d = 2, else the two leading principal
/// directions of all H_t together. Of a result with some of the fit's cells, what belongs to all of them
/// (merge tree, persistence, graph) is left out, and the page says so; likewise of a sample. InputError when
/// `data` do not belong to it.
std::string report_html(const std::vector<ReportSource>& results, const ReportOptions& options = {});

/// A page, and the values of genes that do not fit into it.
struct ReportFiles {
    std::string html;
    std::string genes; ///< the page asks its reader to open this file; empty: all genes are in the page
};

/// The same page; genes that do not fit into `expression_bytes` go into a second file, none is left out.
ReportFiles report_files(const std::vector<ReportSource>& results, const ReportOptions& options = {});

/// report.html → report.genes: where the page says that its second file is.
std::filesystem::path genes_beside(const std::filesystem::path& page);

/// Writes the page and, where there is one, its second file. InputError when the page would be that file.
void write_report(const std::filesystem::path& page, const ReportFiles& files);

} // namespace pnmf
