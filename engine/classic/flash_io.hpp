// SPDX-License-Identifier: BSD-3-Clause
// The command line and the report of FLASH I/O's PnetCDF port (spec/app_kernels.md, sections 1.4
// and 1.7).
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "benchmarks/flash_io/result.hpp"
#include "classic/classic.hpp"

namespace effio {

Result<ClassicProgram::Translation> translate_flash_io(const std::vector<std::string>& words);

/// The report of one repetition; rates in MiB/s, the sync not counted.
std::string classic_flash_io_report(const flash_io::Setup& setup,
                                    const flash_io::Repetition& repetition);

}  // namespace effio
