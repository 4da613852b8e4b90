// SPDX-License-Identifier: BSD-3-Clause
// Message lengths and patterns of b_eff against docs/definitions/b-eff.md.
#include <gtest/gtest.h>

#include <map>
#include <set>
#include <string>
#include <vector>

#include "benchmarks/b_eff/definition.hpp"

namespace effio::b_eff {
namespace {

std::vector<std::int64_t> long_lengths(std::int64_t memory_mib) {
    const MessageLengths lengths(lmax_bytes(memory_mib));
    return {lengths.bytes.begin() + last_doubling + 1, lengths.bytes.end()};
}

TEST(MessageLengths, are_those_of_the_examples) {
    using List = std::vector<std::int64_t>;
    EXPECT_EQ(long_lengths(2048),
              (List{11585, 32768, 92682, 262144, 741455, 2097152, 5931642, 16777216}));
    EXPECT_EQ(long_lengths(1024),
              (List{10624, 27554, 71468, 185364, 480774, 1246974, 3234251, 8388608}));
    EXPECT_EQ(long_lengths(128),
              (List{8192, 16384, 32768, 65536, 131072, 262144, 524288, 1048576}));
    const MessageLengths lengths(lmax_bytes(2048));
    for (int i = 0; i <= last_doubling; ++i) EXPECT_EQ(lengths[i], std::int64_t{1} << i);
    EXPECT_NEAR(lengths.factor, 2.828427, 1e-6);
    EXPECT_DOUBLE_EQ(lengths.growth(12), 2);
    EXPECT_NEAR(lengths.growth(13), 2.828427, 1e-6);
}

TEST(MessageLengths, the_longest_is_128_MiB) {
    EXPECT_EQ(lmax_bytes(16383), 16383 * 8192);
    EXPECT_EQ(lmax_bytes(16384), 134217728);
    EXPECT_EQ(lmax_bytes(1000000), 134217728);
}

std::vector<std::string> ring_names(int ranks) {
    std::vector<std::string> names;
    for (const Pattern& p : pattern_table(ranks, 0, false)) names.push_back(p.name);
    return names;
}

TEST(Rings, are_split_as_in_the_examples) {
    using List = std::vector<std::string>;
    const auto all_of = [](const std::string& name) { return List(6, "ring-1*" + name + "fix"); };
    EXPECT_EQ(ring_names(2), all_of("2"));
    EXPECT_EQ(ring_names(3), all_of("3"));
    EXPECT_EQ(ring_names(4), (List{"ring-2*2fix", "ring-1*4fix", "ring-1*4fix", "ring-1*4fix",
                                   "ring-1*4fix", "ring-1*4fix"}));
    EXPECT_EQ(ring_names(5), (List{"ring-2*2&+1", "ring-1*5fix", "ring-1*5fix", "ring-1*5fix",
                                   "ring-1*5fix", "ring-1*5fix"}));
    // 6 / 4 = 1.5, and 0.4 more is still one ring.
    EXPECT_EQ(ring_names(6), (List{"ring-3*2fix", "ring-1*6fix", "ring-1*6fix", "ring-1*6fix",
                                   "ring-1*6fix", "ring-1*6fix"}));
    EXPECT_EQ(ring_names(7), (List{"ring-3*2&+1", "ring-2*4&-1", "ring-1*7fix", "ring-1*7fix",
                                   "ring-1*7fix", "ring-1*7fix"}));
    EXPECT_EQ(ring_names(8), (List{"ring-4*2fix", "ring-2*4fix", "ring-1*8fix", "ring-1*8fix",
                                   "ring-1*8fix", "ring-1*8fix"}));
    EXPECT_EQ(ring_names(9), (List{"ring-4*2&+1", "ring-2*4&+1", "ring-1*9fix", "ring-1*9fix",
                                   "ring-1*9fix", "ring-1*9fix"}));
    EXPECT_EQ(ring_names(16), (List{"ring-8*2fix", "ring-4*4fix", "ring-2*8fix", "ring-1*16fix",
                                    "ring-1*16fix", "ring-1*16fix"}));
    EXPECT_EQ(ring_names(64), (List{"ring-32*2fix", "ring-16*4fix", "ring-8*8fix", "ring-4*16fix",
                                    "ring-2*32fix", "ring-1*64fix"}));
    EXPECT_EQ(ring_names(100), (List{"ring-50*2fix", "ring-25*4fix", "ring-12*8&+1", "ring-4*25fix",
                                     "ring-2*50fix", "ring-1*100fix"}));
}

TEST(Rings, the_first_ones_have_the_size_in_the_name) {
    // 7 ranks: 4 + 3; 100 ranks in 12 rings: 8 of 8, then 4 of 9.
    const auto seven = RingSplit::of_pattern(7, 1);
    EXPECT_EQ(seven.ring_of(3).size, 4);
    EXPECT_EQ(seven.ring_of(4).first, 4);
    EXPECT_EQ(seven.ring_of(4).size, 3);
    const auto hundred = RingSplit::of_pattern(100, 2);
    EXPECT_EQ(hundred.ring_of(63).size, 8);
    EXPECT_EQ(hundred.ring_of(63).first, 56);
    EXPECT_EQ(hundred.ring_of(64).size, 9);
    EXPECT_EQ(hundred.ring_of(99).first, 91);
}

TEST(Patterns, are_49_from_8_ranks_on_and_fewer_below) {
    const std::map<int, std::size_t> counts{{2, 46}, {3, 46}, {4, 48},  {5, 48},  {6, 48},  {7, 48},
                                            {8, 49}, {9, 49}, {16, 49}, {64, 49}, {100, 49}};
    for (const auto& [ranks, count] : counts) {
        const auto all = pattern_table(ranks, official_random_patterns, true);
        EXPECT_EQ(all.size(), count) << ranks;
        std::size_t counting = 0;
        for (const Pattern& p : all) counting += p.counts() ? 1U : 0U;
        EXPECT_EQ(counting, 36U);
    }
}

struct Shape {
    int k;
    std::int64_t messages;
    friend bool operator==(const Shape&, const Shape&) = default;
};
std::ostream& operator<<(std::ostream& out, const Shape& s) {
    return out << s.k << "/" << s.messages;
}
/// k and messages by name of the patterns that are only reported.
std::map<std::string, Shape> additional(int ranks) {
    std::map<std::string, Shape> shapes;
    for (const Pattern& p : pattern_table(ranks, 0, true)) {
        if (!p.counts()) shapes[p.name] = {p.step_count(), p.messages()};
    }
    return shapes;
}

TEST(Patterns, of_8_ranks_have_the_shapes_of_the_examples) {
    const std::map<std::string, Shape> expected{
        {"worst-cyc-1dim", {2, 16}},   {"best  bi-section", {2, 8}},  {"worst bi-section", {2, 8}},
        {"one PingPong Pair", {2, 2}}, {"acyclic-2dim-all", {4, 20}}, {"acyclic-3dim-all", {6, 24}},
        {"cyclic-2dim-x", {2, 16}},    {"cyclic-2dim-y", {1, 8}},     {"cyclic-2dim-all", {3, 24}},
        {"cyclic-3dim-x", {1, 8}},     {"cyclic-3dim-y", {1, 8}},     {"cyclic-3dim-z", {1, 8}},
        {"cyclic-3dim-all", {3, 24}},
    };
    EXPECT_EQ(additional(8), expected);
}

TEST(Patterns, of_5_ranks_leave_one_idle_in_the_grids) {
    const auto shapes = additional(5);
    EXPECT_EQ(shapes.at("acyclic-2dim-all"), (Shape{4, 8}));
    EXPECT_EQ(shapes.at("acyclic-3dim-all"), (Shape{4, 8}));
    EXPECT_EQ(shapes.at("cyclic-2dim-x"), (Shape{1, 4}));
    EXPECT_EQ(shapes.at("cyclic-3dim-y"), (Shape{1, 4}));
    EXPECT_EQ(shapes.at("cyclic-2dim-all"), (Shape{2, 8}));
    EXPECT_EQ(shapes.at("best  bi-section"), (Shape{2, 4}));
    EXPECT_FALSE(shapes.contains("cyclic-3dim-z"));
}

TEST(Patterns, the_grids_are_those_of_the_examples) {
    using List = std::vector<int>;
    const std::map<int, std::pair<List, List>> expected{
        {2, {{2, 1}, {2, 1, 1}}},  {3, {{3, 1}, {3, 1, 1}}},  {5, {{2, 2}, {2, 2, 1}}},
        {7, {{3, 2}, {3, 2, 1}}},  {8, {{4, 2}, {2, 2, 2}}},  {9, {{3, 3}, {2, 2, 2}}},
        {16, {{4, 4}, {4, 2, 2}}}, {64, {{8, 8}, {4, 4, 4}}}, {100, {{10, 10}, {5, 5, 4}}},
    };
    for (const auto& [ranks, grids] : expected) {
        EXPECT_EQ(grid_extents(ranks, 2), grids.first) << ranks;
        EXPECT_EQ(grid_extents(ranks, 3), grids.second) << ranks;
    }
}

TEST(Patterns, a_second_step_with_the_same_partner_is_left_out) {
    for (const Pattern& p : pattern_table(2, 1, false)) {
        EXPECT_EQ(p.steps(0), (std::vector<Partners>{{1, 1}})) << p.name;
        EXPECT_EQ(p.messages(), 2);
    }
    // Rings of 2 and 3 in one pattern: the processes of the first have one step, the others two.
    const Pattern mixed = pattern_table(5, 0, false).front();
    EXPECT_EQ(mixed.steps(0).size(), 1U);
    EXPECT_EQ(mixed.steps(4).size(), 2U);
    EXPECT_EQ(mixed.steps(4)[0], (Partners{2, 3}));
    EXPECT_EQ(mixed.messages(), 5);
    EXPECT_DOUBLE_EQ(mixed.messages_per_step(), 5);
    EXPECT_EQ(mixed.messages_at_once(), 8);  // 2 * 1 + 3 * 2
}

TEST(Patterns, bisections_and_the_pair) {
    const auto all = pattern_table(5, 0, true);
    const Pattern& best = all[7];
    EXPECT_EQ(best.steps(0), (std::vector<Partners>{{1, {}}, {{}, 1}}));
    EXPECT_EQ(best.steps(3), (std::vector<Partners>{{{}, 2}, {2, {}}}));
    EXPECT_TRUE(best.steps(4).empty());
    const Pattern& worst = all[8];
    EXPECT_EQ(worst.steps(0), (std::vector<Partners>{{3, {}}, {{}, 3}}));
    EXPECT_EQ(worst.steps(2), (std::vector<Partners>{{{}, 1}, {1, {}}}));
    EXPECT_TRUE(worst.steps(4).empty());
    const Pattern& pair = all[9];
    EXPECT_EQ(pair.participants(), 2);
    EXPECT_TRUE(pair.has_method(0));
    EXPECT_FALSE(pair.has_method(1));
}

TEST(Patterns, the_worst_ring_jumps_between_the_ends) {
    EXPECT_EQ(worst_order(5), (std::vector<int>{0, 4, 1, 3, 2}));
    EXPECT_EQ(worst_order(2), (std::vector<int>{0, 1}));
}

TEST(Patterns, every_message_is_received_in_the_step_it_is_sent_in) {
    for (const int ranks : {2, 3, 4, 5, 6, 7, 8, 9, 16, 64, 100}) {
        for (const Pattern& p : pattern_table(ranks, 1, true)) {
            std::int64_t sent = 0;
            std::int64_t received = 0;
            for (int position = 0; position < p.participants(); ++position) {
                const auto steps = p.steps(position);
                std::set<int> to;
                for (std::size_t i = 0; i < steps.size(); ++i) {
                    if (steps[i].from) ++received;
                    if (!steps[i].to) continue;
                    ++sent;
                    // At most one message per pair: MPI_Alltoallv could not carry a second one.
                    EXPECT_TRUE(to.insert(*steps[i].to).second) << p.name << " " << ranks;
                    const auto partners = p.steps(*steps[i].to);
                    ASSERT_LT(i, partners.size()) << p.name << " " << ranks;
                    EXPECT_EQ(partners[i].from, position) << p.name << " " << ranks;
                }
            }
            EXPECT_EQ(sent, received) << p.name << " " << ranks;
            EXPECT_EQ(sent, p.messages_at_once()) << p.name << " " << ranks;
            EXPECT_EQ(sent == p.messages(),
                      !(p.family == Family::ring && p.split.low == 2 && p.split.high_rings > 0))
                << p.name << " " << ranks;
        }
    }
}

}  // namespace
}  // namespace effio::b_eff
