// SPDX-License-Identifier: BSD-3-Clause
// What the clock of another node says now, by messages.
#pragma once

#include <span>

#include "parallel/comm.hpp"

namespace effio {

/// A question for another clock: this one's readings around it, and the other's in between.
struct RoundTrip {
    double asked = 0;
    double answer = 0;
    double answered = 0;
};

/// Seconds that another clock is ahead of this one, and how much more or less they may be.
struct Ahead {
    double seconds = 0;
    double within = 0;
};

/// Judged by the shortest of the round trips: its middle is taken for the moment of the answer,
/// which is wrong by half of it at most.
Ahead ahead_by(std::span<const RoundTrip> trips);

/// Ten questions to another rank's clock, which answers them.
Ahead ask_clock(const Comm& comm, int other);
void answer_clock(const Comm& comm, int other);

/// One number to or from another rank.
void send_number(const Comm& comm, double value, int to);
double receive_number(const Comm& comm, int from);

}  // namespace effio
