// SPDX-License-Identifier: BSD-3-Clause
// What FLASH I/O writes: blocks, variables, files and their sizes (docs/definitions/flash-io.md).
// Pure arithmetic; nothing here grows with the number of ranks.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "storage/array_schema.hpp"

namespace effio::flash_io {

/// Hydrodynamic variables and 13 species.
inline constexpr int variable_count = 24;

/// The three files, in the order in which they are written.
enum class File : char { checkpoint, centred, corner };
inline constexpr std::array<File, 3> all_files{File::checkpoint, File::centred, File::corner};

/// The blocks of a mesh. A block has `cells` along each of its `dimensions` edges, and guard cells
/// around them in memory only.
struct Geometry {
    int dimensions = 3;
    std::int64_t cells = 8;
    std::int64_t guards = 4;
    std::int64_t blocks = 80;  ///< of rank 0; ranks have 0, 1 or 2 more

    /// The deliberate imbalance: `blocks` + rank mod 3.
    std::int64_t blocks_of(int rank) const { return blocks + rank % 3; }
    /// Blocks of all ranks below; of all together for rank = number of ranks.
    std::int64_t first_block(std::int64_t rank) const {
        return rank * blocks + 3 * (rank / 3) + (rank % 3 == 2 ? 1 : 0);
    }
    /// Cells along an edge; 1 for the dimensions beyond. 0 = x, 1 = y, 2 = z.
    std::int64_t extent(int d) const { return d < dimensions ? cells : 1; }
    std::int64_t guards_along(int d) const { return d < dimensions ? guards : 0; }
    std::int64_t extent_with_guards(int d) const { return extent(d) + 2 * guards_along(d); }
    std::int64_t corners(int d) const { return d < dimensions ? cells + 1 : 1; }
    std::int64_t cells_of_block() const { return extent(0) * extent(1) * extent(2); }
    std::int64_t cells_with_guards() const {
        return extent_with_guards(0) * extent_with_guards(1) * extent_with_guards(2);
    }
    /// Points of a block along an edge in a file: its cells, or its corners.
    std::int64_t points(File file, int d) const {
        return file == File::corner ? corners(d) : extent(d);
    }
    std::int64_t corners_of_block() const { return corners(0) * corners(1) * corners(2); }
    int faces() const { return 2 * dimensions; }
    int children() const { return 1 << dimensions; }
    /// Neighbors at the faces, the parent, the children.
    int global_ids() const { return faces() + 1 + children(); }
};

constexpr std::size_t index(File file) {
    return static_cast<std::size_t>(file);
}
/// "checkpoint", "plot-centred", "plot-corner"
std::string_view name(File file);
/// Plot files are in single precision.
constexpr ArrayType real_of(File file) {
    return file == File::checkpoint ? ArrayType::real64 : ArrayType::real32;
}
/// Numbers of the variables that a file holds, in its order.
std::vector<int> variables_of(File file);
/// Four characters: "dens", …, "f13_".
std::string variable_name(int variable);

/// Two programs wrote FLASH I/O's files; they differ in the names and in what is next to the
/// blocks.
enum class Structure : char {
    netcdf,  ///< of the PnetCDF port: attributes
    hdf5,    ///< of the HDF5 original: datasets of text and of a record
};

/// What a variable of a file holds.
enum class Field : char {
    creation_time,
    version,
    simulation,
    unknown_names,
    refine_level,
    node_type,
    global_ids,
    coordinates,
    block_size,
    bounds,
    unknown,
};
/// Fields that belong to the file and are written by rank 0.
constexpr bool is_header(Field field) {
    return field <= Field::unknown_names;
}

struct FileDefinition {
    struct Content {
        Field field;
        int variable = -1;  ///< of an unknown
    };
    File file = File::checkpoint;
    ArraySchema schema;
    std::vector<Content> contents;  ///< of each variable of the schema
};
FileDefinition define(const Geometry& geometry, File file, Structure structure, int ranks);

/// Whether `dumps` of all files can be counted in 64 bits, and their blocks in the 32 bits that the
/// files have for them.
Status check_size(const Geometry& geometry, int ranks, std::int64_t dumps);

/// The name of a file: "<prefix><library>_<kind>_<number><suffix>"; PnetCDF's library is "ncmpi",
/// and its suffix ".nc".
std::string file_name(const std::string& prefix, std::string_view backend, File file, int number);

/// Bytes of the header that a CDF-5 file of this schema begins with (CDF-5 file format
/// specification): 2968 for the checkpoint, 1288 for the plot files. PnetCDF before 1.14 leaves
/// space up to the next multiple of 512.
std::int64_t cdf5_header_bytes(const ArraySchema& schema);

/// Texts and numbers of the header; the same in each file of a run.
inline constexpr std::string_view creation_time = "now";
inline constexpr std::string_view version_text = "FLASH I/O benchmark using Pnetcdf";

}  // namespace effio::flash_io
