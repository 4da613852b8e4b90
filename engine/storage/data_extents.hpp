// SPDX-License-Identifier: BSD-3-Clause
// Which bytes of a file were ever written. Holes read as zeros without any storage.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace effio {

class DataExtents {
  public:
    /// By SEEK_DATA; space that was reserved and never written is a hole, too. Nothing where the
    /// file cannot be opened, the file system does not say, or there are more than a million.
    static std::optional<DataExtents> of(const std::string& path);

    /// How many bytes of `begin` to `end` are holes, what is behind the end of the file included.
    std::int64_t holes(std::int64_t begin, std::int64_t end) const;

  private:
    struct Extent {
        std::int64_t begin = 0;
        std::int64_t end = 0;
    };
    std::vector<Extent> data_;  ///< rising
};

}  // namespace effio
