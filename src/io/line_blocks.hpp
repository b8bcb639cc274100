#pragma once

#include <pnmf/types.hpp>

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <exception>
#include <filesystem>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

namespace pnmf::io {

/// Some consecutive whole lines of a file.
struct LineBlock {
    std::string text;     ///< ends with '\n', also where the file does not
    Index first_line = 1; ///< its number in the file, from 1
};

/// A text file as blocks of whole lines, read and inflated on a thread of its own, a few blocks ahead of the
/// reader; by the reader itself when the file is small or the system gives no thread. A line longer than a
/// block makes a longer block.
class LineBlocks {
  public:
    explicit LineBlocks(const std::filesystem::path& path, std::size_t block_size = std::size_t{1} << 20U);
    ~LineBlocks();
    LineBlocks(const LineBlocks&) = delete;
    LineBlocks& operator=(const LineBlocks&) = delete;

    /// The next block; false at the end of the file. Throws what reading the file threw.
    bool next(LineBlock& block);
    /// As `next`, but false also when no block is ready.
    bool next_if_ready(LineBlock& block);
    /// The most bytes that the file can hold.
    std::uint64_t size_bound() const { return size_bound_; }

  private:
    struct Source;

    void produce();
    bool put(LineBlock block);

    std::unique_ptr<Source> source_; ///< used by one thread: the producer, or the reader where there is none
    std::size_t block_size_;
    std::uint64_t size_bound_ = 0;
    std::mutex mutex_;
    std::condition_variable changed_;
    std::deque<LineBlock> ready_;
    bool finished_ = false;
    bool abandoned_ = false;
    std::exception_ptr failure_;
    std::thread producer_;
};

} // namespace pnmf::io
