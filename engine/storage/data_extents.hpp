// SPDX-License-Identifier: BSD-3-Clause
// The ranges of a file that contain data. Holes are read as zeros without access to storage.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace effio {

class DataExtents {
  public:
    /// Uses SEEK_DATA; space that was reserved but never written is a hole, too. Empty if the file
    /// cannot be opened, the file system does not report data, or there are more than a million
    /// ranges.
    static std::optional<DataExtents> of(const std::string& path);

    /// Bytes from `begin` to `end` that are holes, including those after the end of the file.
    std::int64_t holes(std::int64_t begin, std::int64_t end) const;

  private:
    struct Extent {
        std::int64_t begin = 0;
        std::int64_t end = 0;
    };
    std::vector<Extent> data_;  ///< in ascending order
};

}  // namespace effio
