// SPDX-License-Identifier: BSD-3-Clause
// The computation during an operation: as long as specified, without a call of any library
// (docs/definitions/overlap.md, The computation).
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "benchmarks/overlap/definition.hpp"
#include "core/buffer.hpp"
#include "parallel/session.hpp"

namespace effio::overlap {

/// One piece of either kind; some microseconds.
class Kernel {
  public:
    static constexpr int rounds = 1000;         ///< of eight multiply-adds each
    static constexpr std::size_t piece = 2048;  ///< doubles of each of two arrays

    /// `memory_bytes` are what a stream goes through; none where the kind needs none.
    Kernel(WorkKind kind, std::int64_t memory_bytes);
    void step() {
        if (kind_ == WorkKind::compute) {
            compute();
        } else {
            stream();
        }
    }
    /// Depends on all that was computed.
    double result() const;

  private:
    void compute();
    void stream();
    std::span<double> half(int which);

    WorkKind kind_;
    std::vector<double> chains_;
    Buffer memory_;
    std::size_t place_ = 0;  ///< of the next piece, doubles
    volatile double result_ = 0;
};

class Work {
  public:
    Work(Session& session, WorkKind kind, std::int64_t memory_bytes)
        : session_(session), kind_(kind), kernel_(kind, memory_bytes) {}

    WorkKind kind() const { return kind_; }
    /// Collective: how long a piece takes while all ranks compute; the slowest rank's.
    void calibrate();
    double piece_seconds() const { return piece_seconds_; }
    /// Pieces that take this long; at least one, and one more than there are polls.
    Polls plan(double seconds, std::int64_t polls) const;

    struct Done {
        double seconds = 0;       ///< computing
        double poll_seconds = 0;  ///< in `poll`
        std::int64_t polls = 0;
    };
    /// Computes for the `seconds` that the pieces were planned for; `poll` is called as often as
    /// planned in between, until it says that there is nothing more to ask for. Virtual time
    /// advances by exactly `seconds`.
    Done run(const Polls& plan, double seconds, const std::function<bool()>& poll);

  private:
    Session& session_;
    WorkKind kind_;
    Kernel kernel_;
    double piece_seconds_ = 0;
};

}  // namespace effio::overlap
