// SPDX-License-Identifier: BSD-3-Clause
#include "parallel/topology.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <functional>
#include <ranges>

#include "core/layout.hpp"
#include "core/pattern.hpp"
#include "parallel/mpi_comm.hpp"

namespace effio {
namespace {

std::string this_node() {
    // Read once at start, before any thread could change the environment.
    if (const char* slurm = std::getenv("SLURMD_NODENAME"); slurm != nullptr) return slurm;
    std::array<char, 256> host{};
    gethostname(host.data(), host.size() - 1);
    return host.data();
}

}  // namespace

Topology find_topology(const Comm& comm) {
    Topology t;
    t.node_name = this_node();
    const Comm shared = comm.split_by_shared_memory();
    const auto color = static_cast<int>(std::hash<std::string>{}(t.node_name) & 0x7fffffff);
    const Comm node = *shared.split(color);
    t.rank_on_node = node.rank();
    t.ranks_on_node = node.size();
    t.min_ranks_on_node = comm.min(t.ranks_on_node);
    t.max_ranks_on_node = comm.max(t.ranks_on_node);
    const std::int64_t leaders_below = comm.sum_below(t.is_node_leader() ? 1 : 0);
    t.nodes = comm.sum(t.is_node_leader() ? 1 : 0);
    t.node = static_cast<int>(leaders_below);
    node.broadcast(t.node);
    return t;
}

std::vector<std::string> node_names(const Comm& comm, const Topology& topology, int limit) {
    const auto leaders = comm.split(
        topology.is_node_leader() && topology.node < limit ? std::optional<int>(0) : std::nullopt);
    return leaders ? leaders->gather(topology.node_name) : std::vector<std::string>();
}

namespace {

/// One of 0…choices-1, decided by the seed.
int drawn(std::uint64_t seed, int choices) {
    const std::uint64_t n{static_cast<unsigned>(choices)};
    return static_cast<int>(mix64(seed) % n);
}

}  // namespace

int NodeRow::partner(Partner kind, int position, int distance, std::uint64_t seed) const {
    if (size == 1 || kind == Partner::same) return position;
    if (kind == Partner::shuffled) {
        return static_cast<int>(Permutation(size, seed)(position));
    }
    // Moving on by at least the largest node, in both directions around the circle, leaves the
    // node.
    const bool possible = 2 * most_on_node <= size;
    const int least = possible ? most_on_node : 1;
    const int most = size - least;
    const auto moved_on = [this, position](std::int64_t by) {
        return static_cast<int>((position + by) % size);
    };
    if (kind == Partner::shifted) {
        const std::int64_t step = nodes > 1 ? most_on_node : 1;
        return moved_on(std::clamp<std::int64_t>(distance * step % size, least, most));
    }
    if (!equal || nodes == 1) {
        return moved_on(least + drawn(seed, most - least + 1));
    }
    // Each place on a node goes to a separate place, and from there by a number of nodes of its
    // own.
    const int place = position % most_on_node;
    const auto to = static_cast<int>(Permutation(most_on_node, seed)(place));
    const int nearest = 2 * distance <= nodes ? std::max(distance, 1) : 1;
    const std::uint64_t own_seed = seed ^ mix64(static_cast<std::uint64_t>(place));
    const int by = nearest + drawn(own_seed, nodes - 2 * nearest + 1);
    const int node = (position / most_on_node + by) % nodes;
    return node * most_on_node + to;
}

int NodeRow::taker(Partner kind, int position, int distance, std::uint64_t seed) const {
    const auto leads_here = [&](int from) {
        return partner(kind, from, distance, seed) == position;
    };
    const bool shuffles = kind == Partner::shuffled && size > 1;
    const bool moves_on = kind == Partner::shifted || !equal || nodes == 1;
    if (!shuffles && moves_on) {
        // All positions move on by the same number.
        const int by = partner(kind, 0, distance, seed);
        return (position - by + size) % size;
    }
    if (!shuffles) {
        // Places of a node go to one place of another, each by its own number of nodes.
        for (int place = 0; place < most_on_node; ++place) {
            const int there = partner(kind, place, distance, seed);
            if (there % most_on_node != position % most_on_node) continue;
            const int by = there / most_on_node;
            const int node = (position / most_on_node - by + nodes) % nodes;
            return node * most_on_node + place;
        }
    }
    const auto all = std::views::iota(0, size);
    return *std::ranges::find_if(all, leads_here);
}

/// The group of a communicator.
struct Group {
    MPI_Group own = MPI_GROUP_NULL;

    explicit Group(const Comm& comm) { MPI_Comm_group(raw(comm), &own); }
    Group(const Group&) = delete;
    Group& operator=(const Group&) = delete;
    ~Group() { MPI_Group_free(&own); }
};

struct NodeOrder::Groups {
    Group all;
    Group ordered;
    Group node;
};

NodeOrder::NodeOrder(const Comm& comm, const Topology& topology)
    : ordered_(comm.reordered(topology.node)),
      node_(*comm.split(topology.node)),
      groups_(new Groups{Group(comm), Group(ordered_), Group(node_)}) {
    row_ = {comm.size(), topology.nodes, topology.max_ranks_on_node,
            topology.min_ranks_on_node == topology.max_ranks_on_node};
}

NodeOrder::~NodeOrder() = default;

Partners NodeOrder::partners(Partner kind, int distance, std::uint64_t seed) const {
    const std::array positions{row_.partner(kind, ordered_.rank(), distance, seed),
                               row_.taker(kind, ordered_.rank(), distance, seed)};
    std::array<int, 2> ranks{};
    MPI_Group_translate_ranks(groups_->ordered.own, 2, positions.data(), groups_->all.own,
                              ranks.data());
    return {ranks[0], ranks[1]};
}

bool NodeOrder::on_my_node(int rank) const {
    int there = MPI_UNDEFINED;
    MPI_Group_translate_ranks(groups_->all.own, 1, &rank, groups_->node.own, &there);
    return there != MPI_UNDEFINED;
}

}  // namespace effio
