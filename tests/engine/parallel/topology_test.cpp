// SPDX-License-Identifier: BSD-3-Clause
#include "parallel/topology.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <cstdlib>

namespace effio {
namespace {

/// SLURMD_NODENAME for as long as this lives.
class NodeName {
  public:
    explicit NodeName(const std::string& name) { setenv("SLURMD_NODENAME", name.c_str(), 1); }
    NodeName(const NodeName&) = delete;
    NodeName& operator=(const NodeName&) = delete;
    ~NodeName() { unsetenv("SLURMD_NODENAME"); }
};

TEST(Topology, the_ranks_of_one_machine_share_a_node) {
    Clock clock;
    const Comm comm = Comm::world(clock);
    const Topology t = find_topology(comm);
    EXPECT_EQ(t.nodes, 1);
    EXPECT_EQ(t.node, 0);
    EXPECT_EQ(t.rank_on_node, comm.rank());
    EXPECT_EQ(t.ranks_on_node, comm.size());
    EXPECT_EQ(t.min_ranks_on_node, comm.size());
    EXPECT_EQ(t.max_ranks_on_node, comm.size());
    EXPECT_EQ(t.is_node_leader(), comm.is_root());
    std::array<char, 256> host{};
    gethostname(host.data(), host.size() - 1);
    EXPECT_EQ(t.node_name, host.data());
    const auto names = node_names(comm, t, 64);
    EXPECT_EQ(names,
              comm.is_root() ? std::vector<std::string>{host.data()} : std::vector<std::string>{});
}

TEST(Topology, slurm_may_run_several_nodes_on_one_machine) {
    // n0, n1, n0, n1, ...: cyclic placement, one more rank on n0 if odd.
    Clock clock;
    const Comm comm = Comm::world(clock);
    const int parity = comm.rank() % 2;
    const NodeName name("n" + std::to_string(parity));
    const Topology t = find_topology(comm);
    const int nodes = comm.size() > 1 ? 2 : 1;
    EXPECT_EQ(t.nodes, nodes);
    EXPECT_EQ(t.node, parity);  // counted in the order of their lowest ranks
    EXPECT_EQ(t.rank_on_node, comm.rank() / 2);
    EXPECT_EQ(t.ranks_on_node, (comm.size() + 1 - parity) / 2);
    EXPECT_EQ(t.min_ranks_on_node, comm.size() == 1 ? 1 : comm.size() / 2);
    EXPECT_EQ(t.max_ranks_on_node, (comm.size() + 1) / 2);
    EXPECT_EQ(t.node_name, "n" + std::to_string(parity));
    const auto all = node_names(comm, t, 64);
    const auto one = node_names(comm, t, 1);
    if (comm.is_root()) {
        ASSERT_EQ(all.size(), static_cast<std::size_t>(nodes));
        EXPECT_EQ(all.back(), "n" + std::to_string(nodes - 1));
        EXPECT_EQ(one, std::vector<std::string>{"n0"});
    } else {
        EXPECT_TRUE(all.empty());
    }
}

}  // namespace
}  // namespace effio
