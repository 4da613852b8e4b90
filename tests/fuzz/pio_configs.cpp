// SPDX-License-Identifier: BSD-3-Clause
// Patterns from a configuration file of pio, and their plan.
#include <sys/mman.h>
#include <unistd.h>

#include <string>

#include "fuzz.hpp"
#include "plan.hpp"

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const int file = memfd_create("config", 0);
    if (file < 0 || write(file, data, size) != static_cast<ssize_t>(size)) return 0;
    effio::plan_named("pio", {"--config", "/proc/self/fd/" + std::to_string(file)});
    close(file);
    return 0;
}
