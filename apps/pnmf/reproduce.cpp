#include "verbs.hpp"

#include <pnmf/error.hpp>

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

namespace pnmf::cli {
namespace {

namespace fs = std::filesystem;

struct ReproduceRequest {
    std::string experiments;
    std::string data;
    std::string output = "reproduction";
    std::vector<std::string> only;
    bool quick = false;
};

fs::path this_program() {
    std::error_code error;
    fs::path path = fs::read_symlink("/proc/self/exe", error);
    require(!error, "the program's own file cannot be found: {}", error.message());
    return path;
}

/// The driver of the experiments: in the folder given, below the current folder, or where it is installed.
fs::path find_driver(const ReproduceRequest& options) {
    std::vector<fs::path> folders{options.experiments};
    if (options.experiments.empty()) {
        folders = {"experiments",
                   this_program().parent_path().parent_path() / "share" / "pnmf" / "experiments"};
    }
    for (const fs::path& folder : folders) {
        if (fs::exists(folder / "run.py")) {
            return fs::absolute(folder / "run.py");
        }
    }
    fail("no experiments found: run.py must be in {}; --experiments DIR names the folder",
         folders.size() == 1 ? folders.front().string()
                             : fmt::format("./experiments or {}", folders.back().string()));
}

/// Becomes Debian's Python, which has Debian's NumPy and matplotlib, with the driver.
void run(const ReproduceRequest& options) {
    std::vector<std::string> words{"/usr/bin/python3",
                                   "-B",
                                   find_driver(options).string(),
                                   "--program",
                                   this_program().string(),
                                   "--out",
                                   options.output};
    if (!options.data.empty()) {
        words.insert(words.end(), {"--data", options.data});
    }
    if (options.quick) {
        words.emplace_back("--quick");
    }
    for (const std::string& name : options.only) {
        words.insert(words.end(), {"--only", name});
    }
    std::vector<char*> arguments;
    arguments.reserve(words.size() + 1);
    for (std::string& word : words) {
        arguments.push_back(word.data());
    }
    arguments.push_back(nullptr);
    execv(arguments.front(), arguments.data());
    throw SystemError(fmt::format("{}: cannot be run: {}", words.front(), std::strerror(errno)));
}

} // namespace

void add_reproduce(CLI::App& app) {
    auto options = std::make_shared<ReproduceRequest>();
    CLI::App* verb = app.add_subcommand(
        "reproduce",
        "Run the experiments of the paper and write one page with their figures and outcomes (needs Python "
        "with NumPy, h5py and matplotlib)");
    verb->add_flag("--quick", options->quick, "Fewer scales and data sets: a few minutes");
    verb->add_option("--data", options->data,
                     "Folder with the data sets, one folder each; experiments without data are left out")
        ->type_name("DIR");
    verb->add_option("-o,--output", options->output, "Folder to write to")
        ->type_name("DIR")
        ->capture_default_str();
    verb->add_option("--only", options->only, "Run this experiment alone; may be repeated")
        ->type_name("NAME");
    verb->add_option("--experiments", options->experiments, "Folder of the experiments")->type_name("DIR");
    verb->callback([options] { run(*options); });
}

} // namespace pnmf::cli
