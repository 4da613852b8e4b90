// SPDX-License-Identifier: BSD-3-Clause
// Numbers of ranks, iterations, phases; what is made before them and removed after them.
#pragma once

#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "benchmarks/mdtest/measure.hpp"
#include "benchmarks/mdtest/result.hpp"
#include "benchmarks/mdtest/tree_guard.hpp"
#include "frame/benchmark.hpp"
#include "frame/observers.hpp"
#include "frame/rank_csv.hpp"
#include "frame/run_loop.hpp"
#include "storage/target.hpp"

namespace effio::mdtest {

class Runner {
  public:
    Runner(Job& job, const Setup& setup, Names& names, const Target& target,
           std::vector<Observer*> observers, RankTable& rank_table,
           std::optional<RankCsv> rank_csv);

    /// Collective over the session. Leaves nothing but what is to be kept.
    Ending run();

  private:
    /// The ranks that measure together.
    struct Group {
        const Comm& comm;
        Topology topology;
        CommonClock clock;
        std::unique_ptr<NodeOrder> order;
        WorkerThreads threads;
        UntilCi until_ci;
        std::vector<char> wanted;  ///< of all_phases(): has a rate that needs another value
    };
    /// An iteration in work.
    struct Running {
        Iteration iteration;
        Workers workers;
        TreeGuard guard;
        std::vector<LocalResult> unpublished;      ///< without barriers
        std::int64_t created[3] = {0, 0, 0};       ///< by thing, all ranks
        bool count_holds[3] = {true, true, true};  ///< nothing failed that would upset the count
    };

    void measure_sizes();
    void measure(const Comm& comm);
    void iteration(Group& group, std::int64_t number);
    void phase(Group& group, Running& running, const Phase& phase);
    void report(Group& group, Running& running, const LocalResult& local);
    void count(Group& group, Running& running, ItemKind thing, bool after_removal);
    void pause() const;
    /// True if all ranks must stop because a directory of the trees was replaced.
    bool guard(const Group& group, Running& running, const Phase& phase);
    /// True if all must stop.
    bool hook_before(const Group& group, const Running& running, const Phase& phase);
    void begin_step(const Group& group, const Running& running, const Phase& phase);
    Status make_test_directories(const Group& group, const Paths& paths);
    Status remove_test_directories(const Comm& comm, const Paths& paths);
    /// Collective over all ranks: what earlier numbers of ranks left; true if the run stops.
    bool remove_all_trees();
    Status prepare_move(const Group& group, const Running& running, bool before);
    /// True if all must stop.
    bool together(const Comm& comm, const Status& mine);
    /// Collective over the session: what ranks that did not measure do not know yet.
    void agree_with_waiting_ranks();
    Job& job_;
    Session& session_;
    Setup setup_;
    Names& names_;
    const Target& target_;
    Observers<Observer> notify_;
    RankTable& rank_table_;
    std::optional<RankCsv> rank_csv_;  ///< on the root, if requested
    RunResult result_;
    /// What was repeated with a number of ranks and a kind of trees.
    struct Repeated {
        Json place;
        UntilCi until_ci;
    };
    std::vector<Repeated> repeated_;
    RunLoop loop_;
    std::optional<Error> left_;  ///< on the root: what a tree holds that is not of this run
    int phases_done_ = 0;
    int phases_planned_ = 1;
};

}  // namespace effio::mdtest
