#include "files/atomic_file.hpp"

#include <pnmf/error.hpp>
#include <pnmf/run/run.hpp>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>
#include <utility>

namespace pnmf {

namespace fs = std::filesystem;

namespace {

constexpr const char* lock_name = ".pnmf-lock";

std::string amount(double bytes) {
    return bytes < 1e9 ? fmt::format("{:.1f} MB", bytes / 1e6) : fmt::format("{:.1f} GB", bytes / 1e9);
}

std::string reason() {
    return std::error_code(errno, std::generic_category()).message();
}

/// Finds out, without making anything, whether the folder is there to be written or can be made.
void check_place(const fs::path& folder) {
    require(!folder.empty(), "the output folder must have a name");
    std::error_code error;
    require(fs::exists(folder, error) || !fs::is_symlink(folder, error),
            "{}: is a link to {}, which is not there; make that folder, or remove the link", folder.string(),
            fs::read_symlink(folder, error).string());
    fs::path there = fs::absolute(folder);
    while (!fs::exists(there, error) && there.has_relative_path()) {
        there = there.parent_path();
    }
    require(fs::is_directory(there, error), "{}: the output folder cannot be made, {} is not a folder",
            folder.string(), there.string());
    if (::access(there.c_str(), W_OK | X_OK) != 0) {
        throw SystemError(fmt::format("{}: the output folder cannot be written, {}: {}", folder.string(),
                                      there.string(), reason()));
    }
}

void check_use(const RunFolder& folder) {
    const bool types_alone = fs::exists(folder.types()) && !fs::exists(folder.checkpoint());
    const fs::path left = types_alone ? folder.types() : folder.checkpoint();
    const bool checkpoint = fs::exists(left);
    const bool result = fs::exists(folder.result());
    switch (folder.use()) {
    case FolderUse::resume:
        require(checkpoint, "{}: there is no checkpoint to resume{}", folder.checkpoint().string(),
                result ? ": the run in this folder has ended" : "");
        return;
    case FolderUse::fresh:
        require(!checkpoint, Remedy::resume_or_overwrite,
                "{}: left by an interrupted run, which a new run would replace", left.string());
        require(!result, Remedy::overwrite, "{}: there is a result already, which this run would replace",
                folder.result().string());
        return;
    case FolderUse::overwrite:
        return;
    }
}

/// Temporary files of a run that was killed; nobody else works here, the folder is ours.
void remove_left_files(const RunFolder& folder) {
    std::error_code error;
    for (const auto& entry : fs::directory_iterator(folder.path(), error)) {
        const std::string name = entry.path().filename().string();
        for (const fs::path& file :
             {folder.checkpoint(), folder.types(), folder.result(), folder.summary(),
              folder.path() / "programs.tsv", folder.path() / "report.html", folder.path() / ".writable"}) {
            if (is_left_behind(name, file.filename().string())) {
                fs::remove(entry.path(), error);
            }
        }
    }
}

/// Whether the open file is still the one with this name: a run that ends takes its file away.
bool is_file(int descriptor, const fs::path& path) {
    struct stat held {};
    struct stat there {};
    return fstat(descriptor, &held) == 0 && stat(path.c_str(), &there) == 0 && held.st_dev == there.st_dev &&
           held.st_ino == there.st_ino;
}

} // namespace

/// Held while it lives; its file is taken away at the end.
class FolderLock {
  public:
    FolderLock(fs::path file, int descriptor) : file_(std::move(file)), descriptor_(descriptor) {}
    ~FolderLock() {
        ::unlink(file_.c_str());
        ::close(descriptor_);
    }
    FolderLock(const FolderLock&) = delete;
    FolderLock& operator=(const FolderLock&) = delete;

  private:
    fs::path file_;
    int descriptor_;
};

RunFolder::RunFolder(fs::path path, FolderUse use, FolderRole role)
    : path_(std::move(path)), use_(use), role_(role) {
    if (role_ == FolderRole::guest) {
        return;
    }
    check_place(path_);
    if (fs::exists(path_)) {
        claim(); // before the rest: the checkpoint of a run that still works is not left by anyone
    }
    check_use(*this);
}

RunFolder::~RunFolder() = default;

void RunFolder::claim() {
    const fs::path file = path_ / lock_name;
    while (!lock_) {
        const int descriptor = ::open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644);
        if (descriptor < 0) {
            throw SystemError(fmt::format("{}: cannot be written: {}", file.string(), reason()));
        }
        const bool locked = ::flock(descriptor, LOCK_EX | LOCK_NB) == 0;
        const bool held_by_another = !locked && errno == EWOULDBLOCK;
        if (locked && is_file(descriptor, file)) {
            lock_ = std::make_unique<FolderLock>(file, descriptor);
            return;
        }
        ::close(descriptor);
        require(!held_by_another, "{}: another run works in this folder; wait for it, or take another folder",
                path_.string());
        if (!locked) {
            return; // a file system without locks: the run goes on without one
        }
    }
}

std::string RunFolder::make(double bytes, double checkpoints) {
    if (role_ == FolderRole::guest) {
        return {};
    }
    std::error_code error;
    fs::create_directories(path_, error);
    if (error) {
        throw SystemError(
            fmt::format("{}: the output folder cannot be made: {}", path_.string(), error.message()));
    }
    claim();
    AtomicFile(path_ / ".writable").commit();
    fs::remove(path_ / ".writable", error);
    if (lock_) {
        remove_left_files(*this);
    }
    const auto space = fs::space(path_, error);
    const auto left = static_cast<double>(space.available);
    if (error || left >= bytes + checkpoints) {
        return {};
    }
    if (left < bytes) {
        throw SystemError(fmt::format("{}: the result needs about {}, and the disk has {} left",
                                      path_.string(), amount(bytes), amount(left)));
    }
    return fmt::format("{}: no checkpoints are written on the way: they need about {} besides the result, "
                       "and the disk has {} "
                       "left",
                       path_.string(), amount(checkpoints), amount(left));
}

} // namespace pnmf
