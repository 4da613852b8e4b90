// SPDX-License-Identifier: BSD-3-Clause
// Every name that mdtest makes is accounted for, and no other.
#include "benchmarks/mdtest/account.hpp"

#include <gtest/gtest.h>

#include <algorithm>

namespace effio::mdtest {
namespace {

using Kind = NameSet::Kind;

struct MdtestAccount : testing::Test {
    MdtestAccount() {
        p.branching = 2;
        p.depth = 2;
        p.items = 14;
    }
    bool holds(Kind kind, const std::string& name) const {
        const auto names = names_made(p, p.workload(), ranks);
        return std::any_of(names.begin(), names.end(),
                           [&](const NameSet& set) { return set.kind == kind && set.holds(name); });
    }
    static std::string last(const std::string& path) { return path.substr(path.rfind('/') + 1); }

    Parameters p;
    int ranks = 3;
};

TEST_F(MdtestAccount, all_items_of_all_ranks_and_their_directories) {
    for (const bool unique : {false, true}) {
        p.unique = unique;
        const Paths paths({"/d"}, p.workload(), 0, 40);
        for (int rank = 0; rank < ranks; ++rank) {
            for (int i = 0; i < 7; ++i) {
                EXPECT_TRUE(holds(Kind::directory, last(paths.directory(rank, 0, i))));
            }
            EXPECT_TRUE(holds(Kind::directory, last(paths.elsewhere(rank, 0))));
            for (int i = 0; i < 14; ++i) {
                const std::string file = last(paths.item(ItemKind::file, rank, i));
                EXPECT_TRUE(holds(Kind::file, file)) << file;
                EXPECT_FALSE(holds(Kind::directory, file));
                EXPECT_TRUE(holds(Kind::directory, last(paths.item(ItemKind::directory, rank, i))));
            }
        }
        EXPECT_FALSE(holds(Kind::file, last(paths.item(ItemKind::file, ranks, 0))));
    }
    EXPECT_FALSE(holds(Kind::file, "file.mdtest.0.14"));
    EXPECT_FALSE(holds(Kind::directory, "mdtest_tree.0.7"));
}

TEST_F(MdtestAccount, what_further_operations_make) {
    EXPECT_TRUE(holds(Kind::file, "file.mdtest.2.13.link"));
    EXPECT_TRUE(holds(Kind::file, "file.mdtest.2.13.spare"));
    EXPECT_TRUE(holds(Kind::directory, "dir.mdtest.2.13.spare"));
    EXPECT_TRUE(holds(Kind::link, "file.mdtest.2.13.symlink"));
    EXPECT_FALSE(holds(Kind::file, "file.mdtest.2.13.symlink"));
    EXPECT_FALSE(holds(Kind::file, "file.mdtest.shared.0"));
    EXPECT_FALSE(holds(Kind::file, "file.populate.0"));
    p.shared_files = true;
    p.populate = 5;
    EXPECT_TRUE(holds(Kind::file, "file.mdtest.shared.13"));
    EXPECT_TRUE(holds(Kind::file, "file.populate.4"));
    EXPECT_FALSE(holds(Kind::file, "file.populate.5"));
}

TEST_F(MdtestAccount, of_an_earlier_runs_tree_the_directories_alone) {
    p.phases = {"remove"};
    EXPECT_TRUE(holds(Kind::directory, "mdtest_tree.6"));
    EXPECT_FALSE(holds(Kind::directory, "dir.mdtest.0.0"));
    EXPECT_FALSE(holds(Kind::file, "file.mdtest.0.0"));
}

}  // namespace
}  // namespace effio::mdtest
