#include "keep_inputs.hpp"

#include <pnmf/error.hpp>

#include <algorithm>
#include <array>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace pnmf::cli {
namespace {

namespace fs = std::filesystem;

/// The options that name what is written. Every other value that names a file is taken for one that is read.
constexpr std::array written_by{"output", "OUTPUT", "write-clusters", "trace"};
/// What verbs write into a folder.
constexpr std::array files_of_run{"result.h5ad",   "summary.json",   "types.bin",   "programs.tsv",
                                  "report.html",   "checkpoint.bin", "rank.tsv",    "rank.svg",
                                  "consensus.tsv", "rank.json",      "report.genes"};
/// Endings of the files that are read with a matrix, and of a matrix in a folder.
constexpr std::array read_together{"features.tsv", "genes.tsv", "barcodes.tsv", "cells.tsv", "matrix.mtx"};

struct NamedFile {
    const CLI::Option* option;
    fs::path path;
};

bool ends_as(std::string_view name, std::string_view ending) {
    if (name.ends_with(".gz")) {
        name.remove_suffix(3);
    }
    return name.ends_with(ending);
}

std::string name_of(const CLI::Option& option) {
    return (option.get_positional() ? "" : "--") + option.get_single_name();
}

bool is_output(const CLI::Option& option) {
    return std::find(written_by.begin(), written_by.end(), option.get_single_name()) != written_by.end();
}

void add_sidecar_files(std::vector<NamedFile>& files, const CLI::Option* option, const fs::path& folder) {
    std::error_code error;
    for (const auto& entry : fs::directory_iterator(folder.empty() ? "." : folder, error)) {
        const std::string name = entry.path().filename().string();
        if (std::any_of(read_together.begin(), read_together.end(),
                        [&](const char* ending) { return ends_as(name, ending); })) {
            files.push_back({option, folder / name});
        }
    }
}

/// The files that a value stands for: a file, `FILE:COLUMN`, a folder of a run or of 10x.
void add_read(std::vector<NamedFile>& files, const CLI::Option* option, const std::string& value) {
    std::error_code error;
    fs::path path = value;
    if (!fs::exists(path, error)) {
        path = value.substr(0, value.rfind(':'));
    }
    if (fs::is_directory(path, error)) {
        files.push_back({option, path / "result.h5ad"});
        add_sidecar_files(files, option, path);
        return;
    }
    files.push_back({option, path});
    if (ends_as(path.string(), ".mtx")) {
        add_sidecar_files(files, option, path.parent_path());
    }
}

void add_written(std::vector<NamedFile>& files, const CLI::Option* option, const fs::path& path) {
    files.push_back({option, path});
    std::error_code error;
    if (!fs::is_regular_file(path, error)) {
        for (const char* name : files_of_run) {
            files.push_back({option, path / name});
        }
    }
}

bool are_same(const fs::path& a, const fs::path& b) {
    std::error_code error;
    if (fs::exists(a, error) && fs::exists(b, error)) {
        return fs::equivalent(a, b, error);
    }
    const fs::path whole = fs::weakly_canonical(a, error);
    return !error && whole == fs::weakly_canonical(b, error);
}

/// A file is written when all work is done: that it has no folder is to be known before.
void require_folder_of(const CLI::Option& option, const fs::path& file) {
    const bool is_file = option.get_type_name().starts_with("FILE") || option.get_single_name() == "OUTPUT";
    const fs::path folder = file.parent_path();
    std::error_code error;
    if (is_file && !folder.empty() && fs::status(folder, error).type() == fs::file_type::not_found) {
        throw SystemError(
            fmt::format("{}: cannot be written: there is no folder {}; make it first (mkdir -p)",
                        file.string(), folder.string()));
    }
}

void check(const CLI::App& verb) {
    std::vector<NamedFile> read;
    std::vector<NamedFile> written;
    for (const CLI::Option* option : verb.get_options()) {
        for (const std::string& value : option->results()) {
            if (is_output(*option)) {
                require_folder_of(*option, value);
                add_written(written, option, value);
            } else if (option->get_type_size() != 0) {
                add_read(read, option, value);
            }
        }
    }
    for (const NamedFile& out : written) {
        for (const NamedFile& in : read) {
            std::error_code error;
            require(!fs::is_regular_file(in.path, error) || !are_same(out.path, in.path),
                    "{} would replace {}, which this command reads ({}); write to another file",
                    name_of(*out.option), in.path.string(), name_of(*in.option));
        }
        for (const NamedFile& other : written) {
            require(other.option == out.option || !are_same(out.path, other.path),
                    "{} and {} both name {}; write to different files", name_of(*out.option),
                    name_of(*other.option), other.path.string());
        }
    }
}

} // namespace

void keep_inputs(const CLI::App& program) {
    for (const CLI::App* verb : program.get_subcommands()) {
        check(*verb);
        keep_inputs(*verb);
    }
}

} // namespace pnmf::cli
