// SPDX-License-Identifier: BSD-3-Clause
// Whole runs of b_eff_io in virtual time: options, parts of the time, and what is refused.
#include "sim_run.hpp"

#include <fstream>

namespace effio::b_eff_io {
namespace {

TEST_F(SimRun, without_time_every_row_makes_one_call) {
    // b_eff_io of one rank, in MiB and s. All rows once, in type 0 1 + 2 + 2 + 6 * 1 = 11
    // MiB and 256 + 8192 + 8 B in 9 calls; types 1 and 2 the same 5 MiB and 2 * (32 KiB + 1 KiB) +
    // 24 B in 8 calls; types 3 and 4 filled up to 6 MiB in 9 calls.
    expect_done(run({"--backend=sim", model, "--time=0.9s", "--partitions=1"}));
    if (!is_root()) return;
    const auto rate = [](double bytes_mib, int calls, double sync) {
        return bytes_mib / (0.375 + 0.5 * calls + bytes_mib + sync * calls);
    };
    const double scatter = 11 + (256 + 8192 + 8) / mib;
    const double shared = 5 + (2 * (32768 + 1024) + 24) / mib;
    const double write = rate(scatter, 9, 0.0625) + 2 * rate(shared, 8, 0.0625) +
                         2 * rate(6, 9, 0.0625) + rate(scatter, 9, 0.0625);
    const double read = 2 * rate(scatter, 9, 0) + 2 * rate(shared, 8, 0) + 2 * rate(6, 9, 0);
    EXPECT_NEAR(result.partitions[0].effective_bandwidth() / mib, std::sqrt(write / 6 * read / 6),
                1e-12);
    expect_derived(result.partitions[0], Derived(1, 0, false), false);
}

TEST_F(SimRun, rewriting_everything_shortens_the_time_unit) {
    expect_done(run({"--backend=sim", model, "--time=192s", "--partitions=1", "--rewrite"}));
    if (!is_root()) return;
    EXPECT_DOUBLE_EQ(result.setup.budget.unit_seconds, 1);
    expect_derived(result.partitions[0], Derived(1, 192, true), true);
}

TEST_F(SimRun, a_rate_shared_by_all_favours_the_few) {
    // 1 MiB/s for all: d(L) = 1/2 s + n L / (1 MiB/s), so more ranks only gain on the latency.
    const int all = std::min(ranks(), 2);
    expect_done(run({"--backend=sim",
                     "--backend-options=rank-rate=0B/s,shared-rate=1048576B/s,latency=0.5s",
                     "--time=0s", "--partitions=" + std::to_string(all)}));
    if (!is_root()) return;
    EXPECT_DOUBLE_EQ(row(Access::write, 1).times.total, 0.5 + 2.0 * all);
    EXPECT_DOUBLE_EQ(row(Access::read, 18).times.total, 0.5 + 2.0 * all);
}

TEST_F(SimRun, the_parts_of_a_row_are_its_barriers_broadcasts_and_sync) {
    // A collective call costs k = 1/64 s. Row 1, Tp = 16 s: after r calls of 2.5 s and r barriers
    // and r - 1 broadcasts continue iff (2.5 r + (2 r - 1) k) (r + 1) / r <= 16: r = 5 continues
    // (12.640625 * 6 / 5 = 15.17), 6 stops (15.171875 * 7 / 6 = 17.7).
    const double k = 1.0 / 64;
    expect_done(run({"--backend=sim", std::string(model) + ",collective=0.015625s", "--time=600s",
                     "--partitions=1"}));
    if (!is_root()) return;
    const RowTimes& driven = row(Access::write, 1).times;
    ASSERT_EQ(row(Access::write, 1).repetitions, 6);
    EXPECT_DOUBLE_EQ(driven.broadcast, 6 * k);
    EXPECT_DOUBLE_EQ(driven.barrier, 6 * k + 2 * k);  // before the sync, and the closing one
    EXPECT_DOUBLE_EQ(driven.sync, 0.0625);
    EXPECT_DOUBLE_EQ(driven.calls(), 6 * 2.5);
    EXPECT_DOUBLE_EQ(driven.total, 15 + 0.0625 + 14 * k);
    EXPECT_DOUBLE_EQ(driven.last_call, 2.5);
    EXPECT_DOUBLE_EQ(driven.last_vote, 2 * k);
    // Segments repeat without votes; reading has neither votes nor a sync.
    const RowTimes& segmented = row(Access::write, 26).times;
    EXPECT_DOUBLE_EQ(segmented.barrier, 2 * k);
    EXPECT_DOUBLE_EQ(segmented.broadcast, 0);
    const RowTimes& read = row(Access::read, 1).times;
    EXPECT_DOUBLE_EQ(read.total, 15 + k);
    EXPECT_DOUBLE_EQ(read.barrier, k);
    EXPECT_DOUBLE_EQ(read.last_vote, 0);
}

TEST_F(SimRun, full_verification_reads_every_byte_outside_of_the_measured_time) {
    expect_done(run(
        {"--backend=sim", model, "--time=0s", "--partitions=1", "--verify=full", "--fill=random"}));
    if (!is_root()) return;
    const Derived derived(1, 0, false);
    expect_derived(result.partitions[0], derived, false);
    for (const Type type : all_types) {
        const auto& read = *result.partitions[0].types[index(Access::read)][index(type)];
        EXPECT_EQ(read.verified_bytes, read.bytes);
    }
}

TEST_F(SimRun, adapted_rows_get_less_time_after_rows_that_took_too_long) {
    // Tu = 1 s. Row 0 takes 1.5 + 1/16 s and has no time. Row 1 is not shortened: no
    // time was scheduled before it. It has 4 s and takes 2.5 + 1/16 s in one call. Before row 2
    // 4.125 s are measured of 4 s scheduled: 4 / (0.5 (1 + 4.125 / 4)).
    expect_done(run({"--backend=sim", model, "--time=150s", "--partitions=1", "--adapt"}));
    if (!is_root()) return;
    EXPECT_DOUBLE_EQ(row(Access::write, 1).scheduled, 4);
    EXPECT_DOUBLE_EQ(row(Access::write, 2).scheduled, 4 / (0.5 * (1 + 4.125 / 4)));
    EXPECT_DOUBLE_EQ(row(Access::write, 26).scheduled, 2);  // repeats; nothing to adapt
}

TEST_F(SimRun, rounds_share_the_time_and_add_up) {
    // Each round has a third of 450 s: Tu = 1 s.
    expect_done(run({"--backend=sim", model, "--time=450s", "--partitions=1", "--rounds=3"}));
    if (!is_root()) return;
    const Derived derived(1, 150, false);
    const PartitionResult& p = result.partitions[0];
    EXPECT_DOUBLE_EQ(p.effective_bandwidth(), derived.b_eff_io());
    EXPECT_DOUBLE_EQ(result.setup.scheduled_seconds(), 450);
    for (const std::size_t i : {1U, 12U, 26U, 42U}) {
        EXPECT_EQ(row(Access::read, i).repetitions, 3 * derived.calls[i]);
        EXPECT_EQ(row(Access::read, i).bytes, 3 * derived.calls[i] * derived.rows[i].memory);
        EXPECT_DOUBLE_EQ(row(Access::write, i).times.total,
                         3 * derived.row_seconds(Access::write, i));
        EXPECT_EQ(row(Access::write, i).round, 2);
    }
    const TypeResult& scatter = *p.types[index(Access::read)][index(Type::scatter)];
    EXPECT_EQ(scatter.rounds, 3);
    EXPECT_DOUBLE_EQ(scatter.open, 3 * 0.25);
    EXPECT_DOUBLE_EQ(scatter.rate(), derived.type_rate(Access::read, Type::scatter));
    EXPECT_EQ(scatter.estimate.values.size(), 3U);
    EXPECT_FALSE(scatter.estimate.interval);  // of three rounds
    EXPECT_DOUBLE_EQ(p.accesses[index(Access::read)]->average, derived.average(Access::read));
    const auto found = result.estimated(best_partition);
    EXPECT_NEAR(found->value, derived.b_eff_io(), 1e-6);
    EXPECT_EQ(found->values.size(), 3U);
    EXPECT_DOUBLE_EQ(result.official_time_share(), result.execution_seconds / 1800);
    EXPECT_FALSE(result.valid(0));
}

TEST_F(SimRun, until_the_interval_is_narrow) {
    // At most 30 rounds by default; if all are equal, ten are enough.
    expect_done(run({"--backend=sim", model, "--time=4500s", "--partitions=1", "--until-ci=5%",
                     "--until-ci-limit=0"}));
    if (!is_root()) return;
    EXPECT_EQ(result.setup.parameters.rounds, 30);
    EXPECT_EQ(result.rounds[0].size(), 10U);
    EXPECT_DOUBLE_EQ(result.partitions[0].effective_bandwidth(), Derived(1, 150, false).b_eff_io());
}

TEST_F(SimRun, individual_pointers_for_type_1_do_the_same_work) {
    expect_done(
        run({"--backend=sim", model, "--time=0s", "--partitions=1", "--no-shared-pointer"}));
    if (!is_root()) return;
    EXPECT_FALSE(result.setup.shared_pointer);
    EXPECT_FALSE(result.valid(0));
    expect_derived(result.partitions[0], Derived(1, 0, false), false);
}

TEST_F(SimRun, a_virtual_run_is_not_valid_and_says_why) {
    expect_done(run({"--backend=sim", model, "--time=0s", "--partitions=1"}));
    if (!is_root()) return;
    std::vector<std::string> missed;
    for (const auto& c : result.criteria(0)) {
        if (!c.reached) missed.push_back(c.text);
    }
    EXPECT_EQ(missed, (std::vector<std::string>{"scheduled for at least 30 min (this run: 0.0 min)",
                                                "storage is reached through MPI-IO, not sim"}));
}

TEST_F(SimRun, a_backend_that_keeps_no_data_is_refused_with_what_it_lacks) {
    const auto refused =
        run({"--backend=sim", "--backend-options=no-content", "--time=0s", "--partitions=1"});
    EXPECT_EQ(refused.status, ExitCode::usage);
    EXPECT_EQ(refused.reason,
              "backend sim cannot do what this run needs: reading back what was written (the "
              "definition checks data)");
}

TEST_F(SimRun, partitions_larger_than_the_run_are_refused) {
    const auto refused = run({"--backend=sim", "--partitions=" + std::to_string(ranks() + 1)});
    EXPECT_EQ(refused.status, ExitCode::usage);
    EXPECT_EQ(refused.reason, "--partitions: " + std::to_string(ranks() + 1) +
                                  " is more than the " + std::to_string(ranks()) +
                                  (ranks() == 1 ? " rank" : " ranks") + " of this run");
}

TEST_F(SimRun, bad_hints_end_the_run_before_it_begins) {
    const std::string file = directory_ / "hints";
    if (is_root()) std::ofstream(file) << "7 all all all key value\n";
    at_.comm.barrier();
    const auto refused = run({"--backend=sim", "--partitions=1", "--hints=" + file});
    EXPECT_EQ(refused.status, ExitCode::usage);
    EXPECT_EQ(refused.reason,
              file + ", line 1: 7 is not a number of processes of this run: 1 or all");
    const auto missing = run({"--backend=sim", "--partitions=1", "--hints=" + file + ".not"});
    EXPECT_EQ(missing.status, ExitCode::usage);
    EXPECT_NE(missing.reason.find("No such file or directory"), std::string::npos);
}

}  // namespace
}  // namespace effio::b_eff_io
