#include "command_tree.hpp"
#include "verbs.hpp"

#include <pnmf/error.hpp>
#include <pnmf/io/write.hpp>
#include <pnmf/version.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <memory>

namespace pnmf::cli {
namespace {

namespace fs = std::filesystem;

/// A text for man(7): backslashes are its own, a dash must be a minus to be copied, and a line must not begin
/// with a dot or an apostrophe.
std::string roff(const std::string& text) {
    std::string result;
    for (const char letter : text) {
        switch (letter) {
        case '\\':
            result += "\\e";
            break;
        case '-':
            result += "\\-";
            break;
        case '\n':
            result += "\n.br\n";
            break;
        case '.':
        case '\'':
            result += (result.empty() || result.back() == '\n') ? "\\&" : "";
            result += letter;
            break;
        default:
            result += letter;
        }
    }
    return result;
}

/// Lines that are printed as they stand.
std::string roff_lines(const std::string& text) {
    std::string result;
    for (std::size_t from = 0; from < text.size();) {
        const std::size_t end = std::min(text.find('\n', from), text.size());
        result += roff(text.substr(from, end - from)) + (end < text.size() ? "\n" : "");
        from = end + 1;
    }
    return result;
}

std::string first_line(const std::string& text) {
    return text.substr(0, text.find('\n'));
}

std::string upper(std::string text) {
    std::transform(text.begin(), text.end(), text.begin(), [](unsigned char c) { return std::toupper(c); });
    return text;
}

/// "-o, --output FOLDER" in the fonts of manual pages.
std::string heading_of(const CLI::Option& option) {
    std::string names;
    for (const std::string& name : typed_names(option)) {
        names += fmt::format("{}\\fB{}\\fR", names.empty() ? "" : ", ", roff(name));
    }
    if (names.empty()) {
        names = fmt::format("\\fI{}\\fR", roff(option.get_name(true)));
    } else if (takes_value(option)) {
        const std::string type = option.get_type_name();
        names += fmt::format(" \\fI{}\\fR", roff(type.substr(0, type.find(" in {"))));
    }
    return names;
}

std::string entry_of(const CLI::Option& option) {
    std::string notes;
    if (!option.get_default_str().empty()) {
        notes += fmt::format(" Default: {}.", option.get_default_str());
    }
    if (option.get_required()) {
        notes += " Required.";
    }
    std::string text = option.get_description();
    if (!notes.empty() && !text.empty() && text.back() != '.') {
        text += '.';
    }
    return fmt::format(".TP\n{}\n{}{}\n", heading_of(option), roff(text), roff(notes));
}

std::string synopsis_of(const Command& command) {
    std::string text = fmt::format("\\fB{}\\fR", roff(joined(command)));
    for (const CLI::Option* option : places_of(*command.app)) {
        text += fmt::format(" \\fI{}\\fR", roff(option->get_name(true)));
    }
    if (!verbs_below(*command.app).empty()) {
        text += " \\fIVERB\\fR";
    }
    return text + " [\\fIOPTIONS\\fR]";
}

constexpr const char* ends_of_program = R"(.SH EXIT STATUS
.TP
0
done
.TP
1
failed
.TP
2
wrong usage or wrong input
.TP
3
\fB\-\-strict\fR was given, and the run did not converge or a statement does not hold
.TP
130
stopped by Ctrl\-C; \fBpnmf fit\fR has saved a checkpoint
.SH ENVIRONMENT
.TP
\fBOMP_NUM_THREADS\fR
threads to use where \fB\-\-threads\fR is not given; without it, as many as processors may be used
.TP
\fBNO_COLOR\fR
where it is set, nothing is coloured
)";

std::string page_of(const Command& command, const std::vector<Command>& all) {
    const CLI::App& app = *command.app;
    const std::string name = joined(command, "-");
    std::string page =
        fmt::format(".TH {} 1 \"\" \"pnmf {}\"\n.SH NAME\n{} \\- {}\n.SH SYNOPSIS\n{}\n", upper(roff(name)),
                    PNMF_VERSION, roff(name), roff(first_line(app.get_description())), synopsis_of(command));
    const auto section = [&](const char* title, const std::vector<const CLI::Option*>& options) {
        page += options.empty() ? std::string{} : fmt::format(".SH {}\n", title);
        for (const CLI::Option* option : options) {
            page += entry_of(*option);
        }
    };
    if (const auto verbs = verbs_below(app); !verbs.empty()) {
        page += ".SH VERBS\n";
        for (const CLI::App* verb : verbs) {
            page +=
                fmt::format(".TP\n\\fB{}\\fR\n{}\n", roff(verb->get_name()), roff(verb->get_description()));
        }
    }
    section("ARGUMENTS", places_of(app));
    section("OPTIONS", flags_of(app));
    if (const std::string words = app.get_footer(); !words.empty()) {
        // The lines stand as the help has them.
        page += fmt::format(".SH WORDS\n.nf\n{}\n.fi\n", roff_lines(words.substr(words.find('\n') + 1)));
    }
    page += ends_of_program;
    page += ".SH SEE ALSO\n";
    std::string others;
    for (const Command& other : all) {
        if (other.app != command.app) {
            others += fmt::format("{}\\fB{}\\fR(1)", others.empty() ? "" : ",\n", roff(joined(other, "-")));
        }
    }
    return page + others + "\n";
}

struct ManualRequest {
    std::vector<std::string> verbs;
    std::string folder;
};

void run(const CLI::App& program, const ManualRequest& options) {
    const std::vector<Command> all = commands_of(program);
    if (!options.folder.empty()) {
        fs::create_directories(options.folder);
        for (const Command& command : all) {
            write_text(fs::path(options.folder) / (joined(command, "-") + ".1"), page_of(command, all));
        }
        return;
    }
    std::vector<std::string> wanted{"pnmf"};
    wanted.insert(wanted.end(), options.verbs.begin(), options.verbs.end());
    const auto found =
        std::find_if(all.begin(), all.end(), [&](const Command& one) { return one.words == wanted; });
    require(found != all.end(), "there is no verb '{}'", fmt::join(options.verbs, " "));
    fmt::print("{}", page_of(*found, all));
}

} // namespace

void add_manual(CLI::App& app) {
    CLI::App* verb = app.add_subcommand("manual", "Print the manual page of the program or of a verb");
    verb->group(""); // for packages, not for everyday use
    auto options = std::make_shared<ManualRequest>();
    verb->add_option("VERB", options->verbs, "The verb, as it is typed");
    verb->add_option("--all", options->folder, "Write all pages into this folder")->type_name("FOLDER");
    verb->callback([&app, options] { run(app, *options); });
}

} // namespace pnmf::cli
