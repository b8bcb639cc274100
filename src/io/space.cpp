#include <pnmf/error.hpp>
#include <pnmf/io/dataset.hpp>

#include "words.hpp"

namespace pnmf {

SpaceChoice space_choice(const std::string& text) {
    if (text == "none") {
        return {};
    }
    if (text.starts_with("obsm:") && text.size() > 5) {
        return {.kind = SpaceChoice::Kind::stored, .key = text.substr(5)};
    }
    if (text.starts_with("pca:")) {
        if (const Index count = whole_number(text.substr(4)).value_or(0); count >= 1) {
            return {.kind = SpaceChoice::Kind::components, .components = count};
        }
    }
    fail("a space is none, pca:N with a number of principal components, or obsm:KEY with an entry of an "
         ".h5ad file, got '{}'",
         text);
}

} // namespace pnmf
