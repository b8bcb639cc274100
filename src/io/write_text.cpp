#include <pnmf/io/write_text.hpp>

#include "io/atomic_file.hpp"
#include "io/gzip.hpp"

namespace pnmf {

void write_text(const std::filesystem::path& path, std::string_view text) {
    io::AtomicFile file(path);
    if (path.extension() == ".gz") {
        file.write(io::gzip_member(text, 6));
    } else {
        file.write(text);
    }
    file.commit();
}

} // namespace pnmf
