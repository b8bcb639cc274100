#pragma once

#include <pnmf/types.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>
#include <vector>

namespace pnmf {

/// The processes ("ranks") that work on one fit together, as one of them sees it. Without MPI there is one,
/// and everything here costs nothing.
///
/// All ranks make the same calls in the same order, on the thread that runs the fit and outside
/// `parallel_for`. How many bytes a message has is known on both sides beforehand; only values travel.
class Communicator {
  public:
    struct Outgoing {
        int to = 0;
        std::span<const std::byte> bytes;
    };
    struct Incoming {
        int from = 0;
        std::span<std::byte> bytes;
    };

    Communicator() = default;
    Communicator(const Communicator&) = delete;
    Communicator& operator=(const Communicator&) = delete;
    virtual ~Communicator() = default;

    virtual int rank() const = 0;
    virtual int size() const = 0;
    /// Ranks on this machine, this one among them: they share its memory and its processors.
    virtual int ranks_here() const = 0;
    /// Which of them this one is. It uses the devices of the machine in turn with the others.
    virtual int rank_here() const { return rank() % ranks_here(); }

    /// Sends and receives, all at once; returns when all have arrived and what was sent may change. Between
    /// two ranks messages keep their order. Messages to oneself and empty ones are not allowed.
    void exchange(std::span<const Outgoing> sends, std::span<const Incoming> receives);

    /// Bytes that this rank has sent.
    std::int64_t bytes_sent() const { return bytes_sent_; }
    /// Seconds that this rank has spent in exchanges: moving bytes, and waiting for others.
    double seconds() const { return seconds_; }

  protected:
    virtual void transfer(std::span<const Outgoing> sends, std::span<const Incoming> receives) = 0;

  private:
    std::int64_t bytes_sent_ = 0;
    double seconds_ = 0.0;
};

/// The ranks of the fit that this thread runs; one rank where nobody has said otherwise. A body of
/// `parallel_for` is alone too: what it computes is not divided.
Communicator& communicator();

/// A rank alone, whatever this thread works with.
Communicator& single_rank();

/// Makes a communicator that of this thread, as long as this lives.
class CommunicatorScope {
  public:
    explicit CommunicatorScope(Communicator& ranks);
    CommunicatorScope(const CommunicatorScope&) = delete;
    CommunicatorScope& operator=(const CommunicatorScope&) = delete;
    ~CommunicatorScope();

  private:
    Communicator* before_;
};

/// The values of rank `from` on all ranks. (ranks − 1) · bytes are sent by it.
template <class Value>
void broadcast(Communicator& ranks, std::span<Value> values, int from) {
    static_assert(std::is_trivially_copyable_v<Value>);
    if (values.empty() || ranks.size() == 1) {
        return;
    }
    const std::span<std::byte> bytes = std::as_writable_bytes(values);
    std::vector<Communicator::Outgoing> sends;
    std::vector<Communicator::Incoming> receives;
    if (ranks.rank() == from) {
        for (int r = 0; r < ranks.size(); ++r) {
            if (r != from) {
                sends.push_back({r, bytes});
            }
        }
    } else {
        receives.push_back({from, bytes});
    }
    ranks.exchange(sends, receives);
}

/// The values of all ranks on every rank, rank after rank. `counts` says how many each has. Each rank sends
/// (ranks − 1) times its own.
template <class Value>
std::vector<Value> gather_to_all(Communicator& ranks, std::span<const Value> mine,
                                 const std::vector<Index>& counts) {
    static_assert(std::is_trivially_copyable_v<Value>);
    Index total = 0;
    for (const Index count : counts) {
        total += count;
    }
    std::vector<Value> all(static_cast<std::size_t>(total));
    std::vector<Communicator::Outgoing> sends;
    std::vector<Communicator::Incoming> receives;
    std::size_t first = 0;
    for (int r = 0; r < ranks.size(); ++r) {
        const std::span<Value> part(all.data() + first, static_cast<std::size_t>(counts[r]));
        first += part.size();
        if (r == ranks.rank()) {
            std::copy(mine.begin(), mine.end(), part.begin());
            continue;
        }
        if (!mine.empty()) {
            sends.push_back({r, std::as_bytes(mine)});
        }
        if (!part.empty()) {
            receives.push_back({r, std::as_writable_bytes(part)});
        }
    }
    ranks.exchange(sends, receives);
    return all;
}

/// One value of each rank, on every rank.
template <class Value>
std::vector<Value> gather_one(Communicator& ranks, const Value& mine) {
    return gather_to_all(ranks, std::span<const Value>(&mine, 1),
                         std::vector<Index>(static_cast<std::size_t>(ranks.size()), 1));
}

/// The same where only the ranks themselves know how many values they have.
template <class Value>
std::vector<Value> gather_any(Communicator& ranks, const std::vector<Value>& mine) {
    const std::vector<Index> counts = gather_one<Index>(ranks, static_cast<Index>(mine.size()));
    return gather_to_all(ranks, std::span<const Value>(mine), counts);
}

/// The cells that sweeps give to a rank: whole blocks of cells, about as many for each.
CellRange share_of_rank(Index cells, const Communicator& ranks);

/// The smallest of the ranks' values: what all of them can agree to.
double least_of(Communicator& ranks, double mine);
/// The largest.
double most_of(Communicator& ranks, double mine);
/// The sum, added in the order of the ranks.
double sum_of(Communicator& ranks, double mine);

} // namespace pnmf
