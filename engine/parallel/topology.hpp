// SPDX-License-Identifier: BSD-3-Clause
// Which ranks share a node.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "parallel/comm.hpp"

namespace effio {

struct Topology {
    int nodes = 1;  ///< in the communicator
    int node = 0;   ///< number of this rank's node, in the order of their lowest ranks
    int rank_on_node = 0;
    int ranks_on_node = 1;  ///< on this rank's node
    int min_ranks_on_node = 1;
    int max_ranks_on_node = 1;
    std::string node_name;
    bool is_node_leader() const { return rank_on_node == 0; }
};

/// Collective. Ranks share a node when MPI says that they share memory and, under Slurm, when they
/// also have the same SLURMD_NODENAME (several virtual nodes can live on one machine).
Topology find_topology(const Comm& comm);

/// Names of the nodes in order, on the root only; one entry a node, so at most `limit` of them.
std::vector<std::string> node_names(const Comm& comm, const Topology& topology, int limit);

/// Whose data a rank takes over, e.g. to read what another one wrote.
enum class Partner {
    same,      ///< its own
    shifted,   ///< a fixed number of nodes further on
    random,    ///< of a random other node
    shuffled,  ///< of any rank, its own node not excluded
};

/// The position in a row of ranks, sorted by node, whose data the rank at `position` takes over;
/// for all positions together a permutation. `nodes` hold at most `most_on_node` of the `size`
/// ranks each, all equally many if `equal`. Unless a node holds more than half of the ranks,
/// `shifted` and `random` lead to another node from everywhere: `distance` nodes further (at least,
/// for random), as far as the number of nodes permits. On one node `shifted` and `random` lead to
/// another rank.
struct NodeRow {
    int size = 1;
    int nodes = 1;
    int most_on_node = 1;
    bool equal = true;
    int partner(Partner kind, int position, int distance, std::uint64_t seed) const;
    /// The position whose partner is `position`: the inverse. By search where the partners are
    /// shuffled, some 20 ns for each rank that there is.
    int taker(Partner kind, int position, int distance, std::uint64_t seed) const;
};

/// The ranks of a communicator as a NodeRow, and back.
class NodeOrder {
  public:
    /// Collective.
    NodeOrder(const Comm& comm, const Topology& topology);
    NodeOrder(const NodeOrder&) = delete;
    NodeOrder& operator=(const NodeOrder&) = delete;
    ~NodeOrder();

    /// The rank of the communicator whose data this one takes over. Local.
    int partner(Partner kind, int distance, std::uint64_t seed) const {
        return partners(kind, distance, seed).owner;
    }
    /// That rank, and the one that takes over the data of this one. Local.
    Partners partners(Partner kind, int distance, std::uint64_t seed) const;
    /// Local.
    bool on_my_node(int rank) const;

  private:
    Comm ordered_;  ///< sorted by node
    Comm node_;
    struct Groups;
    std::unique_ptr<const Groups> groups_;
    NodeRow row_;
};

}  // namespace effio
