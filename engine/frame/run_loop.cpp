// SPDX-License-Identifier: BSD-3-Clause
#include "frame/run_loop.hpp"

#include "core/units.hpp"
#include "frame/ending.hpp"
#include "parallel/pace.hpp"

namespace effio {

bool RunLoop::is_over(const Comm& comm, double limit_seconds) const {
    if (limit_seconds <= 0) return false;
    char late = seconds() > limit_seconds ? 1 : 0;
    comm.broadcast(late);
    return late != 0;
}

bool RunLoop::go_on(const Comm& comm) {
    if (!stops_ && !Checkpoint(comm, session_.interrupted).go_on()) {
        outcome_.interrupted = stops_ = true;
    }
    return !stops_;
}

Agreed RunLoop::agree(const Comm& comm, Outcome mine) {
    mine.interrupted = outcome_.interrupted || session_.interrupted.load();
    Agreed agreed = effio::agree(session_, comm, mine);
    note(agreed);
    return agreed;
}

bool RunLoop::note(const Agreed& agreed) {
    if (agreed.failed() && agreed.error->exit_code == ExitCode::data_errors) {
        if (!wrong_data_) wrong_data_ = agreed.error;
        keep({agreed.error_count, agreed.interrupted, {}});
    } else {
        keep(agreed);
        if (agreed.failed()) stop();
    }
    return !stops_;
}

void RunLoop::keep(const Agreed& agreed) {
    errors_ += agreed.error_count;
    if (agreed.interrupted) outcome_.interrupted = stops_ = true;
    if (!agreed.failed()) return;
    const ExitCode code = agreed.error->exit_code;
    const auto& known = outcome_.error;
    if (!known || worse(known->exit_code, code) != known->exit_code) outcome_.error = agreed.error;
}

Ending RunLoop::ending(std::string_view before, std::string_view piece) const {
    return ending_of(outcome_.error, outcome_.interrupted, before, errors_,
                     count_of(errors_, piece));
}

}  // namespace effio
