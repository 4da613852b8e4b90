// SPDX-License-Identifier: BSD-3-Clause
// The tables of effio-card: the benchmarks of the card (campaigns/quick.toml), no classic program
// and no backend that has a format. `make run` compiles this program first and shows the card
// before the rest is compiled.
#include <cstdio>

#include "benchmarks/b_eff_io/b_eff_io.hpp"
#include "benchmarks/ior/ior.hpp"
#include "benchmarks/mdtest/mdtest.hpp"
#include "benchmarks/registry.hpp"
#include "benchmarks/rings/rings.hpp"
#include "classic/classic.hpp"
#include "storage/backends.hpp"
#include "storage/sion/commands.hpp"

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

const std::vector<ByteBackend>& block_backends() {
    return byte_backends();
}

const std::vector<ArrayBackend>& array_backends() {
    static const std::vector<ArrayBackend> none;
    return none;
}

ExitCode sion::run_command(const std::vector<std::string>&) {
    std::fputs("effio-card: this program has no SIONlib containers; make build compiles them\n",
               stderr);
    return ExitCode::usage;
}

}  // namespace effio
