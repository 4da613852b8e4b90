// SPDX-License-Identifier: BSD-3-Clause
// Every call of a rank in a phase, as a separate file: begin, length and rate.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "core/error.hpp"

namespace effio {

struct CallTime {
    double begin = 0;   ///< seconds since the common start
    double length = 0;  ///< seconds
};

/// Writes `path` anew with the columns of IOR's savePerOpDataCSV: "time,runtime,tp". The last is
/// `amount` (bytes of a call, or 1) over its length, in units per second; 0 where no time passed.
/// `threads` holds the calls of each thread, in their order. An error names the file.
Status write_call_log(const std::string& path,
                      std::span<const std::vector<CallTime>* const> threads, double amount);

}  // namespace effio
