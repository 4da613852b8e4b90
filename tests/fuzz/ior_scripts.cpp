// SPDX-License-Identifier: BSD-3-Clause
// Scripts of IOR (-f), and what their tests become in our own words.
#include <sys/mman.h>
#include <unistd.h>

#include <string>

#include "classic/ior.hpp"
#include "fuzz.hpp"

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace effio;
    const int file = memfd_create("script", 0);
    if (file < 0 || write(file, data, size) != static_cast<ssize_t>(size)) return 0;
    const auto command = parse_ior({"-f", "/proc/self/fd/" + std::to_string(file)});
    close(file);
    if (!command) return 0;
    for (const auto& test : command->tests) (void)translate_ior_test(test, 2147483647);
    return 0;
}
