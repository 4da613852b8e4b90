// SPDX-License-Identifier: BSD-3-Clause
// The phases of IOR: open, pass, sync, close, and what is done around them untimed
// (docs/definitions/ior.md, One phase).
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "benchmarks/ior/files.hpp"
#include "benchmarks/ior/pass.hpp"
#include "benchmarks/ior/result.hpp"
#include "frame/benchmark.hpp"
#include "frame/cold.hpp"
#include "frame/observers.hpp"
#include "frame/readable.hpp"
#include "frame/run_loop.hpp"
#include "frame/visit.hpp"
#include "parallel/common_clock.hpp"
#include "storage/hints.hpp"
#include "storage/target.hpp"

namespace effio::ior {

class Runner {
  public:
    /// Observers are called on the session's root only. `comm` holds the ranks that take part;
    /// `topology` is theirs.
    Runner(Session& session, const Comm& comm, const Topology& topology, const Setup& setup,
           Storage& storage, const Target& target, const FileNames& names, const HintRules& hints,
           std::vector<Observer*> observers);

    /// Collective over `comm`: what stopped the run, if anything did.
    Outcome run();
    const RunResult& result() const { return result_; }

  private:
    /// What one timed phase or one untimed pass does.
    struct PassPlan {
        Access access = Access::write;
        std::int64_t repetition = 0;
        std::int64_t transfer = 1;  ///< bytes
        int owner = 0;              ///< the rank whose data this one writes or reads
        bool timed = true;
        bool compare = false;
        std::uint64_t seed = 0;               ///< of the data
        std::vector<std::int64_t> transfers;  ///< of the owner's workers, to be done
    };
    /// This rank's part in a phase.
    struct Measured {
        std::vector<WorkerShare> shares;
        PassDone pass;
        Visited seen;
        Outcome outcome;
        GrantedHints granted;
        Json library = Json::object();
        std::int64_t detours = 0;
    };

    void repeat(std::int64_t repetition, std::size_t size);
    void write_phase(PassPlan task);
    void read_phase(PassPlan task);  ///< or a mixed one
    /// Whether the places that a mixed phase writes contain other data before it.
    bool shows_lost_writes() const;
    /// Collective, untimed: writes the places that a mixed phase writes, from transfer `first` of
    /// each worker on. Writes the phase's data, or (`inverted`) the data with all bits inverted.
    Agreed write_around(const PassPlan& phase, const std::vector<std::int64_t>& first,
                        bool inverted);
    /// Collective, before the phase: writes inverted data; false if the run stops.
    Agreed prepare_mixed(const PassPlan& task);
    /// Collective, after the phase: writes the data of the transfers that it did not reach.
    void complete_mixed(const PassPlan& task, const PassDone& pass);
    PassPlan verification_of(const PassPlan& phase, int distance) const;
    void verify(const PassPlan& task, PhaseResult& result);
    void refuse_foreign(const PassPlan& task, Outcome& mine) const;
    const NodeOrder& readers_order() const { return pretended_ ? *pretended_ : order_; }
    void make_striped_files(const PassPlan& task, Outcome& mine);
    /// `cold` is what was done against the page cache; none where nothing is reported of it.
    Measured measure(const PassPlan& task, const Cold* cold);
    VisitSteps steps(const PassPlan& task, const Calls& calls, Measured& m);
    std::vector<WorkerShare> shares_of(const PassPlan& task, const Calls& calls) const;
    Status open(const PassPlan& task, std::vector<WorkerShare>& shares);
    Status prepare_file(const PassPlan& task, ByteFile& file, std::int64_t worker);
    Status aim(const PassPlan& task, WorkerShare& share) const;
    Status move(const PassPlan& task, const Calls& calls, Measured& m);
    /// Calls `work` for each open file; its failure is this rank's.
    template <class Work>
    Status each_file(Measured& m, Work&& work) const {
        for (WorkerShare& share : m.shares) {
            if (!share.file) continue;
            if (auto done = work(share); !done) {
                m.outcome.fail(session_.signed_error(std::move(done.error())));
            }
        }
        return {};
    }
    Calls calls_of(const PassPlan& task) const;
    Until until_of(const PassPlan& task) const;
    std::vector<NamedNumber> parts_of(const PassPlan& task, const Measured& m) const;
    std::vector<PartSpan> spans_of(const PassPlan& task, const Visited& seen) const;
    PhaseResult sum_up(const PassPlan& task, Measured& m);
    /// `reads` and `writes` are this rank's.
    MixResult mix_of(const PassDone& pass, const PhaseResult& all, const Histogram& reads,
                     const Histogram& writes) const;
    std::vector<RankDetail> details_over_ranks(double bytes, double total, double transfer) const;
    void save_calls(const PassPlan& task, const Measured& m, Outcome& mine) const;
    void finish(const PassPlan& task, Measured& m, PhaseResult& result);
    void report(PhaseResult& result);
    void write_count(const Measured& m, Outcome& mine) const;
    void check_sizes(const PassPlan& task, const Measured& m, Outcome& mine) const;
    Status check_readable(const PassPlan& task, Readable& readable) const;
    std::int64_t end_of_read(const Geometry& g, std::int64_t worker, std::int64_t transfers) const;
    static void count_holes(const Geometry& g, std::int64_t worker, std::int64_t transfers,
                            const std::string& path, Readable& readable);
    std::vector<std::string> files_of(const PassPlan& task) const;
    void before_reading(const PassPlan& task, Cold& cold, Readable& readable, Outcome& mine);
    Cold cold_of(const PassPlan& task) const;
    void remove_own(std::int64_t repetition, Outcome& mine);
    void remove_files(std::int64_t repetition);
    std::vector<std::int64_t> planned(std::int64_t transfer) const;
    std::vector<std::int64_t> transfers_of(Partners partners, std::int64_t transfer) const;
    Geometry geometry(std::int64_t transfer) const;
    std::string path_of(const PassPlan& task, std::int64_t worker) const;
    std::int64_t worker(int rank, std::size_t thread) const {
        return rank * setup_.parameters.threads + static_cast<std::int64_t>(thread);
    }
    Hints hints_of(const PassPlan& task) const;
    std::int64_t planned_bytes(const PassPlan& task) const;
    void begin_step(const PassPlan& task, const char* what);
    bool go_on();
    std::uint64_t seed_of(std::int64_t repetition, std::size_t size);
    /// Every rank of a shared file takes part in its calls, or at least in open and close.
    bool in_step() const { return in_step_; }

    Session& session_;
    const Comm& comm_;
    const Topology& topology_;
    const Setup& setup_;
    Storage& storage_;
    const Target& target_;
    const FileNames& names_;
    const HintRules& hints_;
    Observers<Observer> notify_;
    RunLoop loop_;
    UntilCi until_ci_;
    Comm self_;
    NodeOrder order_;
    /// As --ranks-per-node has it; only for whose data a rank reads.
    std::optional<NodeOrder> pretended_;
    CommonClock common_;
    bool real_files_;
    bool in_step_;
    std::uint64_t base_seed_ = 0;
    std::vector<std::string> seen_;  ///< files that were read, until others remove them
    /// Bytes that this rank's workers wrote in the latest write phase with this transfer size.
    std::optional<std::vector<std::int64_t>> written_;
    RunResult result_;
};

}  // namespace effio::ior
