// SPDX-License-Identifier: BSD-3-Clause
// Copies from and to mapped files: where the file has no page to give, the kernel sends SIGBUS,
// which would end the process.
#pragma once

#include <cstddef>
#include <optional>

namespace effio {

/// Copies. If a page of the side `mapped`, which is `to` or `from`, could not be had, gives the
/// place in it; what else was copied is not known then. A SIGBUS of anything else ends the process
/// as it would have. The first call of a process takes the signal over for good.
std::optional<std::size_t> copy_mapped(std::byte* to, const std::byte* from, std::size_t bytes,
                                       const std::byte* mapped);

}  // namespace effio
