#pragma once

#include <pnmf/types.hpp>

#include <nlohmann/json.hpp>

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace pnmf::report {

using Json = nlohmann::ordered_json;

/// The data of a page: arrays of numbers in sections that are compressed apart, and what describes them.
///
/// A section becomes one element `<script type="application/octet-stream" id="pnmf-{result}-{section}">` with
/// base64 of a zlib stream. In the section `core` the arrays come after the description: its length as 4
/// bytes, JSON in UTF-8, zeros up to a multiple of 8. Arrays begin at multiples of 8, little-endian.
class Payload {
  public:
    /// `meta` describes the result; `arrays` is added to it.
    Json meta;

    template <class Value>
    void add(const std::string& section, const std::string& name, const std::vector<Value>& values) {
        static_assert(std::is_arithmetic_v<Value>);
        add_bytes(section, name, type_name<Value>(), reinterpret_cast<const char*>(values.data()),
                  values.size(), sizeof(Value));
    }

    /// The elements of result number `result`.
    std::string elements(int result) const;

  private:
    template <class Value>
    static const char* type_name() {
        if constexpr (std::is_same_v<Value, std::uint8_t>) {
            return "u8";
        } else if constexpr (std::is_same_v<Value, std::uint16_t>) {
            return "u16";
        } else if constexpr (std::is_same_v<Value, std::int32_t>) {
            return "i32";
        } else if constexpr (std::is_same_v<Value, float>) {
            return "f32";
        } else {
            static_assert(std::is_same_v<Value, double>);
            return "f64";
        }
    }
    void add_bytes(const std::string& section, const std::string& name, const char* type, const char* data,
                   std::size_t count, std::size_t size);

    Json arrays_ = Json::object();
    std::map<std::string, std::string> sections_{{"core", ""}};
};

/// zlib's format, as `DecompressionStream("deflate")` takes it.
std::string deflated(std::string_view bytes);
std::string base64(std::string_view bytes);

} // namespace pnmf::report
