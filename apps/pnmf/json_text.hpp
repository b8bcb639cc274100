#pragma once

#include <nlohmann/json.hpp>

#include <string>

namespace pnmf::cli {

/// JSON to read. Names of files and cells may be any bytes; those that are not UTF-8 become U+FFFD, for JSON
/// has no others, and a run of hours must not end over them.
inline std::string json_text(const nlohmann::ordered_json& json) {
    return json.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

} // namespace pnmf::cli
