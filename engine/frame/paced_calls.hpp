// SPDX-License-Identifier: BSD-3-Clause
// The loop of calls whose time is measured.
#pragma once

namespace effio {

/// Calls until the pace says stop: `call(number)` is false where it failed, `tick()` comes after
/// each reading of the clock.
///
/// A separate loop for each kind of call: the less code is between two calls, the less of it
/// the kernel has thrown out of the processor's cache when the first one returns.
template <class Pace, class Call, class Tick>
[[gnu::noinline]] void paced_calls(Pace& pace, Call call, Tick tick) {
    bool more = true;
    while (more) {
        if (!call(pace.done())) [[unlikely]]
            pace.failed();
        more = pace.go_on();
        if (pace.ticked()) [[unlikely]]
            tick();
    }
}

}  // namespace effio
