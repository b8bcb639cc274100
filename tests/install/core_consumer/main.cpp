#include <pnmf/error.hpp>
#include <pnmf/run/run.hpp>
#include <pnmf/version.hpp>

#include <iostream>

/// A whole run with the library's core alone, stopped and gone on with from its checkpoint: no file formats,
/// no page.
int main() {
    pnmf::Matrix X(2, 6);              // two features, six cells in two groups
    X << 1.0, 1.1, 1.2, 4.9, 5.1, 5.3, //
        4.0, 4.2, 4.1, 1.0, 1.2, 1.1;
    const pnmf::DataValues data = X;
    pnmf::RunOptions options{.fit = {.rank = 2}, .clusters = 2};
    try {
        pnmf::RunFolder folder("run", pnmf::FolderUse::overwrite);
        options.folder = &folder;
        pnmf::RunObserver observer;
        observer.progress = [](const pnmf::RunProgress& now) { return now.sweep == nullptr; };
        pnmf::run_fit(data, options, observer);
    } catch (const pnmf::Interrupted& e) {
        std::cout << e.what() << '\n';
    }
    pnmf::RunFolder folder("run", pnmf::FolderUse::resume);
    options.folder = &folder;
    const auto run = pnmf::run_fit(data, options);
    std::cout << "scales: " << run.result.scales.size() << '\n' << "clusters:";
    for (const pnmf::Index cluster : run.assessment.clusters[0]) {
        std::cout << ' ' << cluster;
    }
    std::cout << '\n' << "version: " << PNMF_VERSION << '\n';
}
