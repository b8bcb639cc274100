#include "support/paths.hpp"

#include <sys/wait.h>

#include <cstdlib>
#include <fstream>
#include <sstream>
#include <stdexcept>
#include <vector>

namespace pnmf::test {

namespace fs = std::filesystem;

namespace {

std::string slurp(const fs::path& path) {
    std::ifstream in(path, std::ios::binary);
    std::ostringstream text;
    text << in.rdbuf();
    return text.str();
}

} // namespace

fs::path source_dir() {
    return PNMF_SOURCE_DIR;
}

fs::path program() {
    return PNMF_PROGRAM;
}

std::optional<fs::path> shared_data(const std::string& name) {
    const fs::path path = source_dir().parent_path() / "shared" / "data" / name;
    if (fs::exists(path)) {
        return path;
    }
    return std::nullopt;
}

std::string missing_data(const std::string& name) {
    return "the data set " + name + " is not beside the project (../shared/data)";
}

TemporaryFolder::TemporaryFolder() {
    std::string pattern = (fs::temp_directory_path() / "pnmf-test-XXXXXX").string();
    if (mkdtemp(pattern.data()) == nullptr) {
        throw std::runtime_error("cannot make a temporary folder");
    }
    path_ = pattern;
}

TemporaryFolder::~TemporaryFolder() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
}

CommandResult run_command(const std::string& command) {
    const TemporaryFolder folder;
    const std::string whole = "( " + command + " ) >" + (folder / "out").string() + " 2>" +
                              (folder / "err").string() + " </dev/null";
    const int status = std::system(whole.c_str());
    CommandResult result;
    result.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    result.out = slurp(folder / "out");
    result.err = slurp(folder / "err");
    return result;
}

} // namespace pnmf::test
