#pragma once

#include <pnmf/run/run.hpp>

#include <string>
#include <vector>

/// What a run will need, before it begins: memory and time.
namespace pnmf {

/// "120 MB", "3.4 GB".
std::string size_words(double bytes);

/// "about 20 s", "about 3 min": one figure is all that an estimate has.
std::string rough_time(double seconds);

/// InputError unless every process has the same fingerprint: of other data or options their sums would be of
/// nothing.
void check_same_data(const std::string& fingerprint);

/// Whether the run goes on from a checkpoint.
bool resumes(const RunOptions& options);

/// The sizes of a run that is not prepared yet, as far as they can be known: at least so large.
FitSize guessed_size(const DataView& X, const RunOptions& options, Index bytes_of_number);

/// The memory a run may use.
struct MemoryLimit {
    double limit = 0.0; ///< bytes; 0: not known
    bool given = false; ///< by the user; else what the system has free for this process
};
MemoryLimit memory_limit(const RunOptions& options);

/// Sizes as they are expected: what is not known yet is as in most runs.
FitSize expected_size(const DataView& X, const RunOptions& options, Index bytes_of_number);

/// Bytes of a run beside the data as they were read.
struct RunBytes {
    double in_memory = 0.0;    ///< at most, where nothing is out of core
    double beside_files = 0.0; ///< at most, where large arrays are
    double files = 0.0;        ///< of these arrays
};
RunBytes bytes_of_run(const DataView& X, const RunOptions& options, const FitSize& size,
                      Index bytes_of_number);

/// Whether the memory allowed holds sparse X twice, so that a device may read it there. In single precision:
/// a start of a fit in double precision has X in single precision too.
bool can_copy_data(const DataView& X, const RunOptions& options, const MemoryLimit& allowed,
                   Index bytes_of_number);

/// Free on the disk that has the folder, or will have it; 0: not known.
double free_disk(std::filesystem::path folder);

/// Whether what sweeps work on is out of core.
bool is_out_of_core(const FitSize& size, Index bytes_of_number);
/// Why large arrays cannot be out of core here; nothing where they can.
std::string trouble_out_of_core(double files);

/// Large arrays that are made while this is there are out of core, where the options ask for it or the run
/// would not fit into memory otherwise; then `notice` says so. SystemError where they ask for what cannot be.
class ArrayScope {
  public:
    ArrayScope(const DataView& X, const RunOptions& options, const MemoryLimit& allowed,
               Index bytes_of_number);
    ArrayScope(const ArrayScope&) = delete;
    ArrayScope& operator=(const ArrayScope&) = delete;
    ~ArrayScope();

    const std::string& notice() const { return notice_; }

  private:
    std::filesystem::path before_;
    std::string notice_;
};

/// InputError, with sizes and what would help, when nothing could make the run fit. Before anything is
/// computed: it looks at sizes alone.
void check_memory(const DataView& X, const RunOptions& options, const MemoryLimit& allowed,
                  Index bytes_of_number);

/// Makes a prepared run fit by files, and says how. Where the user has given the limit, also by what changes
/// the result: fewer scales, or what costs more sweeps. Without it a result does not depend on the memory
/// that is free: what does not fit is refused. `resumed`: from a checkpoint; `in_start`: which was saved in
/// the start.
template <RealNumber Real>
MemoryPlan fit_into(const MemoryLimit& allowed, const RunOptions& options, PreparedFit<Real>& prepared,
                    bool resumed, bool in_start);

/// Products with X for each scale that start and sweeps take about as long as; `few`: scales that stand for
/// all are found in the start.
struct ProductsOfFit {
    double start = 0.0;
    double sweeps = 0.0;
};
ProductsOfFit products_of_fit(bool few);

/// Seconds that start and sweeps will take, from one product with X: right within a factor of about three.
template <RealNumber Real>
double estimated_seconds(const PreparedFit<Real>& prepared);

/// What a run needs, told before it begins. Times are those of an idle machine, from short trials on some of
/// the cells and from counted operations: within a factor of about two (benchmarks/results/growth.md).
struct RunForecast {
    std::vector<StageTime> stages; ///< of the CPU
    bool may_use_device = false;   ///< which takes less; nothing is estimated there
    double bytes = 0.0;            ///< the most it will hold
    double allowed = 0.0;          ///< of these; 0: not known
    double disk = 0.0;             ///< written, with checkpoints on the way
    double disk_free = 0.0;        ///< where it is written; 0: not known
    double files = 0.0;            ///< of arrays out of core; 0: all are in memory
    double files_free = 0.0;       ///< where these would be; 0: not known
};

/// `page`: whether there will be one.
template <RealNumber Real>
RunForecast forecast_run(const DataView& X, const RunOptions& options, bool page);

} // namespace pnmf
