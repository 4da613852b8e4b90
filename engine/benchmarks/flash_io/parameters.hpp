// SPDX-License-Identifier: BSD-3-Clause
// The options of FLASH I/O.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "benchmarks/flash_io/definition.hpp"
#include "benchmarks/flash_io/mesh.hpp"
#include "benchmarks/storage_options.hpp"
#include "core/options.hpp"
#include "storage/array_file.hpp"

namespace effio::flash_io {

struct Parameters {
    std::int64_t cells = 8;
    std::int64_t dimensions = 3;
    std::int64_t guards = 4;
    std::int64_t blocks = 80;
    std::vector<std::string> files{"checkpoint", "plot-centred", "plot-corner"};
    std::string structure = "auto";
    std::string prefix = "flash_io_";
    std::string access = "collective";
    std::string calls = "auto";
    std::string memory = "packed";
    std::string kernel_hints = "on";
    std::string fill = "constant";
    std::string write = "on";
    std::string fsync = "on";
    std::string read = "none";
    std::string reader = "same";
    std::optional<std::int64_t> writers;
    bool drop_cache = false;
    std::int64_t dumps = 1;
    Seconds compute{0};
    std::int64_t repetitions = 1;
    StorageOptions storage{default_backend(), Serves::arrays};

    void declare(OptionTable& table);
    Status check();

    Geometry geometry() const;
    std::vector<File> files_in_order() const;
    Structure structure_in_force() const;
    ArrayAccess array_access() const {
        return access == "collective" ? ArrayAccess::collective : ArrayAccess::independent;
    }
    Fill fill_in_force() const { return fill == "index" ? Fill::index : Fill::constant; }
    bool writes() const { return write == "on"; }
    bool syncs() const { return writes() && fsync == "on"; }
    /// How many ranks wrote the files that `ranks` ranks read, or write now.
    int writers_of(int ranks) const { return static_cast<int>(writers.value_or(ranks)); }

    /// The original's library where this program has it.
    static std::string default_backend();
};

}  // namespace effio::flash_io
