#include "options.hpp"

#include <pnmf/error.hpp>

#include <pybind11/stl.h>

#include <algorithm>
#include <optional>
#include <string>
#include <type_traits>

namespace pnmf::python {
namespace {

namespace py = pybind11;

std::string keyword(std::string name) {
    std::replace(name.begin(), name.end(), '-', '_');
    return name;
}

std::string text_of(const py::handle& value) {
    return py::repr(value).cast<std::string>();
}

template <class Enum>
void set_choice(Enum& field, const std::string& name, const py::handle& value) {
    if (py::isinstance<py::str>(value)) {
        if (const auto known = value_named<Enum>(value.cast<std::string>())) {
            field = *known;
            return;
        }
    }
    fail("{} must be one of {}, got {}", name, joined_names<Enum>(", "), text_of(value));
}

template <class Value>
const char* kind_of() {
    if constexpr (std::is_enum_v<Value>) {
        return "choice";
    } else if constexpr (std::is_same_v<Value, bool>) {
        return "truth";
    } else if constexpr (std::is_same_v<Value, std::string>) {
        return "text";
    } else {
        return std::is_floating_point_v<Value> ? "number" : "integer";
    }
}

template <class Value>
void set_value(Value& field, const std::string& name, const py::handle& value) {
    if constexpr (std::is_enum_v<Value>) {
        set_choice(field, name, value);
    } else {
        try {
            field = value.cast<Value>();
        } catch (const py::cast_error&) {
            const char* what = std::is_class_v<Value>                 ? "a list of numbers"
                               : std::is_same_v<Value, bool>          ? "True or False"
                               : std::is_floating_point_v<Value>      ? "a number"
                               : std::is_same_v<Value, std::uint64_t> ? "a whole number from 0 to 2^64 - 1"
                                                                      : "a whole number";
            fail("{} must be {}, got {}", name, what, text_of(value));
        }
    }
}

void set_value(std::string& field, const std::string&, const py::handle& value) {
    field = py::str(value).cast<std::string>();
}

template <class Value>
void set_value(std::optional<Value>& field, const std::string& name, const py::handle& value) {
    if (value.is_none()) {
        field.reset();
        return;
    }
    Value held{};
    set_value(held, name, value);
    field = held;
}

/// Values taken out of a dictionary one by one.
struct Taken {
    const py::dict& values;
    py::list known{};

    template <class Field>
    void take(const char* option, Field& field) {
        const std::string name = keyword(option);
        known.append(name);
        if (values.contains(name)) {
            set_value(field, name, values[name.c_str()]);
        }
    }

    void check(const char* whose) const {
        for (const auto& entry : values) {
            require(known.contains(entry.first), "{} is no option of {}", text_of(entry.first), whose);
        }
    }
};

template <class Value>
py::object to_python(const Value& value) {
    if constexpr (std::is_enum_v<Value>) {
        return py::str(std::string(name_of(value)));
    } else {
        return py::cast(value);
    }
}

template <class Value>
struct Described {
    using Type = Value;
    static py::object initial(const Value& value) { return to_python(value); }
};
template <class Value>
struct Described<std::optional<Value>> {
    using Type = Value;
    static py::object initial(const std::optional<Value>& value) {
        return value ? to_python(*value) : py::object(py::none());
    }
};

template <class Value>
py::list names_of() {
    py::list names;
    if constexpr (std::is_enum_v<Value>) {
        for (const auto& entry : EnumNames<Value>::values) {
            names.append(std::string(entry.first));
        }
    }
    return names;
}

} // namespace

FitOptions options_of(const py::dict& values) {
    FitOptions options;
    Taken taken{values};
    visit_options(options, [&](const char* name, auto& field, const char*) { taken.take(name, field); });
    taken.check("a fit");
    return options;
}

py::dict options_dict(const FitOptions& options) {
    py::dict values;
    visit_options(options, [&](const char* name, const auto& field, const char*) {
        using Field = Described<std::remove_cvref_t<decltype(field)>>;
        values[keyword(name).c_str()] = Field::initial(field);
    });
    return values;
}

std::set<std::string> options_given(const py::dict& values) {
    std::set<std::string> given;
    const FitOptions any;
    visit_options(any, [&](const char* name, const auto&, const char*) {
        const std::string key = keyword(name);
        if (values.contains(key) && !values[key.c_str()].is_none()) {
            given.insert(name);
        }
    });
    return given;
}

BaselineFitOptions baseline_options_of(const std::string& method, const py::dict& values) {
    BaselineFitOptions options;
    const std::optional<Baseline> known = value_named<Baseline>(method);
    require(known.has_value(), "a baseline is one of {}, got {}", joined_names<Baseline>(", "), method);
    options.graph = published_settings(*known);
    Taken taken{values};
    visit_baseline_options(options,
                           [&](const char* name, auto& field, const char*) { taken.take(name, field); });
    taken.check("a baseline");
    return options;
}

AnalysisOptions input_options_of(const py::dict& values) {
    py::dict given;
    for (const auto& [name, value] : values) {
        if (!value.is_none()) {
            given[name] = value;
        }
    }
    AnalysisOptions options;
    Taken taken{given};
    visit_input_options(
        options, [&](const char* name, auto& field, const char*, const char*) { taken.take(name, field); });
    taken.check("the input");
    return options;
}

py::dict list_options() {
    py::list of_fit;
    py::list of_input;
    const auto describe = [](py::list& list, const char* option, const auto& field, const char* help) {
        using Field = Described<std::remove_cvref_t<decltype(field)>>;
        using Value = typename Field::Type;
        list.append(py::make_tuple(keyword(option), kind_of<Value>(), Field::initial(field),
                                   names_of<Value>(), help));
    };
    const AnalysisOptions options;
    visit_options(options.fit, [&](const char* name, const auto& field, const char* help) {
        describe(of_fit, name, field, help);
    });
    visit_input_options(options, [&](const char* name, const auto& field, const char* help, const char*) {
        describe(of_input, name, field, help);
    });
    return py::dict(py::arg("fit") = of_fit, py::arg("input") = of_input);
}

} // namespace pnmf::python
