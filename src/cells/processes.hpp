#pragma once

#include <pnmf/types.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

namespace pnmf {

/// The processes that work on one fit together, as one of them sees it. Without MPI there is one,
/// and everything here costs nothing.
///
/// All processes make the same calls in the same order, on the thread that runs the fit and outside
/// `parallel_for`. How many bytes a message has is known on both sides beforehand; only values travel.
class Processes {
  public:
    struct Outgoing {
        int to = 0;
        std::span<const std::byte> bytes;
    };
    struct Incoming {
        int from = 0;
        std::span<std::byte> bytes;
    };

    Processes() = default;
    Processes(const Processes&) = delete;
    Processes& operator=(const Processes&) = delete;
    virtual ~Processes() = default;

    /// Which of them this one is, from 0, and how many there are.
    virtual int place() const = 0;
    virtual int count() const = 0;
    /// Processes on this machine, this one among them: they share its memory and its processors.
    virtual int count_here() const = 0;
    /// Which of them this one is. It uses the devices of the machine in turn with the others.
    virtual int place_here() const { return place() % count_here(); }

    /// Sends and receives, all at once; returns when all have arrived and what was sent may change. Between
    /// two processes messages keep their order. Messages to oneself and empty ones are not allowed.
    void exchange(std::span<const Outgoing> sends, std::span<const Incoming> receives);

    /// Bytes that this process has sent.
    std::int64_t bytes_sent() const { return bytes_sent_; }
    /// Seconds that this process has spent in exchanges: moving bytes, and waiting for others.
    double seconds() const { return seconds_; }

  protected:
    virtual void transfer(std::span<const Outgoing> sends, std::span<const Incoming> receives) = 0;

  private:
    std::int64_t bytes_sent_ = 0;
    double seconds_ = 0.0;
};

/// The processes of the fit that this thread runs; one process where nobody has said otherwise. A body of
/// `parallel_for` is alone too: what it computes is not divided.
Processes& all_processes();

/// A process alone, whatever this thread works with.
Processes& one_process();

/// Makes a communicator that of this thread, as long as this lives.
class ProcessesScope {
  public:
    explicit ProcessesScope(Processes& processes);
    ProcessesScope(const ProcessesScope&) = delete;
    ProcessesScope& operator=(const ProcessesScope&) = delete;
    ~ProcessesScope();

  private:
    Processes* before_;
};

/// Sends out(r) to each process r and receives in(r) from it, spans of values of one kind. What a process has
/// for itself is copied, unless it is there. Empty ones do not travel.
template <class Value, class Out, class In>
void exchange_parts(Processes& processes, const Out& out, const In& in) {
    static_assert(std::is_trivially_copyable_v<Value>);
    std::vector<Processes::Outgoing> sends;
    std::vector<Processes::Incoming> receives;
    for (int r = 0; r < processes.count(); ++r) {
        const std::span<const Value> leaving = out(r);
        const std::span<Value> arriving = in(r);
        if (r == processes.place()) {
            if (leaving.data() != arriving.data()) {
                std::copy(leaving.begin(), leaving.end(), arriving.begin());
            }
            continue;
        }
        if (!leaving.empty()) {
            sends.push_back({r, std::as_bytes(leaving)});
        }
        if (!arriving.empty()) {
            receives.push_back({r, std::as_writable_bytes(arriving)});
        }
    }
    processes.exchange(sends, receives);
}

/// The values of process `from` on all processes. (processes − 1) · bytes are sent by it.
template <class Value>
void broadcast(Processes& processes, std::span<Value> values, int from) {
    const bool sends = processes.place() == from;
    exchange_parts<Value>(
        processes, [&](int) { return sends ? values : std::span<Value>(); },
        [&](int r) { return r == from ? values : std::span<Value>(); });
}

/// Values that one process has each, to all others: they travel together.
class FromOwners {
  public:
    explicit FromOwners(Processes& processes) : processes_(processes) {}

    template <class Value>
    void add(int owner, std::span<Value> values) {
        if (owner != processes_.place()) {
            receives_.push_back({owner, std::as_writable_bytes(values)});
            return;
        }
        for (int r = 0; r < processes_.count(); ++r) {
            if (r != owner) {
                sends_.push_back({r, std::as_bytes(values)});
            }
        }
    }
    void exchange() { processes_.exchange(sends_, receives_); }

  private:
    Processes& processes_;
    std::vector<Processes::Outgoing> sends_;
    std::vector<Processes::Incoming> receives_;
};

/// The values of all processes to the first, which takes those of one after the other, its own first:
/// take(values). `counts` says how many each has.
template <class Value, class Take>
void pass_to_first(Processes& processes, std::span<const Value> mine, const std::vector<Index>& counts,
                   const Take& take) {
    std::vector<Value> arriving;
    for (int r = 0; r < processes.count(); ++r) {
        arriving.resize(processes.place() == 0 && r > 0 ? static_cast<std::size_t>(counts[r]) : 0);
        exchange_parts<Value>(
            processes,
            [&](int to) {
                return to == 0 && r > 0 && processes.place() == r ? mine : std::span<const Value>();
            },
            [&](int from) { return from == r ? std::span(arriving) : std::span<Value>(); });
        if (processes.place() == 0) {
            take(r == 0 ? mine : std::span<const Value>(arriving));
        }
    }
}

/// The values of all processes on every process, one process after the other. `counts` says how many each
/// has. Each process sends (processes − 1) times its own.
template <class Value>
std::vector<Value> gather_to_all(Processes& processes, std::span<const Value> mine,
                                 const std::vector<Index>& counts) {
    std::vector<Value> all(static_cast<std::size_t>(std::accumulate(counts.begin(), counts.end(), Index{0})));
    std::size_t first = 0;
    exchange_parts<Value>(
        processes, [&](int) { return mine; },
        [&](int r) {
            const auto count = static_cast<std::size_t>(counts[r]);
            return std::span<Value>(all).subspan(std::exchange(first, first + count), count);
        });
    return all;
}

/// One value of each process, on every process.
template <class Value>
std::vector<Value> gather_one(Processes& processes, const Value& mine) {
    return gather_to_all(processes, std::span<const Value>(&mine, 1),
                         std::vector<Index>(static_cast<std::size_t>(processes.count()), 1));
}

/// The same where only the processes themselves know how many values they have.
template <class Value>
std::vector<Value> gather_any(Processes& processes, const std::vector<Value>& mine) {
    const std::vector<Index> counts = gather_one<Index>(processes, static_cast<Index>(mine.size()));
    return gather_to_all(processes, std::span<const Value>(mine), counts);
}

/// The cells that sweeps give to a process: whole blocks of cells, about as many for each.
CellRange local_range(Index cells, const Processes& processes);

/// The smallest of the processes' values: what all of them can agree to.
double least_of(Processes& processes, double mine);
/// The largest.
double most_of(Processes& processes, double mine);
/// The sum, added in the order of the processes.
double sum_of(Processes& processes, double mine);

} // namespace pnmf
