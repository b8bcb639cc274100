#include "anndata.hpp"
#include "arrays.hpp"
#include "module.hpp"
#include "options.hpp"
#include "watch.hpp"

#include <pnmf/analysis/preset.hpp>
#include <pnmf/baselines/choose_rank.hpp>
#include <pnmf/error.hpp>
#include <pnmf/io/annotations.hpp>
#include <pnmf/names.hpp>
#include <pnmf/results/result_file.hpp>
#include <pnmf/run/run.hpp>
#include <pnmf/solvers/embed.hpp>
#include <pnmf/solvers/fit.hpp>

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace pnmf::python {
namespace {

Observer observer_of(const Reporter& report, Index max_sweeps) {
    Observer observer;
    observer.sweep = [&report, max_sweeps](const SweepReport& sweep) {
        report({"sweeping", sweep.sweep, max_sweeps, sweep.objective.total(), sweep.residual.certificate()});
        return true;
    };
    observer.starting = [&report, max_sweeps] {
        report({.phase = "starting", .max_sweeps = max_sweeps});
        return true;
    };
    return observer;
}

/// What the program would write, and the bases.
template <class Real>
py::dict parts_of(const PreparedFit<Real>& prepared, FitResult<Real>& result, const Assessment& assessment,
                  const ResultFileOptions& options = {}, const Dataset& data = {}) {
    py::dict parts = anndata_parts(result_file(data, prepared, result, assessment, options));
    py::list bases;
    for (Index t = 0; t < result.factors.scales(); ++t) {
        result.factors.bring(t);
        bases.append(rows_of(std::move(result.factors.W[static_cast<std::size_t>(t)])));
    }
    parts["W"] = bases;
    parts["notices"] = prepared.notices;
    parts["rank"] = prepared.rank;
    return parts;
}

void check_clusters(std::optional<Index> clusters, Index cells) {
    require(!clusters || (*clusters >= 1 && *clusters <= cells),
            "clusters must be between 1 and the number of cells, {}, got {}", cells, clusters.value_or(0));
}

/// A run that saves itself is stopped where it can save; before and after that it is cancelled.
RunObserver observer_of_run(const Reporter& report, bool saves, std::unique_ptr<CancelScope>& cancelling) {
    RunObserver observer;
    observer.progress = [&report, saves, &cancelling, said = Report{}](const RunProgress& progress) mutable {
        const bool savable = progress.stage == Stage::starting || progress.stage == Stage::sweeping;
        if (!saves || savable) {
            cancelling.reset();
        } else if (!cancelling) {
            cancelling = report.cancelling();
        }
        said.phase = std::string(name_of(progress.stage));
        said.max_sweeps = progress.max_sweeps;
        said.fraction = progress.fraction;
        if (progress.sweep != nullptr) {
            said.sweep = progress.sweep->sweep;
            said.objective = progress.sweep->objective.total();
            said.kkt = progress.sweep->residual.certificate();
        } else if (progress.stage == Stage::sweeping) {
            return true; // its first sweep has more to say
        }
        return report(said);
    };
    return observer;
}

/// What a column is called, and its values, one for each cell.
using NamedColumn = std::pair<std::string, std::vector<std::string>>;

/// What a run does beside fitting: see `PersistentNMF`.
struct Keeping {
    std::optional<std::string> folder;
    bool resume = false;
    std::optional<std::string> memory;
    std::optional<Matrix> space;      ///< coordinates × cells
    std::optional<Matrix> expression; ///< the same, of cells in a tissue
    Dataset about;                    ///< columns of the table of cells that `prepare` made
    std::optional<NamedColumn> batch;
};

template <class Real>
py::dict fit_in(const py::object& X, RunOptions options, const Keeping& keeping, const py::object& callback) {
    const Cells cells(X);
    Dataset about = keeping.about;
    about.X = Matrix(0, cells.count());
    if (keeping.batch) {
        add_batches(about, keeping.batch->first, keeping.batch->second);
        options.fit.filtration.batch = batches_of(about)->of_cell;
    }
    options.space = keeping.space ? &*keeping.space : nullptr;
    if (options.tissue) {
        options.tissue->types = options_of_types(options.fit, cells.count());
        options.tissue->expression = keeping.expression ? &*keeping.expression : nullptr;
    }
    require(!keeping.resume || keeping.folder, "resume needs checkpoint, the folder to go on from");
    std::unique_ptr<RunFolder> folder;
    if (keeping.folder) {
        folder = std::make_unique<RunFolder>(*keeping.folder,
                                             keeping.resume ? FolderUse::resume : FolderUse::fresh);
        options.folder = folder.get();
    }
    if (keeping.memory) {
        options.memory = parse_size(*keeping.memory);
    }
    Run<Real> run;
    run_watched(
        [&](const Reporter& report) {
            std::unique_ptr<CancelScope> cancelling;
            run =
                run_fit<Real>(cells.view(), options, observer_of_run(report, folder != nullptr, cancelling));
        },
        callback, folder != nullptr);
    const ResultFileOptions storing{.domains = run.domains ? &*run.domains : nullptr};
    py::dict parts = parts_of(run.prepared, run.result, run.assessment, storing, about);
    double seconds = 0.0;
    for (const StageTime& time : run.seconds) {
        seconds += time.seconds;
    }
    parts["seconds"] = seconds;
    if (folder) {
        std::error_code ignored;
        std::filesystem::remove(folder->checkpoint(), ignored);
        std::filesystem::remove(folder->types(), ignored);
        folder.reset();
        std::filesystem::remove(*keeping.folder, ignored); // where nothing else is in it
    }
    return parts;
}

py::dict fit_any(const py::object& X, const py::dict& options, std::optional<Index> clusters,
                 const std::string& precision, std::optional<int> threads, const py::object& callback,
                 const std::optional<std::string>& checkpoint, bool resume, double checkpoint_every,
                 const std::optional<std::string>& memory, const std::optional<Array>& space,
                 const py::dict& columns, const std::optional<NamedColumn>& batch,
                 const std::optional<Index>& domains, const std::optional<Array>& expression) {
    const Threads held(threads);
    RunOptions run{.fit = options_of(options), .clusters = clusters, .checkpoint_every = checkpoint_every};
    if (domains) { // of a tissue; 0: as many as the data say
        run.tissue =
            TissueRun{.domains = {.domains = *domains > 0 ? domains : std::nullopt, .seed = run.fit.seed}};
    }
    Keeping keeping{.folder = checkpoint,
                    .resume = resume,
                    .memory = memory,
                    .space = space ? std::optional(columns_of(*space)) : std::nullopt,
                    .expression = expression ? std::optional(columns_of(*expression)) : std::nullopt,
                    .about = {},
                    .batch = batch};
    for (const auto& [name, values] : columns) {
        keeping.about.cell_table.push_back(
            {.name = name.cast<std::string>(), .values = values.cast<std::vector<double>>()});
    }
    if (precision == "float") {
        return fit_in<float>(X, run, keeping, callback);
    }
    require(precision == "double", "precision must be double or float, got {}", precision);
    return fit_in<double>(X, run, keeping, callback);
}

template <class Real>
py::dict baseline_in(const py::object& X, const BaselineFitOptions& options, std::optional<Index> clusters,
                     const py::object& callback) {
    const Cells cells(X);
    check_clusters(clusters, cells.count());
    Assessment assessment;
    PreparedFit<Real> prepared;
    FitResult<Real> result;
    run_watched(
        [&](const Reporter& report) {
            report({.phase = "preparing"});
            prepared = prepare_baseline<Real>(cells.view(), options);
            result = solve_baseline(prepared, options, observer_of(report, options.max_steps.value_or(1000)));
            assessment = assess_fit(prepared, result, {.clusters = clusters, .seed = options.seed});
        },
        callback);
    return parts_of(prepared, result, assessment,
                    {.method = std::string(name_of(options.graph.method)), .options = options_json(options)});
}

py::dict baseline_any(const py::object& X, const std::string& method, const py::dict& options,
                      std::optional<Index> clusters, const std::string& precision, std::optional<int> threads,
                      const py::object& callback) {
    const Threads held(threads);
    const BaselineFitOptions chosen = baseline_options_of(method, options);
    require(precision == "double" || precision == "float", "precision must be double or float, got {}",
            precision);
    return precision == "float" ? baseline_in<float>(X, chosen, clusters, callback)
                                : baseline_in<double>(X, chosen, clusters, callback);
}

/// Cells × features and the basis, rank × features, to cells × rank.
py::dict embed(const py::object& X, const Array& basis, double lambda3, std::optional<int> threads) {
    const Threads held(threads);
    const Cells cells(X);
    const Matrix W = columns_of(basis);
    require(W.rows() == cells.features(), "X must have the {} features of the fit, got {}", W.rows(),
            cells.features());
    EmbeddedCells<double> embedded;
    run_watched(
        [&](const Reporter&) {
            const auto data =
                std::visit([](const auto& view) { return DataMatrix<double>(view); }, cells.view());
            embedded = embed_cells(data, W, {.graph = 0.0, .smoothness = 0.0, .anchor = lambda3});
        },
        py::none());
    py::dict result;
    result["H"] = rows_of(std::move(embedded.H));
    result["converged"] = embedded.converged;
    result["residual"] = embedded.residual;
    result["relative_error"] = embedded.relative_error;
    return result;
}

py::dict rank_curve(const py::object& X, std::vector<Index> ranks, Index restarts, double held_out,
                    const std::string& rule, std::uint64_t seed, const std::string& device,
                    std::optional<int> threads, const py::object& callback) {
    const Threads held(threads);
    const std::optional<RankRule> named = value_named<RankRule>(rule);
    require(named.has_value(), "rule must be {}, got {}", joined_names<RankRule>(" or "), rule);
    const std::optional<Device> where = value_named<Device>(device);
    require(where.has_value(), "device must be {}, got {}", joined_names<Device>(" or "), device);
    const RankOptions options{.ranks = std::move(ranks),
                              .restarts = restarts,
                              .held_out = held_out,
                              .rule = *named,
                              .seed = seed,
                              .device = *where};
    const Cells cells(X);
    RankCurve curve;
    run_watched(
        [&](const Reporter& report) {
            Index said = -1;
            curve = choose_rank(cells.view(), options, [&](const RankProgress& progress) {
                if (progress.done == said) {
                    return true;
                }
                said = progress.done;
                return report(
                    {.phase = "restarts",
                     .sweep = progress.done,
                     .max_sweeps = progress.all,
                     .fraction = static_cast<double>(progress.done) / static_cast<double>(progress.all)});
            });
        },
        callback);
    py::dict result;
    result["ranks"] = array_of(std::vector<std::int64_t>(curve.ranks.begin(), curve.ranks.end()));
    result["error"] = array_of(curve.error);
    result["deviation"] = array_of(curve.deviation);
    result["difference_deviation"] = array_of(curve.difference_deviation);
    result["stability"] = array_of(curve.stability);
    result["consensus_error"] = array_of(curve.consensus_error);
    py::list programs;
    py::list stability;
    py::list similarity;
    for (ConsensusPrograms& one : curve.programs) {
        stability.append(array_of(one.stability));
        similarity.append(array_of(one.similarity));
        programs.append(rows_of(std::move(one.W)));
    }
    result["programs"] = programs;
    result["program_stability"] = stability;
    result["program_similarity"] = similarity;
    result["by_error"] = curve.by_error;
    result["by_stability"] = curve.by_stability;
    result["chosen"] = curve.chosen;
    return result;
}

} // namespace

void bind_fit(py::module_& module) {
    module.def("options", &list_options);
    module.def("fit", &fit_any, py::arg("X"), py::arg("options"), py::arg("clusters"), py::arg("precision"),
               py::arg("threads"), py::arg("callback"), py::arg("checkpoint") = py::none(),
               py::arg("resume") = false, py::arg("checkpoint_every") = 300.0, py::arg("memory") = py::none(),
               py::arg("space") = py::none(), py::arg("columns") = py::dict(), py::arg("batch") = py::none(),
               py::arg("domains") = py::none(), py::arg("expression") = py::none());
    module.def("choose_rank", &rank_curve, py::arg("X"), py::arg("ranks"), py::arg("restarts"),
               py::arg("held_out"), py::arg("rule"), py::arg("seed"), py::arg("device"), py::arg("threads"),
               py::arg("callback"));
    module.def("baseline", &baseline_any, py::arg("X"), py::arg("method"), py::arg("options"),
               py::arg("clusters"), py::arg("precision"), py::arg("threads"), py::arg("callback"));
    module.def("embed", &embed, py::arg("X"), py::arg("basis").noconvert(), py::arg("lambda3"),
               py::arg("threads"));
}

} // namespace pnmf::python
