// SPDX-License-Identifier: BSD-3-Clause
#include "frame/ending.hpp"

#include <fmt/format.h>

#include "core/units.hpp"

namespace effio {

Ending ending_of(const std::optional<Error>& error, bool interrupted, std::string_view before,
                 std::int64_t wrong, const std::string& pieces) {
    if (error) return Ending::from(*error);
    Ending ending;
    if (interrupted) {
        ending.status = ExitCode::interrupted;
        ending.reason = fmt::format("stopped by a signal; the {} before it are complete", before);
    } else if (wrong > 0) {
        ending.status = ExitCode::data_errors;
        ending.reason = pieces + " in the data read back";
    }
    return ending;
}

Ending ending_of_messages(const Agreed& agreed, bool interrupted, std::string_view before) {
    Ending ending = ending_of(agreed.error, interrupted, before, 0, {});
    if (agreed.error) {
        ending.reason =
            fmt::format("{}; the first: {}", count_of(agreed.error_count, "wrong message"),
                        agreed.error->text());
    }
    return ending;
}

void add(Ending& ending, const Status& more) {
    if (more) return;
    ending.errors.push_back(more.error());
    ending.status = worse(ending.status, more.error().exit_code);
    if (ending.reason.empty()) ending.reason = more.error().text();
}

}  // namespace effio
