// SPDX-License-Identifier: BSD-3-Clause
// From what all ranks know at the end of a run to the ending that is reported.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "frame/benchmark.hpp"
#include "parallel/agree.hpp"

namespace effio {

/// What ended a run, the most severe first: an error, a signal, or this many wrong `pieces` ("3
/// errors") in the data read back. `before`: what is complete before the signal, "passes".
Ending ending_of(const std::optional<Error>& error, bool interrupted, std::string_view before,
                 std::int64_t wrong, const std::string& pieces);

/// The same of a run whose only errors are messages with wrong data.
Ending ending_of_messages(const Agreed& agreed, bool interrupted, std::string_view before);

/// One more thing that was done at the end; its failure makes the ending as severe as itself.
void add(Ending& ending, const Status& more);

}  // namespace effio
