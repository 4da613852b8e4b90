// SPDX-License-Identifier: BSD-3-Clause
// The tables of effio-card: the benchmarks of the card (campaigns/quick.toml) and no classic
// program. `make run` compiles this program first and shows the card before the rest is compiled.
#include "benchmarks/b_eff_io/b_eff_io.hpp"
#include "benchmarks/ior/ior.hpp"
#include "benchmarks/mdtest/mdtest.hpp"
#include "benchmarks/registry.hpp"
#include "benchmarks/rings/rings.hpp"
#include "classic/classic.hpp"

namespace effio {

const std::vector<BenchmarkFactory>& benchmark_registry() {
    static const auto of_card = [] {
        std::vector<BenchmarkFactory> rows;
        rows.emplace_back([] { return b_eff_io::make_benchmark(); });
        rows.emplace_back([] { return rings::make_benchmark(); });
        rows.emplace_back([] { return ior::make_benchmark(); });
        rows.emplace_back([] { return mdtest::make_benchmark(); });
        return rows;
    }();
    return of_card;
}

const std::vector<ClassicProgram>& classic_programs() {
    static const std::vector<ClassicProgram> none;
    return none;
}

const ClassicProgram* find_classic(std::string_view) {
    return nullptr;
}

}  // namespace effio
