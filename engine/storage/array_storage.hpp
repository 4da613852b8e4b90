// SPDX-License-Identifier: BSD-3-Clause
// Bytes in the files of an array library: what IOR does with HDF5 and PnetCDF.
//
// A file is divided into blocks (OpenRequest::blocks) and laid out as the original lays it out
// (docs/definitions/ior.md, Views and libraries):
//
//   words   1-D datasets of 8-byte integers, one for each segment, "Dataset-0000.<segment>", or one
//           for each block, "Dataset-<part>.<segment>"; numbers of four digits or more.
//           Every transfer is whole words.
//   bytes   one 3-D variable of bytes, "data_var": blocks of the file, transfers of a block, bytes
//           of a transfer.
//
// Byte o of the file as IOR counts is byte o of these variables one after the other, so that a
// transfer inside a block is one slab. Opening for writing with `create` keeps a file that is
// there, as it does with plain bytes, and fails where that file is divided otherwise. All calls on
// a file are of the kind that OpenRequest::collective says.
#pragma once

#include <memory>

#include "storage/array_file.hpp"
#include "storage/byte_file.hpp"

namespace effio {

enum class ArrayDivision : char { words_by_segment, words_by_block, bytes };

/// More datasets are refused: all are made when the file is, and each costs time and memory then.
inline constexpr std::int64_t most_datasets = 10'000;

/// What a file holds that is divided so.
ArraySchema schema_of_blocks(ArrayDivision division, const Blocks& blocks);

std::unique_ptr<Storage> make_array_storage(Session& session, std::unique_ptr<ArrayLibrary> library,
                                            ArrayDivision division);

}  // namespace effio
