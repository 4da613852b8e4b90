// SPDX-License-Identifier: BSD-3-Clause
#include "frame/data_options.hpp"

namespace effio {

void DataOptions::declare(OptionTable& table) {
    table
        .add("compressible", shape_.compressible,
             "compression ratio that a compressor can reach: part of each 512 bytes is one "
             "repeated word (1: data do not compress)")
        .metavar("RATIO")
        .range(1, DataShape::most_compressible);
    table
        .add("duplicate", shape_.duplicate,
             "deduplication ratio that storage can reach: whole MiB of a file are written "
             "again (1: no 512 bytes are equal)")
        .metavar("RATIO")
        .range(1, 1e6);
}

}  // namespace effio
