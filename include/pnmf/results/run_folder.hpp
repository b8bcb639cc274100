#pragma once

#include <filesystem>
#include <memory>

namespace pnmf {

/// What a run may do with what it finds in its folder.
enum class FolderUse {
    fresh,     ///< nothing may be lost: a result or a checkpoint there is refused
    overwrite, ///< both may be replaced, when the new ones are whole
    resume,    ///< goes on from the checkpoint, which must be there
};

/// Whose folder it is: of several processes one is its host, which alone looks, locks and writes.
enum class FolderRole { host, guest };

class FolderLock;

/// The folder of a run: its checkpoint, its result, and bases that do not fit into memory. One run at a time
/// holds it, by a lock that the system releases however the run ends.
class RunFolder {
  public:
    /// Makes nothing yet. InputError when something else has the folder's name, when another run works in it,
    /// or when `use` forbids what is found; SystemError when the machine would refuse to write.
    /// A guest does none of this.
    explicit RunFolder(std::filesystem::path path, FolderUse use = FolderUse::fresh,
                       FolderRole role = FolderRole::host);
    ~RunFolder();
    RunFolder(const RunFolder&) = delete;
    RunFolder& operator=(const RunFolder&) = delete;

    const std::filesystem::path& path() const { return path_; }
    std::filesystem::path checkpoint() const { return path_ / "checkpoint.bin"; }
    std::filesystem::path result() const { return path_ / "result.h5ad"; }
    std::filesystem::path summary() const { return path_ / "summary.json"; }
    FolderUse use() const { return use_; }
    FolderRole role() const { return role_; }

    /// Makes the folder, unless it is there, writes and removes a file in it, removes what a killed run left
    /// half-written, and checks that the disk has `bytes` left. SystemError when any of it fails. A guest
    /// does nothing.
    void make(double bytes);

  private:
    void claim();

    std::filesystem::path path_;
    FolderUse use_;
    FolderRole role_;
    std::unique_ptr<FolderLock> lock_;
};

} // namespace pnmf
