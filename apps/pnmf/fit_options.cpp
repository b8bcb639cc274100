#include "fit_options.hpp"

#include "help.hpp"
#include "option_flags.hpp"

#include <pnmf/solvers/option_list.hpp>

#include <map>
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

/// What the help says in place of the library's text: defaults of `pnmf fit` are those of its preset
/// (src/results/preset.cpp).
const char* help_by_preset(const std::string& name) {
    static const std::map<std::string, const char*> texts{
        {"rank",
         "Number of programs that describe the cells, the same at every scale [the square root of the "
         "number of cells, rounded up; at most 30 unless the preset is paper]"},
        {"alpha",
         "An edge of length d has the weight exp(-d^2/epsilon^alpha); only with 2 the unit of the data "
         "does not matter [2; preset paper: 1.5]"},
        {"max-scales", "Keep at most this many scales, the finest and the coarsest among them [no limit]"},
        {"scale-error", "Keep only as many scales as stand for all. A scale may be left out when factors "
                        "interpolated from its neighbours have a KKT residual of at most this [0.05; preset "
                        "paper: all are kept]"},
        {"neighbors",
         "Join each cell to this many nearest neighbours, and along the shortest tree that joins "
         "all cells [preset cells: 8; preset points: 15 above 2,000 points; else all pairs]"},
        {"tolerance",
         "When to stop: the KKT residual is below this, and a sweep lowers the objective by less than "
         "a third of it [preset cells: 0.002; else 3e-4]. With --stop-rule relative-decrease: "
         "the second alone, below this [1e-4]"},
        {"device",
         "Where sweeps are made. auto: on a GPU where there is one and the data are large enough to gain"},
    };
    const auto found = texts.find(name);
    return found == texts.end() ? nullptr : found->second;
}

} // namespace

void add_fit_options(CLI::App& verb, FitOptions& options) {
    visit_options(options, [&](const char* name, auto& field, const char* help) {
        const char* const own = help_by_preset(name);
        add_flag_for(verb, name, field, own != nullptr ? own : capitalised(help).c_str());
        CLI::Option* const option = verb.get_option(std::string("--") + name);
        option->group(heading_of(name));
        if (option->get_description().find("; preset paper: ") != std::string::npos) {
            option->default_str(""); // the text says it
        }
    });
}

} // namespace pnmf::cli
