// SPDX-License-Identifier: BSD-3-Clause
#include "parallel/wait.hpp"

#include <algorithm>
#include <chrono>
#include <thread>

namespace effio {

void wait_as_asked(Session& session, double seconds) {
    Clock& clock = session.clock;
    if (clock.is_virtual()) {
        clock.advance(seconds);
        return;
    }
    constexpr double slice = 0.05;
    const double end = clock.now() + seconds;
    double left = seconds;
    while (left > 0) {
        if (session.interrupted.load()) return;
        std::this_thread::sleep_for(std::chrono::duration<double>(std::min(left, slice)));
        session.progress.beat();
        left = end - clock.now();
    }
}

}  // namespace effio
