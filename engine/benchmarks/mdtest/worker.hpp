// SPDX-License-Identifier: BSD-3-Clause
// One thread's part of a phase: its items, the calls on them, and their outcome.
#pragma once

#include <array>
#include <cerrno>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "benchmarks/mdtest/parameters.hpp"
#include "benchmarks/mdtest/phases.hpp"
#include "benchmarks/mdtest/workload.hpp"
#include "core/buffer.hpp"
#include "core/layout.hpp"
#include "core/pattern.hpp"
#include "core/series.hpp"
#include "core/stats.hpp"
#include "frame/call_log.hpp"
#include "parallel/pace.hpp"
#include "parallel/session.hpp"
#include "parallel/topology.hpp"
#include "storage/names.hpp"

namespace effio::mdtest {

class Search;

/// Whether an error only means that a directory holds what others put there. On a classic command
/// line that removes (a part of) a tree of an earlier run, such directories stay.
inline bool stays(const Session& session, const Parameters& parameters, const Error& error) {
    return session.classic && parameters.adopts() && error.system_code == ENOTEMPTY;
}

/// What all phases of an iteration have in common on this rank.
struct Iteration {
    Session& session;
    const Comm& comm;  ///< the ranks that measure
    const Parameters& parameters;
    const Paths& paths;
    Names& names;
    const NodeOrder* order;  ///< null without a rank shift
    std::int64_t number;     ///< which iteration, from 0
    std::int64_t files;      ///< of each rank; less than the workload's after a stonewall

    /// The rank whose items a phase works on; none where all ranks share them.
    std::optional<int> owner(const Phase& phase) const;
    /// Items of each rank that a phase works on.
    std::int64_t items(ItemKind thing) const {
        return thing == ItemKind::file ? files : paths.workload().items;
    }
};

/// What a worker did in a phase.
struct Tally {
    std::int64_t done = 0;    ///< steps without an error
    std::int64_t failed = 0;  ///< steps with one; neither: directories that stay
    std::int64_t bytes = 0;
    std::int64_t of_timed_reads = 0;  ///< bytes compared where the timed call put them
    std::int64_t foreign = 0;         ///< files compared that hold other data as a whole
    std::int64_t entries = 0;         ///< listed, or looked at
    std::int64_t found = 0;           ///< of them those that a search is for
    std::optional<Error> error;       ///< the first
    Histogram calls;
    std::vector<CallTime> kept;                   ///< every call, if requested
    TimeSeries over_time = TimeSeries::finely();  ///< steps by time
    StopPoint standing;                           ///< at the stonewall, or at the end
};

class Worker {
  public:
    /// After this many failures a worker gives a phase up.
    static constexpr std::int64_t most_failures = 100;

    Worker(const Iteration& iteration, int number);

    /// What there is to do in a phase; untimed.
    void prepare(const Phase& phase);
    /// Before a phase that reads, with verification: memory for the data of its first reads,
    /// without what was there. Untimed.
    void keep_reads();
    std::int64_t count() const { return count_; }
    /// All steps, or as many as the stonewall lets; `start` is a reading of the clock.
    void work(double start, double stonewall_seconds);
    /// The steps up to number `count`, after the stonewall.
    void wear_out(std::int64_t count);
    const Tally& tally() const { return tally_; }

    /// Calls `use(path)` for each file of the phase, in its order; untimed.
    void each_path(const Phase& phase, const std::function<void(const std::string&)>& use);
    /// Compares what the timed reads of the phase left in memory, and reads this worker's other
    /// files of the phase to compare them; untimed.
    void verify(const Phase& phase);

  private:
    void loop();
    template <class Act>
    void steps(const Act& act);
    /// Calls `use(act)` with what the phase does at each step, which returns a Status.
    template <class Use>
    void as_act(const Use& use);
    void aim(std::int64_t step) {
        if (plain_) [[likely]] {
            path_ = &from_.of(phase_->thing, owner_, share_.item(step));
        } else {
            aim_by_action(step);
        }
    }
    void aim_by_action(std::int64_t step);
    void aim_at_tree(std::int64_t step);
    void aim_at_item(std::int64_t step);
    Status look_into(const Search& search);
    double log_call(double begin);
    void note(Error error);
    void tick(double now);
    void tick_if_due(double now);
    std::span<const std::byte> data_of(std::int64_t bytes);
    /// Memory that holds the data of a step after the phase.
    std::span<std::byte> kept(std::int64_t step);
    void compare_data(std::span<const std::byte> found);
    bool works_for_all() const;

    const Iteration& iteration_;
    Names& names_;
    int number_;
    bool timed_;
    bool keeps_;          ///< the times of all calls
    bool plain_ = false;  ///< the phase needs the names of its items in their order, no more
    const Phase* phase_ = nullptr;
    std::optional<int> owner_;
    std::int64_t count_ = 0;
    std::int64_t bytes_per_step_ = 0;
    Share share_;
    std::optional<Ring> ring_;
    std::optional<Permutation> shuffle_;
    std::optional<Deadline> pace_;
    ItemPath from_;
    ItemPath to_;
    // Of the step in work:
    const std::string* path_ = nullptr;
    const std::string* second_ = nullptr;
    std::string text_;
    std::string second_text_;
    std::array<char, 256> answer_{};  ///< a link's target, an attribute
    std::span<const std::byte> data_;
    std::int64_t item_ = 0;
    int item_owner_ = 0;

    StampedBuffer written_;
    Buffer read_;
    Buffer kept_;
    std::int64_t steps_kept_ = 0;             ///< the first ones of a phase that reads
    std::int64_t reads_kept_ = 0;             ///< of them, done in the last phase
    std::vector<std::int64_t> failed_reads_;  ///< steps among them, in order
    Tally tally_;
    double start_ = 0;
    double ticked_at_ = 0;
    std::int64_t ticked_done_ = 0;
};

}  // namespace effio::mdtest
