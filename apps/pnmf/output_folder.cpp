#include "output_folder.hpp"

#include <pnmf/error.hpp>
#include <pnmf/io/write_text.hpp>

#include <unistd.h>

#include <cerrno>
#include <system_error>

namespace pnmf::cli {

namespace fs = std::filesystem;

namespace {

std::string amount(double bytes) {
    return bytes < 1e9 ? fmt::format("{:.1f} MB", bytes / 1e6) : fmt::format("{:.1f} GB", bytes / 1e9);
}

} // namespace

void check_output_folder(const fs::path& folder) {
    std::error_code error;
    fs::path there = fs::absolute(folder);
    while (!fs::exists(there, error) && there.has_relative_path()) {
        there = there.parent_path();
    }
    require(fs::is_directory(there, error), "{}: the output folder cannot be made, {} is not a folder",
            folder.string(), there.string());
    if (::access(there.c_str(), W_OK | X_OK) != 0) {
        throw SystemError(fmt::format("{}: the output folder cannot be written, {}: {}", folder.string(),
                                      there.string(),
                                      std::error_code(errno, std::generic_category()).message()));
    }
}

void make_output_folder(const fs::path& folder, double bytes) {
    std::error_code error;
    fs::create_directories(folder, error);
    if (error) {
        throw SystemError(
            fmt::format("{}: the output folder cannot be made: {}", folder.string(), error.message()));
    }
    write_text(folder / ".writable", "");
    fs::remove(folder / ".writable", error);
    // What a killed run left half-written.
    for (const auto& entry : fs::directory_iterator(folder, error)) {
        const std::string name = entry.path().filename().string();
        if (name.starts_with(".checkpoint.bin.") && name.ends_with(".tmp")) {
            fs::remove(entry.path(), error);
        }
    }
    const auto space = fs::space(folder, error);
    if (!error && static_cast<double>(space.available) < bytes) {
        throw SystemError(fmt::format("{}: result and checkpoints need about {}, and the disk has {} left",
                                      folder.string(), amount(bytes),
                                      amount(static_cast<double>(space.available))));
    }
}

} // namespace pnmf::cli
