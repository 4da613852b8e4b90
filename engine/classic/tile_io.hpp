// SPDX-License-Identifier: BSD-3-Clause
// The command line and the report of MPI-Tile-IO (docs/definitions/tile-io.md).
#pragma once

#include <string>
#include <vector>

#include "benchmarks/tile_io/tile_io.hpp"
#include "classic/classic.hpp"

namespace effio {

/// Options as words; those that are not there come from the environment, in upper case.
Result<ClassicProgram::Translation> translate_tile_io(const std::vector<std::string>& words,
                                                      const std::vector<std::string>& further);

/// What was requested of the program, as its report repeats it.
struct TileIoRequest {
    tile_io::Geometry geometry;
    std::string host;
    int available = 1;  ///< processes
    bool collective = false;
};

/// The report of one pass; every line starts with "#". Seconds over processes, rates in MiB/s by
/// the slowest process's call alone.
std::string classic_tile_io_report(const TileIoRequest& request, const study::PassResult& result);

}  // namespace effio
