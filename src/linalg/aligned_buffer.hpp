#pragma once

#include <pnmf/types.hpp>

#include <cstddef>
#include <memory>
#include <new>

namespace pnmf {

/// Memory for numbers that begins where a line of the cache does: a vector of 64 bytes then is in one line,
/// not in two.
template <class Real>
class AlignedBuffer {
  public:
    explicit AlignedBuffer(Index count)
        : numbers_(static_cast<Real*>(::operator new(static_cast<std::size_t>(count) * sizeof(Real), line))) {
    }

    Real* data() const { return numbers_.get(); }

  private:
    static constexpr std::align_val_t line{64};
    struct Release {
        void operator()(Real* numbers) const { ::operator delete(numbers, line); }
    };
    std::unique_ptr<Real, Release> numbers_;
};

/// The same, for a thread that keeps it from call to call (`thread_local`): threads that ask for memory all
/// the time wait for each other. What it held is lost when it grows.
template <class Real>
class KeptAlignedBuffer {
  public:
    Real* at_least(Index count) {
        if (count > count_) {
            buffer_ = AlignedBuffer<Real>(count);
            count_ = count;
        }
        return buffer_.data();
    }

  private:
    AlignedBuffer<Real> buffer_{0};
    Index count_ = 0;
};

/// Columns of M, each from the begin of a line on, for `gather_runs`: of a column that does not fit lines,
/// fewer of them are touched.
template <class Real>
class LinedColumns {
  public:
    LinedColumns() = default;
    LinedColumns(Index d, Index count) { resize(d, count); }

    /// d × count, to be filled in.
    void resize(Index d, Index count) {
        stride_ = lined(d);
        numbers_ = buffer_.at_least(stride_ * count);
    }

    Real* column(Index j) const { return numbers_ + j * stride_; }
    const Real* data() const { return numbers_; }
    Index stride() const { return stride_; }

  private:
    static Index lined(Index d) {
        constexpr Index in_line = 64 / static_cast<Index>(sizeof(Real));
        const Index whole = (d + in_line - 1) / in_line * in_line;
        return 4 * whole <= 5 * d ? whole : d; // not where much of the memory would be left empty
    }

    Index stride_ = 0;
    Real* numbers_ = nullptr;
    KeptAlignedBuffer<Real> buffer_;
};

} // namespace pnmf
