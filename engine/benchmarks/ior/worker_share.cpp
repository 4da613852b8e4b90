// SPDX-License-Identifier: BSD-3-Clause
// The memory of a worker, and sums over what the workers of a rank did.
#include <algorithm>
#include <cstring>

#include "benchmarks/ior/pass.hpp"

namespace effio::ior {

std::int64_t PassDone::sum(std::int64_t WorkerResult::* what) const {
    std::int64_t sum = 0;
    for (const auto& share : results) sum += share.*what;
    return sum;
}

double PassDone::longest(double WorkerResult::* what) const {
    double longest = 0;
    for (const auto& share : results) longest = std::max(longest, share.*what);
    return longest;
}

std::vector<StopPoint> PassDone::standings() const {
    std::vector<StopPoint> all;
    for (const auto& share : results) all.push_back(share.wall);
    return all;
}

void WorkerShare::take_memory(const Calls& calls) {
    const auto size = static_cast<std::size_t>(calls.bytes());
    if (calls.queue_depth > 1) {
        slots.resize(static_cast<std::size_t>(calls.queue_depth));
        for (Slot& slot : slots) {
            if (source) slot.data.emplace(*source, size);
            if (calls.access != Access::write) slot.memory = Buffer(size);
        }
        return;
    }
    if (calls.access != Access::write) memory = Buffer(size);
    if (calls.memory.given()) spaced.emplace(calls.memory, calls.bytes());
    if (calls.placement != Placement::strided || !data) return;
    strided = Buffer(size);
    const auto transfer = static_cast<std::size_t>(calls.geometry.transfer);
    const Walk blocks = calls.geometry.walk(worker, calls.geometry.block);
    std::size_t at = 0;
    for (std::int64_t i = 0; i < blocks.length(); ++i, at += transfer) {
        const auto piece = data->at(blocks.offset(i), transfer);
        std::memcpy(strided.bytes().data() + at, piece.data(), transfer);
    }
}

std::vector<std::span<std::byte>> WorkerShare::memory_of_slots(Access access) {
    std::vector<std::span<std::byte>> all;
    for (Slot& slot : slots) {
        if (access != Access::read) all.push_back(slot.data->memory());
        if (access != Access::write) all.push_back(slot.memory.bytes());
    }
    return all;
}

}  // namespace effio::ior
