#include "fit_options.hpp"

#include "option_flags.hpp"

#include <pnmf/solvers/option_list.hpp>

#include <cctype>
#include <set>
#include <string>

namespace pnmf::cli {
namespace {

/// Which heading of the help a flag stands under; those that most users want stand under the first,
/// "Options".
const char* heading_of(const std::string& name) {
    static const std::set<std::string> common{"rank",        "lambda1",   "lambda2", "lambda3", "max-scales",
                                              "scale-error", "neighbors", "device",  "seed"};
    static const std::set<std::string> graph{"alpha", "metric", "scales", "search"};
    return common.contains(name)  ? "Options"
           : graph.contains(name) ? "Scales and graph, rarely changed"
                                  : "Solver, rarely changed";
}

/// With a capital letter, as the other flags have it; names of algorithms, before a colon, stay as they are.
std::string capitalised(std::string text) {
    if (text.find(':') > text.find(' ') && text.find(',') > text.find(' ')) {
        text.front() = static_cast<char>(std::toupper(static_cast<unsigned char>(text.front())));
    }
    return text;
}

} // namespace

void add_fit_options(CLI::App& verb, FitOptions& options) {
    visit_options(options, [&](const char* name, auto& field, const char* help) {
        add_flag_for(verb, name, field, capitalised(help).c_str());
        verb.get_option(std::string("--") + name)->group(heading_of(name));
    });
}

} // namespace pnmf::cli
