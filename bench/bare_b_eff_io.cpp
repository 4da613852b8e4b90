// SPDX-License-Identifier: BSD-3-Clause
// b_eff_io's pattern types 0 to 2 without the engine (bare_rows.hpp). What effio-mpi delivers in
// the rows of the separated files is compared with it (bench/b_eff_io.py); the two types before
// them are done too, because the rate of a tmpfs depends on what memory they left.
//
//   bare_b_eff_io DIRECTORY SECONDS-PER-TIME-UNIT LMAX    one line a row: access row bytes/s
//   bare_b_eff_io                                         MPI_Init and MPI_Finalize only
#include <mpi.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <initializer_list>
#include <string>
#include <utility>
#include <vector>

#include "bare_rows.hpp"
#include "core/buffer.hpp"

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    if (argc != 4) {
        MPI_Finalize();
        return argc == 1 ? 0 : 2;
    }
    const double unit = std::strtod(argv[2], nullptr);
    const std::int64_t lmax = std::strtoll(argv[3], nullptr, 10);
    constexpr std::int64_t k1 = 1024;
    constexpr std::int64_t k32 = 32 * k1;
    constexpr std::int64_t m1 = 1024 * k1;
    std::vector<bare::Row> scatter{{0, m1, m1, 0},
                                   {1, lmax, lmax, 4},
                                   {2, m1, 2 * m1, 4},
                                   {3, m1, m1, 4},
                                   {4, k32, m1, 2},
                                   {5, k1, m1, 2},
                                   {6, k32 + 8, m1 + 256, 2},
                                   {7, k1 + 8, m1 + 8 * k1, 2},
                                   {8, m1 + 8, m1 + 8, 2}};
    const auto one_chunk_a_call = [&](int first, int units_of_lmax) {
        std::vector<bare::Row> rows;
        for (const auto& [chunk, units] :
             std::initializer_list<std::pair<std::int64_t, int>>{{m1, 0},
                                                                 {lmax, units_of_lmax},
                                                                 {m1, 2},
                                                                 {k32, 1},
                                                                 {k1, 1},
                                                                 {k32 + 8, 1},
                                                                 {k1 + 8, 1},
                                                                 {m1 + 8, 2}}) {
            rows.push_back({first + static_cast<int>(rows.size()), chunk, chunk, units});
        }
        return rows;
    };
    std::array<std::vector<bare::Row>, 3> types{scatter, one_chunk_a_call(9, 4),
                                                one_chunk_a_call(17, 2)};
    bare::Bench bench;
    MPI_Comm_rank(MPI_COMM_WORLD, &bench.rank);
    MPI_Comm_size(MPI_COMM_WORLD, &bench.ranks);
    // The engine's kind of memory: the kernel copies to and from whole pages faster, which is no
    // gain of a program's own.
    effio::Buffer out(static_cast<std::size_t>(lmax));
    effio::Buffer in(static_cast<std::size_t>(lmax));
    bench.out = {reinterpret_cast<double*>(out.bytes().data()), out.size() / sizeof(double)};
    bench.in = {reinterpret_cast<double*>(in.bytes().data()), in.size() / sizeof(double)};
    std::fill(bench.out.begin(), bench.out.end(), -2);
    std::fill(bench.in.begin(), bench.in.end(), -1);
    for (const bool writes : {true, false}) {
        const int mode =
            writes ? MPI_MODE_CREATE | MPI_MODE_RDWR : MPI_MODE_RDONLY | MPI_MODE_DELETE_ON_CLOSE;
        for (const auto type : {bare::Type::scatter, bare::Type::shared, bare::Type::separated}) {
            const bool own = type == bare::Type::separated;
            const std::string path = std::string(argv[1]) + "/bare_b_eff_io." +
                                     std::to_string(static_cast<int>(type)) + "." +
                                     std::to_string(own ? bench.rank : 0);
            if (MPI_File_open(own ? MPI_COMM_SELF : MPI_COMM_WORLD, path.c_str(),
                              mode | MPI_MODE_UNIQUE_OPEN, MPI_INFO_NULL,
                              &bench.file) != MPI_SUCCESS) {
                std::fprintf(stderr, "bare_b_eff_io: cannot open %s\n", path.c_str());
                MPI_Abort(MPI_COMM_WORLD, 3);
            }
            auto& rows = types.at(static_cast<std::size_t>(type));
            for (bare::Row& row : rows) {
                const bool first = &row == rows.data();
                const double seconds = bench.measure(type, row, first, writes, unit);
                const double bytes =
                    static_cast<double>(bench.ranks) * static_cast<double>(row.memory * row.calls);
                if (bench.rank == 0) {
                    std::printf("%s %d %.0f\n", writes ? "write" : "read", row.number,
                                bytes / seconds);
                }
            }
            MPI_File_close(&bench.file);
        }
    }
    if (bench.wrong > 0) std::fprintf(stderr, "bare_b_eff_io: %ld wrong\n", bench.wrong);
    MPI_Finalize();
    return bench.wrong > 0 ? 1 : 0;
}
