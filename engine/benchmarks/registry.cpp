// SPDX-License-Identifier: BSD-3-Clause
#include "benchmarks/b_eff/b_eff.hpp"
#include "benchmarks/b_eff_io/b_eff_io.hpp"
#include "benchmarks/benchmark.hpp"
#include "benchmarks/flash_io/flash_io.hpp"
#include "benchmarks/ior/ior.hpp"
#include "benchmarks/libraries/libraries.hpp"
#include "benchmarks/mdtest/mdtest.hpp"
#include "benchmarks/rings/rings.hpp"

namespace effio {

const std::vector<BenchmarkFactory>& benchmark_registry() {
    static const std::vector<BenchmarkFactory> all{
        [] { return b_eff_io::make_benchmark(); },  [] { return b_eff::make_benchmark(); },
        [] { return rings::make_benchmark(); },     [] { return ior::make_benchmark(); },
        [] { return flash_io::make_benchmark(); },  [] { return mdtest::make_benchmark(); },
        [] { return libraries::make_benchmark(); },
    };
    return all;
}

}  // namespace effio
