// SPDX-License-Identifier: BSD-3-Clause
// Whole runs of b_eff_io in virtual time, where every number can be derived.
//
// The model: a call of L bytes takes d(L) = 1/2 s + L / (1 MiB/s) on each rank, an open 1/4 s, a
// close 1/8 s, a sync 1/16 s, everything else nothing. All are binary fractions, so sums are exact.
//
// The derivation. A time-driven row makes call r + 1 iff r d (r + 1) / r <= Tp, so it makes
//     r = max(1, floor(Tp / d)) calls,    Tp = U Tn / 150 (192 with --rewrite).
// Types 3 and 4: r = min(rep0 L0/l0, 10 rep1, rep2). The row takes
//     t = r d + 1/16 (writing),    t = r d (reading).
// All n ranks move their bytes in the same virtual time, so
//     bw_type = n sum(r L) / (1/4 + sum(t) + 1/8),
// and each average, being a sum, a mean or a root of products of two, grows with n alike.
#pragma once

#include <gtest/gtest.h>

#include <cmath>

#include "../../shared_directory.hpp"
#include "../../test_session.hpp"
#include "benchmarks/b_eff_io/b_eff_io.hpp"
#include "parallel/topology.hpp"

namespace effio::b_eff_io {

inline constexpr double mib = 1048576;

inline double call_seconds(std::int64_t bytes) {
    return 0.5 + static_cast<double>(bytes) / mib;
}

/// What the comment above derives, for a partition of `ranks`.
struct Derived {
    Derived(int ranks, double partition_seconds, bool rewrite)
        : rows(row_table(lmax_bytes(1))), n(ranks) {
        const double unit = partition_seconds / (rewrite ? 192 : 150);
        for (const Row& row : rows) {
            if (row.type > Type::separated) break;
            const double fits = std::floor(unit * row.units / call_seconds(row.memory));
            calls[static_cast<std::size_t>(row.number)] =
                std::max<std::int64_t>(1, static_cast<std::int64_t>(fits));
        }
        // Rows of types 0 to 2 that have the chunk of row j of types 3 and 4.
        const std::array<std::size_t, 8> scatter{0, 1, 3, 4, 5, 6, 7, 8};
        const std::array<std::int64_t, 8> chunks_a_call{1, 1, 1, 32, 1024, 32, 1024, 1};
        std::int64_t used = 0;
        for (std::size_t j = 0; j < 8; ++j) {
            const std::int64_t r = j == 0 ? 1
                                          : std::min({calls[scatter[j]] * chunks_a_call[j],
                                                      10 * calls[9 + j], calls[17 + j]});
            calls[25 + j] = calls[34 + j] = r;
            used += r * rows[25 + j].memory;
        }
        calls[33] = calls[42] = 1;
        segment = (used + (1 << 20) - 1) / (1 << 20) * (1 << 20);
        rows[33].memory = rows[42].memory = segment - used;
    }

    double row_seconds(Access access, std::size_t p) const {
        const double sync = access == Access::read ? 0 : 0.0625;
        return static_cast<double>(calls[p]) * call_seconds(rows[p].memory) + sync;
    }
    double type_rate(Access access, Type type) const {
        double seconds = 0.25 + 0.125;
        double bytes = 0;
        for (std::size_t p = 0; p < rows.size(); ++p) {
            if (rows[p].type != type) continue;
            seconds += row_seconds(access, p);
            bytes += static_cast<double>(n * calls[p] * rows[p].memory);
        }
        return bytes / seconds;
    }
    double average(Access access) const {
        double sum = type_rate(access, Type::scatter);
        for (const Type type : all_types) sum += type_rate(access, type);
        return sum / 6;
    }
    double b_eff_io() const {
        const double write = average(Access::write) + (type_rate(Access::rewrite, Type::scatter) -
                                                       type_rate(Access::write, Type::scatter)) /
                                                          6;
        return std::sqrt(write * average(Access::read));
    }

    std::array<Row, row_count> rows;
    std::array<std::int64_t, row_count> calls{};
    std::int64_t segment = 0;
    std::int64_t n;
};

/// Keeps what the run found out, on the root.
class Keep : public Observer {
  public:
    explicit Keep(RunResult& result) : result_(result) {}
    void end(const RunResult& run) override { result_ = run; }

  private:
    RunResult& result_;
};

class SimRun : public testing::Test {
  protected:
    static constexpr const char* model =
        "--backend-options=rank-rate=1048576B/s,latency=0.5s,open=0.25s,close=0.125s,"
        "sync=0.0625s";

    /// Runs with these options; what came out of it is in `result` on the root.
    Ending run(std::vector<std::string> words) {
        words.insert(words.end(), {"--memory-per-rank=1MiB", "--dir=" + directory_.path()});
        const auto benchmark = make_benchmark({std::make_unique<Keep>(result), {}});
        OptionTable table("b-eff-io", "");
        benchmark->declare(table);
        auto ready = table.parse(words);
        if (ready) ready = benchmark->check();
        if (!ready) return Ending::from(ready.error());
        EXPECT_TRUE(benchmark->virtual_time());
        auto opened = Results::open(at_.comm, directory_.path(), "test");
        EXPECT_TRUE(opened);
        Session session{at_.clock, at_.comm, at_.progress, **opened, at_.console, at_.stop};
        session.world_rank = at_.comm.rank();
        const Topology topology = find_topology(at_.comm);
        const auto room = std::move(*SimRoom::create(at_.comm));
        Job job{session, topology, room.get(), [](const Json&) {}};
        return benchmark->run(job);
    }
    static void expect_done(const Ending& ending) {
        EXPECT_EQ(ending.status, ExitCode::done) << ending.reason;
    }
    int ranks() const { return at_.comm.size(); }
    bool is_root() const { return at_.comm.is_root(); }
    const RowResult& row(Access access, std::size_t p, std::size_t partition = 0) const {
        return *result.partitions[partition].rows[index(access)][p];
    }
    void expect_derived(const PartitionResult& p, const Derived& derived, bool rewrite) const {
        for (const Access access : all_accesses) {
            const std::size_t reached = rows_reached(access, rewrite);
            for (std::size_t i = 0; i < row_count; ++i) {
                SCOPED_TRACE(std::string(name(access)) + " row " + std::to_string(i));
                const auto& found = p.rows[index(access)][i];
                ASSERT_EQ(found.has_value(), i < reached);
                if (!found) continue;
                EXPECT_EQ(found->repetitions, derived.calls[i]);
                EXPECT_EQ(found->bytes, derived.n * derived.calls[i] * derived.rows[i].memory);
                EXPECT_DOUBLE_EQ(found->times.total, derived.row_seconds(access, i));
                EXPECT_DOUBLE_EQ(found->times.sync, access == Access::read ? 0 : 0.0625);
                EXPECT_EQ(found->errors, 0);
                EXPECT_TRUE(found->valid);
            }
            if (access == Access::rewrite && !rewrite) {
                EXPECT_DOUBLE_EQ(p.accesses[1]->average,
                                 derived.type_rate(Access::rewrite, Type::scatter));
                continue;
            }
            for (const Type type : all_types) {
                const auto& found = *p.types[index(access)][index(type)];
                EXPECT_DOUBLE_EQ(found.rate(), derived.type_rate(access, type));
                EXPECT_EQ(found.segment, type >= Type::segmented ? derived.segment : 0);
            }
            EXPECT_DOUBLE_EQ(p.accesses[index(access)]->average, derived.average(access));
        }
        EXPECT_DOUBLE_EQ(p.effective_bandwidth(), derived.b_eff_io());
    }

    TestSession at_{Clock::Kind::virtual_time};
    SharedDirectory directory_{at_.comm};
    RunResult result;
};

}  // namespace effio::b_eff_io
