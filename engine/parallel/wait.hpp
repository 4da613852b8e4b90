// SPDX-License-Identifier: BSD-3-Clause
// Requested waiting: a pause that the user requested is not a hang.
#pragma once

#include "parallel/session.hpp"

namespace effio {

/// Waits for this long by the session's clock, giving signs of life, or until a signal asks the run
/// to stop.
void wait_as_asked(Session& session, double seconds);

}  // namespace effio
