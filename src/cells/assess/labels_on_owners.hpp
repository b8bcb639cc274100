#pragma once

#include "cells/shared_work.hpp"
#include "metrics/kmeans_parts.hpp"

#include <pnmf/assess/assess.hpp>

#include <cstdint>
#include <vector>

namespace pnmf {

/// Some clusterings of one scale: where a process has found centres, the labels of all cells by the nearest
/// one come to that process. Where embeddings are divided each process labels its own cells for all
/// clusterings, so that none needs the embedding of all.
class LabelsOnOwners {
  public:
    /// Clustering i has `clusters[i]` clusters and belongs to the process that item first + i is dealt to.
    LabelsOnOwners(const Embeddings& embedding, const std::vector<Index>& clusters, Index first)
        : embedding_(embedding), clusters_(clusters), first_(first) {}

    /// `here`: what this process has of the scale. `centres`: of each clustering, empty where it is not this
    /// rank's. Returns labels in the same way.
    std::vector<std::vector<std::uint16_t>> of(const Matrix& here, std::vector<Matrix> centres) const {
        if (!embedding_.has_all_cells()) {
            share(here.rows(), centres);
        }
        std::vector<std::vector<std::uint16_t>> labels = nearest_of_each(here, centres);
        return !embedding_.has_all_cells() ? collect(std::move(labels)) : labels;
    }

  private:
    int owner(Index i) const { return dealt_to(processes_, first_ + i); }

    /// All centres on every process.
    void share(Index d, std::vector<Matrix>& centres) const {
        std::vector<double> mine;
        std::vector<Index> counts(static_cast<std::size_t>(processes_.count()), 0);
        for (Index i = 0; i < std::ssize(centres); ++i) {
            counts[owner(i)] += d * clusters_[i];
            mine.insert(mine.end(), centres[i].data(), centres[i].data() + centres[i].size());
        }
        const std::vector<double> all = gather_to_all(processes_, std::span<const double>(mine), counts);
        const double* next = all.data();
        for (int r = 0; r < processes_.count(); ++r) {
            for (Index i = 0; i < std::ssize(centres); ++i) {
                if (owner(i) == r) {
                    centres[i] = Eigen::Map<const Matrix>(next, d, clusters_[i]);
                    next += d * clusters_[i];
                }
            }
        }
    }

    /// Labels of this process's cells for all clusterings, to labels of all cells for this process's
    /// clusterings.
    std::vector<std::vector<std::uint16_t>> collect(std::vector<std::vector<std::uint16_t>> labels) const {
        const std::vector<CellRange> held = gather_one(processes_, embedding_.local());
        std::vector<std::vector<std::uint16_t>> leaving(held.size());
        Index mine = 0;
        for (Index i = 0; i < std::ssize(labels); ++i) {
            std::vector<std::uint16_t>& out = leaving[owner(i)];
            out.insert(out.end(), labels[i].begin(), labels[i].end());
            mine += owner(i) == processes_.place() ? 1 : 0;
        }
        std::vector<std::vector<std::uint16_t>> arriving(held.size());
        for (std::size_t r = 0; r < held.size(); ++r) {
            arriving[r].resize(static_cast<std::size_t>(mine * held[r].count));
        }
        exchange_parts<std::uint16_t>(
            processes_, [&](int r) { return std::span<const std::uint16_t>(leaving[r]); },
            [&](int r) { return std::span<std::uint16_t>(arriving[r]); });
        Index place = 0;
        for (Index i = 0; i < std::ssize(labels); ++i) {
            labels[i].clear();
            if (owner(i) != processes_.place()) {
                continue;
            }
            for (std::size_t r = 0; r < held.size(); ++r) {
                const auto begin = arriving[r].begin() + place * held[r].count;
                labels[i].insert(labels[i].end(), begin, begin + held[r].count);
            }
            ++place;
        }
        return labels;
    }

    const Embeddings& embedding_;
    const std::vector<Index>& clusters_;
    Index first_;
    Processes& processes_ = all_processes();
};

} // namespace pnmf
