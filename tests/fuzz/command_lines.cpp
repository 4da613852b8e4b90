// SPDX-License-Identifier: BSD-3-Clause
// Command lines: the first line names a benchmark or a classic program, each further line is a
// word. What is accepted is planned, with as many ranks as --plan-ranks says.
#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "benchmarks/run_job.hpp"
#include "classic/classic.hpp"
#include "fuzz.hpp"

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

void plan(Benchmark& benchmark, const Words& words) {
    JobOptions options;
    OptionTable table(std::string(benchmark.name()), std::string(benchmark.purpose()));
    benchmark.declare(table);
    options.declare(table);
    if (!table.parse(words) || !benchmark.check()) return;
    (void)table.values();
    (void)benchmark.needed_directories();
    PlanInput input;
    input.ranks = static_cast<int>(options.plan_ranks.value_or(4));
    input.ranks_per_node = static_cast<int>(options.plan_ranks_per_node.value_or(input.ranks));
    input.rate = options.plan_rate.count;
    if (const auto made = benchmark.plan(input); made) {
        (void)made->data.dump(-1, ' ', false, Json::error_handler_t::replace);
    }
}

void run(const std::string& program, const Words& words) {
    if (const auto* classic = find_classic(program); classic != nullptr) {
        const auto translated = classic->translate(words, {});
        if (translated && translated->benchmark) {
            plan(*translated->benchmark, translated->arguments);
        }
        return;
    }
    for (const auto make : benchmark_registry()) {
        const auto benchmark = make();
        if (benchmark->name() == program) plan(*benchmark, words);
    }
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
