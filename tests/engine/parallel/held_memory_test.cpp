// SPDX-License-Identifier: BSD-3-Clause
// Memory that is kept from the page cache. Nothing here takes more than some MiB of this machine.
#include "parallel/held_memory.hpp"

#include <gtest/gtest.h>

#include <fstream>

#include "../test_session.hpp"
#include "core/units.hpp"
#include "parallel/system.hpp"

namespace effio {
namespace {

/// Of this process in memory; KiB of /proc/self/statm's pages.
std::int64_t resident_bytes() {
    std::ifstream file("/proc/self/statm");
    std::int64_t size = 0;
    std::int64_t resident = 0;
    file >> size >> resident;
    return resident * 4096;
}

struct Held : testing::Test {
    TestSession at;
    Topology topology = find_topology(at.comm);
};

TEST_F(Held, is_touched_and_given_back) {
    const std::int64_t before = resident_bytes();
    {
        int beats = 0;
        auto held = HeldMemory::take(40 * MiB, [] { return true; }, [&] { ++beats; });
        ASSERT_TRUE(held);
        EXPECT_EQ(held->bytes(), 40 * MiB);
        EXPECT_EQ(beats, 3);  // steps of 16 MiB
        EXPECT_GE(resident_bytes(), before + 40 * MiB);
        const HeldMemory moved = std::move(*held);
        EXPECT_EQ(moved.bytes(), 40 * MiB);
        EXPECT_GE(resident_bytes(), before + 40 * MiB);
    }
    EXPECT_LT(resident_bytes(), before + 40 * MiB);
}

TEST_F(Held, stops_where_it_is_reported_to) {
    int asked = 0;
    const auto held = HeldMemory::take(64 * MiB, [&] { return ++asked <= 2; }, [] {});
    ASSERT_TRUE(held);
    EXPECT_EQ(held->bytes(), 32 * MiB);
    EXPECT_EQ(HeldMemory::take(0, [] { return true; }, [] {})->bytes(), 0);
}

TEST_F(Held, of_a_node_is_shared_by_its_ranks) {
    const auto held = hold_of_node(at.session, topology, 8 * MiB);
    ASSERT_TRUE(held);
    EXPECT_EQ(held->bytes(), 8 * MiB / topology.ranks_on_node);
}

TEST_F(Held, what_the_node_does_not_have_is_refused_on_all_ranks) {
    const std::int64_t all = find_memory().total_bytes;
    const auto much = hold_of_node(at.session, topology, 2 * all);
    ASSERT_FALSE(much);
    EXPECT_EQ(much.error().exit_code, ExitCode::environment);
    const auto rest = hold_all_but(at.session, topology, 2 * all);
    ASSERT_FALSE(rest);
    EXPECT_NE(rest.error().cause.find("to be left"), std::string::npos) << rest.error().cause;
}

}  // namespace
}  // namespace effio
