// SPDX-License-Identifier: BSD-3-Clause
#include "parallel/gathering.hpp"

#include <chrono>
#include <thread>

#include "parallel/mpi_comm.hpp"

namespace effio {
namespace {

// Outcomes of all ranks in one number: a bit for each exit code, and one for files left open.
constexpr int left_open_bit = 32;

std::int64_t bit_of(ExitCode code) {
    return std::int64_t{1} << static_cast<int>(code);
}

ExitCode gravest_of(std::int64_t bits) {
    ExitCode code = ExitCode::done;
    for (const auto& row : exit_codes()) {
        if ((bits & bit_of(row.code)) != 0) code = worse(code, row.code);
    }
    return code;
}

/// Until `request` is complete or `enough`. Sleeps in between: the other groups measure.
template <class Enough>
bool wait_gently(Session& session, MPI_Request& request, Enough&& enough) {
    while (true) {
        int done = 0;
        MPI_Test(&request, &done, MPI_STATUS_IGNORE);
        if (done != 0) return true;
        if (enough()) return false;
        session.progress.beat();
        std::this_thread::sleep_for(std::chrono::milliseconds(2));
    }
}

void wait_gently(Session& session, MPI_Request& request) {
    wait_gently(session, request, [] { return false; });
}

}  // namespace

struct Gathering::Meeting {
    std::int64_t bits = 0;
    MPI_Request request = MPI_REQUEST_NULL;
};

Gathering::Gathering(Comm all, Neighbors& neighbors, std::function<void()> at_the_end,
                     std::function<void()> at_call_off)
    : all_(std::move(all)),
      neighbors_(neighbors),
      at_the_end_(std::move(at_the_end)),
      at_call_off_(std::move(at_call_off)) {}

Gathering::~Gathering() = default;

ExitCode Gathering::worst(ExitCode mine) const {
    std::int64_t bits = bit_of(mine);
    MPI_Allreduce(MPI_IN_PLACE, &bits, 1, MPI_INT64_T, MPI_BOR, raw(*all_));
    return gravest_of(bits);
}

std::optional<int> Gathering::meet(Session& session, std::int64_t& bits,
                                   const std::function<int()>& then) {
    Meeting& meeting = *meetings_.emplace_back(std::make_unique<Meeting>());
    meeting.bits = bits;
    MPI_Iallreduce(MPI_IN_PLACE, &meeting.bits, 1, MPI_INT64_T, MPI_BOR, raw(*all_),
                   &meeting.request);
    // The root of the group watches the others and reports the outcome to its ranks.
    constexpr int met = -1;
    int word = met;
    const Comm& group = session.comm;
    if (group.is_root() &&
        !wait_gently(session, meeting.request, [this] { return neighbors_.called_off(); })) {
        word = then();
    }
    MPI_Request sent = MPI_REQUEST_NULL;
    MPI_Ibcast(&word, 1, MPI_INT, 0, raw(group), &sent);
    wait_gently(session, sent);
    if (word != met) return word;
    wait_gently(session, meeting.request);
    bits = meeting.bits;
    return {};
}

void Gathering::start(Session& session) {
    session.progress.wait("wait until all groups are ready");
    std::int64_t bits = 0;
    const auto called_off = meet(session, bits, [] { return 0; });
    // All are there, but learned it some milliseconds apart.
    if (!called_off) all_->barrier();
}

Gathering::Whole Gathering::finish(Session& session, ExitCode mine) {
    Progress::Step step;
    step.title = "wait until all groups are done";
    session.progress.begin(step);
    session.progress.wait("wait until all groups are done");
    std::int64_t bits = bit_of(mine);
    if (session.left_open) bits |= std::int64_t{1} << left_open_bit;
    const auto called_off = meet(session, bits, [&] {
        if (at_call_off_) at_call_off_();
        return static_cast<int>(neighbors_.wait_for_all(session.progress, mine));
    });
    if (called_off) leave(static_cast<ExitCode>(*called_off));
    if (all_->is_root()) at_the_end_();
    return {gravest_of(bits), (bits >> left_open_bit & 1) != 0};
}

}  // namespace effio
