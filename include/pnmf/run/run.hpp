#pragma once

#include <pnmf/assess/assess.hpp>
#include <pnmf/assess/domains.hpp>
#include <pnmf/names.hpp>
#include <pnmf/precision.hpp>
#include <pnmf/solvers/fit.hpp>
#include <pnmf/solvers/memory_plan.hpp>
#include <pnmf/types.hpp>

#include <cstdint>
#include <filesystem>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace pnmf {

/// What a run may do with what it finds in its folder.
enum class FolderUse {
    fresh,     ///< nothing may be lost: a result or a checkpoint there is refused
    overwrite, ///< both may be replaced, when the new ones are whole
    resume,    ///< goes on from the checkpoint, which must be there
};

/// Whose folder it is: of several processes one is its host, which alone looks, locks and writes.
enum class FolderRole { host, guest };

class FolderLock;

/// The folder of a run: its checkpoint, its result, and bases that do not fit into memory. One run at a time
/// holds it, by a lock that the system releases however the run ends.
class RunFolder {
  public:
    /// Makes nothing yet. InputError when something else has the folder's name, when another run works in it,
    /// or when `use` forbids what is found; SystemError when the machine would refuse to write.
    /// A guest does none of this.
    explicit RunFolder(std::filesystem::path path, FolderUse use = FolderUse::fresh,
                       FolderRole role = FolderRole::host);
    ~RunFolder();
    RunFolder(const RunFolder&) = delete;
    RunFolder& operator=(const RunFolder&) = delete;

    const std::filesystem::path& path() const { return path_; }
    std::filesystem::path checkpoint() const { return path_ / "checkpoint.bin"; }
    std::filesystem::path types() const { return path_ / "types.bin"; } ///< of a tissue, once found
    std::filesystem::path result() const { return path_ / "result.h5ad"; }
    std::filesystem::path summary() const { return path_ / "summary.json"; }
    FolderUse use() const { return use_; }
    FolderRole role() const { return role_; }

    /// Makes the folder, unless it is there, writes and removes a file in it, removes what a killed run left
    /// half-written, and checks that the disk has `bytes` left. SystemError when any of it fails. A guest
    /// does nothing. Returns a sentence when the disk has less than `checkpoints` more.
    std::string make(double bytes, double checkpoints = 0.0);

  private:
    void claim();

    std::filesystem::path path_;
    FolderUse use_;
    FolderRole role_;
    std::unique_ptr<FolderLock> lock_;
};

/// What a run of cells in a tissue needs, in addition to their places.
struct TissueRun {
    DomainOptions domains{};
    FitOptions types{};                 ///< of a fit by neighbours in expression: its clusters are the types
    const Matrix* expression = nullptr; ///< what its distances come from, coordinates × cells
};

/// A fit of the same cells and features, to start another from; `known_fit` makes it of a stored result.
struct KnownFit {
    std::string name; ///< for messages
    Index scales = 0;
    Index rank = 0;
    Index features = 0;
    Index cells = 0;
    std::vector<Index> positions{};   ///< of its scales among all, where few stand for all; else empty
    std::function<Matrix(Index)> W{}; ///< of a scale, features × rank; empty: it has no bases
    std::function<Matrix(Index)> H{}; ///< of a scale, rank × cells, in the order of the data
};

struct RunOptions {
    FitOptions fit{};
    const Matrix* space = nullptr; ///< points that tree, scales and graphs come from, coordinates × cells;
                                   ///< null: the columns of X
    /// The cells that X holds, where each process has those that sweeps give it (`local_range`); a space has
    /// the same cells. None: X has all.
    std::optional<CellRange> local{};
    std::optional<Index> clusters{}; ///< k at each scale, 1 ≤ k ≤ n; default: chosen by stability
    /// The cells are in a tissue, and the space has their places: domains are found too, and clusters are
    /// types of cells, those of a run of its own, which comes first. They belong to the finest scale.
    std::optional<TissueRun> tissue{};
    RunFolder* folder = nullptr;          ///< where the run is saved on the way; null: nowhere
    double checkpoint_every = 300.0;      ///< seconds between checkpoints
    std::optional<KnownFit> start_from{}; ///< none: the start is made as `fit` says
    /// Most bytes to use: scales, momentum and sums are given up for it, which changes the result; the
    /// options that are stored say what it became. Default: what the system has free, for which nothing is
    /// given up.
    std::optional<double> memory{};
    bool save_basis = false; ///< the result will be stored with its bases: for memory on the disk
};

enum class Stage { preparing, starting, sweeping, assessing };

template <>
struct EnumNames<Stage> {
    static constexpr auto values = name_table<Stage>({{"preparing", Stage::preparing},
                                                      {"starting", Stage::starting},
                                                      {"sweeping", Stage::sweeping},
                                                      {"assessing", Stage::assessing}});
};

/// Where a run is.
struct RunProgress {
    Stage stage = Stage::preparing;
    double fraction =
        std::numeric_limits<double>::quiet_NaN(); ///< of the run, 0 to 1: never falls; NaN: not known
    Index max_sweeps = 0;
    const SweepReport* sweep = nullptr; ///< after a sweep; null otherwise
};

/// Called by the run, on its thread; each may be empty.
struct RunObserver {
    /// As a stage begins, and after each scale or sweep. Returning false asks the run to stop: it saves
    /// itself, where it has a folder, and throws Interrupted. Preparing and assessing cannot be stopped so
    /// (`CancelScope` can).
    std::function<bool(const RunProgress&)> progress{};
    std::function<void(const StepReport&)> step{};
    /// Before the first sweep: the objective at the start, and after the sweeps a resumed run has behind it.
    std::function<void(const std::vector<Objective>&)> past{};
    std::function<void(const std::string&)> notice{};  ///< each choice, as it is made, a sentence
    std::function<void(const std::string&)> warning{}; ///< what went wrong without ending the run
};

struct StageTime {
    std::string stage; ///< "preparing", "types" (of a tissue), "start", "sweeps" or "assessing"
    double seconds = 0.0;
};

/// A fit, what its embeddings say, and what it took.
template <RealNumber Real>
struct Run {
    PreparedFit<Real> prepared;
    FitResult<Real> result;
    Assessment assessment;
    std::optional<Domains> domains{}; ///< of a tissue
    MemoryPlan plan;
    std::vector<StageTime> seconds;
    double peak_bytes = 0.0;  ///< the most that a process has held; 0 where the system does not say
    Index processes = 1;      ///< processes that worked on it
    double bytes_moved = 0.0; ///< sent between them, each byte counted once
    /// Sent by each process in one sweep: docs/processes.md has the formula. Of the sweeps that froze or woke
    /// no scale, one that moved most of them. Empty without other processes or such sweeps.
    std::vector<std::int64_t> bytes_of_sweep;
    Index scales_of_sweep = 0;  ///< that moved in it
    double communicating = 0.0; ///< seconds of this process in exchanges with others, and waiting for them

    /// The embedding at the recommended scale, d × n; of the cells that X has.
    const DenseMatrix<Real>& embedding() const {
        return result.factors.H[static_cast<std::size_t>(assessment.recommended)];
    }
};

/// The whole: prepares, fits, clusters the cells at each scale and recommends one.
///
///     const auto run = run_fit<double>(X, {.fit = {.rank = 10}});
///     const Matrix& embedding = run.embedding(); // rank × cells, at the recommended scale
///
/// X, features × cells, is not copied in double precision: it must outlive the run. With a folder the run is
/// saved every now and then, and when it is stopped; a folder that resumes goes on from there, to the same
/// bits as a run that was never stopped, without what that run had given up for its memory. The checkpoint
/// stays until `save_run` has stored the result.
///
/// With several processes each calls this with the same X and options, or with its own cells of X.
/// Sweeps, tree, neighbours and products with X are shared out, the rest is done by every process for itself.
/// The result is the same on every process, and bit-identical to that of one process; but with its own cells
/// of X alone, each process has H of its cells alone. Files are written by the first process. InputError
/// where processes were given different data.
///
/// All checks before all work: InputError for options, data, a folder or a start that do not fit, and where
/// `memory` is too little.
template <RealNumber Real = double>
Run<Real> run_fit(const DataView& X, const RunOptions& options = {}, const RunObserver& observer = {});
template <RealNumber Real = double>
Run<Real> run_fit(const DataValues& X, const RunOptions& options = {}, const RunObserver& observer = {});

/// Where processes hold some of the cells each: H of all of them into a file without a name in `folder`, or
/// where that is full in the folder for temporary files, on the first process, one scale at a time
/// (`FitResult::embedding`). All processes call it. Does nothing where the result has all cells.
template <RealNumber Real>
void keep_embeddings(Run<Real>& run, const std::filesystem::path& folder);

/// `assess_scales` of a fit or a baseline: clusters and scores of every scale and the recommended one,
/// without labels; and the gene programs of that scale.
template <class Real>
Assessment assess_fit(const PreparedFit<Real>& prepared, const FitResult<Real>& result,
                      const AssessOptions& options = {});

} // namespace pnmf
