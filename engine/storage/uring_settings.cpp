// SPDX-License-Identifier: BSD-3-Clause
// Apart from uring.cpp, so that a program without liburing can still say what the settings are.
#include "storage/uring.hpp"

namespace effio {

void UringSettings::declare(OptionTable& table) {
    table.choice("direct", direct, {{"no", false}, {"yes", true}}, "O_DIRECT: past the page cache");
    table.choice("poll", poll, {{"no", false}, {"yes", true}},
                 "look for completions at the device instead of waiting for its interrupt (with "
                 "direct; the device must have queues for it)");
    table.choice("registered", registered, {{"no", false}, {"yes", true}},
                 "the memory of queued transfers is registered with the kernel, which then need "
                 "not look it up for each of them; where that is refused (ulimit -l) the result "
                 "reports it and the run continues without");
}

}  // namespace effio
