#include "io/hdf5_handle.hpp"
#include "io/trial_read.hpp"

#include <pnmf/io/h5ad.hpp>

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <compare>
#include <map>
#include <mutex>
#include <optional>

namespace pnmf {

namespace fs = std::filesystem;

namespace {

hdf5::Object open_array(const fs::path& path, const std::string& array) {
    auto element = hdf5::Object::open_file(path).open(array);
    if (!element.is_dataset()) {
        element.reject("must be an array");
    }
    return element;
}

hdf5::Object open_slabs(const fs::path& path, const std::string& array, Index t) {
    auto element = open_array(path, array);
    const auto shape = element.shape();
    if (shape.size() != 3) {
        element.reject("must be an array of three axes");
    }
    if (t < 0 || t >= shape[0]) {
        element.reject(fmt::format("has slabs 1 to {}, asked for {}", shape[0], t + 1));
    }
    element.check_fits_file();
    return element;
}

Matrix slab_in(const hdf5::Object& element, Index t) {
    const auto shape = element.shape();
    Matrix by_rows(shape[2], shape[1]);
    element.read_rows(t, 1, by_rows.data());
    return by_rows.transpose();
}

/// What tells a file from another one of the same name.
struct FileState {
    dev_t device = 0;
    ino_t number = 0;
    off_t size = 0;
    std::int64_t written = 0; ///< nanoseconds
    std::int64_t changed = 0;

    auto operator<=>(const FileState&) const = default;
};

std::optional<FileState> state_of(const fs::path& path) {
    struct stat found {};
    if (::stat(path.c_str(), &found) != 0) {
        return std::nullopt;
    }
    const auto nanoseconds = [](const timespec& time) {
        return std::int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec;
    };
    return FileState{.device = found.st_dev,
                     .number = found.st_ino,
                     .size = found.st_size,
                     .written = nanoseconds(found.st_mtim),
                     .changed = nanoseconds(found.st_ctim)};
}

constexpr Index slabs_at_once = 64;

/// Slabs that a child has read already. Results are read slab by slab, and a child for each would take longer
/// than the reading.
class TriedSlabs {
  public:
    bool contains(const fs::path& path, const std::string& array, Index t) {
        const std::lock_guard lock(mutex_);
        const auto found = known_.find({path.string(), array});
        return found != known_.end() && found->second.first <= t && t < found->second.first + slabs_at_once &&
               state_of(path) == found->second.state;
    }
    /// Slabs from `first` on, of a file that was in this state before the child read it.
    void add(const fs::path& path, const std::string& array, Index first,
             const std::optional<FileState>& state) {
        constexpr std::size_t most = 64;
        const std::lock_guard lock(mutex_);
        if (known_.size() >= most) {
            known_.clear();
        }
        known_.insert_or_assign({path.string(), array}, Known{.first = first, .state = state});
    }

  private:
    struct Known {
        Index first = 0;
        std::optional<FileState> state{};
    };

    std::mutex mutex_;
    std::map<std::pair<std::string, std::string>, Known> known_;
};

TriedSlabs& tried_slabs() {
    static TriedSlabs instance;
    return instance;
}

void try_slabs(const fs::path& path, const std::string& array, Index first) {
    const auto state = state_of(path);
    const io::TrialRead trial(path, [&] {
        const hdf5::Session session;
        const auto element = open_slabs(path, array, first);
        const Index end = std::min(element.shape()[0], first + slabs_at_once);
        for (Index t = first; t < end; ++t) {
            static_cast<void>(slab_in(element, t));
        }
    });
    if (trial.by_child()) {
        tried_slabs().add(path, array, first, state);
    }
}

} // namespace

bool has_array(const fs::path& path, const std::string& array) {
    return io::read_after_trial(path, [&] {
        const hdf5::Session session;
        const auto root = hdf5::Object::open_file(path);
        return root.contains(array) && root.open(array).is_dataset();
    });
}

std::vector<Index> array_shape(const fs::path& path, const std::string& array) {
    return io::read_after_trial(path, [&] {
        const hdf5::Session session;
        return open_array(path, array).shape();
    });
}

Index array_element_bytes(const fs::path& path, const std::string& array) {
    return io::read_after_trial(path, [&] {
        const hdf5::Session session;
        return static_cast<Index>(open_array(path, array).element_bytes());
    });
}

Matrix read_slab(const fs::path& path, const std::string& array, Index t) {
    if (!tried_slabs().contains(path, array, t)) {
        try_slabs(path, array, t);
    }
    const hdf5::Session session;
    errno = 0; // see memory_was_short
    return io::read_tried(path, [&] { return slab_in(open_slabs(path, array, t), t); });
}

} // namespace pnmf
