#include <pnmf/results/rank_tables.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace pnmf {
namespace {

constexpr double width = 720.0;
constexpr double height = 400.0;
constexpr double left_edge = 70.0;
constexpr double right_edge = 650.0;
constexpr double top_edge = 56.0;
constexpr double bottom_edge = 340.0;
constexpr const char* of_stability = "#0072B2"; // Okabe and Ito's, told apart by colour-blind people
constexpr const char* of_error = "#D55E00";

/// An axis: numbers to places in the picture.
struct Axis {
    double low = 0.0;
    double high = 1.0;
    double at_low = 0.0;
    double at_high = 1.0;

    double operator()(double value) const {
        return at_low + (value - low) / (high - low) * (at_high - at_low);
    }
};

/// An axis that holds all values with a little memory, whatever they are.
Axis axis_of(double low, double high, double at_low, double at_high) {
    const double buffer = high > low ? 0.06 * (high - low) : 0.5;
    return {low - buffer, high + buffer, at_low, at_high};
}

/// About five round numbers within an axis.
std::vector<double> ticks_of(const Axis& axis) {
    const double rough = (axis.high - axis.low) / 5.0;
    const double power = std::pow(10.0, std::floor(std::log10(rough)));
    double step = power;
    for (const double factor : {2.0, 5.0, 10.0}) {
        step = step < rough ? factor * power : step;
    }
    std::vector<double> ticks;
    for (double tick = std::ceil(axis.low / step) * step; tick <= axis.high; tick += step) {
        ticks.push_back(std::abs(tick) < 1e-9 * step ? 0.0 : tick);
    }
    return ticks;
}

std::string text_at(double x, double y, const char* anchor, const std::string& text, const char* colour,
                    double turn = 0.0) {
    return fmt::format(
        R"svg(<text x="{0:.1f}" y="{1:.1f}" text-anchor="{2}" fill="{3}"{4}>{5}</text>)svg"
        "\n",
        x, y, anchor, colour,
        turn == 0.0 ? "" : fmt::format(R"svg( transform="rotate({:.0f} {:.1f} {:.1f})")svg", turn, x, y),
        text);
}

std::string curve_of(const std::vector<Index>& ranks, const std::vector<double>& values, const Axis& x,
                     const Axis& y, const char* colour) {
    std::string points;
    std::string dots;
    for (std::size_t i = 0; i < ranks.size(); ++i) {
        const double at = x(static_cast<double>(ranks[i]));
        points += fmt::format("{:.1f},{:.1f} ", at, y(values[i]));
        dots += fmt::format(R"svg(<circle cx="{:.1f}" cy="{:.1f}" r="3.5" fill="{}"/>)svg"
                            "\n",
                            at, y(values[i]), colour);
    }
    return fmt::format(R"svg(<polyline points="{}" fill="none" stroke="{}" stroke-width="2"/>)svg"
                       "\n{}",
                       points, colour, dots);
}

/// One standard error of the difference from the best rank to both sides.
std::string bars_of(const RankCurve& curve, const Axis& x, const Axis& y) {
    std::string bars;
    for (std::size_t i = 0; i < curve.ranks.size(); ++i) {
        const double at = x(static_cast<double>(curve.ranks[i]));
        bars +=
            fmt::format(R"svg(<line x1="{0:.1f}" x2="{0:.1f}" y1="{1:.1f}" y2="{2:.1f}" stroke="{3}"/>)svg"
                        "\n",
                        at, y(curve.error[i] - curve.difference_deviation[i]),
                        y(curve.error[i] + curve.difference_deviation[i]), of_error);
    }
    return bars;
}

/// A dashed line at a rank with what speaks for it.
std::string mark(Index rank, const Axis& x, double y, const char* colour, const char* why) {
    const double at = x(static_cast<double>(rank));
    return fmt::format(R"svg(<line x1="{0:.1f}" x2="{0:.1f}" y1="{1:.1f}" y2="{2:.1f}" stroke="{3}" )svg"
                       R"svg(stroke-dasharray="5 4"/>)svg"
                       "\n",
                       at, top_edge, bottom_edge, colour) +
           text_at(std::clamp(at, left_edge + 50.0, right_edge - 50.0), y, "middle",
                   fmt::format("{} by {}", rank, why), colour);
}

std::string frame(const RankCurve& curve, const Axis& x, const Axis& stability, const Axis& error) {
    std::string text;
    text += fmt::format(R"svg(<rect x="{}" y="{}" width="{}" height="{}" fill="none" stroke="#888"/>)svg"
                        "\n",
                        left_edge, top_edge, right_edge - left_edge, bottom_edge - top_edge);
    for (const double tick : ticks_of(stability)) {
        text +=
            text_at(left_edge - 8.0, stability(tick) + 4.0, "end", fmt::format("{:.3g}", tick), of_stability);
    }
    for (const double tick : ticks_of(error)) {
        text += text_at(right_edge + 8.0, error(tick) + 4.0, "start", fmt::format("{:.4g}", tick), of_error);
    }
    const std::size_t every = 1 + (curve.ranks.size() - 1) / 16;
    for (std::size_t i = 0; i < curve.ranks.size(); i += every) {
        text += text_at(x(static_cast<double>(curve.ranks[i])), bottom_edge + 18.0, "middle",
                        std::to_string(curve.ranks[i]), "#333");
    }
    text += text_at(0.5 * (left_edge + right_edge), bottom_edge + 42.0, "middle", "rank", "#333");
    const double middle = 0.5 * (top_edge + bottom_edge);
    text += text_at(20.0, middle, "middle", "stability of the programs", of_stability, -90.0);
    text += text_at(width - 14.0, middle, "middle", "error on held-out entries", of_error, -90.0);
    return text;
}

} // namespace

std::string rank_picture(const RankCurve& curve) {
    const Axis x = axis_of(static_cast<double>(curve.ranks.front()), static_cast<double>(curve.ranks.back()),
                           left_edge, right_edge);
    const auto [least, most] = std::minmax_element(curve.stability.begin(), curve.stability.end());
    const Axis stability = axis_of(*least, *most, bottom_edge, top_edge);
    double low = curve.error.front();
    double high = low;
    for (std::size_t i = 0; i < curve.error.size(); ++i) {
        low = std::min(low, curve.error[i] - curve.difference_deviation[i]);
        high = std::max(high, curve.error[i] + curve.difference_deviation[i]);
    }
    const Axis error = axis_of(low, high, bottom_edge, top_edge);
    return fmt::format(R"svg(<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {0} {1}" )svg"
                       R"svg(font-family="sans-serif" font-size="13">)svg"
                       "\n"
                       R"svg(<rect width="{0}" height="{1}" fill="white"/>)svg"
                       "\n",
                       width, height) +
           frame(curve, x, stability, error) +
           mark(curve.by_stability, x, top_edge - 8.0, of_stability, "stability") +
           mark(curve.by_error, x, top_edge - 26.0, of_error, "error") + bars_of(curve, x, error) +
           curve_of(curve.ranks, curve.error, x, error, of_error) +
           curve_of(curve.ranks, curve.stability, x, stability, of_stability) + "</svg>\n";
}

} // namespace pnmf
