#pragma once

#include "solvers/device.hpp"
#include "support/thread_ranks.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace pnmf::test {

/// Several ranks as one backend: every operation is made by a thread for each rank, and all of them must
/// return the same.
template <class Real>
class CrewBackend final : public Backend<Real> {
  public:
    CrewBackend(const Problem<Real>& problem, int ranks, const CellBlocks& blocks,
                Device device = Device::cpu)
        : ranks_(ranks), factors_(static_cast<std::size_t>(ranks)), previous_(factors_.size()),
          backends_(factors_.size()) {
        ranks_.run([&](int r) { backends_[r] = device_row(device).in<Real>().backend(problem, blocks); });
    }

    ThreadRanks& ranks() { return ranks_; }

    void load(Factors<Real>& current, Factors<Real>& previous) override {
        outside_ = &current;
        outside_previous_ = &previous;
        for (int r = 1; r < ranks_.count(); ++r) {
            copy(current, factors_[r]);
            copy(previous, previous_[r]);
        }
        ranks_.run([&](int r) {
            backends_[r]->load(r == 0 ? current : factors_[r], r == 0 ? previous : previous_[r]);
        });
    }
    void store() override {
        each([](auto& one) { one.store(); });
        for (int r = 1; r < ranks_.count(); ++r) {
            EXPECT_EQ(factors_[r].H, outside_->H);
            EXPECT_EQ(previous_[r].H, outside_previous_->H);
        }
    }
    void store_last() override {
        each([](auto& one) { one.store_last(); });
        for (int r = 1; r < ranks_.count(); ++r) {
            EXPECT_EQ(factors_[r].H, outside_->H);
        }
    }
    void move_in_place() override {
        each([](auto& one) { one.move_in_place(); });
    }
    void move_copy() override {
        each([](auto& one) { one.move_copy(); });
    }
    void extrapolate(const std::vector<double>& beta) override {
        each([&](auto& one) { one.extrapolate(beta); });
    }
    void accept() override {
        each([](auto& one) { one.accept(); });
    }
    void undo() override {
        each([](auto& one) { one.undo(); });
    }
    bool can_freeze() const override { return backends_.front()->can_freeze(); }
    void freeze(const FrozenScales& frozen) override {
        each([&](auto& one) { one.freeze(frozen); });
    }
    void make_products() override {
        each([](auto& one) { one.make_products(); });
    }
    std::vector<Movement> basis_step(Index passes) override {
        return found<std::vector<Movement>>([&](auto& one) { return one.basis_step(passes); });
    }
    void graph_products() override {
        each([](auto& one) { one.graph_products(); });
    }
    void embedding_pass() override {
        each([](auto& one) { one.embedding_pass(); });
    }
    void shift_components() override {
        each([](auto& one) { one.shift_components(); });
    }
    std::vector<Objective> terms() override {
        return found<std::vector<Objective>>([](auto& one) { return one.terms(); });
    }
    std::vector<Movement> movement_H() override {
        return found<std::vector<Movement>>([](auto& one) { return one.movement_H(); });
    }
    Objective objective() override {
        return found<Objective>([](auto& one) { return one.objective(); });
    }
    Evaluation evaluate() override {
        return found<Evaluation>([](auto& one) { return one.evaluate(); });
    }

  private:
    static double number(const Objective& objective) { return objective.total(); }
    static double number(const Movement& movement) { return movement.moved + movement.size; }
    static double number(const Evaluation& evaluation) { return evaluation.objective.total(); }
    template <class One>
    static double number(const std::vector<One>& all) {
        double sum = 0.0;
        for (const One& one : all) {
            sum += number(one);
        }
        return sum;
    }

    /// Bases that rest in a file do so on rank 0 alone.
    static void copy(const Factors<Real>& from, Factors<Real>& to) {
        to = {};
        DenseMatrix<Real> buffer;
        for (Index t = 0; t < from.scales(); ++t) {
            to.W.push_back(from.basis(t, buffer));
            to.H.push_back(from.H[t]);
        }
    }

    template <class Do>
    void each(const Do& body) {
        ranks_.run([&](int r) { body(*backends_[r]); });
    }
    template <class Result, class Find>
    Result found(const Find& find) {
        std::vector<Result> results(backends_.size());
        ranks_.run([&](int r) { results[r] = find(*backends_[r]); });
        for (const Result& result : results) {
            EXPECT_EQ(number(result), number(results.front()));
        }
        return results.front();
    }

    ThreadRanks ranks_;
    std::vector<Factors<Real>> factors_;
    std::vector<Factors<Real>> previous_;
    std::vector<std::unique_ptr<Backend<Real>>> backends_;
    Factors<Real>* outside_ = nullptr;
    Factors<Real>* outside_previous_ = nullptr;
};

} // namespace pnmf::test
