// SPDX-License-Identifier: BSD-3-Clause
// The command line and the report of FLASH I/O's PnetCDF port (docs/definitions/flash-io.md).
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "benchmarks/flash_io/result.hpp"
#include "classic/classic.hpp"

namespace effio {

Result<ClassicProgram::Translation> translate_flash_io(const std::vector<std::string>& words,
                                                       const std::vector<std::string>& own = {});

/// The report of one repetition; rates in MiB/s, the sync not counted.
std::string classic_flash_io_report(const flash_io::Setup& setup,
                                    const flash_io::Repetition& repetition);

}  // namespace effio
