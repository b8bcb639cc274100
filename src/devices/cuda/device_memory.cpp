#include "devices/cuda/device_memory.hpp"

#include <pnmf/error.hpp>
#include <pnmf/parallel.hpp>

#include <algorithm>
#include <cstring>
#include <mutex>

namespace pnmf::cuda {
namespace {

constexpr std::size_t least_staged = std::size_t{4} << 20U; // smaller copies are as quick without
constexpr std::size_t staged_at_once = std::size_t{32} << 20U;
constexpr std::size_t bytes_of_item = std::size_t{1} << 20U;

/// Two buffers of memory that the device reaches at full speed: one is filled or emptied by the threads of
/// the host while the other is on its way. They stay until the program ends.
class Stage {
  public:
    Stage() {
        for (Buffer& buffer : buffers_) {
            check(cudaMallocHost(reinterpret_cast<void**>(&buffer.data), staged_at_once),
                  "memory of the host for copies");
            check(cudaEventCreateWithFlags(&buffer.done, cudaEventDisableTiming), "an event");
        }
    }

    void upload(char* to, const char* from, std::size_t bytes) {
        const std::lock_guard lock(mutex_);
        for (std::size_t at = 0; at < bytes; at += staged_at_once) {
            Buffer& buffer = next();
            const std::size_t size = std::min(staged_at_once, bytes - at);
            check(cudaEventSynchronize(buffer.done), "copying to the device");
            copy(buffer.data, from + at, size);
            check(cudaMemcpyAsync(to + at, buffer.data, size, cudaMemcpyDefault), "copying to the device");
            check(cudaEventRecord(buffer.done), "copying to the device");
        }
    }

    void download(char* to, const char* from, std::size_t bytes) {
        const std::lock_guard lock(mutex_);
        std::size_t begun = 0;
        const auto begin = [&] {
            if (begun < bytes) {
                Buffer& buffer = next();
                const std::size_t size = std::min(staged_at_once, bytes - begun);
                check(cudaMemcpyAsync(buffer.data, from + begun, size, cudaMemcpyDefault),
                      "copying from the device");
                check(cudaEventRecord(buffer.done), "copying from the device");
                begun += size;
            }
        };
        begin();
        for (std::size_t at = 0; at < bytes; at += staged_at_once) {
            Buffer& buffer = buffers_[turn_];
            begin(); // the other memory
            check(cudaEventSynchronize(buffer.done), "copying from the device");
            copy(to + at, buffer.data, std::min(staged_at_once, bytes - at));
        }
    }

  private:
    struct Buffer {
        char* data = nullptr;
        cudaEvent_t done = nullptr;
    };

    Buffer& next() {
        turn_ = 1 - turn_;
        return buffers_[turn_];
    }

    static void copy(char* to, const char* from, std::size_t bytes) {
        parallel_blocks(static_cast<Index>(bytes), static_cast<Index>(bytes_of_item),
                        [&](Index begin, Index end) {
                            std::memcpy(to + begin, from + begin, static_cast<std::size_t>(end - begin));
                        });
    }

    Buffer buffers_[2];
    int turn_ = 0;
    std::mutex mutex_;
};

Stage& stage() {
    static auto* const only = new Stage; // the device is gone when static objects are destroyed
    return *only;
}

} // namespace

void fail_call(const char* what, const char* answer) {
    throw SystemError(fmt::format("the CUDA device failed ({}): {}", what, answer));
}

void* take_memory(std::size_t bytes, MemoryKind kind) {
    void* data = nullptr;
    const cudaError_t code =
        kind == MemoryKind::device ? cudaMalloc(&data, bytes) : cudaMallocHost(&data, bytes);
    if (code != cudaSuccess) {
        cudaGetLastError(); // it is said here, not at the next launch
        if (kind == MemoryKind::pinned) {
            throw SystemError(fmt::format("there is no memory for {:.2f} GB that the CUDA device reads: {}",
                                          static_cast<double>(bytes) / 1e9, cudaGetErrorString(code)));
        }
        fail_memory(bytes);
    }
    return data;
}

void give_memory(void* data, MemoryKind kind) noexcept {
    if (kind == MemoryKind::pinned) {
        cudaFreeHost(data);
    } else {
        cudaFree(data);
    }
}

void fail_memory(std::size_t bytes) {
    std::size_t free = 0;
    std::size_t total = 0;
    cudaMemGetInfo(&free, &total);
    throw SystemError(fmt::format(
        "the CUDA device has no memory for {:.2f} GB more: {:.2f} of {:.2f} GB are free",
        static_cast<double>(bytes) / 1e9, static_cast<double>(free) / 1e9, static_cast<double>(total) / 1e9));
}

void copy_to_device(void* to, const void* from, std::size_t bytes) {
    if (bytes < least_staged) {
        check(cudaMemcpy(to, from, bytes, cudaMemcpyDefault), "copying to the device");
    } else {
        stage().upload(static_cast<char*>(to), static_cast<const char*>(from), bytes);
    }
}

void copy_from_device(void* to, const void* from, std::size_t bytes) {
    if (bytes < least_staged) {
        check(cudaMemcpy(to, from, bytes, cudaMemcpyDefault), "copying from the device");
    } else {
        stage().download(static_cast<char*>(to), static_cast<const char*>(from), bytes);
    }
}

} // namespace pnmf::cuda
