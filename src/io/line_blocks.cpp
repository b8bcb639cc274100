#include "io/line_blocks.hpp"

#include "io/input_file.hpp"

#include <algorithm>
#include <utility>

namespace pnmf::io {

namespace {

constexpr std::size_t blocks_ahead = 8;

/// What the producer has read and not yet handed on.
struct Unfinished {
    std::string carried; ///< the beginning of a line whose end has not been read
    bool more = true;    ///< the file may go on
};

/// The next whole lines, at least `size` bytes unless the file ends; the last line gets the end it may lack.
std::string next_lines(InputFile& file, std::size_t size, Unfinished& state) {
    std::string text = std::exchange(state.carried, {});
    std::size_t filled = text.size();
    std::size_t end = std::string::npos;
    while (state.more && end == std::string::npos) {
        text.resize(filled + size);
        const std::size_t got = file.read(text.data() + filled, size);
        state.more = got == size;
        // What was carried holds no line end: look only at what is new.
        const std::size_t found = std::string_view(text).substr(filled, got).rfind('\n');
        end = found == std::string_view::npos ? found : filled + found;
        filled += got;
    }
    text.resize(filled);
    if (state.more) {
        state.carried = text.substr(end + 1);
        text.resize(end + 1);
    } else if (filled > 0 && text.back() != '\n') {
        text.push_back('\n');
    }
    return text;
}

} // namespace

LineBlocks::LineBlocks(const std::filesystem::path& path, std::size_t block_size)
    : block_size_(block_size), size_bound_(InputFile(path).size_bound()) {
    if (size_bound_ < block_size_) {
        produce(path); // one block: a thread would cost more than it saves
    } else {
        producer_ = std::thread([this, path] { produce(path); });
    }
}

LineBlocks::~LineBlocks() {
    {
        const std::lock_guard lock(mutex_);
        abandoned_ = true;
    }
    changed_.notify_all();
    if (producer_.joinable()) {
        producer_.join();
    }
}

void LineBlocks::produce(const std::filesystem::path& path) {
    try {
        InputFile file(path);
        Unfinished state;
        Index line = 1;
        while (state.more) {
            std::string text = next_lines(file, block_size_, state);
            const Index first = line;
            line += std::count(text.begin(), text.end(), '\n');
            if (!text.empty() && !put({.text = std::move(text), .first_line = first})) {
                return;
            }
        }
    } catch (...) {
        const std::lock_guard lock(mutex_);
        failure_ = std::current_exception();
    }
    {
        const std::lock_guard lock(mutex_);
        finished_ = true;
    }
    changed_.notify_all();
}

bool LineBlocks::put(LineBlock block) {
    {
        std::unique_lock lock(mutex_);
        changed_.wait(lock, [&] { return abandoned_ || ready_.size() < blocks_ahead; });
        if (abandoned_) {
            return false;
        }
        ready_.push_back(std::move(block));
    }
    changed_.notify_all();
    return true;
}

bool LineBlocks::next(LineBlock& block) {
    {
        std::unique_lock lock(mutex_);
        changed_.wait(lock, [&] { return finished_ || !ready_.empty(); });
        if (ready_.empty()) {
            if (failure_) {
                std::rethrow_exception(failure_);
            }
            return false;
        }
        block = std::move(ready_.front());
        ready_.pop_front();
    }
    changed_.notify_all();
    return true;
}

bool LineBlocks::next_if_ready(LineBlock& block) {
    {
        const std::lock_guard lock(mutex_);
        if (ready_.empty()) {
            return false;
        }
    }
    return next(block);
}

} // namespace pnmf::io
