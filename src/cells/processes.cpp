#include "parallel_region.hpp"

#include "cells/processes.hpp"

#include <algorithm>
#include <cassert>
#include <chrono>
#include <numeric>

namespace pnmf {
namespace {

class OneRank final : public Communicator {
  public:
    int rank() const override { return 0; }
    int size() const override { return 1; }
    int ranks_here() const override { return 1; }

  protected:
    void transfer(std::span<const Outgoing>, std::span<const Incoming>) override {
        assert(false && "there is no other rank");
    }
};

OneRank alone; // holds nothing that changes
thread_local Communicator* current_ranks = nullptr;

} // namespace

void Communicator::exchange(std::span<const Outgoing> sends, std::span<const Incoming> receives) {
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

Communicator& communicator() {
    return current_ranks != nullptr && !inside_parallel_body() ? *current_ranks : alone;
}

Communicator& single_rank() {
    return alone;
}

CommunicatorScope::CommunicatorScope(Communicator& ranks) : before_(current_ranks) {
    current_ranks = &ranks;
}

CommunicatorScope::~CommunicatorScope() {
    current_ranks = before_;
}

double least_of(Communicator& ranks, double mine) {
    const std::vector<double> all = gather_one(ranks, mine);
    return *std::min_element(all.begin(), all.end());
}

double most_of(Communicator& ranks, double mine) {
    const std::vector<double> all = gather_one(ranks, mine);
    return *std::max_element(all.begin(), all.end());
}

double sum_of(Communicator& ranks, double mine) {
    const std::vector<double> all = gather_one(ranks, mine);
    return std::accumulate(all.begin(), all.end(), 0.0);
}

} // namespace pnmf
