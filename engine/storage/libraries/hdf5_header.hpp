// SPDX-License-Identifier: BSD-3-Clause
// What an HDF5 file holds in addition to its data.
#pragma once

#include <cstdint>
#include <string>

#include "core/error.hpp"

namespace effio {

/// Bytes of a closed file that describe its data: superblock, tables of shared messages and free
/// space, object headers with their attributes, indices of groups and chunks. What alignment leaves
/// empty, and chunks beyond the data, are not among them. For one rank; opens the file anew.
Result<std::int64_t> hdf5_header_bytes(const std::string& path);

/// The library's own account of the last failure, the cause first. Clears it.
std::string hdf5_last_error();

}  // namespace effio
