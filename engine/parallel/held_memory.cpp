// SPDX-License-Identifier: BSD-3-Clause
#include "parallel/held_memory.hpp"

#include <fmt/format.h>
#include <sys/mman.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "core/units.hpp"
#include "parallel/system.hpp"

namespace effio {
namespace {

constexpr std::int64_t step_bytes = 16 * MiB;

/// Collective. What went wrong on any rank goes for all.
Result<HeldMemory> agreed_on(Session& session, Result<HeldMemory> mine) {
    Outcome outcome;
    if (!mine) outcome.fail(session.signed_error(mine.error()));
    const Agreed agreed = agree(session, session.comm, outcome);
    if (agreed.failed()) return *agreed.error;
    return mine;
}

void begin_step(Session& session, std::int64_t bytes) {
    Progress::Step step;
    step.title = "hold memory";
    step.ranks = session.comm.size();
    constexpr double slowest_memory = 100e6;
    step.allowance_seconds = static_cast<double>(bytes) / slowest_memory;
    session.progress.begin(step);
    session.progress.call("hold memory");
}

Error not_known() {
    return environment_error("hold memory",
                             "how much memory is available on this node cannot be read");
}

}  // namespace

HeldMemory::HeldMemory(HeldMemory&& other) noexcept
    : place_(std::exchange(other.place_, nullptr)),
      mapped_(std::exchange(other.mapped_, 0)),
      held_(std::exchange(other.held_, 0)) {}

HeldMemory& HeldMemory::operator=(HeldMemory&& other) noexcept {
    std::swap(place_, other.place_);
    std::swap(mapped_, other.mapped_);
    std::swap(held_, other.held_);
    return *this;
}

HeldMemory::~HeldMemory() {
    if (place_ != nullptr) munmap(place_, static_cast<std::size_t>(mapped_));
}

Result<HeldMemory> HeldMemory::take(std::int64_t bytes, const std::function<bool()>& goes_on,
                                    const std::function<void()>& beat) {
    HeldMemory held;
    if (bytes <= 0) return held;
    void* place = mmap(nullptr, static_cast<std::size_t>(bytes), PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (place == MAP_FAILED) {
        return environment_error(
            "hold memory",
            fmt::format("{}: {}", format_size(static_cast<double>(bytes)), std::strerror(errno)));
    }
    held.place_ = place;
    held.mapped_ = bytes;
    while (held.held_ < bytes && goes_on()) {
        const std::int64_t more = std::min(step_bytes, bytes - held.held_);
        // Not zeros: pages of zeros could be merged into one.
        std::memset(static_cast<char*>(place) + held.held_, 0x5a, static_cast<std::size_t>(more));
        held.held_ += more;
        beat();
    }
    return held;
}

Result<HeldMemory> hold_of_node(Session& session, const Topology& topology, std::int64_t bytes) {
    begin_step(session, bytes);
    const auto known = find_memory().available_bytes;
    const std::int64_t available = known.value_or(0);
    Outcome enough;
    if (!known) {
        enough.fail(session.signed_error(not_known()));
    } else if (bytes > available) {
        enough.fail(session.signed_error(environment_error(
            "hold memory", fmt::format("{} are requested; only {} are available on this node",
                                       format_size(static_cast<double>(bytes)),
                                       format_size(static_cast<double>(available))))));
    }
    if (const Agreed agreed = agree(session, session.comm, enough); agreed.failed()) {
        return *agreed.error;
    }
    return agreed_on(session, HeldMemory::take(
                                  bytes / topology.ranks_on_node, [] { return true; },
                                  [&] { session.progress.beat(); }));
}

Result<HeldMemory> hold_all_but(Session& session, const Topology& topology, std::int64_t rest) {
    const auto known = find_memory().available_bytes;
    const std::int64_t available = known.value_or(0);
    const std::int64_t ranks = topology.ranks_on_node;
    begin_step(session, std::max<std::int64_t>(available - rest, 0) / ranks);
    Outcome enough;
    if (!known) {
        enough.fail(session.signed_error(not_known()));
    } else if (available <= rest) {
        enough.fail(session.signed_error(environment_error(
            "hold memory",
            fmt::format("{} are to be left, and no more than {} are available on this node",
                        format_size(static_cast<double>(rest)),
                        format_size(static_cast<double>(available))))));
    }
    // No one takes before all have looked.
    if (const Agreed agreed = agree(session, session.comm, enough); agreed.failed()) {
        return *agreed.error;
    }
    return agreed_on(session, HeldMemory::take((available - rest) / ranks,
                                               // Room for the step of each rank of the node.
                                               [&] {
                                                   return find_memory().available_bytes.value_or(
                                                              0) >= rest + ranks * step_bytes;
                                               },
                                               [&] { session.progress.beat(); }));
}

}  // namespace effio
