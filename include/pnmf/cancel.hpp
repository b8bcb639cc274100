#pragma once

#include <atomic>
#include <stdexcept>

namespace pnmf {

/// Thrown by `parallel_for` when the computation it belongs to was told to stop; what was computed is lost.
class Cancelled : public std::runtime_error {
  public:
    Cancelled() : std::runtime_error("cancelled") {}
};

/// While it lives, `parallel_for` called on this thread, and inside the bodies it runs, throws Cancelled
/// before the next item once `stop` is true.
///
/// For hosts that must answer a user at once, in the middle of a sweep or of the persistence. Observers stop
/// a run between sweeps, with something to keep.
class CancelScope {
  public:
    explicit CancelScope(const std::atomic<bool>& stop);
    /// A null pointer: nothing stops what runs here.
    explicit CancelScope(const std::atomic<bool>* stop);
    ~CancelScope();
    CancelScope(const CancelScope&) = delete;
    CancelScope& operator=(const CancelScope&) = delete;

  private:
    const std::atomic<bool>* before_;
};

} // namespace pnmf
