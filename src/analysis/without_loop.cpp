#include "analysis/without_loop.hpp"

#include "assess/closed_curve.hpp"
#include "io/formats.hpp"
#include "words.hpp"

#include <pnmf/assess/loops.hpp>
#include <pnmf/error.hpp>
#include <pnmf/io/preparation.hpp>
#include <pnmf/linalg/pca.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <numbers>
#include <optional>

namespace pnmf {
namespace {

constexpr Index components = 30;

std::string words_of(const LoopFinding& found, const LoopOptions& options) {
    if (found.dimensions < 2) {
        return "the cells do not differ clearly by more than noise in two directions";
    }
    const std::string most = fmt::format("the most persistent has p = {:.2g}", found.p_value);
    return found.loops.empty() ? fmt::format("none is found up to p = {}, {}", options.level, most)
                               : fmt::format("{} {} found up to p = {}, {}", found.loops.size(),
                                             found.loops.size() == 1 ? "is" : "are", options.level, most);
}

Vector phases_of_loop(const Dataset& data, Index number, const std::string& space, std::string& said) {
    const bool asked = !space.empty() && space != "none" && data.space;
    const LoopOptions options;
    const LoopFinding found = find_loops(
        asked ? data.space->coordinates
              : std::visit(
                    [](const auto& X) {
                        return component_space(DataMatrix<double>(view_of(X)), components).coordinates;
                    },
                    data.X),
        options);
    require(number >= 1 && number <= std::ssize(found.loops),
            "there is no loop {} to leave out: {}. A loop with a larger p-value is left out by its phases: "
            "find them with that p-value, keep them among the columns of the cells, and name the column",
            number, words_of(found, options));
    const CellLoop& loop = found.loops[static_cast<std::size_t>(number - 1)];
    said = fmt::format("loop {} of {} (persistence {:.2f}, p {:.2g}, {} of {} cells on it)", number,
                       found.loops.size(), loop.persistence, loop.p_value, loop.cells, data.cells());
    return loop.phase;
}

Vector phases_in_column(const Dataset& data, const std::string& name) {
    const TableColumn* const column = io::find_column(data.cell_table, name);
    require(column != nullptr && std::holds_alternative<std::vector<double>>(column->values),
            "a loop is left out by its number, or by a column of the cells with their phases: there is no "
            "column of numbers '{}'",
            name);
    const auto& values = std::get<std::vector<double>>(column->values);
    const Vector phase = Eigen::Map<const Vector>(values.data(), std::ssize(values));
    require(phase.allFinite(), "each cell needs a phase: '{}' has none for {} of {} cells", name,
            std::count_if(values.begin(), values.end(), [](double one) { return !std::isfinite(one); }),
            values.size());
    constexpr double turn = 2.0 * std::numbers::pi;
    require(phase.maxCoeff() - phase.minCoeff() <= turn * 1.001,
            "phases are in radians, and '{}' goes from {:.4g} to {:.4g}, more than once round (2π): divide "
            "degrees by "
            "57.3 first",
            name, phase.minCoeff(), phase.maxCoeff());
    return phase;
}

} // namespace

Matrix leave_out_loop(Dataset& data, const std::string& which, const std::string& space) {
    require(!data.local, "loops are looked for by one process");
    Matrix* const cells = data.expression ? &*data.expression
                          : data.space    ? &data.space->coordinates
                                          : nullptr;
    require(cells != nullptr,
            "a loop is left out of a space of the cells, and they have none: take principal "
            "components, pca:30");
    const std::optional<Index> number = whole_number(which);
    std::string said = fmt::format("the loop whose phases are '{}'", which);
    const Vector phase = number ? phases_of_loop(data, *number, space, said) : phases_in_column(data, which);
    const auto spread = [](const Matrix& points) {
        return (points.colwise() - points.rowwise().mean()).squaredNorm();
    };
    Matrix with_loop = *cells;
    const double before = spread(with_loop);
    *cells = without_waves(*cells, phase);
    data.notices.push_back(fmt::format(
        "{} is left out of the space in which cells are compared, with {:.0f} % of its variance; the values "
        "that are factorised keep it",
        said, before > 0.0 ? 100.0 * (1.0 - spread(*cells) / before) : 0.0));
    data.input.steps.push_back(
        {.name = step::without_loop, .names = {which}, .count = static_cast<double>(number.value_or(0))});
    return with_loop;
}

} // namespace pnmf
