#include "io/line_blocks.hpp"

#include "io/input_file.hpp"

#include <algorithm>
#include <system_error>
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

/// The file and what has been read of it.
struct LineBlocks::Source {
    explicit Source(const std::filesystem::path& path) : file(path) {}

    /// False at the end of the file.
    bool next(std::size_t size, LineBlock& block) {
        while (state.more) {
            block.text = next_lines(file, size, state);
            block.first_line = line;
            line += std::count(block.text.begin(), block.text.end(), '\n');
            if (!block.text.empty()) {
                return true;
            }
        }
        return false;
    }

    InputFile file;
    Unfinished state;
    Index line = 1;
};

LineBlocks::LineBlocks(const std::filesystem::path& path, std::size_t block_size)
    : source_(std::make_unique<Source>(path)), block_size_(block_size),
      size_bound_(source_->file.size_bound()) {
    if (size_bound_ < block_size_) {
        return; // one block: a thread would cost more than it saves
    }
    try {
        producer_ = std::thread([this] { produce(); });
    } catch (const std::system_error&) {
        // The reader does it.
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

void LineBlocks::produce() {
    try {
        LineBlock block;
        while (source_->next(block_size_, block)) {
            if (!put(std::move(block))) {
                return;
            }
            block = {};
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
    if (!producer_.joinable()) {
        return source_->next(block_size_, block);
    }
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
