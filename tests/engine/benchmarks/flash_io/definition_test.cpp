// SPDX-License-Identifier: BSD-3-Clause
// Structure, sizes and contents of FLASH I/O's files. Numbers from docs/definitions/flash-io.md, or
// counted manually.
#include "benchmarks/flash_io/definition.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <set>
#include <vector>

#include "benchmarks/flash_io/mesh.hpp"
#include "benchmarks/flash_io/plan.hpp"

namespace effio::flash_io {
namespace {

Geometry edge(std::int64_t cells) {
    Geometry g;
    g.cells = cells;
    return g;
}

TEST(FlashIo, ranks_hold_80_81_and_82_blocks) {
    const Geometry g;
    EXPECT_EQ(g.blocks_of(0), 80);
    EXPECT_EQ(g.blocks_of(1), 81);
    EXPECT_EQ(g.blocks_of(2), 82);
    EXPECT_EQ(g.blocks_of(3), 80);
    std::int64_t sum = 0;
    for (int rank = 0; rank < 10; ++rank) {
        EXPECT_EQ(g.first_block(rank), sum);
        sum += g.blocks_of(rank);
    }
    EXPECT_EQ(g.first_block(4), 323);
    EXPECT_EQ(g.first_block(64), 5183);
    EXPECT_EQ(g.first_block(512), 41471);
}

TEST(FlashIo, files_are_as_large_as_those_of_the_originals) {
    struct Row {
        int ranks;
        std::int64_t cells;
        double mib[3];
    };
    for (const Row& row :
         {Row{64, 16, {3888.06, 324.51, 389.13}}, Row{64, 8, {486.72, 41.07, 58.23}},
          Row{4, 16, {242.30, 20.22, 24.25}}, Row{4, 8, {30.33, 2.56, 3.63}},
          Row{512, 16, {31109.74, 2596.53, 3113.52}}}) {
        for (const File file : all_files) {
            const auto d = define(edge(row.cells), file, Structure::netcdf, row.ranks);
            const double bytes =
                static_cast<double>(d.schema.bytes() + cdf5_header_bytes(d.schema));
            EXPECT_NEAR(bytes / 1048576, row.mib[index(file)], 0.005)
                << row.ranks << " " << row.cells << " " << name(file);
        }
    }
}

TEST(FlashIo, the_netcdf_header_is_as_long_as_pnetcdf_writes_it) {
    EXPECT_EQ(cdf5_header_bytes(define(edge(8), File::checkpoint, Structure::netcdf, 4).schema),
              2968);
    EXPECT_EQ(cdf5_header_bytes(define(edge(8), File::centred, Structure::netcdf, 4).schema), 1288);
    EXPECT_EQ(cdf5_header_bytes(define(edge(8), File::corner, Structure::netcdf, 4).schema), 1288);
}

std::vector<std::int32_t> points_in_header(const Geometry& g, File file) {
    std::vector<std::int32_t> points;
    const auto d = define(g, file, Structure::netcdf, 4);
    for (const char* name : {"nxb", "nyb", "nzb"}) {
        for (const auto& attribute : d.schema.attributes) {
            if (attribute.name == name) points.push_back(std::get<std::int32_t>(attribute.value));
        }
    }
    // The record of the HDF5 structure ends with the same three.
    const auto hdf5 = define(g, file, Structure::hdf5, 4);
    const auto bytes = header_bytes(hdf5, 2, g);
    std::array<std::int32_t, 3> last{};
    std::memcpy(last.data(), &bytes[bytes.size() - sizeof(last)], sizeof(last));
    EXPECT_EQ(std::vector<std::int32_t>(last.begin(), last.end()), points);
    return points;
}

TEST(FlashIo, a_header_shows_the_points_of_a_block_in_its_file) {
    using Points = std::vector<std::int32_t>;
    EXPECT_EQ(points_in_header(edge(8), File::checkpoint), (Points{8, 8, 8}));
    EXPECT_EQ(points_in_header(edge(8), File::centred), (Points{8, 8, 8}));
    EXPECT_EQ(points_in_header(edge(8), File::corner), (Points{9, 9, 9}));
    Geometry flat = edge(8);
    flat.dimensions = 2;
    EXPECT_EQ(points_in_header(flat, File::corner), (Points{9, 9, 1}));
}

TEST(FlashIo, variables_have_the_names_and_the_order_of_the_original) {
    const auto d = define(edge(8), File::checkpoint, Structure::netcdf, 4);
    std::string names;
    for (const auto& v : d.schema.variables) names += v.name + " ";
    EXPECT_EQ(
        names,
        "lrefine nodetype gid coordinates blocksize bndbox dens velx vely velz pres ener temp "
        "gamc game enuc gpot f1__ f2__ f3__ f4__ f5__ f6__ f7__ f8__ f9__ f10_ f11_ f12_ f13_ ");
    EXPECT_EQ(d.schema.shape(2), (std::vector<std::int64_t>{323, 15}));
    EXPECT_EQ(d.schema.shape(5), (std::vector<std::int64_t>{323, 3, 2}));
    EXPECT_EQ(d.schema.shape(6), (std::vector<std::int64_t>{323, 8, 8, 8}));
    const auto plot = define(edge(8), File::corner, Structure::netcdf, 4);
    names.clear();
    for (std::size_t v = 6; v < plot.schema.variables.size(); ++v) {
        names += plot.schema.variables[v].name + " ";
    }
    EXPECT_EQ(names, "dens temp pres f1__ ");
    EXPECT_EQ(plot.schema.shape(6), (std::vector<std::int64_t>{323, 9, 9, 9}));
    EXPECT_EQ(plot.schema.variables[6].type, ArrayType::real32);
}

TEST(FlashIo, the_hdf5_structure_has_a_record_and_texts) {
    const auto d = define(edge(8), File::checkpoint, Structure::hdf5, 4);
    EXPECT_TRUE(d.schema.attributes.empty());
    ASSERT_EQ(d.schema.variables.size(), 4U + 6 + 24);
    EXPECT_EQ(d.schema.variables[0].text_length, 40);
    EXPECT_EQ(d.schema.variables[2].element_bytes(), 4 + 8 + 8 + 4 * 4);
    EXPECT_EQ(header_bytes(d, 2, edge(8)).size(), 36U);
    EXPECT_EQ(d.schema.shape(3), (std::vector<std::int64_t>{24, 1}));
    EXPECT_EQ(header_bytes(d, 3, edge(8)).size(), 96U);
    EXPECT_EQ(d.schema.variables[4].name, "refine level");
    EXPECT_EQ(d.schema.bytes(), 323 * (24 * 8 * 512 + 164) + 40 + 20 + 36 + 96);
    const auto plot = define(edge(8), File::centred, Structure::hdf5, 4);
    EXPECT_EQ(plot.schema.variables[2].element_bytes(), 4 + 4 + 4 + 4 * 4);
}

TEST(FlashIo, meshes_of_one_and_two_dimensions_are_flat) {
    Geometry g = edge(8);
    g.dimensions = 2;
    EXPECT_EQ(g.global_ids(), 9);
    EXPECT_EQ(define(g, File::corner, Structure::netcdf, 1).schema.shape(6),
              (std::vector<std::int64_t>{80, 1, 9, 9}));
    EXPECT_EQ(g.cells_with_guards(), 16 * 16);
    g.dimensions = 1;
    EXPECT_EQ(g.global_ids(), 5);
    EXPECT_EQ(define(g, File::checkpoint, Structure::netcdf, 1).schema.shape(3),
              (std::vector<std::int64_t>{80, 1}));
}

TEST(FlashIo, names_of_files) {
    EXPECT_EQ(file_name("run_", "pnetcdf", File::checkpoint, 0), "run_ncmpi_chk_0000.nc");
    EXPECT_EQ(file_name("run_", "hdf5", File::centred, 12), "run_hdf5_plt_cnt_0012");
    EXPECT_EQ(file_name("", "mpiio", File::corner, 3), "mpiio_plt_crn_0003");
}

/// Two blocks from number 7 on, edge 3, in each number of dimensions.
class FlashMesh : public testing::TestWithParam<int> {
  protected:
    FlashMesh() {
        geometry_.dimensions = GetParam();
        geometry_.cells = 3;
        geometry_.guards = 2;
    }
    template <class T>
    std::vector<std::byte> as_file(const std::vector<T>& values) {
        const auto bytes = std::as_bytes(std::span(values));
        return {bytes.begin(), bytes.end()};
    }
    Geometry geometry_;
};

TEST_P(FlashMesh, constant_fill_is_the_originals) {
    Mesh mesh(geometry_, 7, 2);
    mesh.fill(Values(geometry_, Fill::constant, 0));
    std::vector<double> packed(static_cast<std::size_t>(mesh.elements(File::checkpoint)));
    mesh.pack(6, std::span(packed));
    EXPECT_EQ(packed, std::vector<double>(packed.size(), 7.0));
    std::vector<float> corners(static_cast<std::size_t>(mesh.elements(File::corner)));
    mesh.interpolate(11, corners);
    EXPECT_EQ(corners, std::vector<float>(corners.size(), 12.0F));
    EXPECT_EQ(mesh.global_ids(), std::vector<std::int32_t>(mesh.global_ids().size(), -1));
    EXPECT_EQ(mesh.real(Field::coordinates).front(), 0.25);
    EXPECT_EQ(mesh.real(Field::block_size).front(), 0.5);
    EXPECT_EQ(mesh.real(Field::bounds).front(), 0);
    EXPECT_EQ(mesh.whole(Field::refine_level).front(), 1);
}

/// Different numbers among 64 neighbors in the file: 512 bytes.
std::set<std::size_t> different_in_a_sector(const std::vector<double>& packed) {
    std::set<std::size_t> counts;
    for (std::size_t at = 0; at < packed.size(); at += 64) {
        counts.insert(std::set<double>(packed.begin() + static_cast<std::ptrdiff_t>(at),
                                       packed.begin() + static_cast<std::ptrdiff_t>(at) + 64)
                          .size());
    }
    return counts;
}

TEST(FlashData, random_values_have_the_shape_that_was_requested) {
    const Geometry geometry{3, 8, 4, 80};
    const auto packed_of = [&](const DataShape& shape, std::int64_t block) {
        Mesh mesh(geometry, block, 1);
        mesh.fill(Values(geometry, Fill::random, 1, shape));
        std::vector<double> packed(512);
        mesh.pack(2, std::span(packed));
        return packed;
    };
    const auto plain = packed_of({}, 6);
    EXPECT_EQ(std::set<double>(plain.begin(), plain.end()).size(), 512U);
    for (const double value : plain) {
        EXPECT_GE(value, 1);
        EXPECT_LT(value, 2);
    }
    // Half of each 512 bytes is one repeated number.
    EXPECT_EQ(different_in_a_sector(packed_of({2, 1}, 6)), (std::set<std::size_t>{33}));
    EXPECT_EQ(different_in_a_sector(packed_of({64, 1}, 6)), (std::set<std::size_t>{2}));
    EXPECT_EQ(packed_of({1, 2}, 6), packed_of({1, 2}, 7));
    EXPECT_NE(packed_of({1, 2}, 6), packed_of({1, 2}, 8));
    EXPECT_NE(plain, packed_of({}, 7));
}

TEST_P(FlashMesh, indexed_data_pass_their_check_and_misplaced_blocks_do_not) {
    const Values values(geometry_, Fill::index, 3);
    Mesh mesh(geometry_, 7, 2);
    mesh.fill(values);
    for (const File file : all_files) {
        const auto d = define(geometry_, file, Structure::netcdf, 1);
        for (std::size_t v = 0; v < d.contents.size(); ++v) {
            if (d.contents[v].field != Field::unknown) continue;
            const int unknown = d.contents[v].variable;
            const auto elements = static_cast<std::size_t>(mesh.elements(file));
            std::vector<std::byte> bytes;
            if (file == File::checkpoint) {
                std::vector<double> packed(elements);
                mesh.pack(unknown, std::span(packed));
                bytes = as_file(packed);
            } else {
                std::vector<float> packed(elements);
                if (file == File::centred) {
                    mesh.pack(unknown, std::span(packed));
                } else {
                    mesh.interpolate(unknown, packed);
                }
                bytes = as_file(packed);
            }
            EXPECT_FALSE(check(d, v, geometry_, values, 7, bytes));
            // As block 8, as another dump, as another variable, and with two blocks exchanged.
            const auto shifted = check(d, v, geometry_, values, 8, bytes);
            ASSERT_TRUE(shifted);
            EXPECT_GT(shifted->elements, static_cast<std::int64_t>(elements * 9 / 10));
            EXPECT_TRUE(check(d, v, geometry_, Values(geometry_, Fill::index, 4), 7, bytes));
            const std::size_t other = v + 1 < d.contents.size() ? v + 1 : v - 1;
            EXPECT_TRUE(check(d, other, geometry_, values, 7, bytes));
            std::rotate(bytes.begin(),
                        bytes.begin() + static_cast<std::ptrdiff_t>(bytes.size() / 2), bytes.end());
            EXPECT_TRUE(check(d, v, geometry_, values, 7, bytes));
        }
    }
}

TEST_P(FlashMesh, one_wrong_element_is_named) {
    const Values values(geometry_, Fill::constant, 0);
    const auto d = define(geometry_, File::checkpoint, Structure::netcdf, 1);
    std::vector<double> dens(static_cast<std::size_t>(2 * geometry_.cells_of_block()), 1.0);
    dens[static_cast<std::size_t>(geometry_.cells_of_block()) + 2] = 5;
    const auto wrong = check(d, 6, geometry_, values, 7, std::as_bytes(std::span(dens)));
    ASSERT_TRUE(wrong);
    EXPECT_EQ(wrong->elements, 1);
    EXPECT_EQ(wrong->first, "variable dens, block 8, element 2: expected 1, found 5");
}

TEST_P(FlashMesh, local_numbers_of_blocks_become_global_ones) {
    Mesh mesh(geometry_, 7, 2);
    mesh.fill(Values(geometry_, Fill::index, 0));
    const auto ids = mesh.global_ids();
    const auto each = static_cast<std::size_t>(geometry_.global_ids());
    EXPECT_EQ(ids[0], 8);  // block 7 counts from one
    EXPECT_EQ(ids[1], -1);
    EXPECT_EQ(ids[each], 9);
}

TEST_P(FlashMesh, the_interior_in_memory_is_what_packing_takes) {
    Mesh mesh(geometry_, 7, 2);
    mesh.fill(Values(geometry_, Fill::index, 0));
    const Box box = mesh.interior(4);
    std::vector<double> packed(static_cast<std::size_t>(mesh.elements(File::checkpoint)));
    mesh.pack(4, std::span(packed));
    ASSERT_EQ(box.bytes(), static_cast<std::int64_t>(packed.size() * 8));
    for (std::size_t i = 0; i < packed.size(); ++i) {
        const auto at = static_cast<std::size_t>(box.place(static_cast<std::int64_t>(i) * 8) / 8);
        ASSERT_EQ(mesh.unknowns()[at], packed[i]) << i;
    }
}

INSTANTIATE_TEST_SUITE_P(Dimensions, FlashMesh, testing::Values(1, 2, 3));

TEST(FlashIoPlan, a_hundred_thousand_ranks_at_once) {
    Parameters p;
    p.cells = 16;
    p.storage.backend.name = "pnetcdf";
    PlanInput input;
    input.ranks = 100000;
    const auto plan = make_plan(p, input);
    ASSERT_TRUE(plan);
    EXPECT_EQ((*plan)["total_blocks"], 100000 * 80 + 99999);
    input.ranks = 64;
    p.read = ReadBack::checkpoint;
    p.dumps = 2;
    const auto small = make_plan(p, input);
    EXPECT_EQ((*small)["dump_bytes"], 4825233420);
    EXPECT_EQ((*small)["bytes_on_storage"], 2 * 4825233420);
    EXPECT_EQ((*small)["bytes_read"], 4076930036);
}

TEST(FlashIoPlan, sizes_beyond_64_bits_are_refused) {
    Geometry g;
    EXPECT_TRUE(check_size(g, 1'000'000, 1));
    EXPECT_FALSE(check_size(g, 2147483647, 1)) << "the blocks are 32-bit numbers in the file";
    g.blocks = 1'000'000;
    EXPECT_TRUE(check_size(g, 2000, 1));
    EXPECT_FALSE(check_size(g, 2148, 1)) << "2148 million are more than 2^31 - 1";
    g.blocks = 1000;
    g.cells = 1024;  // 2^30 cells of 75 values of 8 bytes at most: 2^39 a block
    EXPECT_TRUE(check_size(g, 1000, 1));
    EXPECT_FALSE(check_size(g, 1000, 9999));
}

}  // namespace
}  // namespace effio::flash_io
