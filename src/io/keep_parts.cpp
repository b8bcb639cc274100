#include "io/keep_parts.hpp"

#include "io/formats.hpp"
#include "io/h5ad_parts.hpp"
#include "io/trial_read.hpp"

#include <pnmf/error.hpp>

#include <algorithm>
#include <optional>

namespace pnmf::io {
namespace {

using hdf5::Object;

/// Which of the names are kept, in the same order; nothing when some of those kept are not there.
std::optional<std::vector<bool>> places_of(const std::vector<std::string>& kept,
                                           const std::vector<std::string>& names) {
    std::vector<bool> places(names.size(), false);
    std::size_t found = 0;
    for (std::size_t i = 0; i < names.size() && found < kept.size(); ++i) {
        places[i] = names[i] == kept[found];
        found += places[i] ? 1 : 0;
    }
    return found == kept.size() ? std::optional(places) : std::nullopt;
}

bool all_of(const std::vector<bool>& places) {
    return std::find(places.begin(), places.end(), false) == places.end();
}

/// Of one file into another. Along an axis some places are kept, or all.
class Keeper {
  public:
    Keeper(Object& root, const Object& from, std::vector<bool> cells,
           std::optional<std::vector<bool>> features)
        : root_(root), from_(from), cells_(std::move(cells)), features_(std::move(features)) {}

    void keep() {
        each("uns",
             [&](Object& to, const Object& element, const std::string& name) { to.copy(element, name); });
        each("obsm", [&](Object& to, const Object& element, const std::string& name) {
            rows(to, element, name, cells_);
        });
        each("obsp", [&](Object& to, const Object& element, const std::string& name) {
            matrix(to, element, name, cells_, cells_);
        });
        if (features_) {
            each("varm", [&](Object& to, const Object& element, const std::string& name) {
                rows(to, element, name, *features_);
            });
            each("layers", [&](Object& to, const Object& element, const std::string& name) {
                matrix(to, element, name, *features_, cells_);
            });
        }
        if (from_.contains("raw/X") && from_.contains("raw/var")) {
            const Object raw = from_.open("raw");
            Object to = root_.make_group("raw");
            mark(to, "raw", "0.1.0");
            to.copy(raw.open("var"), "var");
            const auto genes = read_frame(raw.open("var"), ignored_).names.size();
            matrix(to, raw.open("X"), "X", std::vector<bool>(genes, true), cells_);
        }
    }

  private:
    template <class Keep>
    void each(const char* group, const Keep& keep) {
        if (!from_.contains(group) || !root_.contains(group)) {
            return;
        }
        const Object source = from_.open(group);
        Object to = root_.open(group);
        for (const std::string& name : source.names()) {
            if (!to.contains(name)) {
                keep(to, source.open(name), name);
            }
        }
    }

    /// An entry with a row for each place.
    static void rows(Object& to, const Object& element, const std::string& name,
                     const std::vector<bool>& places) {
        check(element, rows_of(element).value_or(std::ssize(places)) == std::ssize(places));
        if (all_of(places)) {
            to.copy(element, name);
        } else if (element.is_dataset() && element.shape().size() == 2) {
            Dataset data;
            data.X = Matrix(read_dense(element).transpose());
            keep_cells(data, places);
            write_dense(to, name, std::get<Matrix>(data.X).transpose(), {});
        }
    }

    void matrix(Object& to, const Object& element, const std::string& name, const std::vector<bool>& columns,
                const std::vector<bool>& places) {
        check(element, rows_of(element) == std::ssize(places));
        if (all_of(places) && all_of(columns)) {
            to.copy(element, name);
            return;
        }
        Dataset data;
        data.X = read_matrix_transposed(element, ignored_);
        check(element, shape_of(data.X) == std::pair<Index, Index>(std::ssize(columns), std::ssize(places)));
        keep_features(data, columns);
        keep_cells(data, places);
        write_matrix_transposed(to, name, data.X, {});
    }

    /// Nothing for a data frame.
    static std::optional<Index> rows_of(const Object& element) {
        const auto sizes =
            element.is_dataset() ? std::optional(element.shape()) : element.integers_attribute("shape");
        return sizes && !sizes->empty() ? std::optional<Index>(sizes->front()) : std::nullopt;
    }

    static void check(const Object& element, bool fits) {
        if (!fits) {
            element.reject("does not have the shape that obs and var give it");
        }
    }

    Object& root_;
    const Object& from_;
    std::vector<bool> cells_;
    std::optional<std::vector<bool>> features_;
    std::vector<std::string> ignored_;
};

} // namespace

void keep_parts(Object& root, const std::filesystem::path& from, const std::vector<std::string>& cell_names,
                const std::vector<std::string>& feature_names) {
    read_tried(from, [&] {
        const hdf5::Session session;
        const Object source = Object::open_file(from);
        std::vector<std::string> ignored;
        auto cells = places_of(cell_names, read_frame(source.open("obs"), ignored).names);
        require(cells.has_value(), "{}: has no longer the cells of the fit", from.string());
        std::vector<std::string> features = read_frame(source.open("var"), ignored).names;
        make_unique(features);
        Keeper(root, source, std::move(*cells), places_of(feature_names, features)).keep();
    });
}

} // namespace pnmf::io
