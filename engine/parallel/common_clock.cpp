// SPDX-License-Identifier: BSD-3-Clause
#include "parallel/common_clock.hpp"

#include "parallel/ask_clock.hpp"

namespace effio {

CommonClock::CommonClock(const Comm& comm, const Topology& topology) : comm_(comm) {
    if (comm.clock().is_virtual() || topology.nodes == 1) return;
    node_ = comm.split(topology.node);
    leaders_ = comm.split(node_->is_root() ? std::optional<int>(0) : std::nullopt);
}

/// A binomial tree: each node asks the one whose number lacks its lowest bit, and gets the
/// common time's lead over that one's clock.
void CommonClock::compare_nodes() {
    if (leaders_) {
        const Comm& all = *leaders_;
        const int me = all.rank();
        const auto has_child = [&](int step) { return me + step < all.size(); };
        ahead_ = 0;
        int step = 1;
        for (; step < all.size() && me % (2 * step) == 0; step *= 2) {
            if (has_child(step)) answer_clock(all, me + step);
        }
        if (me > 0) {
            ahead_ = ask_clock(all, me - step).seconds;
            ahead_ += receive_number(all, me - step);
        }
        while (step > 1) {
            step /= 2;
            if (has_child(step)) send_number(all, ahead_, me + step);
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
