#pragma once

#include <pnmf/assess/paths.hpp>
#include <pnmf/io/annotations.hpp>
#include <pnmf/io/dataset.hpp>
#include <pnmf/io/h5ad.hpp>
#include <pnmf/io/preparation.hpp>
#include <pnmf/model/problem.hpp>
#include <pnmf/precision.hpp>
#include <pnmf/run/run.hpp>
#include <pnmf/solvers/fit.hpp>
#include <pnmf/types.hpp>

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace pnmf {

/// Which cells of a fit the cells of a file are.
struct CellOrder {
    std::vector<Index> position; ///< in the fit, of each cell of the file; empty: the same cells, same order
    Index of_fit = 0;            ///< cells the fit had
    bool whole = true;           ///< all of them are there
    std::string notice{};        ///< what a user should know; usually empty
};

/// Matches the cells of a file with those of a fit by name.
///
/// `stored` are the names kept with the fit, empty for results of version 0.1; `here` those of the file,
/// empty where cells have no names. `aligned` is asked where names do not settle it: whether the embedding
/// that AnnData itself keeps in order agrees with the fit's as it stands; nothing where there is none to
/// compare. InputError, with the reason, where a cell cannot be told: names that are not the fit's, names
/// that repeat, an order that cannot be confirmed.
CellOrder match_cells(const std::vector<std::string>& stored, Index of_fit,
                      const std::vector<std::string>& here,
                      const std::function<std::optional<bool>()>& aligned);

/// A fit or a baseline as `write_result` stored it: the one reader beside that writer.
///
/// Scales run finest → coarsest and are numbered from 0. H, W and clusters stay where they are until they are
/// asked for. H and clusters come with the cells of the file, in its order, whatever was done to the file
/// since
/// (`match_cells`); deaths and the merge tree belong to all cells of the fit. What an older file lacks has
/// the meaning said at each entry.
struct StoredResult {
    std::string name; ///< for messages: the file, or where it is held
    std::string key;  ///< its name in `uns`
    AnnDataFile file; ///< all else: names, tables, obsm and varm of the result, uns without H and W
    Index scales = 0; ///< T
    Index rank = 0;   ///< d
    CellOrder order;

    std::string method = "pnmf";           ///< or the name of a baseline
    std::vector<double> epsilon;           ///< T; empty for a baseline, which has no scales
    std::vector<Index> betti0;             ///< T, or empty
    std::vector<double> deaths;            ///< of all cells of the fit; empty for a baseline
    Penalty penalty;                       ///< in effect; when not recorded, as the options say
    std::vector<double> scale_weight;      ///< of each scale, where few stand for all; else empty
    std::vector<double> coupling;          ///< of neighbouring scales there, T − 1; else empty
    std::optional<Space> space{};          ///< of all cells of the fit, in its order; none: distances from X
    std::optional<Batches> batches{};      ///< of all cells of the fit, in its order; none: it knew none
    Precision precision = Precision::full; ///< when not recorded, by what H is stored as
    Index recommended = 0;
    std::optional<Index> cluster_count{};
    std::string stop{};
    std::string command{};
    std::vector<std::string> warnings{};
    std::vector<std::string> notices{};
    InputRecord input{};                 ///< of version 0.1: the steps by its transform, `known` is false
    std::vector<std::string> features{}; ///< of the rows of W
    bool has_basis = false;              ///< W of every scale

    Index cells() const { return order.position.empty() ? order.of_fit : std::ssize(order.position); }
    bool is_baseline() const { return method != "pnmf"; }

    Matrix H(Index t) const;                    ///< d × cells
    Matrix W(Index t) const;                    ///< p × d, rows are `features`; InputError without bases
    std::vector<Index> clusters(Index t) const; ///< of each cell, from 0; empty when none are stored
    /// W at the recommended scale, rows are `features`; nothing when the file has it no more.
    std::optional<Matrix> recommended_basis() const;

    /// What all cells of the fit have, in its order, for the cells of the file, in theirs.
    std::vector<Index> in_order(const std::vector<Index>& of_fit) const;

    /// The options of the fit, batches of its cells included. InputError for a baseline, which has others,
    /// and when they are not understood.
    FitOptions options() const;

    /// Another entry of the result, by name; empty when there is none.
    std::vector<double> numbers(const std::string& entry) const;
    /// The same, empty unless there are so many.
    std::vector<double> numbers(const std::string& entry, Index count) const;
    /// The same for whole numbers from `least` to below `end`; InputError for others.
    std::vector<Index> positions(const std::string& entry, Index least, Index end) const;
    std::string text(const std::string& entry) const;
    std::vector<std::string> texts(const std::string& entry) const;
    /// An array of T numbers, such as "kkt" or "scores/silhouette"; empty when there is none.
    std::vector<double> of_scales(const std::string& entry) const { return numbers(entry, scales); }

    std::function<Matrix(Index)> stored_H{}; ///< as stored: all cells of the fit, in its order
    std::function<Matrix(Index)> stored_W{};
};

/// To start another run from it (`RunOptions::start_from`).
KnownFit known_fit(StoredResult result);

/// The result's file when the path is one: a folder with result.h5ad, or an .h5ad with embeddings in
/// uns/KEY. Nothing for other files.
std::optional<std::filesystem::path> find_result(const std::filesystem::path& path,
                                                 const std::string& key = "pnmf");

/// Reads a result from its file or folder. InputError when it is none, when entries that belong together do
/// not fit, or when its cells cannot be told (`match_cells`).
StoredResult read_stored_result(const std::filesystem::path& path, const std::string& key = "pnmf");

/// The same from memory: `file.uns` holds the result, H and W as arrays or as slabs that are asked for later.
StoredResult stored_result(AnnDataFile file, const std::string& name = "the result",
                           const std::string& key = "pnmf");

/// InputError unless all cells of the fit are there: `what` is of the whole fit.
void require_whole(const StoredResult& result, const std::string& what);

/// The data that a fit was made from, read as the fit read them (`read_data_again`), its cells those of the
/// result, in the result's order. InputError when they are others.
Dataset read_data_of(const StoredResult& result, const std::filesystem::path& path,
                     const InputChoices& choices = {});

/// The programs of a stored result: the components of its recommended scale, by their genes.
struct StoredPrograms {
    Index scale = 0;                         ///< the recommended one, from 0
    std::vector<std::string> genes;          ///< p
    DenseMatrix<float> scores;               ///< `program_scores`, p × d
    std::vector<double> mean_usage;          ///< the mean share of a cell, d
    std::vector<double> persistence;         ///< `ProgramPath`, d
    std::vector<double> between_clusters{};  ///< `variance_between`, d; all 1 in results before 0.3
    std::vector<Index> first_scale{};        ///< from 0
    std::vector<Index> last_scale{};         ///< from 0
    std::vector<Index> merges_into{};        ///< −1: none
    std::vector<double> moran{};             ///< Moran's I in a tissue, d; empty: not in a tissue
    std::vector<double> depth_correlation{}; ///< with the counts of the cells; empty: these are not known

    Index count() const { return scores.cols(); }
    /// `order_of_programs`: how they are listed.
    std::vector<Index> order() const;
    /// Whether the program follows the depth of the cells (`depth_driven`); false where it is not known.
    bool follows_depth(Index program) const;
};

/// "P1" for component 0: the name of a program in tables, so that nobody has to know where counting begins.
std::string program_name(Index program);

/// Nothing for results of version 0.1, and where genes have no names.
std::optional<StoredPrograms> stored_programs(const StoredResult& result);

/// A tidy table as text, a row for each of the `listed` best genes of each program: program, gene, score,
/// rank (from 1), scale (from 1), and in a tissue moran, with tabs between them and a header; programs in
/// their order.
std::string programs_table(const StoredPrograms& programs, Index listed);

/// Where paths begin and end.
struct PathRequest {
    std::string root;                     ///< the name of a cell, or of a group: its central cell
    std::vector<std::string> ends{};      ///< groups where paths end; empty: found (`end_clusters`)
    std::string groups = "pnmf_clusters"; ///< a column of the table of cells
    FateOptions fates{};
};

/// Paths of a stored fit; cells are those of its file, in their order.
struct StoredPaths {
    Index root = 0;                ///< the cell they begin at
    std::vector<std::string> ends; ///< groups they end in
    Vector time;                   ///< of each cell, 0 at the root, 1 at the farthest
    Fates fates;                   ///< ends × cells
    std::vector<Index> group;      ///< of each cell, positions among
    std::vector<std::string> group_names;
};

/// `path_times` and `fates` along the multi-scale graph of a fit. The graph is made again from the space of
/// the fit, or, where it had none, from its data, cells in the order of the result. InputError for a root or
/// an end that is neither, with those there are, for a column that is not there, for a result that has lost
/// cells, and where the data are needed and missing.
StoredPaths find_paths(const StoredResult& result, const PathRequest& request, const Dataset* data = nullptr);

} // namespace pnmf
