#include "parallel_region.hpp"

#include "cells/processes.hpp"

#include <algorithm>
#include <cassert>
#include <chrono>
#include <numeric>

namespace pnmf {
namespace {

class OneProcess final : public Processes {
  public:
    int place() const override { return 0; }
    int count() const override { return 1; }
    int count_here() const override { return 1; }

  protected:
    void transfer(std::span<const Outgoing>, std::span<const Incoming>) override {
        assert(false && "there is no other process");
    }
};

OneProcess alone; // holds nothing that changes
thread_local Processes* current = nullptr;

} // namespace

void Processes::exchange(std::span<const Outgoing> sends, std::span<const Incoming> receives) {
    if (sends.empty() && receives.empty()) {
        return;
    }
    const auto began = std::chrono::steady_clock::now();
    transfer(sends, receives);
    seconds_ += std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
    for (const Outgoing& message : sends) {
        bytes_sent_ += static_cast<std::int64_t>(message.bytes.size());
    }
}

Processes& all_processes() {
    return current != nullptr && !inside_parallel_body() ? *current : alone;
}

Processes& one_process() {
    return alone;
}

ProcessesScope::ProcessesScope(Processes& processes) : before_(current) {
    current = &processes;
}

ProcessesScope::~ProcessesScope() {
    current = before_;
}

double least_of(Processes& processes, double mine) {
    const std::vector<double> all = gather_one(processes, mine);
    return *std::min_element(all.begin(), all.end());
}

double most_of(Processes& processes, double mine) {
    const std::vector<double> all = gather_one(processes, mine);
    return *std::max_element(all.begin(), all.end());
}

double sum_of(Processes& processes, double mine) {
    const std::vector<double> all = gather_one(processes, mine);
    return std::accumulate(all.begin(), all.end(), 0.0);
}

} // namespace pnmf
