// SPDX-License-Identifier: BSD-3-Clause
// MPI-Tile-IO (docs/definitions/tile-io.md) on the frame for studies.
#pragma once

#include <array>
#include <memory>

#include "frame/benchmark.hpp"
#include "frame/study/study.hpp"

namespace effio::tile_io {

/// One dimension of the display.
struct Extent {
    std::int64_t tiles = 1;
    std::int64_t tile = 1;     ///< elements
    std::int64_t overlap = 0;  ///< elements that two neighbors share

    /// Elements of the dataset.
    std::int64_t length() const { return tiles * tile - (tiles - 1) * overlap; }
    std::int64_t origin(std::int64_t t) const { return t * (tile - overlap); }
};

/// Tiles of a dense array; one of each rank, the last dimension (x) fastest in ranks and file.
struct Geometry {
    std::vector<Extent> extents;  ///< slowest first: (z,) y, x
    std::int64_t element = 3;     ///< bytes
    std::int64_t header = 0;      ///< bytes before the array
    /// Each holds an equal share of the tiles of the slowest dimension, as a separate dataset.
    std::int64_t files = 1;

    std::int64_t tiles() const;
    /// Bytes of one file.
    std::int64_t file_bytes() const;
    /// What the rank moves: an element at (z, y, x) is at header + ((z Y + y) X + x) element.
    Addresses addresses(std::int64_t rank) const;
    /// Extents of one file's dataset.
    std::vector<Extent> file_extents() const;
};

struct Parameters : study::Options {
    Parameters() : Options("mpiio", Serves::blocks) {}

    std::array<std::optional<std::int64_t>, 3> tiles;  ///< x, y, z
    std::array<std::int64_t, 3> tile{1024, 1024, 1};
    std::array<std::int64_t, 3> overlap{0, 0, 0};
    std::vector<Bytes> elements{{3}};
    Bytes header;
    std::int64_t files = 1;
    std::vector<study::Calls> calls{study::Calls::independent};
    study::Through through = study::Through::view;
    std::optional<Bytes> coll_buffer;
    std::optional<Bytes> indep_buffer;
    std::string file = "tile_io";
    bool exact_name = false;  ///< the file's name is `file` and nothing more

    void declare(OptionTable& table);
    Status check();
    /// With a grid of all ranks where no tiles are given.
    Geometry geometry(int ranks, std::int64_t element) const;
};

Result<study::Definition> define(const Parameters& parameters, int ranks);

/// `view` sees the run; may be null.
std::unique_ptr<Benchmark> make_benchmark(std::unique_ptr<study::Observer> view = nullptr);

}  // namespace effio::tile_io
