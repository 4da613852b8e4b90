// SPDX-License-Identifier: BSD-3-Clause
#include "parallel/common_clock.hpp"

#include <algorithm>
#include <array>

namespace effio {
namespace {

constexpr int tag = 0;
constexpr std::size_t questions = 10;

void send(const Comm& comm, double value, int to) {
    MPI_Send(&value, 1, MPI_DOUBLE, to, tag, comm.raw());
}

double receive(const Comm& comm, int from) {
    double value = 0;
    MPI_Recv(&value, 1, MPI_DOUBLE, from, tag, comm.raw(), MPI_STATUS_IGNORE);
    return value;
}

double ask(const Comm& comm, int other) {
    std::array<RoundTrip, questions> trips;
    for (auto& trip : trips) {
        trip.asked = comm.clock().now();
        send(comm, trip.asked, other);
        trip.told = receive(comm, other);
        trip.answered = comm.clock().now();
    }
    return seconds_ahead(trips);
}

void answer(const Comm& comm, int other) {
    for (std::size_t i = 0; i < questions; ++i) {
        receive(comm, other);
        send(comm, comm.clock().now(), other);
    }
}

}  // namespace

double seconds_ahead(std::span<const RoundTrip> trips) {
    const auto shortest = std::ranges::min_element(
        trips, {}, [](const RoundTrip& trip) { return trip.answered - trip.asked; });
    // Clocks may differ by years: only small differences are halved.
    return shortest->told - shortest->asked - (shortest->answered - shortest->asked) / 2;
}

CommonClock::CommonClock(const Comm& comm, const Topology& topology) : comm_(comm) {
    if (comm.clock().is_virtual() || topology.nodes == 1) return;
    node_ = comm.split(topology.node);
    leaders_ = comm.split(node_->is_root() ? std::optional<int>(0) : std::nullopt);
}

/// A binomial tree: each node asks the one whose number lacks its lowest bit, and is told the
/// common time's lead over that one's clock.
void CommonClock::compare_nodes() {
    if (leaders_) {
        const Comm& all = *leaders_;
        const int me = all.rank();
        const auto has_child = [&](int step) { return me + step < all.size(); };
        ahead_ = 0;
        int step = 1;
        for (; step < all.size() && me % (2 * step) == 0; step *= 2) {
            if (has_child(step)) answer(all, me + step);
        }
        if (me > 0) {
            ahead_ = ask(all, me - step);
            ahead_ += receive(all, me - step);
        }
        while (step > 1) {
            step /= 2;
            if (has_child(step)) send(all, ahead_, me + step);
        }
    }
    node_->broadcast(ahead_);
}

double CommonClock::start() {
    if (node_) compare_nodes();
    comm_.barrier();
    start_ = comm_.clock().now();
    return start_;
}

double CommonClock::late() const {
    if (comm_.clock().is_virtual()) return 0;
    const double common = start_ + ahead_;
    return common - comm_.min(common);
}

}  // namespace effio
