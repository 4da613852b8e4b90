// SPDX-License-Identifier: BSD-3-Clause
// Files of hint rules (b_eff_io's info-file), and what they say for every cell.
#include <string>

#include "fuzz.hpp"
#include "storage/hints.hpp"

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace effio;
    HintVocabulary words;
    words.processes = {2, 4};
    words.accesses = {"write", "read"};
    words.patterns = {"scatter", "shared"};
    words.chunks = {1024, 1048576};
    const std::string text(reinterpret_cast<const char*>(data), size);
    const auto rules = HintRules::parse(text, "info", words);
    if (!rules) return 0;
    for (const auto processes : words.processes) {
        for (const auto& access : words.accesses) {
            const HintRules::FilePlace cell{processes, access, words.patterns.front()};
            (void)json_line(rules->for_open(cell).to_json());
            for (const auto chunk : words.chunks) (void)rules->for_row(cell, chunk, false);
        }
    }
    return 0;
}
