// SPDX-License-Identifier: BSD-3-Clause
#include "parallel/ask_clock.hpp"

#include <algorithm>
#include <array>

#include "parallel/mpi_comm.hpp"

namespace effio {
namespace {

constexpr int question_tag = 0;
constexpr std::size_t clock_questions = 10;

}  // namespace

Ahead ahead_by(std::span<const RoundTrip> trips) {
    const auto shortest = std::ranges::min_element(
        trips, {}, [](const RoundTrip& trip) { return trip.answered - trip.asked; });
    const double half = (shortest->answered - shortest->asked) / 2;
    // Clocks may differ by years: only small differences are halved.
    return {shortest->answer - shortest->asked - half, half};
}

Ahead ask_clock(const Comm& comm, int other) {
    std::array<RoundTrip, clock_questions> trips;
    for (auto& trip : trips) {
        trip.asked = comm.clock().now();
        send_number(comm, trip.asked, other);
        trip.answer = receive_number(comm, other);
        trip.answered = comm.clock().now();
    }
    return ahead_by(trips);
}

void answer_clock(const Comm& comm, int other) {
    for (std::size_t i = 0; i < clock_questions; ++i) {
        receive_number(comm, other);
        send_number(comm, comm.clock().now(), other);
    }
}

void send_number(const Comm& comm, double value, int to) {
    MPI_Send(&value, 1, MPI_DOUBLE, to, question_tag, raw(comm));
}

double receive_number(const Comm& comm, int from) {
    double value = 0;
    MPI_Recv(&value, 1, MPI_DOUBLE, from, question_tag, raw(comm), MPI_STATUS_IGNORE);
    return value;
}

}  // namespace effio
