// SPDX-License-Identifier: BSD-3-Clause
#include "benchmarks/registry.hpp"

#include "benchmarks/b_eff/b_eff.hpp"
#include "benchmarks/b_eff_io/b_eff_io.hpp"
#include "benchmarks/flash_io/flash_io.hpp"
#include "benchmarks/interference/interference.hpp"
#include "benchmarks/io_bench/io_bench.hpp"
#include "benchmarks/ior/ior.hpp"
#include "benchmarks/libraries/libraries.hpp"
#include "benchmarks/mdtest/mdtest.hpp"
#include "benchmarks/overlap/overlap.hpp"
#include "benchmarks/partest/partest.hpp"
#include "benchmarks/pio/pio.hpp"
#include "benchmarks/probe/probe.hpp"
#include "benchmarks/rings/rings.hpp"
#include "benchmarks/saturation/saturation.hpp"
#include "benchmarks/spiobench/spiobench.hpp"
#include "benchmarks/ssca3/ssca3.hpp"
#include "benchmarks/tile_io/tile_io.hpp"

namespace effio {

const std::vector<BenchmarkFactory>& benchmark_registry() {
    // Statements, because an initializer would be laid out in columns and change with every row.
    static const auto all = [] {
        std::vector<BenchmarkFactory> rows;
        rows.emplace_back([] { return b_eff_io::make_benchmark(); });
        rows.emplace_back([] { return b_eff::make_benchmark(); });
        rows.emplace_back([] { return rings::make_benchmark(); });
        rows.emplace_back([] { return ior::make_benchmark(); });
        rows.emplace_back([] { return flash_io::make_benchmark(); });
        rows.emplace_back([] { return mdtest::make_benchmark(); });
        rows.emplace_back([] { return libraries::make_benchmark(); });
        rows.emplace_back([] { return io_bench::make_benchmark(); });
        rows.emplace_back([] { return spiobench::make_benchmark(); });
        rows.emplace_back([] { return ssca3::make_benchmark(); });
        rows.emplace_back([] { return tile_io::make_benchmark(); });
        rows.emplace_back([] { return pio::make_benchmark(); });
        rows.emplace_back([] { return partest::make_benchmark(); });
        rows.emplace_back([] { return saturation::make_benchmark(); });
        rows.emplace_back([] { return overlap::make_benchmark(); });
        rows.emplace_back([] { return interference::make_benchmark(); });
        rows.emplace_back([] { return probe::make_benchmark(); });
        return rows;
    }();
    return all;
}

}  // namespace effio
