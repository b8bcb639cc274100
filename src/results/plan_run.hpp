#pragma once

#include <pnmf/results/run.hpp>

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

/// The memory a run may use.
struct MemoryLimit {
    double limit = 0.0; ///< bytes; 0: not known
    bool given = false; ///< by the user; else what the system has free for this process
};
MemoryLimit memory_limit(const RunOptions& options);

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

/// Seconds that start and sweeps will take, from one product with X: right within a factor of about three.
template <RealNumber Real>
double estimated_seconds(const PreparedFit<Real>& prepared);

} // namespace pnmf
