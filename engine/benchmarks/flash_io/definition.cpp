// SPDX-License-Identifier: BSD-3-Clause
#include "benchmarks/flash_io/definition.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "core/units.hpp"
#include "core/whole.hpp"

namespace effio::flash_io {
namespace {

/// Dimensions of the schema, in the order of the PnetCDF port.
enum Dimension : std::size_t { blocks, x, y, z, ids, space, two, one, names };

std::vector<ArrayDimension> dimensions_of(const Geometry& g, File file, int ranks) {
    const auto edge = [&](int d) { return file == File::corner ? g.corners(d) : g.extent(d); };
    return {{"dim_tot_blocks", g.first_block(ranks)},
            {"dim_nxb", edge(0)},
            {"dim_nyb", edge(1)},
            {"dim_nzb", edge(2)},
            {"dim_NGID", g.global_ids()},
            {"dim_NDIM", g.dimensions},
            {"dim_2", 2}};
}

class Builder {
  public:
    Builder(const Geometry& geometry, File file, Structure structure, int ranks)
        : geometry_(geometry), file_(file), hdf5_(structure == Structure::hdf5) {
        out_.file = file;
        out_.schema.dimensions = dimensions_of(geometry, file, ranks);
        out_.schema.shares = {blocks, ranks,
                              [geometry](int rank) { return geometry.first_block(rank); }};
    }

    FileDefinition build() {
        if (hdf5_) {
            header();
        } else {
            attributes();
        }
        tree();
        for (const int v : variables_of(file_)) {
            add({Field::unknown, v}, variable_name(v), variable_name(v), real_of(file_),
                {blocks, z, y, x});
        }
        return std::move(out_);
    }

  private:
    void add(FileDefinition::Content content, const std::string& netcdf, const std::string& hdf5,
             ArrayType type, std::vector<std::size_t> dimensions) {
        out_.schema.variables.push_back({hdf5_ ? hdf5 : netcdf, type, std::move(dimensions)});
        out_.contents.push_back(content);
    }

    void tree() {
        const ArrayType real = real_of(file_);
        add({Field::refine_level}, "lrefine", "refine level", ArrayType::int32, {blocks});
        add({Field::node_type}, "nodetype", "node type", ArrayType::int32, {blocks});
        add({Field::global_ids}, "gid", "gid", ArrayType::int32, {blocks, ids});
        add({Field::coordinates}, "coordinates", "coordinates", real, {blocks, space});
        add({Field::block_size}, "blocksize", "block size", real, {blocks, space});
        add({Field::bounds}, "bndbox", "bounding box", real, {blocks, space, two});
    }

    void attributes() {
        auto& list = out_.schema.attributes;
        const auto whole = [](std::int64_t value) { return static_cast<std::int32_t>(value); };
        list = {{"file_creation_time", std::string(creation_time)},
                {"flash_version", std::string(version_text)},
                {"total_blocks", whole(out_.schema.dimensions[blocks].length)},
                {"nsteps", 0},
                {"nxb", whole(geometry_.points(file_, 0))},
                {"nyb", whole(geometry_.points(file_, 1))},
                {"nzb", whole(geometry_.points(file_, 2))},
                {"time", 0.0}};
    }

    void header() {
        const auto count = static_cast<std::int64_t>(variables_of(file_).size());
        out_.schema.dimensions.push_back({"one", 1});
        out_.schema.dimensions.push_back({"names", count});
        auto& list = out_.schema.variables;
        list.push_back({"file creation time", ArrayType::text, {one}, 40});
        list.push_back({"FLASH version", ArrayType::text, {one}, 20});
        const ArrayType real = real_of(file_);
        list.push_back({"simulation parameters",
                        ArrayType::int32,
                        {one},
                        1,
                        {{"total blocks", ArrayType::int32},
                         {"time", real},
                         {"timestep", real},
                         {"number of steps", ArrayType::int32},
                         {"nxb", ArrayType::int32},
                         {"nyb", ArrayType::int32},
                         {"nzb", ArrayType::int32}}});
        list.push_back({"unknown names", ArrayType::text, {names, one}, 4});
        out_.contents = {
            {Field::creation_time}, {Field::version}, {Field::simulation}, {Field::unknown_names}};
    }

    const Geometry& geometry_;
    File file_;
    bool hdf5_;
    FileDefinition out_;
};

}  // namespace

Status check_size(const Geometry& g, int ranks, std::int64_t dumps) {
    if (const auto blocks = g.first_block(ranks); blocks > std::numeric_limits<int>::max()) {
        return usage_error(fmt::format("{} blocks of {} are more than the files can count (2^31)",
                                       blocks, count_of(ranks, "rank")));
    }
    // Two plot files have at most as much as the checkpoint together, and the tree is less than a
    // variable.
    constexpr std::int64_t most_values = std::int64_t{3} * (variable_count + 1);
    if (product_of({g.first_block(ranks) + 2, g.corners(0), g.corners(1), g.corners(2), 8,
                    most_values, dumps})) {
        return {};
    }
    return usage_error(
        fmt::format("the dumps of {} would be larger than 8 EiB", count_of(ranks, "rank")));
}

std::string_view name(File file) {
    switch (file) {
        case File::checkpoint:
            return "checkpoint";
        case File::centred:
            return "plot-centred";
        case File::corner:
            break;
    }
    return "plot-corner";
}

std::vector<int> variables_of(File file) {
    // Density, temperature, pressure and the first species.
    if (file != File::checkpoint) return {0, 6, 4, 11};
    std::vector<int> all(variable_count);
    for (int v = 0; v < variable_count; ++v) all[static_cast<std::size_t>(v)] = v;
    return all;
}

std::string variable_name(int variable) {
    static constexpr std::array<std::string_view, 11> hydrodynamic{
        "dens", "velx", "vely", "velz", "pres", "ener", "temp", "gamc", "game", "enuc", "gpot"};
    const auto v = static_cast<std::size_t>(variable);
    if (v < hydrodynamic.size()) return std::string(hydrodynamic[v]);
    return fmt::format("{:_<4}", fmt::format("f{}", v - hydrodynamic.size() + 1));
}

FileDefinition define(const Geometry& geometry, File file, Structure structure, int ranks) {
    return Builder(geometry, file, structure, ranks).build();
}

std::string file_name(const std::string& prefix, std::string_view backend, File file, int number) {
    static constexpr std::array<std::string_view, 3> kinds{"chk", "plt_cnt", "plt_crn"};
    const bool ncmpi = backend == "pnetcdf";
    return fmt::format("{}{}_{}_{:04d}{}", prefix, ncmpi ? "ncmpi" : backend, kinds[index(file)],
                       number, ncmpi ? ".nc" : "");
}

std::int64_t cdf5_header_bytes(const ArraySchema& schema) {
    constexpr std::int64_t count = 8;  // numbers of elements, lengths and offsets
    constexpr std::int64_t tag = 4;
    const auto padded = [](std::size_t bytes) {
        return static_cast<std::int64_t>((bytes + 3) / 4 * 4);
    };
    const auto named = [&](const std::string& text) { return count + padded(text.size()); };
    std::int64_t bytes = tag + count;  // magic, number of records
    bytes += tag + count;
    for (const auto& d : schema.dimensions) bytes += named(d.name) + count;
    bytes += tag + count;
    for (const auto& a : schema.attributes) {
        bytes += named(a.name) + tag + count;
        if (const auto* text = std::get_if<std::string>(&a.value); text != nullptr) {
            bytes += padded(text->size());
        } else {
            bytes += std::holds_alternative<double>(a.value) ? 8 : 4;
        }
    }
    bytes += tag + count;
    for (const auto& v : schema.variables) {
        const auto dimensions = static_cast<std::int64_t>(v.dimensions.size());
        // Name, dimensions, no attributes, type, size, begin.
        bytes += named(v.name) + count + count * dimensions + tag + count + tag + count + count;
    }
    return bytes;
}

}  // namespace effio::flash_io
