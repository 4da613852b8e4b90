// SPDX-License-Identifier: BSD-3-Clause
// Two ranks, each its own group.
#include "parallel/gathering.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <fstream>
#include <thread>

#include "shared_directory.hpp"
#include "test_session.hpp"

namespace effio {
namespace {

struct TwoGroups {
    TwoGroups()
        : directory(world),
          neighbors(directory / "log", {"group 1 (a)", "group 2 (b)"},
                    static_cast<std::size_t>(world.rank()), 1),
          gathering(Comm::world(clock), neighbors, [this] { ++ends; }),
          comm(Comm::self(clock)),
          session(clock, comm, progress, results, console, stop) {
        if (world.is_root()) std::ofstream(directory / "log").flush();
        world.barrier();
        session.neighbors = &neighbors;
    }

    Clock clock;
    Comm world = Comm::world(clock);
    SharedDirectory directory;
    Neighbors neighbors;
    int ends = 0;
    Gathering gathering;
    Comm comm;
    Progress progress;
    Results results;
    Console console{false, false};
    std::atomic<bool> stop{false};
    Session session;
};

TEST(Gathering, all_leave_with_the_gravest_code) {
    TwoGroups two;
    const bool first = two.world.is_root();
    EXPECT_EQ(two.gathering.worst(first ? ExitCode::io_error : ExitCode::data_errors),
              worse(ExitCode::io_error, ExitCode::data_errors));
    two.gathering.start(two.session);
    two.session.left_open = !first;
    const auto whole =
        two.gathering.finish(two.session, first ? ExitCode::done : ExitCode::interrupted);
    EXPECT_EQ(whole.code, ExitCode::interrupted);
    EXPECT_TRUE(whole.left_open);
    EXPECT_EQ(two.ends, first ? 1 : 0);
    two.gathering.release();
}

/// Whoever waits for another group is not taken for hung: the second group comes only when the
/// first one was seen to give signs of life.
TEST(Gathering, waiting_is_a_sign_of_life) {
    TwoGroups two;
    std::jthread observer;
    if (two.world.is_root()) {
        observer = std::jthread([&] {
            std::uint64_t beats = two.progress.snapshot().beats;
            for (int seen = 0; seen < 10;) {
                std::this_thread::sleep_for(std::chrono::milliseconds(1));
                const auto now = two.progress.snapshot().beats;
                if (now != beats) ++seen;
                beats = now;
            }
            two.neighbors.end(ExitCode::done, "");
        });
    } else {
        while (!two.neighbors.reports()[0].ended) {
            std::this_thread::sleep_for(std::chrono::milliseconds(1));
        }
    }
    two.gathering.start(two.session);
    EXPECT_FALSE(two.gathering.finish(two.session, ExitCode::done).left_open);
    two.gathering.release();
}

}  // namespace
}  // namespace effio
