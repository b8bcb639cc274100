#pragma once

#include <filesystem>
#include <optional>
#include <string>

namespace pnmf::test {

/// The root of the sources.
std::filesystem::path source_dir();

/// The program pnmf of this build.
std::filesystem::path program();

/// A file or folder of the data sets that may stand beside the project; empty when they are not there.
/// The test then skips with a reason: `GTEST_SKIP() << missing_data(name)`.
std::optional<std::filesystem::path> shared_data(const std::string& name);
std::string missing_data(const std::string& name);

/// A new empty folder, removed with this object.
class TemporaryFolder {
  public:
    TemporaryFolder();
    ~TemporaryFolder();
    TemporaryFolder(const TemporaryFolder&) = delete;
    TemporaryFolder& operator=(const TemporaryFolder&) = delete;
    std::filesystem::path operator/(const std::string& name) const { return path_ / name; }
    const std::filesystem::path& path() const { return path_; }

  private:
    std::filesystem::path path_;
};

/// What a command printed and how it ended. Runs through the shell.
struct CommandResult {
    int exit_code = 0;
    std::string out;
    std::string err;
};
CommandResult run_command(const std::string& command);

} // namespace pnmf::test
