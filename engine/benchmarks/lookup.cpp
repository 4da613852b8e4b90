// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>

#include "benchmarks/registry.hpp"
#include "core/nearest.hpp"

namespace effio {

std::unique_ptr<Benchmark> find_benchmark(const std::string& name) {
    for (const auto make : benchmark_registry()) {
        auto benchmark = make();
        if (benchmark->name() == name) return benchmark;
    }
    return nullptr;
}

std::string no_benchmark(const char* what, const std::string& word) {
    std::vector<std::string> known;
    for (const auto make : benchmark_registry()) known.emplace_back(make()->name());
    std::string text = fmt::format("no {} '{}'", what, word);
    if (const auto meant = nearest(word, known); !meant.empty()) {
        text += fmt::format("; did you mean {}?", meant);
    }
    return text;
}

}  // namespace effio
