// SPDX-License-Identifier: BSD-3-Clause
#include "storage/data_extents.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "storage/posix_calls.hpp"

namespace effio {

std::optional<DataExtents> DataExtents::of(const std::string& path) {
    constexpr std::size_t most = std::size_t{1} << 20;
    const auto fd = open_file(path, O_RDONLY);
    if (!fd) return {};
    DataExtents found;
    off_t at = 0;
    while (found.data_.size() < most) {
        const off_t begin = ::lseek(fd->get(), at, SEEK_DATA);
        // No data after this place.
        if (begin < 0 && errno == ENXIO) return found;
        if (begin < 0) return {};
        const off_t end = ::lseek(fd->get(), begin, SEEK_HOLE);
        if (end < begin) return {};
        found.data_.push_back({begin, end});
        at = end;
    }
    return {};
}

std::int64_t DataExtents::holes(std::int64_t begin, std::int64_t end) const {
    std::int64_t written = 0;
    auto extent = std::upper_bound(data_.begin(), data_.end(), begin,
                                   [](std::int64_t at, const Extent& e) { return at < e.end; });
    for (; extent != data_.end() && extent->begin < end; ++extent) {
        written += std::min(end, extent->end) - std::max(begin, extent->begin);
    }
    return end - begin - written;
}

}  // namespace effio
