// SPDX-License-Identifier: BSD-3-Clause
// Apart from uring.cpp, so that a program without liburing can still tell what the settings are.
#include "storage/uring.hpp"

namespace effio {

void UringSettings::declare(OptionTable& table) {
    table.flag("direct", direct, "O_DIRECT: past the page cache");
    table.flag("poll", poll,
               "look for completions at the device instead of waiting for its interrupt (with "
               "direct; the device must have queues for it)");
}

}  // namespace effio
