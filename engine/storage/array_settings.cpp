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
    table.choice("collective-metadata", collective_metadata, {{"off", false}, {"on", true}},
                 "metadata is read and written by all ranks together");
    table.choice("fill", fill,
                 {{"never", Fill::never}, {"ifset", Fill::if_set}, {"alloc", Fill::alloc}},
                 "when datasets are filled before data come");
    table.choice("versions", latest_version, {{"earliest", false}, {"latest", true}},
                 "of the file format that may be used");
}

const Words<PnetcdfSettings::Format>& PnetcdfSettings::formats() {
    static const Words<Format> words{{"cdf5", Format::cdf5}, {"cdf2", Format::cdf2}};
    return words;
}

void PnetcdfSettings::declare(OptionTable& table) {
    table.choice("format", format, formats(),
                 "CDF-5 (64-bit data), or CDF-2 whose variables stay below 4 GiB each");
}

void Netcdf4Settings::declare(OptionTable& table) {
    table
        .add("chunk-rows", chunk_rows,
             "chunked variables: rows of the first dimension in a chunk; 0 = contiguous variables")
        .range(0, 9e18);
}

}  // namespace effio
