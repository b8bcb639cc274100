#pragma once

#include <pnmf/types.hpp>

#include <vector>

/// Products and components as a textbook writes them, for twins. In double precision.
namespace pnmf::test {

template <class A, class B>
Matrix times(const A& a, const B& b) {
    Matrix result = Matrix::Zero(a.rows(), b.cols());
    for (Index i = 0; i < a.rows(); ++i) {
        for (Index j = 0; j < b.cols(); ++j) {
            for (Index l = 0; l < a.cols(); ++l) {
                result(i, j) += static_cast<double>(a(i, l)) * static_cast<double>(b(l, j));
            }
        }
    }
    return result;
}
template <class A, class B>
Matrix transposed_times(const A& a, const B& b) {
    return times(A(a.transpose()), b);
}
template <class A, class B>
Matrix times_transposed(const A& a, const B& b) {
    return times(a, B(b.transpose()));
}

inline Vector degrees(const Matrix& A) {
    Vector degree = Vector::Zero(A.cols());
    for (Index j = 0; j < A.cols(); ++j) {
        for (Index i = 0; i < A.rows(); ++i) {
            degree[j] += A(i, j);
        }
    }
    return degree;
}

/// The component of each cell, by following edges.
inline std::vector<Index> flood(const Matrix& A) {
    std::vector<Index> component(static_cast<std::size_t>(A.cols()), -1);
    Index next = 0;
    for (Index root = 0; root < A.cols(); ++root) {
        if (component[root] >= 0) {
            continue;
        }
        std::vector<Index> reached{root};
        component[root] = next;
        while (!reached.empty()) {
            const Index j = reached.back();
            reached.pop_back();
            for (Index i = 0; i < A.rows(); ++i) {
                if (A(i, j) > 0.0 && component[i] < 0) {
                    component[i] = next;
                    reached.push_back(i);
                }
            }
        }
        ++next;
    }
    return component;
}

} // namespace pnmf::test
