// SPDX-License-Identifier: BSD-3-Clause
// b_eff_io's pattern types 0 to 2 without the engine: the definition's calls, clock readings,
// stamps, checks, barriers and votes, and nothing else. What effio-mpi delivers in the rows of the
// separated files is compared with it (bench/b_eff_io.py); the two types before them are done too,
// because the rate of a tmpfs depends on what memory they left.
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
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "core/buffer.hpp"

namespace {

/// Row `number` of the definition's table; `memory` holds the chunks of one call.
struct Row {
    int number;
    std::int64_t chunk;
    std::int64_t memory;
    int units;
    std::int64_t calls = 0;  ///< as the write made them
};

enum class Type { scatter, shared, separated };

/// The definition's stamp at the first double of the chunk at double `i`; the last one has 5 more.
double first_mark(const Row& row, std::int64_t call, std::int64_t i) {
    return 1e7 * static_cast<double>(call) + 1000 * static_cast<double>(i) + 10 * row.number + 1;
}

struct Bench {
    int rank = 0;
    int ranks = 1;
    MPI_File file = MPI_FILE_NULL;
    std::span<double> out;
    std::span<double> in;
    std::int64_t before = 0;  ///< bytes of this rank in the file
    double scheduled = 0;     ///< of the rows so far
    double measured = 0;
    long wrong = 0;

    void set_view(Type type, const Row& row) {
        char native[] = "native";
        if (type != Type::scatter) {
            MPI_File_set_view(file, 0, MPI_DOUBLE, MPI_DOUBLE, native, MPI_INFO_NULL);
            return;
        }
        const std::array<int, 2> sizes{ranks, static_cast<int>(row.chunk / 8)};
        const std::array<int, 2> how{MPI_DISTRIBUTE_BLOCK, MPI_DISTRIBUTE_NONE};
        const std::array<int, 2> args{MPI_DISTRIBUTE_DFLT_DARG, MPI_DISTRIBUTE_DFLT_DARG};
        const std::array<int, 2> grid{ranks, 1};
        MPI_Datatype dealt = MPI_DATATYPE_NULL;
        MPI_Type_create_darray(ranks, rank, 2, sizes.data(), how.data(), args.data(), grid.data(),
                               MPI_ORDER_C, MPI_DOUBLE, &dealt);
        MPI_Type_commit(&dealt);
        MPI_File_set_view(file, ranks * before, MPI_DOUBLE, dealt, native, MPI_INFO_NULL);
        MPI_Type_free(&dealt);
    }

    void write(Type type, int count) {
        MPI_Status status;
        if (type == Type::scatter) {
            MPI_File_write_all(file, out.data(), count, MPI_DOUBLE, &status);
        } else if (type == Type::shared) {
            MPI_File_write_ordered(file, out.data(), count, MPI_DOUBLE, &status);
        } else {
            MPI_File_write(file, out.data(), count, MPI_DOUBLE, &status);
        }
        expect(status, count);
    }

    void read(Type type, int count) {
        MPI_Status status;
        if (type == Type::scatter) {
            MPI_File_read_all(file, in.data(), count, MPI_DOUBLE, &status);
        } else if (type == Type::shared) {
            MPI_File_read_ordered(file, in.data(), count, MPI_DOUBLE, &status);
        } else {
            MPI_File_read(file, in.data(), count, MPI_DOUBLE, &status);
        }
        expect(status, count);
    }

    void expect(MPI_Status& status, int count) {
        int moved = 0;
        MPI_Get_count(&status, MPI_DOUBLE, &moved);
        if (moved != count) ++wrong;
    }

    void one_call(Type type, const Row& row, bool writes) {
        const auto doubles = static_cast<std::size_t>(row.memory / 8);
        const auto step = static_cast<std::size_t>(row.chunk / 8);
        if (!writes) read(type, static_cast<int>(doubles));
        for (std::size_t i = 0; i < doubles; i += step) {
            const double mark = first_mark(row, row_call, static_cast<std::int64_t>(i));
            if (writes) {
                out[i] = mark;
                out[i + step - 1] = mark + 5;
            } else if (in[i] != mark || in[i + step - 1] != mark + 5) {
                ++wrong;
            }
        }
        if (writes) write(type, static_cast<int>(doubles));
        ++row_call;
    }

    /// Whether the root has all go on.
    bool vote(double start, double budget, double after) {
        MPI_Barrier(MPI_COMM_WORLD);
        const double voted = MPI_Wtime();
        barrier += voted - after;
        const auto calls = static_cast<double>(row_call);
        char go_on = (voted - start) * (calls + 1) / calls <= budget ? 1 : 0;
        MPI_Bcast(&go_on, 1, MPI_CHAR, 0, MPI_COMM_WORLD);
        begin = MPI_Wtime();
        broadcast += begin - voted;
        return go_on != 0;
    }

    /// Seconds of the row; where it writes, `row.calls` is set.
    double measure(Type type, Row& row, bool writes, double unit) {
        double budget = unit * row.units;
        if (writes && scheduled > 0 && measured > scheduled) {
            budget /= 0.5 * (1 + measured / scheduled);
        }
        const bool first = row.number == 0 || row.number == 9 || row.number == 17;
        double last = 0;
        barrier = broadcast = 0;
        row_call = 0;
        if (first) before = 0;
        MPI_Barrier(MPI_COMM_WORLD);
        const double start = MPI_Wtime();
        if (first || type == Type::scatter) set_view(type, row);
        begin = MPI_Wtime();
        if (writes) {
            while (true) {
                one_call(type, row, writes);
                const double after = MPI_Wtime();
                last = after - begin;
                if (!vote(start, budget, after)) break;
            }
            MPI_Barrier(MPI_COMM_WORLD);
            MPI_File_sync(file);
        } else {
            while (row_call < row.calls) one_call(type, row, writes);
        }
        MPI_Barrier(MPI_COMM_WORLD);
        const double total = MPI_Wtime() - start;
        row.calls = row_call;
        before += row.memory * row.calls;
        measured += total;
        scheduled += unit * row.units;
        // The parts are reported by the engine too; here they only must not be optimized away.
        if (barrier + broadcast + last < 0) ++wrong;
        return total;
    }

    std::int64_t row_call = 0;
    double begin = 0;
    double barrier = 0;
    double broadcast = 0;
};

}  // namespace

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
    std::vector<Row> scatter{{0, m1, m1, 0},
                             {1, lmax, lmax, 4},
                             {2, m1, 2 * m1, 4},
                             {3, m1, m1, 4},
                             {4, k32, m1, 2},
                             {5, k1, m1, 2},
                             {6, k32 + 8, m1 + 256, 2},
                             {7, k1 + 8, m1 + 8 * k1, 2},
                             {8, m1 + 8, m1 + 8, 2}};
    const auto one_chunk_a_call = [&](int first, int units_of_lmax) {
        std::vector<Row> rows;
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
    std::array<std::vector<Row>, 3> types{scatter, one_chunk_a_call(9, 4), one_chunk_a_call(17, 2)};
    Bench bench;
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
        for (const Type type : {Type::scatter, Type::shared, Type::separated}) {
            const bool own = type == Type::separated;
            const std::string path = std::string(argv[1]) + "/bare_b_eff_io." +
                                     std::to_string(static_cast<int>(type)) + "." +
                                     std::to_string(own ? bench.rank : 0);
            if (MPI_File_open(own ? MPI_COMM_SELF : MPI_COMM_WORLD, path.c_str(),
                              mode | MPI_MODE_UNIQUE_OPEN, MPI_INFO_NULL,
                              &bench.file) != MPI_SUCCESS) {
                std::fprintf(stderr, "bare_b_eff_io: cannot open %s\n", path.c_str());
                MPI_Abort(MPI_COMM_WORLD, 3);
            }
            for (Row& row : types.at(static_cast<std::size_t>(type))) {
                const double seconds = bench.measure(type, row, writes, unit);
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
