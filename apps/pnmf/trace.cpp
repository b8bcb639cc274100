#include "trace.hpp"

#include <pnmf/error.hpp>
#include <pnmf/io/write.hpp>

#include <fmt/format.h>

#include <fstream>
#include <sstream>
#include <utility>

namespace pnmf::cli {
namespace {

constexpr std::string_view head = "kind\tsweep\tscale\tstep\tobjective\n";

std::string sweep_row(Index number, double objective) {
    return fmt::format("sweep\t{}\t\t\t{:.17g}\n", number, objective);
}

} // namespace

Trace::Trace(std::filesystem::path path) : path_(std::move(path)), text_(head) {}

void Trace::begin(bool resume) {
    if (!wanted()) {
        return;
    }
    if (resume) {
        std::ostringstream old;
        old << std::ifstream(path_, std::ios::binary).rdbuf();
        if (old.str().starts_with(head)) {
            text_ = old.str();
        }
    }
    write();
}

void Trace::past(const std::vector<Objective>& sweeps) {
    const auto last = static_cast<Index>(sweeps.size()) - 1;
    if (text_.ends_with(sweep_row(last, sweeps.back().total()))) {
        return;
    }
    text_ = head;
    for (std::size_t i = 0; i < sweeps.size(); ++i) {
        sweep(static_cast<Index>(i), sweeps[i].total());
    }
}

void Trace::sweep(Index number, double objective) {
    if (wanted()) {
        text_ += sweep_row(number, objective);
    }
}

void Trace::step(const StepReport& report) {
    const std::string scale = report.scale < 0 ? "all" : std::to_string(report.scale + 1);
    text_ += fmt::format("step\t{}\t{}\t{}\t{:.17g}\n", report.sweep, scale, report.step, report.objective);
}

void Trace::write() const {
    if (wanted()) {
        write_text(path_, text_);
    }
}

} // namespace pnmf::cli
