// SPDX-License-Identifier: BSD-3-Clause
// The classic b_eff 3.6: its options and its files .prot, .short and .sum
// (docs/definitions/b-eff.md). Corrected against the original: the ring latency in the text has the
// factor P as in the table, the numbers of the patterns that are only reported are the true ones,
// and the .sum brackets its table with both section lines.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "benchmarks/b_eff/result.hpp"
#include "classic/classic.hpp"

namespace effio {

Result<ClassicProgram::Translation> translate_b_eff(const std::vector<std::string>& words,
                                                    const std::vector<std::string>& own = {});

/// The complete texts of the three files.
std::string classic_prot(const b_eff::RunResult& run);
std::string classic_short(const b_eff::RunResult& run);
std::string classic_sum(const b_eff::RunResult& run);
/// The line that ends all files, and that stderr gets.
std::string classic_final_line(const b_eff::RunResult& run);

/// Opens `<prefix>.prot`, `.short` and `.sum` at the start and writes them at the end.
std::unique_ptr<b_eff::Observer> make_classic_b_eff_view(const std::string& prefix);

}  // namespace effio
