#include <pnmf/io/write.hpp>

#include "io/gzip.hpp"
#include "io/sidecar_texts.hpp"

namespace pnmf {
namespace io {

SidecarTexts::SidecarTexts(const std::vector<TextFile>& files) {
    for (const TextFile& file : files) {
        const bool compressed = file.path.extension() == ".gz";
        files_.emplace_back(file.path).write(compressed ? gzip_member(file.text, 6) : file.text);
    }
}

std::vector<AtomicFile*> SidecarTexts::all() {
    std::vector<AtomicFile*> files;
    for (AtomicFile& file : files_) {
        files.push_back(&file);
    }
    return files;
}

void SidecarTexts::commit_with(AtomicFile& other) {
    std::vector<AtomicFile*> files = all();
    files.push_back(&other);
    commit_together(files);
}

void SidecarTexts::commit() {
    commit_together(all());
}

} // namespace io

void write_text(const std::filesystem::path& path, std::string_view text) {
    AtomicFile file(path);
    if (path.extension() == ".gz") {
        file.write(io::gzip_member(text, 6));
    } else {
        file.write(text);
    }
    file.commit();
}

void write_texts(const std::vector<TextFile>& files) {
    io::SidecarTexts(files).commit();
}

} // namespace pnmf
