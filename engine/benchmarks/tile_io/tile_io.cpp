// SPDX-License-Identifier: BSD-3-Clause
#include "benchmarks/tile_io/tile_io.hpp"

#include <fmt/format.h>

#include <utility>

namespace effio::tile_io {
namespace {

constexpr std::array<const char*, 3> letters{"x", "y", "z"};

class TileIo : public study::StudyBenchmark<Parameters> {
  public:
    explicit TileIo(std::unique_ptr<study::Observer> view) : StudyBenchmark(std::move(view)) {}

    std::string_view name() const override { return "tile-io"; }
    std::string_view purpose() const override {
        return "Tiles of a dense array, one a process, that may overlap (MPI-Tile-IO): each moved "
               "by one call through a view of the file";
    }
    std::string examples() const override {
        return "Examples:\n"
               "  mpiexec -n 6 effio-mpi tile-io --dir /scratch/me --nr-tiles-x 3 --nr-tiles-y 2 "
               "\\\n"
               "          --sz-tile-x 1024 --sz-tile-y 768 --overlap-x 270 --overlap-y 128\n"
               "      a display of 3 x 2 tiles with 24-bit pixels\n"
               "  mpiexec -n 128 effio-mpi tile-io --dir /scratch/me --sz-element 1B,32B,1KiB,4KiB "
               "\\\n"
               "          --sz-tile-x 256 --sz-tile-y 256 --calls independent,collective\n"
               "      the rate over the size of an element, with and without collective calls\n"
               "  mpiexec -n 8 effio-mpi tile-io --backend posix --by row\n"
               "      the same bytes by one system call a row";
    }

  protected:
    Result<study::Definition> define(int ranks) const override {
        return tile_io::define(parameters_, ranks);
    }
};

}  // namespace

std::int64_t Geometry::tiles() const {
    std::int64_t all = 1;
    for (const auto& e : extents) all *= e.tiles;
    return all;
}

std::vector<Extent> Geometry::file_extents() const {
    auto own = extents;
    own.front().tiles /= files;
    return own;
}

std::int64_t Geometry::file_bytes() const {
    std::int64_t bytes = element;
    for (const auto& e : file_extents()) bytes *= e.length();
    return header + bytes;
}

Addresses Geometry::addresses(std::int64_t rank) const {
    const auto own = file_extents();
    Box box;
    box.element = element;
    std::int64_t rest = rank % (tiles() / files);
    for (std::size_t d = own.size(); d-- > 0;) {
        box.sizes.insert(box.sizes.begin(), own[d].length());
        box.start.insert(box.start.begin(), own[d].origin(rest % own[d].tiles));
        box.count.insert(box.count.begin(), own[d].tile);
        rest /= own[d].tiles;
    }
    return {header, std::move(box)};
}

void Parameters::declare(OptionTable& table) {
    table.group("Benchmark");
    for (std::size_t d = 0; d < 3; ++d) {
        table
            .add(fmt::format("nr-tiles-{}", letters[d]), tiles[d],
                 fmt::format("tiles along {}{}", letters[d],
                             d == 2 ? "; makes the array three-dimensional" : ""))
            .range(1, 2147483647)
            .automatic(d == 2 ? "two dimensions" : "a grid of all ranks");
    }
    for (std::size_t d = 0; d < 3; ++d) {
        table
            .add(fmt::format("sz-tile-{}", letters[d]), tile[d],
                 fmt::format("elements of a tile along {}", letters[d]))
            .range(1, 2147483647);
    }
    table.add("sz-element", elements, "sizes of an element; each is measured").range(1, 1 << 30);
    for (std::size_t d = 0; d < 3; ++d) {
        table
            .add(fmt::format("overlap-{}", letters[d]), overlap[d],
                 fmt::format("elements that neighbors along {} share", letters[d]))
            .range(0, 2147483647);
    }
    table.add("header-bytes", header, "bytes before the array").range(0, 9e15);
    table
        .add("nr-files", files,
             "files that divide the tiles of the slowest dimension, each with its own dataset")
        .range(1, 2147483647);
    table.choice("calls", calls, study::calls_words(),
                 "each rank for itself, or all ranks of a file together");
    table.choice("by", through, {{"tile", study::Through::view}, {"row", study::Through::offsets}},
                 "one call for a tile, through a view of the file, or one for each of its rows");
    declare_phases(table);
    table.add("sz-coll-buf", coll_buffer, "buffer of collective calls (hint cb_buffer_size)")
        .range(1, 2147483647)
        .automatic("the library's");
    table
        .add("sz-indep-buf", indep_buffer,
             "buffer of independent calls (hints ind_rd_buffer_size, ind_wr_buffer_size)")
        .range(1, 2147483647)
        .automatic("the library's");
    table.add("file", file, "start of the files' names").metavar("NAME").expert();
    table.flag("exact-name", exact_name, "take --file as the complete name").expert();
    declare_common(table);
}

Status Parameters::check() {
    if (file.empty() || file.find('/') != std::string::npos) {
        return usage_error(
            "--file is the start of a file name and must not contain '/'; use --dir for the "
            "directory");
    }
    for (std::size_t d = 0; d < 3; ++d) {
        if (overlap[d] >= tile[d]) {
            return usage_error(fmt::format("--overlap-{}: {} is not less than the tile of {}",
                                           letters[d], overlap[d], tile[d]));
        }
    }
    Status rules = check_rules({
        {exact_name && (elements.size() > 1 || calls.size() > 1),
         "--exact-name: there is one file for each size of element and kind of "
         "call"},
        {storage.backend.name != "mpiio" && (coll_buffer || indep_buffer),
         "--sz-coll-buf and --sz-indep-buf are hints of --backend mpiio"},
    });
    if (!rules) return rules;
    return check_common();
}

Geometry Parameters::geometry(int ranks, std::int64_t element) const {
    Geometry g;
    const bool deep = tiles[2].has_value();
    const bool given = tiles[0] || tiles[1] || tiles[2];
    const auto grid = balanced_grid(given ? 1 : ranks, 2);
    // Slowest first.
    if (deep) g.extents.push_back({*tiles[2], tile[2], overlap[2]});
    g.extents.push_back({tiles[1].value_or(grid[0]), tile[1], overlap[1]});
    g.extents.push_back({tiles[0].value_or(grid[1]), tile[0], overlap[0]});
    g.element = element;
    g.header = header.count;
    g.files = files;
    return g;
}

Result<study::Definition> define(const Parameters& p, int ranks) {
    study::Definition study;
    study.name = "tile-io";
    const Geometry shape = p.geometry(ranks, 1);
    Status rules = check_rules({
        {shape.tiles() > ranks, fmt::format("{} need as many ranks; the run has {}",
                                            count_of(shape.tiles(), "tile"), ranks)},
        {shape.extents.front().tiles % p.files != 0,
         fmt::format("--nr-files: {} is not a divisor of the {} tiles along {}", p.files,
                     shape.extents.front().tiles, shape.extents.size() == 3 ? "z" : "y")},
    });
    if (!rules) return std::move(rules.error());
    for (const auto element : p.elements) {
        for (const auto way : p.calls) {
            const std::string& calls = word_of(study::calls_words(), way);
            const Geometry g = p.geometry(ranks, element.count);
            study::Cell cell;
            cell.pattern = shape.extents.size() == 3 ? "tile 3-D" : "tile";
            cell.axes = {study::size_axis("element", element.count),
                         study::word_axis("calls", calls)};
            cell.ranks = static_cast<int>(g.tiles());
            for (const auto& extent : g.extents)
                cell.layout.grid.push_back(static_cast<int>(extent.tiles));
            cell.file =
                p.exact_name ? p.file : fmt::format("{}_{}_{}", p.file, element.count, calls);
            cell.files = static_cast<int>(g.files);
            cell.file_bytes = g.file_bytes();
            cell.data = study::Pieces{.of_rank = [g](int rank) { return g.addresses(rank); },
                                      .through = p.through};
            cell.collective = way == study::Calls::collective;
            cell.sync = p.fsync;
            cell.counts = study::Counts::calls;
            if (p.coll_buffer) {
                cell.hints.set("cb_buffer_size", std::to_string(p.coll_buffer->count));
            }
            if (p.indep_buffer) {
                for (const auto* key : {"ind_rd_buffer_size", "ind_wr_buffer_size"}) {
                    cell.hints.set(key, std::to_string(p.indep_buffer->count));
                }
            }
            study.add(cell, p.phases);
        }
    }
    std::string tiles;
    std::string lengths;
    for (const auto& e : shape.extents) {
        tiles += (tiles.empty() ? "" : " x ") + std::to_string(e.tiles);
    }
    for (const auto& e : shape.file_extents()) {  // tiles of different files do not overlap
        lengths += (lengths.empty() ? "" : " x ") + std::to_string(e.length());
    }
    study.title = fmt::format("MPI-Tile-IO: {} tiles, {} with a dataset of {} elements{}", tiles,
                              count_of(p.files, "file"), lengths, p.files > 1 ? " each" : "");
    static const Fields<Extent> of_extent{
        {"tiles", Unit::count, "in this direction", &Extent::tiles},
        {"tile_elements", Unit::count, "of a tile", &Extent::tile},
        {"overlap_elements", Unit::count, "that two neighbors share", &Extent::overlap},
        {"dataset_elements", Unit::count, "of the dataset", &Extent::length}};
    study.facts = {{"extents", of_extent, "slowest direction first", shape.extents},
                   {"header_bytes", Unit::bytes, "--header", p.header.count},
                   {"files", Unit::count, "--files", p.files}};
    return study;
}

std::unique_ptr<Benchmark> make_benchmark(std::unique_ptr<study::Observer> view) {
    return std::make_unique<TileIo>(std::move(view));
}

}  // namespace effio::tile_io
