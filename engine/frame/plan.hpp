// SPDX-License-Identifier: BSD-3-Clause
// What a run would take, computed without MPI and without I/O.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/fields.hpp"
#include "core/json.hpp"
#include "frame/until_ci_options.hpp"

namespace effio {

/// What a plan is computed from; nothing of it needs MPI.
struct PlanInput {
    int ranks = 1;
    int ranks_per_node = 1;
    /// Bytes per second: of storage in all, of the network for each rank.
    double rate = 1e9;
    std::optional<double> memory_bytes = {};  ///< of a node; without: of this machine
    std::optional<double> free_bytes = {};    ///< on storage; without: of the directory here

    double node_memory() const;
    double nodes() const;
};

/// What a run takes if storage or network are as fast as assumed.
struct Load {
    double written = 0;  ///< bytes that the calls of all ranks write
    double read = 0;     ///< what verification reads again is not counted
    double seconds = 0;
    double on_storage = 0;  ///< bytes of the run's files, the most at any one time
    double files = 0;       ///< the most at any one time

    /// Both, one after the other.
    Load& operator+=(const Load& other);
    Load times(double count) const;
};

/// One assumption of an estimate.
struct Assumed {
    double speed = 1;    ///< of storage or network, as a multiple of PlanInput::rate
    bool early = false;  ///< what may end early or be left out does so
};

/// A load as a range: from the least to the most over all assumptions.
class Estimate {
  public:
    struct Repeated {
        std::int64_t repetitions = 1;
        std::string_view noun = "repetition";
        const UntilCiOptions* until_ci = nullptr;
        double limit_seconds = 0;  ///< not 0: no repetition starts after this time
    };
    static constexpr double slow = 0.5;
    static constexpr double fast = 2;

    Estimate() = default;
    /// `one` is a repetition. `warm_up` is done once and in no record; it counts in all sums.
    Estimate(const Repeated& repeated, const std::function<Load(const Assumed&)>& one,
             const Load& warm_up = {});

    const Load& least() const { return least_; }
    /// The load at the given rate, with the most repetitions.
    const Load& expected() const { return expected_; }
    const Load& most() const { return most_; }
    /// "3 repetitions"
    const std::string& repetitions() const { return repetitions_; }
    const std::optional<UntilCiOptions::Span>& until_ci() const { return until_ci_; }
    const Load& warm_up() const { return warm_up_; }
    const std::string& assumption() const { return assumption_; }

    /// What the range assumes; a clause.
    void assume(std::string clause) { assumption_ = std::move(clause); }
    /// Storage delivers between half of and twice the rate.
    void assume_storage(double rate);
    void assume_network(double rate);

    /// Runs of other estimates one after the other.
    void then(const Estimate& other, double times);
    /// Runs at the same time, on the same storage: as long as the longest at least, and as all of
    /// them one after the other at most.
    static Estimate together(const std::vector<Estimate>& all);

    /// Three lines.
    std::string text() const;
    Json to_json() const;

  private:
    Load least_;
    Load expected_;
    Load most_;
    Load warm_up_;
    std::string repetitions_;
    std::string assumption_;
    std::optional<UntilCiOptions::Span> until_ci_;  ///< with --until-ci
};

/// What a run would do: for people and for programs.
struct Plan {
    std::string text;
    Facts facts = {};  ///< for programs: what is the benchmark's own
    Estimate estimate = {};

    /// The value of a fact, which must exist.
    const Json& operator[](std::string_view name) const;
};

/// Completes a plan for people: what the storage of --plan-free does not hold.
std::string text_of(const Plan& plan, const PlanInput& input);
/// And for programs.
Json data_of(const Plan& plan, const PlanInput& input,
             const std::vector<std::string>& needed_directories);
/// The members of data_of().
FieldInfos info_of(const Plan& plan);

}  // namespace effio
