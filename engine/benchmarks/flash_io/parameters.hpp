// SPDX-License-Identifier: BSD-3-Clause
// The options of FLASH I/O.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "benchmarks/flash_io/definition.hpp"
#include "benchmarks/flash_io/mesh.hpp"
#include "core/options.hpp"
#include "frame/data_options.hpp"
#include "frame/storage_options.hpp"
#include "frame/until_ci.hpp"
#include "storage/array_file.hpp"

namespace effio::flash_io {

/// A call for each variable, or all posted and then waited for; automatic: as the backend can.
enum class Calls : char { automatic, blocking, nonblocking };
/// The interior of a block copied together before each call, or taken out by the library.
enum class Memory : char { packed, in_place };
enum class ReadBack : char { none, checkpoint, all };

struct Parameters {
    std::int64_t cells = 8;
    std::int64_t dimensions = 3;
    std::int64_t guards = 4;
    std::int64_t blocks = 80;
    std::vector<std::string> files{"checkpoint", "plot-centred", "plot-corner"};
    std::optional<Structure> structure;  ///< without: as the backend has it
    std::string prefix = "flash_io_";
    ArrayAccess access = ArrayAccess::collective;
    Calls calls = Calls::automatic;
    Memory memory = Memory::packed;
    bool kernel_hints = true;
    Fill fill = Fill::constant;
    DataOptions data;
    bool write = true;
    bool fsync = true;
    ReadBack read = ReadBack::none;
    Readers reader = Readers::same;
    std::optional<std::int64_t> writers;
    std::int64_t dumps = 1;
    Seconds compute{0};
    std::int64_t repetitions = 1;
    UntilCiOptions until_ci;
    Seconds time_limit{0};
    StorageOptions storage{default_backend(), Serves::arrays};

    void declare(OptionTable& table);
    Status check();

    Geometry geometry() const;
    std::vector<File> files_in_order() const;
    Structure structure_in_force() const;
    bool syncs() const { return write && fsync; }
    /// How many ranks wrote the files that `ranks` ranks read, or write now.
    int writers_of(int ranks) const { return static_cast<int>(writers.value_or(ranks)); }

    /// The original's library where this program has it.
    static std::string default_backend();
};

}  // namespace effio::flash_io
