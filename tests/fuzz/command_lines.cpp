// SPDX-License-Identifier: BSD-3-Clause
// Command lines: the first line names a benchmark or a classic program, each further line is a
// word. What is accepted is planned, with as many ranks as --plan-ranks says.
#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "classic/classic.hpp"
#include "fuzz.hpp"
#include "plan.hpp"

namespace effio {
namespace {

using Words = std::vector<std::string>;

Words lines_of(std::string_view text) {
    Words lines;
    while (!text.empty()) {
        const auto end = std::min(text.find('\n'), text.size());
        lines.emplace_back(text.substr(0, end));
        text.remove_prefix(std::min(end + 1, text.size()));
    }
    return lines;
}

void run(const std::string& program, const Words& words) {
    if (const auto* classic = find_classic(program); classic != nullptr) {
        const auto translated = classic->translate(words, {});
        if (translated && translated->benchmark) {
            plan(*translated->benchmark, translated->arguments);
        }
        return;
    }
    plan_named(program, words);
}

}  // namespace
}  // namespace effio

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    auto lines = effio::lines_of({reinterpret_cast<const char*>(data), size});
    if (lines.empty()) return 0;
    const std::string program = lines.front();
    lines.erase(lines.begin());
    effio::run(program, lines);
    return 0;
}
