#include "fuzz/targets.hpp"

#include <pnmf/linalg/random.hpp>

#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>
#include <string>
#include <vector>

/// `replay TARGET CORPUS COUNT [SEED [MOST]]`: reads every file of the folder CORPUS as TARGET, then COUNT
/// mutants of them; what a build without libFuzzer can do. Each batch runs in a child with limits on memory
/// and time. A mutant that ends its child is written to the current folder. Exit code 1 when there are more
/// than MOST of them, 0 unless given.
///
/// `replay --values TARGET FOLDER`: writes beside each file of FOLDER that TARGET's reader accepts what it
/// holds, as FILE.values: rows and columns as 64-bit integers, then the values by columns. For
/// differential.py.
namespace {

namespace fs = std::filesystem;
using pnmf::Index;
using pnmf::Random;

constexpr rlim_t most_memory = rlim_t{2} << 30U;
constexpr unsigned most_seconds = 60; // a batch
constexpr int batch = 200;

std::string bytes_of(const fs::path& path) {
    std::ifstream in(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
}

/// Some bytes changed, repeated, left out or taken from another file.
std::string mutant(const std::vector<std::string>& corpus, Random& random) {
    const auto any = [&](std::size_t count) {
        return static_cast<std::size_t>(random.below(static_cast<Index>(count)));
    };
    std::string bytes = corpus[any(corpus.size())];
    for (Index change = 1 + random.below(3); change > 0 && !bytes.empty(); --change) {
        const std::size_t at = any(bytes.size());
        const std::size_t length = std::min(bytes.size() - at, 1 + any(16));
        switch (random.below(6)) {
        case 0:
            bytes[at] = static_cast<char>(random.below(256));
            break;
        case 1:
            bytes[at] = static_cast<char>(bytes[at] ^ (1 << random.below(8)));
            break;
        case 2:
            std::fill_n(bytes.begin() + static_cast<std::ptrdiff_t>(at), length,
                        random.below(2) == 0 ? '\xff' : '\0');
            break;
        case 3:
            bytes.erase(at, length);
            break;
        case 4:
            bytes.insert(at, bytes.substr(any(bytes.size()), length));
            break;
        default: {
            const std::string& other = corpus[any(corpus.size())];
            bytes.replace(at, length, other.empty() ? "" : other.substr(any(other.size()), length));
        }
        }
    }
    return bytes;
}

/// Runs `work` in a child; true when it ended well.
template <class Work>
bool survives(const Work& work) {
    std::fflush(nullptr);
    const pid_t child = fork();
    if (child == 0) {
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
        const rlimit memory{.rlim_cur = most_memory, .rlim_max = most_memory};
        setrlimit(RLIMIT_AS, &memory);
#endif
        const rlimit core{.rlim_cur = 0, .rlim_max = 0};
        setrlimit(RLIMIT_CORE, &core);
        alarm(most_seconds);
        work();
        std::_Exit(0);
    }
    int status = 0;
    waitpid(child, &status, 0);
    return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

const pnmf::fuzz::Target& target_named(const char* name) {
    const auto all = pnmf::fuzz::targets();
    const auto found = std::ranges::find(all, std::string_view(name), &pnmf::fuzz::Target::name);
    if (found == all.end()) {
        std::fprintf(stderr, "no target %s\n", name);
        std::exit(2);
    }
    return *found;
}

/// In order, so that a seed means the same everywhere.
std::set<fs::path> files_in(const char* folder) {
    std::set<fs::path> files;
    for (const auto& entry : fs::directory_iterator(folder)) {
        files.insert(entry.path());
    }
    return files;
}

pnmf::Matrix dense(const pnmf::Dataset& data) {
    if (const auto* whole = std::get_if<pnmf::Matrix>(&data.X)) {
        return *whole;
    }
    const auto& sparse = std::get<pnmf::SparseMatrix<double>>(data.X);
    pnmf::Matrix filled = pnmf::Matrix::Zero(sparse.rows, sparse.cols);
    for (Index column = 0; column < sparse.cols; ++column) {
        for (auto i = sparse.start[static_cast<std::size_t>(column)];
             i < sparse.start[static_cast<std::size_t>(column) + 1]; ++i) {
            const auto at = static_cast<std::size_t>(i);
            filled(sparse.row[at], column) += sparse.value[at];
        }
    }
    return filled;
}

int write_values(const pnmf::fuzz::Target& target, const char* folder) {
    int wrong = 0;
    for (const fs::path& file : files_in(folder)) {
        const bool right = survives([&] {
            const auto data = pnmf::fuzz::values_in(target, file);
            if (!data || data->features() * data->cells() > (Index{1} << 20)) {
                return;
            }
            const pnmf::Matrix values = dense(*data);
            std::ofstream out(file.string() + ".values", std::ios::binary);
            for (const std::int64_t size : {values.rows(), values.cols()}) {
                out.write(reinterpret_cast<const char*>(&size), sizeof size);
            }
            out.write(reinterpret_cast<const char*>(values.data()),
                      static_cast<std::streamsize>(values.size() * static_cast<Index>(sizeof(double))));
        });
        if (!right) {
            ++wrong;
            std::printf("%s: does not survive\n", file.c_str());
        }
    }
    return wrong == 0 ? 0 : 1;
}

/// The corpus itself: how many files did not survive, how many that should be accepted were.
struct Replayed {
    std::vector<std::string> corpus{};
    int wrong = 0;
    int accepted = 0;
};

Replayed replay_corpus(const pnmf::fuzz::Target& target, const char* folder) {
    Replayed seen;
    for (const fs::path& file : files_in(folder)) {
        seen.corpus.push_back(bytes_of(file));
        const std::string& bytes = seen.corpus.back();
        const bool good = file.filename().string().starts_with("good");
        const auto accepts = [&] { return pnmf::fuzz::accepts(target, bytes); };
        if (!survives([&] { accepts(); })) {
            ++seen.wrong;
            std::printf("%s: does not survive\n", file.c_str());
        } else if (good && survives([&] { std::_Exit(accepts() ? 0 : 1); })) {
            ++seen.accepted;
        } else if (good) {
            ++seen.wrong;
            std::printf("%s: is refused\n", file.c_str());
        }
    }
    return seen;
}

int replay_mutants(const pnmf::fuzz::Target& target, const std::vector<std::string>& corpus, long count,
                   std::uint64_t seed) {
    const auto numbered = [&](long i) {
        Random random(seed * 1000003 + static_cast<std::uint64_t>(i));
        return mutant(corpus, random);
    };
    const auto run = [&](long from, long to) {
        return survives([&] {
            for (long i = from; i < to; ++i) {
                pnmf::fuzz::accepts(target, numbered(i));
            }
        });
    };
    int wrong = 0;
    for (long first = 0; first < count; first += batch) {
        const long last = std::min(count, first + batch);
        if (run(first, last)) {
            continue;
        }
        for (long i = first; i < last; ++i) {
            if (!run(i, i + 1)) {
                ++wrong;
                const std::string name = "wrong-" + std::string(target.name) + "-" + std::to_string(i);
                std::ofstream(name, std::ios::binary) << numbered(i);
                std::printf("%s: mutant %ld does not survive: %s\n", target.name.data(), i, name.c_str());
            }
        }
    }
    return wrong;
}

} // namespace

int main(int argc, char** argv) {
    if (argc == 4 && std::string_view(argv[1]) == "--values") {
        return write_values(target_named(argv[2]), argv[3]);
    }
    if (argc < 4) {
        std::fputs("replay TARGET CORPUS COUNT [SEED [MOST]] or replay --values TARGET FOLDER\n", stderr);
        return 2;
    }
    const pnmf::fuzz::Target& target = target_named(argv[1]);
    const Replayed replayed = replay_corpus(target, argv[2]);
    const long count = std::strtol(argv[3], nullptr, 10);
    const std::uint64_t seed = argc > 4 ? std::strtoull(argv[4], nullptr, 10) : 1;
    const int wrong = replayed.wrong + replay_mutants(target, replayed.corpus, count, seed);
    std::printf("%s: %zu files, %d of them accepted, %ld mutants, %d did not survive\n", argv[1],
                replayed.corpus.size(), replayed.accepted, count, wrong);
    const long most = argc > 5 ? std::strtol(argv[5], nullptr, 10) : 0;
    return wrong <= most && replayed.accepted > 0 ? 0 : 1;
}
