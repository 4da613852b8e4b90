// SPDX-License-Identifier: BSD-3-Clause
#include "benchmarks/pio/patterns.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <memory>

namespace effio::pio {
namespace {

Addresses strided(const Shape& shape, int rank, int ranks) {
    return {rank * shape.slot(), Strides{shape.piece, {{shape.count, ranks * shape.slot()}}}};
}

Addresses nested(const Shape& shape, int rank, int ranks) {
    const std::int64_t within = ranks * shape.slot();
    const std::int64_t between = shape.inner * within + shape.gap.value_or(within);
    return {rank * shape.slot(),
            Strides{shape.piece, {{shape.inner, within}, {shape.count / shape.inner, between}}}};
}

/// Row i of the tile at (y, x) of a grid of ranks: ((y n + i) columns + x) slots.
Addresses tile(const Shape& shape, int rank, int ranks) {
    const std::int64_t columns = balanced_grid(ranks, 2)[1];
    const std::int64_t y = rank / columns;
    const std::int64_t x = rank % columns;
    return {(y * shape.count * columns + x) * shape.slot(),
            Strides{shape.piece, {{shape.count, columns * shape.slot()}}}};
}

/// A random share of all vertices, in the order of the file.
Addresses vertices(const Shape& shape, int rank, int ranks) {
    const Permutation deal(ranks * shape.count, shape.seed);
    std::vector<std::int64_t> places;
    places.reserve(static_cast<std::size_t>(shape.count));
    for (std::int64_t i = 0; i < shape.count; ++i) {
        places.push_back(deal(rank * shape.count + i) * shape.slot());
    }
    std::sort(places.begin(), places.end());
    return {0, Listed{shape.piece,
                      std::make_shared<const std::vector<std::int64_t>>(std::move(places))}};
}

/// Blocks of the ranks before this one; rank r has r mod 3 more than rank 0
/// (docs/definitions/flash-io.md, The mesh).
std::int64_t blocks_before(const Shape& shape, std::int64_t rank) {
    return rank * shape.count + 3 * (rank / 3) + (rank % 3 == 2 ? 1 : 0);
}

Addresses blocks(const Shape& shape, int rank) {
    return {blocks_before(shape, rank) * shape.slot(),
            Strides{shape.piece, {{shape.count + rank % 3, shape.slot()}}}};
}

Error bad_levels(const std::string& text, const std::string& why) {
    return usage_error(fmt::format(
        "levels '{}': {}; expected SIZE*COUNT/STRIDE[,COUNT/STRIDE…], innermost first", text, why));
}

}  // namespace

Result<Strides> parse_levels(const std::string& text) {
    const auto star = text.find('*');
    const auto piece = parse_size(text.substr(0, star));
    if (!piece || piece->count < 1)
        return bad_levels(text, "it must start with the size of a piece");
    Strides strides{piece->count, {}};
    std::int64_t reach = piece->count;  // from the start of the first piece to the end of the last
    std::size_t at = star == std::string::npos ? text.size() : star + 1;
    if (star != std::string::npos && at == text.size()) return bad_levels(text, "a level is empty");
    while (at < text.size()) {
        const auto comma = std::min(text.find(',', at), text.size());
        const std::string level = text.substr(at, comma - at);
        const auto slash = level.find('/');
        const auto count = parse_integer(level.substr(0, slash));
        if (slash == std::string::npos || !count || *count < 1) {
            return bad_levels(text, fmt::format("'{}' is not a COUNT/STRIDE", level));
        }
        const auto stride = parse_size(level.substr(slash + 1));
        if (!stride)
            return bad_levels(text, fmt::format("'{}' is not a size", level.substr(slash + 1)));
        if (stride->count < reach) {
            return bad_levels(text, fmt::format("a stride of {} is less than the {} inside",
                                                format_exact(*stride), format_exact({reach})));
        }
        constexpr auto most = std::numeric_limits<std::int64_t>::max() / 4;
        if ((*count - 1) > (most - reach) / stride->count) {
            return bad_levels(text, "it reaches further than a file can");
        }
        strides.levels.push_back({*count, stride->count});
        reach += (*count - 1) * stride->count;
        at = comma + 1;
        if (comma + 1 == text.size()) return bad_levels(text, "a level is empty");
    }
    if (strides.levels.empty()) strides.levels.push_back({1, piece->count});
    return strides;
}

Addresses addresses_of(Spatial spatial, const Shape& shape, int rank, int ranks) {
    switch (spatial) {
        case Spatial::sequential:
            return {0, Strides{shape.piece, {{shape.count, shape.slot()}}}};
        case Spatial::segmented:
            return {rank * shape.count * shape.slot(),
                    Strides{shape.piece, {{shape.count, shape.slot()}}}};
        case Spatial::simple_strided:
            return strided(shape, rank, ranks);
        case Spatial::nested_strided:
            return nested(shape, rank, ranks);
        case Spatial::random_strided:
            // One order for all, so that the ranks stay side by side.
            return strided(shape, rank, ranks).in(Order::shuffled, shape.seed);
        case Spatial::tiled:
            return tile(shape, rank, ranks);
        case Spatial::unstructured_mesh:
            return vertices(shape, rank, ranks);
        case Spatial::flash_io:
            return blocks(shape, rank);
        case Spatial::own:
            break;
    }
    return {rank * shape.levels.rank_stride, shape.levels.strides};
}

std::int64_t pieces_in_all(Spatial spatial, const Shape& shape, int ranks) {
    if (spatial == Spatial::flash_io) return blocks_before(shape, ranks);
    return ranks * (spatial == Spatial::own ? shape.levels.strides.pieces() : shape.count);
}

std::int64_t file_bytes(Spatial spatial, const Shape& shape, int ranks) {
    if (spatial == Spatial::unstructured_mesh) {
        return ranks * shape.count * shape.slot() - shape.spacing;
    }
    // The last rank has the last piece.
    return addresses_of(spatial, shape, ranks - 1, ranks).end();
}

}  // namespace effio::pio
