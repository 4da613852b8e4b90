// SPDX-License-Identifier: BSD-3-Clause
// Where the pieces of each spatial pattern are (docs/definitions/pio.md, Patterns): pure
// arithmetic.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/addresses.hpp"
#include "core/options.hpp"
#include "core/units.hpp"

namespace effio::pio {

enum class Spatial {
    sequential,
    segmented,
    simple_strided,
    nested_strided,
    random_strided,
    tiled,
    unstructured_mesh,
    flash_io,
    own,  ///< by levels
};

inline const Words<Spatial>& spatial_words() {
    static const Words<Spatial> words{{"sequential", Spatial::sequential},
                                      {"segmented", Spatial::segmented},
                                      {"simple-strided", Spatial::simple_strided},
                                      {"nested-strided", Spatial::nested_strided},
                                      {"random-strided", Spatial::random_strided},
                                      {"tiled", Spatial::tiled},
                                      {"unstructured-mesh", Spatial::unstructured_mesh},
                                      {"flash-io", Spatial::flash_io},
                                      {"own", Spatial::own}};
    return words;
}
/// Vertices of a rank of an unstructured mesh, whose places are drawn and sorted before the calls.
inline constexpr std::int64_t most_vertices = std::int64_t{1} << 22;

/// A user's own pattern: nested strides, and how far the ranks are apart.
struct Levels {
    Strides strides;
    std::int64_t rank_stride = 0;
};
/// "64KiB*16/1MiB,8/32MiB": pieces of 64 KiB, 16 of them 1 MiB apart, 8 such groups 32 MiB apart.
/// The pieces of a rank may not overlap or go backwards.
Result<Strides> parse_levels(const std::string& text);

/// What a pattern needs to know.
struct Shape {
    std::int64_t piece = 1;    ///< bytes of a call
    std::int64_t count = 1;    ///< pieces of a rank; flash-io: of rank 0
    std::int64_t spacing = 0;  ///< unused bytes after each piece of the file
    std::int64_t inner = 1;    ///< nested-strided: pieces of a group; a divisor of `count`
    std::optional<std::int64_t> gap = {};  ///< nested-strided: bytes between groups
    std::uint64_t seed = 1;
    Levels levels = {};  ///< own

    std::int64_t slot() const { return piece + spacing; }
};

Addresses addresses_of(Spatial spatial, const Shape& shape, int rank, int ranks);
/// Pieces of all ranks.
std::int64_t pieces_in_all(Spatial spatial, const Shape& shape, int ranks);
/// Where the last byte of all ranks ends.
std::int64_t file_bytes(Spatial spatial, const Shape& shape, int ranks);

}  // namespace effio::pio
