#include "help.hpp"
#include "hints.hpp"
#include "keep_inputs.hpp"
#include "last_resort.hpp"
#include "processes.hpp"
#include "say.hpp"
#include "suggest.hpp"
#include "verbs.hpp"

#include <pnmf/error.hpp>
#include <pnmf/linalg/gemm.hpp>
#include <pnmf/version.hpp>

#include <fmt/format.h>
#include <malloc.h>
#include <sys/stat.h>

#include <csignal>
#include <exception>
#include <memory>
#include <new>
#include <sstream>
#include <stdexcept>
#include <string>
#include <string_view>

namespace {

/// What the parser says, in plain words where a value is no number.
std::string plain_words(const CLI::App& verb, const CLI::Error& error) {
    for (const CLI::Option* option : verb.get_options()) {
        const std::string value = fmt::format("{}", fmt::join(option->results(), ","));
        if (error.what() == fmt::format("Could not convert: {} = {}", option->get_name(), value)) {
            return fmt::format("{} must be {}, got {}", option->get_name(),
                               option->get_type_name().starts_with("FLOAT") ? "a number" : "a whole number",
                               value);
        }
    }
    return error.what();
}

/// What is wrong with the command line, and where its help is.
std::string usage_error(const CLI::App* app, const CLI::Error& error) {
    std::string command = "pnmf";
    // A mistyped flag may show up as something else that is missing: what was meant is the better answer.
    std::string message = pnmf::cli::suggestion(*app);
    while (!app->get_subcommands().empty()) {
        app = app->get_subcommands().front();
        command += " " + app->get_name();
    }
    if (message.empty()) {
        message = plain_words(*app, error);
    }
    return fmt::format("pnmf: {}\nSee {} --help\n", message, command);
}

/// The command line as a shell would take it.
std::string command_line(int argc, char** argv) {
    constexpr std::string_view plain =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_=+./:,@%";
    std::string line = "pnmf";
    for (int i = 1; i < argc; ++i) {
        const std::string_view word = argv[i];
        if (!word.empty() && word.find_first_not_of(plain) == std::string_view::npos) {
            line += fmt::format(" {}", word);
            continue;
        }
        line += " '";
        for (const char letter : word) {
            line += letter == '\'' ? std::string("'\\''") : std::string(1, letter);
        }
        line += "'";
    }
    return line;
}

void run_verb(int argc, char** argv) {
    CLI::App app{
        "Finds groups of cells and gene programs at several scales at once, by persistent nonnegative matrix "
        "factorisation.\nTo begin: pnmf fit FILE.h5ad -o FOLDER"};
    app.name("pnmf");
    app.formatter(std::make_shared<pnmf::cli::HelpFormatter>()); // verbs take it over
    app.set_version_flag("--version", [] {
        return fmt::format("pnmf {}\nmatrix products: {}\ninstruction set: {}", PNMF_VERSION,
                           pnmf::blas_description(), pnmf::instruction_set());
    });
    app.require_subcommand(0, 1);
    app.failure_message(usage_error);
    pnmf::cli::add_fit(app, command_line(argc, argv));
    pnmf::cli::add_baseline(app, command_line(argc, argv));
    pnmf::cli::add_check(app);
    pnmf::cli::add_loops(app);
    pnmf::cli::add_paths(app);
    pnmf::cli::add_programs(app);
    pnmf::cli::add_rank(app, command_line(argc, argv));
    pnmf::cli::add_report(app);
    pnmf::cli::add_convert(app);
    pnmf::cli::add_reproduce(app);
    pnmf::cli::add_scales(app);
    pnmf::cli::add_score(app);
    pnmf::cli::add_simulate(app);
    pnmf::cli::add_transform(app);
    pnmf::cli::add_completion(app);
    pnmf::cli::add_manual(app);
    pnmf::cli::explain_words(app);
    app.parse_complete_callback([&app] { pnmf::cli::keep_inputs(app); }); // before the verb's own
    try {
        app.parse(argc, argv);
        if (app.get_subcommands().empty()) {
            throw CLI::RequiredError("a verb");
        }
    } catch (const CLI::ParseError& e) {
        std::ostringstream help;
        std::ostringstream wrong;
        const int code = app.exit(e, help, wrong);
        pnmf::cli::put_text(help.str());
        pnmf::cli::say("{}", wrong.str());
        if (code != 0) {
            throw pnmf::cli::Exit{2};
        }
    }
}

/// How the program ends when something was thrown.
int code_of_exception() {
    try {
        throw;
    } catch (const pnmf::cli::Exit& e) {
        return e.code;
    } catch (const pnmf::cli::PipeClosed&) {
        return 128 + SIGPIPE; // as if the signal had come
    } catch (const pnmf::RemediableError& e) {
        const std::string_view hint = pnmf::cli::hint_for(e.remedy());
        pnmf::cli::say("pnmf: {}{}{}\n", e.what(), hint.empty() ? "" : "; ", hint);
        return 2;
    } catch (const pnmf::InputError& e) {
        pnmf::cli::say("pnmf: {}\n", e.what());
        return 2;
    } catch (const std::bad_alloc&) {
        pnmf::cli::say("pnmf: out of memory\n");
        return 1;
    } catch (const std::length_error&) { // more than pointers reach
        pnmf::cli::say("pnmf: out of memory\n");
        return 1;
    } catch (const std::exception& e) {
        pnmf::cli::say("pnmf: {}\n", e.what());
        return 1;
    }
}

} // namespace

/// Exit codes: 0 done · 1 failed · 2 usage or bad input · 3 not converged under --strict · 128 + the signal's
/// number when one stopped a run, 130 for Ctrl-C.
/// Results go to stdout, everything else to stderr.
int main(int argc, char** argv) {
    pnmf::cli::open_standard_streams();
    // A file that may not grow further, and a pipe that nobody reads, are errors that are reported, like a
    // full disk. A run does not end because nobody reads what it says.
    std::signal(SIGXFSZ, SIG_IGN);
    std::signal(SIGPIPE, SIG_IGN);
    pnmf::cli::guard_end();
    ::umask(::umask(0) | S_IWOTH); // no file of ours can be written by everybody
#ifdef __GLIBC__
    // What one thread frees, few of the others can have: with a store for each of 16 threads a fit held a
    // tenth more.
    mallopt(M_ARENA_MAX, 4);
    // What is freed stays for what comes next. Giving pages back and asking for them again made 16 threads
    // wait for each other; the most that is in memory at a time is about the same
    // (benchmarks/results/many_cores.md).
    // Blocks of 32 MB and more, the largest that may be set here, still go back at once.
    mallopt(M_MMAP_THRESHOLD, 32 << 20);
    mallopt(M_TRIM_THRESHOLD, -1);
#endif
    int code = 0;
    bool together = true;
    try {
        pnmf::cli::begin_processes(argc > 1 ? argv[1] : "");
        run_verb(argc, argv);
    } catch (...) {
        together = pnmf::cli::processes_end_together();
        code = code_of_exception();
    }
    try {
        pnmf::cli::flush_output();
    } catch (...) {
        const int unprinted = code_of_exception();
        code = code == 0 ? unprinted : code;
    }
    pnmf::cli::reach_end();
    if (!together) {
        pnmf::cli::end_all_processes(code);
    }
    pnmf::cli::leave_processes();
    return code;
}
