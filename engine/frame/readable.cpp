// SPDX-License-Identifier: BSD-3-Clause
#include "frame/readable.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <span>

#include "core/units.hpp"
#include "storage/late_views.hpp"

namespace effio {

Status Readable::fits(Session& session, const std::string& path, std::int64_t end) {
    const auto size = size_of_late(session, path, end);
    if (!size || *size >= end) return {};
    return io_error("read", path,
                    fmt::format("the file holds {}, this phase reads up to {}", exact_size(*size),
                                exact_size(end)));
}

const DataExtents* Readable::extents_of(const std::string& path) {
    if (path != path_) {
        path_ = path;
        extents_ = DataExtents::of(path);
    }
    return extents_ ? &*extents_ : nullptr;
}

void Readable::reads(const std::string& path, std::int64_t begin, std::int64_t end) {
    if (!counts_holes_ || end <= begin) return;
    const DataExtents* extents = extents_of(path);
    if (extents == nullptr) {
        unknown_ = true;
        return;
    }
    bytes_ += end - begin;
    holes_ += extents->holes(begin, end);
}

bool Readable::reads_within(const std::string& path, std::int64_t begin, std::int64_t end,
                            std::int64_t bytes) {
    if (!counts_holes_ || end <= begin) return true;
    const DataExtents* extents = extents_of(path);
    if (extents == nullptr) {
        unknown_ = true;
        return true;
    }
    if (extents->holes(begin, end) > 0) return false;
    bytes_ += bytes;
    return true;
}

std::optional<double> Readable::hole_fraction(const Comm& comm) const {
    std::array sums{bytes_, holes_, std::int64_t{unknown_ ? 1 : 0}};
    comm.sum(std::span<std::int64_t>(sums));
    if (sums[0] == 0 || sums[2] > 0) return {};
    return static_cast<double>(sums[1]) / static_cast<double>(sums[0]);
}

std::string holes_remark(const std::optional<double>& fraction) {
    if (!fraction || !(*fraction > 0)) return {};
    return fmt::format("{:.3g} % of it holes, never written",
                       std::min(100 * *fraction, *fraction < 1 ? 99.9 : 100.0));
}

}  // namespace effio
