#pragma once

#include <cublas_v2.h>
#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

/// Memory of the device and the one way its errors are said. Plain headers only: the sources that nvcc
/// compiles include this.
namespace pnmf::cuda {

/// What cuBLAS and the kernels themselves bring in, for plans.
constexpr double bytes_of_libraries = 400e6;

/// SystemError that names what was asked of the device and what it answered.
[[noreturn]] void fail_call(const char* what, const char* answer);
/// SystemError with the size that was asked for and what is free.
[[noreturn]] void fail_memory(std::size_t bytes);

/// The device reads pinned memory of the host over the bus.
enum class MemoryKind { device, pinned };

/// SystemError where there is not so much.
void* take_memory(std::size_t bytes, MemoryKind kind);
void give_memory(void* data, MemoryKind kind) noexcept;

/// Copies from and to memory of the host; large ones go through memory that the device reaches at full speed,
/// one at a time.
void copy_to_device(void* to, const void* from, std::size_t bytes);
void copy_from_device(void* to, const void* from, std::size_t bytes);

inline void check(cudaError_t code, const char* what) {
    if (code != cudaSuccess) {
        fail_call(what, cudaGetErrorString(code));
    }
}

inline void check(cublasStatus_t code, const char* what) {
    if (code != CUBLAS_STATUS_SUCCESS) {
        fail_call(what, cublasGetStatusString(code));
    }
}

/// After each launch: a launch itself returns nothing.
inline void check_launch(const char* what) {
    check(cudaGetLastError(), what);
}

/// An array that the device works on: in its own memory, unless another place is given.
template <class Value>
class DeviceArray {
  public:
    DeviceArray() = default;
    explicit DeviceArray(MemoryKind kind) : kind_(kind) {}
    explicit DeviceArray(std::int64_t size) { allocate(size); }
    DeviceArray(const DeviceArray&) = delete;
    DeviceArray& operator=(const DeviceArray&) = delete;
    DeviceArray(DeviceArray&& other) noexcept
        : kind_(other.kind_), data_(std::exchange(other.data_, nullptr)),
          size_(std::exchange(other.size_, 0)) {}
    DeviceArray& operator=(DeviceArray&& other) noexcept {
        std::swap(kind_, other.kind_);
        std::swap(data_, other.data_);
        std::swap(size_, other.size_);
        return *this;
    }
    ~DeviceArray() { give_memory(data_, kind_); }

    /// As many values, all zero. Does nothing where there are as many already.
    void allocate(std::int64_t size) {
        if (size == size_) {
            return;
        }
        give_memory(std::exchange(data_, nullptr), kind_);
        size_ = 0;
        if (size == 0) {
            return;
        }
        const std::size_t bytes = static_cast<std::size_t>(size) * sizeof(Value);
        data_ = static_cast<Value*>(take_memory(bytes, kind_));
        size_ = size;
        check(cudaMemset(data_, 0, bytes), "clearing memory");
    }

    Value* get() { return data_; }
    const Value* get() const { return data_; }
    std::int64_t size() const { return size_; }
    bool empty() const { return size_ == 0; }
    std::size_t bytes() const { return static_cast<std::size_t>(size_) * sizeof(Value); }

    void upload(std::span<const Value> values) {
        allocate(static_cast<std::int64_t>(values.size()));
        upload_part(values.data(), 0, size_);
    }
    void upload_part(const Value* from, std::int64_t first, std::int64_t count) {
        if (count > 0) {
            copy_to_device(data_ + first, from, static_cast<std::size_t>(count) * sizeof(Value));
        }
    }
    void download_part(Value* to, std::int64_t first, std::int64_t count) const {
        if (count > 0) {
            copy_from_device(to, data_ + first, static_cast<std::size_t>(count) * sizeof(Value));
        }
    }
    /// Some columns of `size` values, `step` apart here, one after another.
    void download_columns(Value* to, std::int64_t first, std::int64_t step, std::int64_t size,
                          std::int64_t columns) const {
        const auto bytes = static_cast<std::size_t>(size) * sizeof(Value);
        if (bytes > 0 && columns > 0) {
            check(cudaMemcpy2D(to, bytes, data_ + first, static_cast<std::size_t>(step) * sizeof(Value),
                               bytes, static_cast<std::size_t>(columns), cudaMemcpyDefault),
                  "copying from the device");
        }
    }
    std::vector<Value> download() const {
        std::vector<Value> values(static_cast<std::size_t>(size_));
        download_part(values.data(), 0, size_);
        return values;
    }
    void copy_from(const DeviceArray& other) {
        allocate(other.size_);
        if (size_ > 0) {
            check(cudaMemcpyAsync(data_, other.data_, bytes(), cudaMemcpyDefault), "copying on the device");
        }
    }

  private:
    MemoryKind kind_ = MemoryKind::device;
    Value* data_ = nullptr;
    std::int64_t size_ = 0;
};

/// Memory of the host that the device reaches at full speed. Uninitialised.
template <class Value>
class PinnedArray {
  public:
    explicit PinnedArray(std::int64_t size) {
        check(
            cudaMallocHost(reinterpret_cast<void**>(&data_), static_cast<std::size_t>(size) * sizeof(Value)),
            "memory of the host for copies");
    }
    PinnedArray(const PinnedArray&) = delete;
    PinnedArray& operator=(const PinnedArray&) = delete;
    ~PinnedArray() { cudaFreeHost(data_); }

    Value* get() { return data_; }

  private:
    Value* data_ = nullptr;
};

/// The matrix products of the device, on its one stream: then they are the same bits from run to run.
class Products {
  public:
    Products() {
        check(cudaGetDevice(&device_), "asking for the device");
        check(cublasCreate(&handle_), "starting cuBLAS");
    }
    Products(const Products&) = delete;
    Products& operator=(const Products&) = delete;
    ~Products() { cublasDestroy(handle_); }
    /// A thread that comes anew works on no device yet, and not every product finds that out by itself.
    cublasHandle_t handle() const {
        check(cudaSetDevice(device_), "taking the device of a product");
        return handle_;
    }

  private:
    int device_ = 0;
    cublasHandle_t handle_ = nullptr;
};

} // namespace pnmf::cuda
