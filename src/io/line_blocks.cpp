#include "io/line_blocks.hpp"

#include "io/input_file.hpp"

#include <algorithm>

namespace pnmf::io {

namespace {
constexpr std::size_t blocks_ahead = 8;
}

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
        std::string carried; // the beginning of a line whose end has not been read
        Index line = 1;
        bool more = true;
        while (more) {
            LineBlock block{.text = std::move(carried), .first_line = line};
            carried.clear();
            std::size_t filled = block.text.size();
            std::size_t end = std::string::npos;
            while (more && end == std::string::npos) {
                block.text.resize(filled + block_size_);
                const std::size_t got = file.read(block.text.data() + filled, block_size_);
                more = got == block_size_;
                // What was carried holds no line end: look only at what is new.
                const std::size_t found = std::string_view(block.text).substr(filled, got).rfind('\n');
                end = found == std::string_view::npos ? found : filled + found;
                filled += got;
            }
            block.text.resize(filled);
            if (!more && filled > 0 && block.text.back() != '\n') {
                block.text.push_back('\n');
            } else if (more) {
                carried = block.text.substr(end + 1);
                block.text.resize(end + 1);
            }
            line += std::count(block.text.begin(), block.text.end(), '\n');
            if (!block.text.empty() && !put(std::move(block))) {
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
