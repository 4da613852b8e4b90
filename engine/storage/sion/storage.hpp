// SPDX-License-Identifier: BSD-3-Clause
// Bytes in a container (format.hpp): each part of a file that is divided into blocks
// (OpenRequest::blocks) is the stream of one task, part p that of task p, its blocks of all
// segments one after the other. Where each rank writes its own part, nothing but the file system is
// shared between them: pwrite into separate chunks; with collectors (collector.hpp) some ranks
// write for their neighbors.
//
// Opening for writing keeps the streams of a container that is there, if it has as many tasks and
// their chunks are full but for the last one; until it is closed again it counts as one that was
// not closed. How a file was divided into blocks a container does not say: it must be opened with
// the blocks that it was written with, but any number of ranks may read it.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "core/options.hpp"
#include "storage/byte_file.hpp"
#include "storage/sion/format.hpp"

namespace effio {

struct SionSettings {
    std::optional<Bytes> chunk;                            ///< else all that a part holds
    std::optional<Bytes> block;                            ///< else the file system's
    sion::ByteOrder byte_order = sion::ByteOrder::little;  ///< of the metadata
    std::int64_t files = 1;                                ///< of a container that is made
    std::int64_t collector_tasks = 1;  ///< neighbors of which one writes for all
    void declare(OptionTable& table);
    /// Without those of files that are divided into blocks.
    void declare_for_arrays(OptionTable& table);
};

/// More are refused: how much of each is used is in memory and in the file.
inline constexpr std::int64_t most_sion_chunks = std::int64_t{1} << 26;

std::unique_ptr<Storage> make_sion_storage(Session& session, const SionSettings& settings);

}  // namespace effio
