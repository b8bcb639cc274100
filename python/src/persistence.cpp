#include "arrays.hpp"
#include "module.hpp"
#include "watch.hpp"

#include <pnmf/error.hpp>
#include <pnmf/graphs/filtration.hpp>
#include <pnmf/persistence/diagram.hpp>

#include <optional>

namespace pnmf::python {
namespace {

template <class Enum>
Enum value_of(const std::string& name, const char* what) {
    const std::optional<Enum> known = value_named<Enum>(name);
    require(known.has_value(), "{} cannot be {}", what, name);
    return *known;
}

/// Cells by their coordinates, or, for "precomputed", by all their distances.
Points points_of(const Cells& cells, const std::string& metric) {
    if (metric != "precomputed") {
        return Points(cells.view(), value_of<Metric>(metric, "the metric"));
    }
    const DataView view = cells.view();
    const auto* dense = std::get_if<DenseView<double>>(&view);
    require(dense != nullptr, "a matrix of distances must be dense");
    return Points::from_distances(Matrix(*dense));
}

py::array_t<double> edges_of(const SpanningTree& tree) {
    py::array_t<double> rows({static_cast<py::ssize_t>(tree.edges.size()), py::ssize_t{3}});
    double* place = rows.mutable_data();
    for (const Edge& edge : tree.edges) {
        *place++ = static_cast<double>(edge.i);
        *place++ = static_cast<double>(edge.j);
        *place++ = edge.length;
    }
    return rows;
}

SpanningTree tree_of(const Array& edges) {
    require(edges.ndim() == 2 && edges.shape(1) == 3, "the edges of a tree are (i, j, length)");
    SpanningTree tree;
    tree.cells = edges.shape(0) + 1;
    for (py::ssize_t e = 0; e < edges.shape(0); ++e) {
        const double* row = edges.data(e, 0);
        const Edge edge{row[2], static_cast<Index>(row[0]), static_cast<Index>(row[1])};
        require(edge.i >= 0 && edge.i < tree.cells && edge.j >= 0 && edge.j < tree.cells,
                "an edge of the tree names a cell that is not there");
        tree.edges.push_back(edge);
    }
    return tree;
}

py::array_t<double> linkage_of(const SpanningTree& tree) {
    const std::vector<Merge> merges = merge_tree(tree);
    py::array_t<double> rows({static_cast<py::ssize_t>(merges.size()), py::ssize_t{4}});
    double* place = rows.mutable_data();
    for (const Merge& merge : merges) {
        *place++ = static_cast<double>(merge.left);
        *place++ = static_cast<double>(merge.right);
        *place++ = merge.height;
        *place++ = static_cast<double>(merge.size);
    }
    return rows;
}

py::dict persistence(const py::object& X, const std::string& metric, std::optional<int> threads) {
    const Threads held(threads);
    const Cells cells(X);
    SpanningTree tree;
    run_watched([&](const Reporter&) { tree = minimum_spanning_tree(points_of(cells, metric)); }, py::none());
    py::dict result;
    result["deaths"] = array_of(h0_diagram(tree).deaths);
    result["merge_tree"] = linkage_of(tree);
    result["edges"] = edges_of(tree);
    result["largest_distance"] = tree.largest_distance;
    return result;
}

py::dict scales(const py::object& X, const std::string& strategy, std::optional<Index> max_scales,
                const std::string& metric, std::uint64_t seed, bool count_edges, std::optional<int> threads) {
    const Threads held(threads);
    const Cells cells(X);
    const FiltrationOptions options{
        .scales = {.strategy = value_of<ScaleStrategy>(strategy, "the strategy"), .max_scales = max_scales}};
    ScaleSet chosen;
    std::vector<Index> edges;
    run_watched(
        [&](const Reporter&) {
            const Points points = points_of(cells, metric);
            chosen = tree_and_scales(points, options, seed).scales;
            if (count_edges) {
                edges = edge_counts(points, chosen.epsilon);
            }
        },
        py::none());
    py::dict result;
    result["epsilon"] = array_of(chosen.epsilon);
    result["betti0"] = array_of(chosen.betti0);
    result["multiplicity"] = array_of(chosen.multiplicity);
    result["edges"] = count_edges ? py::object(array_of(edges)) : py::object(py::none());
    return result;
}

} // namespace

void bind_persistence(py::module_& module) {
    module.def("persistence", &persistence, py::arg("X"), py::arg("metric"), py::arg("threads"));
    module.def("scales", &scales, py::arg("X"), py::arg("strategy"), py::arg("max_scales"), py::arg("metric"),
               py::arg("seed"), py::arg("count_edges"), py::arg("threads"));
    module.def(
        "components",
        [](const Array& edges, double epsilon) { return array_of(components(tree_of(edges), epsilon)); },
        py::arg("edges"), py::arg("epsilon"));
    module.def(
        "merge_tree", [](const Array& edges) { return linkage_of(tree_of(edges)); }, py::arg("edges"));
}

} // namespace pnmf::python
