// SPDX-License-Identifier: BSD-3-Clause
// The tree arithmetic and the names of mdtest (docs/definitions/mdtest.md): small cases counted
// out one by one, and the sizes that the documents quote.
#include "benchmarks/mdtest/workload.hpp"

#include <gtest/gtest.h>

#include <map>
#include <set>
#include <utility>
#include <vector>

namespace effio::mdtest {
namespace {

Workload made(const Workload::Request& wish) {
    auto w = Workload::of(wish);
    EXPECT_TRUE(w) << w.error().text();
    return *w;
}

std::string refusal(const Workload::Request& wish) {
    const auto w = Workload::of(wish);
    return w ? "accepted" : w.error().cause;
}

TEST(Tree, has_the_documents_sizes) {
    EXPECT_EQ((Tree{3, 3}.directories()), 40);  // 1 + 3 + 9 + 27, the Blue Waters line
    EXPECT_EQ((Tree{3, 3}.leaves()), 27);
    EXPECT_EQ((Tree{1, 0}.directories()), 1);
    EXPECT_EQ((Tree{1, 0}.leaves()), 1);
    EXPECT_EQ((Tree{1, 5}.directories()), 6);  // z + 1
    EXPECT_EQ((Tree{1, 5}.leaves()), 1);
    EXPECT_EQ((Tree{2, 10}.directories()), 2047);
    EXPECT_EQ((Tree{10, 0}.directories()), 1);
}

TEST(Tree, every_small_tree_is_what_counting_its_levels_gives) {
    for (std::int64_t b = 1; b <= 5; ++b) {
        for (std::int64_t z = 0; z <= 4; ++z) {
            const Tree tree{b, z};
            std::vector<std::int64_t> level{0};  // numbers of one level, from the parents' numbers
            std::int64_t next = 1;
            for (std::int64_t d = 0; d < z; ++d) {
                std::vector<std::int64_t> below;
                for (const auto parent : level) {
                    for (std::int64_t c = 0; c < b; ++c) {
                        EXPECT_EQ(tree.parent(next), parent) << b << " " << z << " " << next;
                        below.push_back(next++);
                    }
                }
                level = below;
            }
            EXPECT_EQ(tree.directories(), next);
            EXPECT_EQ(tree.leaves(), static_cast<std::int64_t>(level.size()));
        }
    }
}

TEST(Workload, items_in_each_directory) {
    const auto all = made({{3, 3}, false, true, {}, 900});
    EXPECT_EQ(all.items, 36'000);  // of a rank, as section 10 says
    const auto leaves = made({{3, 3}, true, false, {}, 900});
    EXPECT_EQ(leaves.items, 24'300);  // I * b^z
    EXPECT_EQ(all.loops, 1);
}

TEST(Workload, items_of_a_rank_are_rounded_down_to_equal_directories) {
    const auto w = made({{2, 2}, false, false, 200, {}});
    EXPECT_EQ(w.per_directory, 28);
    EXPECT_EQ(w.items, 196);
    EXPECT_EQ(made({{1, 0}, false, true, 1041, {}}).items, 1041);
    EXPECT_EQ(made({{2, 2}, true, false, 10, {}}).items, 8);  // 4 leaves
}

TEST(Workload, both_numbers_make_several_test_directories) {
    const auto w = made({{1, 0}, false, false, 12, 4});
    EXPECT_EQ(w.loops, 3);
    EXPECT_EQ(w.items, 12);
    EXPECT_EQ(w.place(3), (ItemPlace{0, 0}));
    EXPECT_EQ(w.place(4), (ItemPlace{1, 0}));
    EXPECT_EQ(w.place(11), (ItemPlace{2, 0}));
    const auto tree = made({{2, 1}, false, false, 12, 4});
    EXPECT_EQ(tree.items, 3 * 3 * 4);  // a whole tree in each
    EXPECT_EQ(tree.place(12), (ItemPlace{1, 0}));
}

TEST(Workload, what_makes_no_sense_is_refused_with_the_reason) {
    EXPECT_NE(refusal({{3, 3}, false, false, 39, {}}).find("39 items"), std::string::npos);
    EXPECT_NE(refusal({{1, 0}, false, false, 10, 4}).find("not a multiple"), std::string::npos);
    EXPECT_NE(refusal({{1, 0}, false, true, 8, 4}).find("separate trees"), std::string::npos);
    EXPECT_NE(refusal({{1, 0}, false, false, {}, {}}).find("give the number"), std::string::npos);
    EXPECT_NE(refusal({{1, 0}, false, false, {}, 0}).find("nothing to measure"), std::string::npos);
    EXPECT_NE(refusal({{0, 1}, false, false, 5, {}}).find("branching 0"), std::string::npos);
    EXPECT_NE(refusal({{2, 62}, false, false, 5, {}}).find("too many"), std::string::npos);
    EXPECT_NE(refusal({{1, 2147483648}, false, false, 5, {}}).find("too many"), std::string::npos);
    EXPECT_NE(refusal({{2, 20}, false, false, {}, 9'000'000'000'000'000}).find("too many"),
              std::string::npos);
}

TEST(Workload, every_small_case_puts_equally_many_items_into_each_directory_that_holds_some) {
    for (std::int64_t b = 1; b <= 3; ++b) {
        for (std::int64_t z = 0; z <= 3; ++z) {
            for (const bool leaf_only : {false, true}) {
                const auto w = made({{b, z}, leaf_only, false, {}, 3});
                std::map<std::int64_t, int> in;
                for (std::int64_t i = 0; i < w.items; ++i) ++in[w.place(i).directory];
                const std::int64_t first = leaf_only ? w.tree.directories() - w.tree.leaves() : 0;
                EXPECT_EQ(in.begin()->first, first);
                EXPECT_EQ(static_cast<std::int64_t>(in.size()), w.holders());
                for (const auto& [directory, count] : in) EXPECT_EQ(count, 3) << directory;
            }
        }
    }
}

TEST(Paths, are_mdtests_names) {
    const Paths shared({"/d"}, made({{2, 2}, false, false, {}, 10}), 3);
    EXPECT_EQ(shared.test_directory(5, 1), "/d/test-dir.3-1");
    EXPECT_EQ(shared.directory(5, 0, 0), "/d/test-dir.3-0/mdtest_tree.0");
    EXPECT_EQ(shared.directory(5, 0, 5),  // 5 is a child of 2, 2 of 0
              "/d/test-dir.3-0/mdtest_tree.0/mdtest_tree.2/mdtest_tree.5");
    EXPECT_EQ(shared.item(ItemKind::file, 5, 12),
              "/d/test-dir.3-0/mdtest_tree.0/mdtest_tree.1/file.mdtest.5.12");
    EXPECT_EQ(shared.item(ItemKind::directory, 0, 0),
              "/d/test-dir.3-0/mdtest_tree.0/dir.mdtest.0.0");
    EXPECT_EQ(shared.item(ItemKind::file, {}, 0),
              "/d/test-dir.3-0/mdtest_tree.0/file.mdtest.shared.0");
    const Paths own({"/a", "/b/"}, made({{2, 1}, true, true, {}, 2}), 0);
    EXPECT_EQ(own.item(ItemKind::file, 0, 0),
              "/a/test-dir.0-0/mdtest_tree.0.0/mdtest_tree.0.1/file.mdtest.0.2");
    EXPECT_EQ(own.item(ItemKind::file, 7, 3),
              "/b/test-dir.0-0/mdtest_tree.7.0/mdtest_tree.7.2/file.mdtest.7.5");
}

TEST(Paths, number_items_in_each_test_directory_and_through_the_directories_without_any) {
    // As the original's -n 4 -z 1 -b 2 -L and -n 4 -I 2 do.
    const Paths leaves({"/d"}, made({{2, 1}, true, false, 4, {}}), 0);
    const std::string in = "/d/test-dir.0-0/mdtest_tree.0/mdtest_tree.";
    EXPECT_EQ(leaves.item(ItemKind::file, 1, 0), in + "1/file.mdtest.1.2");
    EXPECT_EQ(leaves.item(ItemKind::file, 1, 3), in + "2/file.mdtest.1.5");
    const Paths loops({"/d"}, made({{1, 0}, false, false, 4, 2}), 0);
    EXPECT_EQ(loops.item(ItemKind::file, 0, 1), "/d/test-dir.0-0/mdtest_tree.0/file.mdtest.0.1");
    EXPECT_EQ(loops.item(ItemKind::file, 0, 2), "/d/test-dir.0-1/mdtest_tree.0/file.mdtest.0.0");
    const Paths both({"/d"}, made({{2, 1}, true, false, 4, 2}), 0);
    ItemPath walk(both);
    EXPECT_EQ(walk.of(ItemKind::directory, 0, 7),
              "/d/test-dir.0-1/mdtest_tree.0/mdtest_tree.2/dir.mdtest.0.5");
    EXPECT_EQ(walk.of_moved(0, 4), "/d/test-dir.0-1/mdtest_moved/file.mdtest.0.2");
    EXPECT_EQ(walk.of(ItemKind::file, 0, 3), both.item(ItemKind::file, 0, 3));
}

TEST(Workload, may_have_no_items) {
    const Workload w = made({{2, 2}, false, false, 0, {}});
    EXPECT_EQ(w.items, 0);
    EXPECT_EQ(w.loops, 1);
    EXPECT_EQ(Ring(w, {0, 1, 0}).count(), 0);
}

TEST(ItemPath, gives_the_same_paths_in_any_order_and_mixture) {
    const Paths paths({"/d"}, made({{2, 1}, false, true, {}, 5}), 0);
    ItemPath walk(paths);
    for (const int stride : {1, 4, 7, 11}) {
        for (std::int64_t i = 0; i < 15; ++i) {
            const std::int64_t n = i * stride % 15;
            const int owner = static_cast<int>(i % 3);
            EXPECT_EQ(walk.of(ItemKind::file, owner, n), paths.item(ItemKind::file, owner, n));
            EXPECT_EQ(walk.of(ItemKind::file, owner, n, ".x"),
                      paths.item(ItemKind::file, owner, n) + ".x");
            EXPECT_EQ(walk.of(ItemKind::directory, owner, n),
                      paths.item(ItemKind::directory, owner, n));
            EXPECT_EQ(walk.of_moved(owner, n), paths.elsewhere(owner, 0) + "/file.mdtest." +
                                                   std::to_string(owner) + "." + std::to_string(n));
            EXPECT_EQ(walk.of(ItemKind::file, {}, n), paths.item(ItemKind::file, {}, n));
        }
    }
}

TEST(ItemPath, fills_names_up_to_the_requested_length) {
    const Paths paths({"/d"}, made({{1, 0}, false, false, {}, 200}), 0, 20);
    const std::string in = "/d/test-dir.0-0/mdtest_tree.0/";
    ItemPath walk(paths);
    EXPECT_EQ(walk.of(ItemKind::file, 0, 7), in + "file.mdtest.0.000007");
    EXPECT_EQ(walk.of(ItemKind::file, 0, 123), in + "file.mdtest.0.000123");
    EXPECT_EQ(walk.of(ItemKind::file, 12, 7, ".x"), in + "file.mdtest.12.007.x");
    EXPECT_EQ(walk.of(ItemKind::directory, 0, 7), in + "dir.mdtest.0.0000007");
    EXPECT_EQ(walk.of_moved(0, 7), "/d/test-dir.0-0/mdtest_moved/file.mdtest.0.000007");
    EXPECT_EQ(paths.item(ItemKind::file, 0, 7), in + "file.mdtest.0.000007");
    EXPECT_EQ(walk.of(ItemKind::file, 1234567, 89),
              in + "file.mdtest.1234567.89");  // longer: as is
}

TEST(Share, of_all_workers_is_everything_once_and_equal_steps_are_a_prefix) {
    for (int workers = 1; workers <= 4; ++workers) {
        for (std::int64_t items = 0; items <= 13; ++items) {
            std::set<std::int64_t> all;
            for (int t = 0; t < workers; ++t) {
                const Share share{items, workers, t};
                for (std::int64_t k = 0; k < share.count(); ++k) {
                    EXPECT_TRUE(all.insert(share.item(k)).second);
                }
            }
            EXPECT_EQ(static_cast<std::int64_t>(all.size()), items);
            EXPECT_EQ(all.empty() ? -1 : *all.rbegin(), items - 1);
        }
    }
}

/// What a directory of names 0…items-1 holds after all rings of all workers, and whether every step
/// found its name and an unused place.
TEST(Ring, moves_every_name_on_by_one_and_loses_none) {
    for (std::int64_t per_directory = 1; per_directory <= 5; ++per_directory) {
        for (int workers = 1; workers <= per_directory; ++workers) {
            const auto w = made({{2, 1}, false, true, {}, per_directory});
            for (std::int64_t items = 0; items <= w.items; ++items) {
                std::map<std::int64_t, std::int64_t> content;  // by name: who it was
                for (std::int64_t i = 0; i < items; ++i) content[i] = i;
                std::int64_t steps = 0;
                for (int t = 0; t < workers; ++t) {
                    const Share share{items, workers, t};
                    const Ring ring(w, share);
                    std::int64_t spare = -1;
                    for (std::int64_t k = 0; k < ring.count(); ++k, ++steps) {
                        const auto s = ring.step(k);
                        EXPECT_EQ(w.place(s.from), w.place(s.to));
                        std::int64_t who = 0;
                        if (s.from_spare) {
                            ASSERT_GE(spare, 0);
                            who = std::exchange(spare, -1);
                        } else {
                            ASSERT_EQ(content.count(s.from), 1U);
                            who = content[s.from];
                            content.erase(s.from);
                        }
                        if (s.to_spare) {
                            ASSERT_EQ(spare, -1);
                            spare = who;
                        } else {
                            ASSERT_EQ(content.count(s.to), 0U);
                            content[s.to] = who;
                        }
                    }
                    EXPECT_EQ(spare, -1);
                }
                ASSERT_EQ(static_cast<std::int64_t>(content.size()), items);
                for (std::int64_t i = 0; i < items; ++i) {
                    const std::int64_t next = i + workers;
                    const bool last = next >= items || next / per_directory != i / per_directory;
                    if (last || per_directory % workers != 0) continue;
                    EXPECT_EQ(content[i], next);
                }
                EXPECT_GE(steps, items);
            }
        }
    }
}

TEST(Ring, of_three_names_in_one_directory_takes_four_renames) {
    const auto w = made({{1, 0}, false, true, {}, 3});
    const Ring ring(w, Share{3, 1, 0});
    ASSERT_EQ(ring.count(), 4);
    EXPECT_EQ(ring.step(0), (Ring::Step{0, 0, false, true}));
    EXPECT_EQ(ring.step(1), (Ring::Step{1, 0, false, false}));
    EXPECT_EQ(ring.step(2), (Ring::Step{2, 1, false, false}));
    EXPECT_EQ(ring.step(3), (Ring::Step{0, 2, true, false}));
}

}  // namespace
}  // namespace effio::mdtest
