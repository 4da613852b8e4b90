// SPDX-License-Identifier: BSD-3-Clause
// The settings of the array libraries; known to programs without the libraries, too.
#include "storage/array_libraries.hpp"

namespace effio {

void Hdf5Settings::declare(OptionTable& table) {
    table
        .add("alignment", alignment,
             "objects from the threshold on begin at multiples of this; 0 = anywhere")
        .range(0, 9e18);
    table.add("alignment-threshold", alignment_threshold, "smaller objects are packed")
        .range(0, 9e18);
    table.add("sieve-buffer", sieve_buffer, "buffer for the parts of contiguous datasets")
        .range(0, 9e18);
    table.add("metadata-block", metadata_block, "least space that is set aside for metadata")
        .range(0, 9e18);
    table
        .add("chunk-rows", chunk_rows,
             "chunked datasets: rows of the first dimension in a chunk; 0 = contiguous datasets")
        .range(0, 9e18);
    table
        .add("collective-metadata", collective_metadata,
             "metadata is read and written by all ranks together")
        .choices({"off", "on"});
    table.add("fill", fill, "when datasets are filled before data come")
        .choices({"never", "ifset", "alloc"});
    table.add("versions", versions, "of the file format that may be used")
        .choices({"earliest", "latest"});
}

void PnetcdfSettings::declare(OptionTable& table) {
    table
        .add("format", format,
             "CDF-5 (64-bit data), or CDF-2 whose variables stay below 4 GiB each")
        .choices({"cdf5", "cdf2"});
}

void Netcdf4Settings::declare(OptionTable& table) {
    table
        .add("chunk-rows", chunk_rows,
             "chunked variables: rows of the first dimension in a chunk; 0 = contiguous variables")
        .range(0, 9e18);
}

}  // namespace effio
