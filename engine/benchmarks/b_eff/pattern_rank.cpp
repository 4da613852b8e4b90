// SPDX-License-Identifier: BSD-3-Clause
#include "benchmarks/b_eff/pattern_rank.hpp"

#include "frame/ring_patterns/ring_order.hpp"

namespace effio::b_eff {

PatternRank::PatternRank(const Comm& world, const Comm& line, const Pattern& pattern,
                         std::uint32_t seed, const ExchangeMaker& exchanges,
                         std::span<const Method> methods)
    : pattern_(pattern) {
    const Comm* comm = nullptr;
    switch (pattern.family) {
        case Family::random_ring:
            own_ = world.in_order(random_order(world.size(), seed, pattern.random_index));
            break;
        case Family::worst_ring:
            own_ = world.in_order(worst_order(world.size()));
            break;
        case Family::grid:
            own_ = world.cartesian(pattern.extents, pattern.periodic);
            break;
        default:
            comm = &line;
    }
    if (own_) comm = &*own_;
    if (comm == nullptr) return;
    position_ = comm->rank();
    partners_ = pattern.steps(position_);
    exchange_ =
        exchanges(*comm, LinkLoad{pattern.messages_of_one_step(), pattern.messages_at_once()});
    for (const Method method : methods) exchange_->prepare(method);
}

std::vector<SureNumber> PatternRank::partner_nodes(int node) {
    std::vector<SureNumber> nodes(partners_.size());
    if (partners_.empty()) return nodes;
    const SureNumber own(node);
    std::vector<Step> steps;
    for (std::size_t i = 0; i < nodes.size(); ++i) {
        steps.push_back({partners_[i].to, partners_[i].from, own.bytes(), nodes[i].bytes()});
    }
    exchange_->run(Method::nonblocking, steps);
    return nodes;
}

}  // namespace effio::b_eff
