#include "fit_options.hpp"

#include "option_flags.hpp"

#include <pnmf/solvers/option_list.hpp>

namespace pnmf::cli {

void add_fit_options(CLI::App& verb, FitOptions& options) {
    visit_options(options, [&](const char* name, auto& field, const char* help) {
        add_flag_for(verb, name, field, help);
    });
}

} // namespace pnmf::cli
