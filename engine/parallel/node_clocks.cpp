// SPDX-License-Identifier: BSD-3-Clause
#include "parallel/node_clocks.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <utility>

#include "core/stats.hpp"
#include "parallel/system.hpp"

namespace effio {

std::vector<int> compared_nodes(int nodes, int most) {
    std::vector<int> list;
    const std::int64_t count = std::min(nodes, most);
    for (std::int64_t i = 0; i < count; ++i) list.push_back(static_cast<int>(i * nodes / count));
    return list;
}

NodeClocks::NodeClocks(const Comm& comm, const Topology& topology, const StartReadings& readings,
                       ClockChoice choice)
    : comm_(comm) {
    if (comm.clock().is_virtual()) return;
    ticks_.start(comm, topology, readings, choice);
    sources_ = {kernel_clock_source()};
    if (topology.nodes == 1) return;
    nodes_ = compared_nodes(topology.nodes, most_nodes);
    const bool compared =
        topology.is_node_leader() && std::ranges::binary_search(nodes_, topology.node);
    leaders_ = comm.split(compared ? std::optional<int>(0) : std::nullopt);
    if (!leaders_) return;
    names_ = leaders_->gather(topology.node_name);
    sources_ = leaders_->gather(kernel_clock_source());
}

std::vector<NodeClocks::Seen> NodeClocks::compare() const {
    std::vector<Seen> seen;
    if (!leaders_) return seen;
    if (!leaders_->is_root()) {
        answer_clock(*leaders_, 0);
        return seen;
    }
    for (int other = 1; other < leaders_->size(); ++other) {
        const auto i = static_cast<std::size_t>(other);
        seen.push_back({nodes_[i], names_[i], ask_clock(*leaders_, other)});
    }
    return seen;
}

namespace {

std::string_view source_of(const Clock& clock) {
    if (clock.is_virtual()) return "model";
    return clock.counts_ticks() ? "TSC" : "CLOCK_MONOTONIC";
}

/// Seconds from the clock that is furthest behind to the one furthest ahead, the root's among them,
/// with the most that this may be wrong.
struct Apart {
    double least = 0;
    double most = 0;
    double within = 0;
    void add(const Ahead& ahead) {
        least = std::min(least, ahead.seconds);
        most = std::max(most, ahead.seconds);
        within = std::max(within, ahead.within);
    }
    double seconds() const { return most - least; }
};

}  // namespace

Json NodeClocks::at_begin() {
    const Clock& clock = comm_.clock();
    const double resolution = clock.is_virtual() ? 0 : comm_.max(clock.resolution());
    const double timing = clock.is_virtual() ? 0 : comm_.max(call_timing_cost(clock));
    begun_ = clock.now();
    begin_ = compare();
    if (!comm_.is_root()) return nullptr;
    std::vector<std::string> sources = sources_;
    std::ranges::sort(sources);
    sources.erase(std::unique(sources.begin(), sources.end()), sources.end());
    std::erase(sources, "");
    Json skew = nullptr;
    if (leaders_) {
        Apart apart;
        Json list = Json::array();
        for (const auto& [node, name, ahead] : begin_) {
            apart.add(ahead);
            list.push_back(Json{{"node", node},
                                {"name", name},
                                {"ahead_seconds", ahead.seconds},
                                {"within_seconds", ahead.within}});
        }
        skew = Json{{"nodes_compared", nodes_.size()},
                    {"apart_seconds", apart.seconds()},
                    {"within_seconds", apart.within},
                    {"nodes", std::move(list)}};
    }
    return Json{{"virtual", clock.is_virtual()},
                {"source", source_of(clock)},
                {"kernel_sources", std::move(sources)},
                {"resolution_seconds", resolution},
                {"call_timing_seconds", timing},
                {"ticks", ticks_.describe(clock)},
                {"skew", std::move(skew)}};
}

Json NodeClocks::at_end() const {
    if (nodes_.empty()) return nullptr;
    const double elapsed = comm_.clock().now() - begun_;
    const auto now = compare();
    if (!comm_.is_root()) return nullptr;
    Apart apart;
    Ahead most;
    Json list = Json::array();
    for (std::size_t i = 0; i < now.size(); ++i) {
        const Ahead& ahead = now[i].ahead;
        const Ahead changed{ahead.seconds - begin_[i].ahead.seconds,
                            ahead.within + begin_[i].ahead.within};
        apart.add(ahead);
        if (i == 0 || std::abs(changed.seconds) > std::abs(most.seconds)) most = changed;
        list.push_back(Json{{"node", now[i].node},
                            {"name", now[i].name},
                            {"ahead_seconds", ahead.seconds},
                            {"within_seconds", ahead.within},
                            {"changed_seconds", changed.seconds},
                            {"changed_within_seconds", changed.within}});
    }
    return Json{{"nodes_compared", nodes_.size()},  {"after_seconds", elapsed},
                {"apart_seconds", apart.seconds()}, {"within_seconds", apart.within},
                {"changed_seconds", most.seconds},  {"changed_within_seconds", most.within},
                {"nodes", std::move(list)}};
}

void NodeClocks::note_end(Json& detail, const std::string& speaker) const {
    if (Json skew = at_end(); !skew.is_null()) detail["clock_skew"] = std::move(skew);
    Json ticks = ticks_.at_end(comm_);
    if (ticks.is_null()) return;
    if (!ticks["agrees"]) {
        fmt::print(
            stderr,
            "effio-mpi: {}the processor's counter changed its rate during the run by {:.2g} %: "
            "all times are unreliable; repeat the run with --clock=monotonic\n",
            speaker, 100 * ticks["off_by"].get<double>());
    }
    detail["clock_ticks"] = std::move(ticks);
}

}  // namespace effio
