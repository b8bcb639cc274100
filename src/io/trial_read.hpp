#pragma once

#include <pnmf/error.hpp>

#include <cstdint>
#include <filesystem>
#include <functional>

namespace pnmf::io {

/// What a child process may take while it reads a file.
struct TrialLimits {
    std::uint64_t memory = 0;  ///< bytes beside those that this process has
    std::uint64_t seconds = 0; ///< of the processor; ten times as many by the clock
};

/// Limits that no undamaged file of this size can need.
///
/// gzip makes nothing smaller than 1/1032, and a byte becomes a double of eight: 10,000 bytes for each of the
/// file, and 256 MiB for everything else; no more than the machine has. A second for each megabyte, and 30.
TrialLimits usual_limits(std::uintmax_t file_bytes);

/// A file is read by a child process before this process reads it.
///
/// The libraries that decode HDF5 and MATLAB files crash on some damaged files, hang or ask for all memory
/// (docs/decisions/0140-hdf5-in-a-child.md). The constructor forks: the child does the very same read, on a
/// copy of the same memory, with limits on memory and time. Only if it comes to an end, with values or with
/// an error, may this process do it too; else the constructor throws. InputError: the child crashed or ran
/// out of time. SystemError: it ran out of memory, or the system stopped it.
///
///     const TrialRead trial read(path, [&] { read(path); });
///     return read(path);
///
/// While one lives, others of the same thread do nothing: they are parts of what was tried. Nothing is
/// done either where a child cannot be started, in a process of an MPI run (which must not fork), inside a
/// body of `parallel_for` (a child made there would wait for threads it does not have), and in builds with
/// sanitisers, which shall see every fault themselves.
class TrialRead {
  public:
    TrialRead(const std::filesystem::path& file, const std::function<void()>& read);
    TrialRead(const std::filesystem::path& file, const std::function<void()>& read,
              const TrialLimits& limits);
    ~TrialRead();
    TrialRead(const TrialRead&) = delete;
    TrialRead& operator=(const TrialRead&) = delete;
    /// Whether a child has done it; else nothing was done.
    bool by_child() const { return by_child_; }

  private:
    bool outermost_;
    bool by_child_ = false;
};

/// Whether an allocation has failed since the outermost trial read of this thread began, as far as errno
/// says, or in an earlier use of HDF5.
bool memory_was_short();
/// SystemError that says so.
[[noreturn]] void refuse_for_memory(const std::filesystem::path& file);

/// `read()`, inside a trial read of the caller's.
///
/// HDF5 does not say everywhere that an allocation failed: a link may seem to be missing, a file damaged. So
/// an InputError that comes while memory was short becomes a SystemError.
template <class Read>
auto read_tried(const std::filesystem::path& file, const Read& read) {
    try {
        return read();
    } catch (const InputError&) {
        if (memory_was_short()) {
            refuse_for_memory(file);
        }
        throw;
    }
}

/// `read()`, after a child has done it.
template <class Read>
auto read_after_trial(const std::filesystem::path& file, const Read& read) {
    const TrialRead trial(file, [&read] { static_cast<void>(read()); });
    return read_tried(file, read);
}

} // namespace pnmf::io
