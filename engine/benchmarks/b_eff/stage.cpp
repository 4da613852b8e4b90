// SPDX-License-Identifier: BSD-3-Clause
#include "benchmarks/b_eff/stage.hpp"

#include "benchmarks/ring_patterns/ring_order.hpp"

namespace effio::b_eff {

Stage::Stage(const Comm& world, const Comm& line, const Pattern& pattern, std::uint32_t seed,
             const ExchangeMaker& exchanges, std::span<const Method> methods)
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
    partners_ = pattern.steps(comm->rank());
    exchange_ =
        exchanges(*comm, LinkLoad{pattern.messages_of_one_step(), pattern.messages_at_once()});
    for (const Method method : methods) exchange_->prepare(method);
}

}  // namespace effio::b_eff
