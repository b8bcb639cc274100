#pragma once

#include <string>
#include <string_view>

namespace pnmf::report {

/// Where the data go in the page.
inline constexpr std::string_view data_mark = "<!--pnmf:data-->";

/// The page that web/ builds, without data: web/dist/report.html, compiled into the library.
std::string page_text();

} // namespace pnmf::report
