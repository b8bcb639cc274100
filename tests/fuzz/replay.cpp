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

} // namespace

int main(int argc, char** argv) {
    if (argc < 4) {
        std::fputs("replay TARGET CORPUS COUNT [SEED [MOST]]\n", stderr);
        return 2;
    }
    const auto all = pnmf::fuzz::targets();
    const auto target = std::ranges::find(all, std::string_view(argv[1]), &pnmf::fuzz::Target::name);
    if (target == all.end()) {
        std::fprintf(stderr, "no target %s\n", argv[1]);
        return 2;
    }
    std::set<fs::path> files; // in order, so that a seed means the same everywhere
    for (const auto& entry : fs::directory_iterator(argv[2])) {
        files.insert(entry.path());
    }
    std::vector<std::string> corpus;
    int wrong = 0;
    int accepted = 0;
    for (const fs::path& file : files) {
        corpus.push_back(bytes_of(file));
        const bool right = survives([&] { pnmf::fuzz::accepts(*target, corpus.back()); });
        if (!right) {
            ++wrong;
            std::printf("%s: does not survive\n", file.c_str());
        } else if (file.filename().string().starts_with("good")) {
            accepted +=
                survives([&] { std::_Exit(pnmf::fuzz::accepts(*target, corpus.back()) ? 0 : 1); }) ? 1 : 0;
        }
    }
    const long count = std::strtol(argv[3], nullptr, 10);
    const std::uint64_t seed = argc > 4 ? std::strtoull(argv[4], nullptr, 10) : 1;
    for (long first = 0; first < count; first += batch) {
        const auto numbered = [&](long i) {
            Random random(seed * 1000003 + static_cast<std::uint64_t>(i));
            return mutant(corpus, random);
        };
        const long last = std::min(count, first + batch);
        const auto run = [&](long from, long to) {
            return survives([&] {
                for (long i = from; i < to; ++i) {
                    pnmf::fuzz::accepts(*target, numbered(i));
                }
            });
        };
        if (!run(first, last)) {
            for (long i = first; i < last; ++i) {
                if (!run(i, i + 1)) {
                    ++wrong;
                    const std::string name = "wrong-" + std::string(target->name) + "-" + std::to_string(i);
                    std::ofstream(name, std::ios::binary) << numbered(i);
                    std::printf("%s: mutant %ld does not survive: %s\n", argv[1], i, name.c_str());
                }
            }
        }
    }
    std::printf("%s: %zu files, %d of them accepted, %ld mutants, %d did not survive\n", argv[1],
                corpus.size(), accepted, count, wrong);
    const long most = argc > 5 ? std::strtol(argv[5], nullptr, 10) : 0;
    return wrong <= most && accepted > 0 ? 0 : 1;
}
