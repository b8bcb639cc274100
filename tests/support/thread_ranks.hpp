#pragma once

#include "cells/processes.hpp"

#include <pnmf/linalg/sparse.hpp>
#include <pnmf/types.hpp>

#include <algorithm>
#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

/// Ranks that are threads of one process: what is divided over ranks can be tested without MPI.
namespace pnmf::test {

class ThreadRanks {
  public:
    explicit ThreadRanks(int size) : boxes_(static_cast<std::size_t>(size * size)) {
        for (int r = 0; r < size; ++r) {
            ranks_.push_back(std::make_unique<Rank>(*this, r));
        }
    }

    int count() const { return static_cast<int>(ranks_.size()); }
    Processes& operator[](int rank) { return *ranks_[rank]; }

    /// `body(rank)` on a thread for each rank, which works with its communicator.
    void run(const std::function<void(int)>& body) {
        std::vector<std::thread> threads;
        for (int r = 0; r < count(); ++r) {
            threads.emplace_back([&, r] {
                const ProcessesScope scope(*ranks_[r]);
                body(r);
            });
        }
        for (std::thread& thread : threads) {
            thread.join();
        }
    }

  private:
    class Rank final : public Processes {
      public:
        Rank(ThreadRanks& all, int rank) : all_(all), rank_(rank) {}
        int place() const override { return rank_; }
        int count() const override { return all_.count(); }
        int count_here() const override { return all_.count(); }
        int place_here() const override { return 0; } // a thread that comes anew has the first device

      protected:
        void transfer(std::span<const Outgoing> sends, std::span<const Incoming> receives) override {
            for (const Outgoing& message : sends) {
                all_.put(rank_, message.to, {message.bytes.begin(), message.bytes.end()});
            }
            for (const Incoming& message : receives) {
                const std::vector<std::byte> bytes = all_.take(message.from, rank_);
                if (bytes.size() != message.bytes.size()) {
                    std::terminate(); // the two sides do not agree what is sent
                }
                std::copy(bytes.begin(), bytes.end(), message.bytes.begin());
            }
        }

      private:
        ThreadRanks& all_;
        int rank_;
    };

    std::deque<std::vector<std::byte>>& box(int from, int to) { return boxes_[from * count() + to]; }

    void put(int from, int to, std::vector<std::byte> bytes) {
        const std::lock_guard lock(mutex_);
        box(from, to).push_back(std::move(bytes));
        arrived_.notify_all();
    }

    std::vector<std::byte> take(int from, int to) {
        std::unique_lock lock(mutex_);
        arrived_.wait(lock, [&] { return !box(from, to).empty(); });
        std::vector<std::byte> bytes = std::move(box(from, to).front());
        box(from, to).pop_front();
        return bytes;
    }

    std::mutex mutex_;
    std::condition_variable arrived_;
    std::vector<std::deque<std::vector<std::byte>>> boxes_;
    std::vector<std::unique_ptr<Rank>> ranks_;
};

/// What one rank holds of a matrix.
inline SparseMatrix<double> columns_of(const SparseMatrix<double>& all, const CellRange& range) {
    SparseMatrix<double> part;
    part.rows = all.rows;
    part.cols = range.count;
    const auto begin = all.start[range.first];
    part.start.clear();
    for (Index j = range.first; j <= range.past(); ++j) {
        part.start.push_back(all.start[j] - begin);
    }
    part.row.assign(all.row.begin() + begin, all.row.begin() + all.start[range.past()]);
    part.value.assign(all.value.begin() + begin, all.value.begin() + all.start[range.past()]);
    return part;
}

inline Matrix columns_of(const Matrix& all, const CellRange& range) {
    return all.middleCols(range.first, range.count);
}

} // namespace pnmf::test
