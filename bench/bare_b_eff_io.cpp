// SPDX-License-Identifier: BSD-3-Clause
// b_eff_io's separated files without the engine: the definition's calls, clock readings, stamps,
// checks, barriers and votes, and nothing else. What effio-mpi delivers in these rows is compared
// with it (bench/b_eff_io.py).
//
//   bare_b_eff_io DIRECTORY SECONDS-PER-TIME-UNIT LMAX BYTES    one line a row: access row bytes/s
//   bare_b_eff_io                                               MPI_Init and MPI_Finalize only
//
// Each rank first leaves BYTES in a file of its own, untimed, as the engine comes to these rows
// after two other pattern types: what memory is left, and how scattered it is, decides the rate of
// a tmpfs.
#include <mpi.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <span>
#include <string>

#include "core/buffer.hpp"

namespace {

struct Row {
    int number;
    std::int64_t chunk;
    int units;
    std::int64_t calls;
};

/// First and last double of a call's chunk, as the definition has them for chunk = memory.
double first_mark(const Row& row, std::int64_t call) {
    return 1e7 * static_cast<double>(call) + 10 * row.number + 1;
}

struct Bench {
    int rank = 0;
    int ranks = 1;
    MPI_File file = MPI_FILE_NULL;
    std::span<double> out;
    std::span<double> in;
    long wrong = 0;

    /// Seconds of the row; `row.calls` is set where it is 0.
    double measure(Row& row, bool write, double budget) {
        const auto doubles = static_cast<std::size_t>(row.chunk / 8);
        const auto count = static_cast<int>(doubles);
        double barrier = 0;
        double broadcast = 0;
        double last = 0;
        std::int64_t done = 0;
        MPI_Barrier(MPI_COMM_WORLD);
        const double start = MPI_Wtime();
        if (row.number == 17) {
            char native[] = "native";
            MPI_File_set_view(file, 0, MPI_DOUBLE, MPI_DOUBLE, native, MPI_INFO_NULL);
        }
        const bool votes = write && row.calls == 0;
        double begin = MPI_Wtime();
        while (true) {
            MPI_Status status;
            if (write) {
                out[0] = first_mark(row, done);
                out[doubles - 1] = first_mark(row, done) + 5;
                MPI_File_write(file, out.data(), count, MPI_DOUBLE, &status);
            } else {
                MPI_File_read(file, in.data(), count, MPI_DOUBLE, &status);
                const double expected = first_mark(row, done);
                if (in[0] != expected || in[doubles - 1] != expected + 5) ++wrong;
            }
            int moved = 0;
            MPI_Get_count(&status, MPI_DOUBLE, &moved);
            if (moved != count) ++wrong;
            ++done;
            if (!votes) {
                if (done >= row.calls) break;
                continue;
            }
            const double after = MPI_Wtime();
            last = after - begin;
            MPI_Barrier(MPI_COMM_WORLD);
            const double voted = MPI_Wtime();
            barrier += voted - after;
            const double elapsed = voted - start;
            const auto calls = static_cast<double>(done);
            char go_on = elapsed * (calls + 1) / calls <= budget ? 1 : 0;
            MPI_Bcast(&go_on, 1, MPI_CHAR, 0, MPI_COMM_WORLD);
            begin = MPI_Wtime();
            broadcast += begin - voted;
            if (go_on == 0) break;
        }
        if (write) {
            MPI_Barrier(MPI_COMM_WORLD);
            MPI_File_sync(file);
        }
        MPI_Barrier(MPI_COMM_WORLD);
        const double total = MPI_Wtime() - start;
        row.calls = done;
        // The parts are reported by the engine too; here they only must not be optimized away.
        if (barrier + broadcast + last < 0) ++wrong;
        return total;
    }
};

/// Leaves so many bytes in a file; false if it could not.
bool fill(const std::string& path, std::int64_t bytes, const effio::Buffer& memory) {
    std::ofstream file(path, std::ios::binary);
    while (bytes > 0 && file) {
        const auto piece = std::min(bytes, static_cast<std::int64_t>(memory.size()));
        file.write(reinterpret_cast<const char*>(memory.bytes().data()), piece);
        bytes -= piece;
    }
    file.close();
    return file.good() && bytes == 0;
}

}  // namespace

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    if (argc != 5) {
        MPI_Finalize();
        return argc == 1 ? 0 : 2;
    }
    const double unit = std::strtod(argv[2], nullptr);
    const std::int64_t lmax = std::strtoll(argv[3], nullptr, 10);
    constexpr std::int64_t KiB = 1024;
    constexpr std::int64_t MiB = 1048576;
    std::array<Row, 8> rows{{{17, MiB, 0, 0},
                             {18, lmax, 2, 0},
                             {19, MiB, 2, 0},
                             {20, 32 * KiB, 1, 0},
                             {21, KiB, 1, 0},
                             {22, 32 * KiB + 8, 1, 0},
                             {23, KiB + 8, 1, 0},
                             {24, MiB + 8, 2, 0}}};
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
    const std::string path = std::string(argv[1]) + "/bare_b_eff_io." + std::to_string(bench.rank);
    const std::string before = path + ".before";
    if (!fill(before, std::strtoll(argv[4], nullptr, 10), out)) {
        std::fprintf(stderr, "bare_b_eff_io: cannot fill %s\n", before.c_str());
        MPI_Abort(MPI_COMM_WORLD, 3);
    }
    for (const bool write : {true, false}) {
        const int mode =
            write ? MPI_MODE_CREATE | MPI_MODE_RDWR : MPI_MODE_RDONLY | MPI_MODE_DELETE_ON_CLOSE;
        if (MPI_File_open(MPI_COMM_SELF, path.c_str(), mode | MPI_MODE_UNIQUE_OPEN, MPI_INFO_NULL,
                          &bench.file) != MPI_SUCCESS) {
            std::fprintf(stderr, "bare_b_eff_io: cannot open %s\n", path.c_str());
            MPI_Abort(MPI_COMM_WORLD, 3);
        }
        for (Row& row : rows) {
            const double seconds = bench.measure(row, write, unit * row.units);
            const double bytes =
                static_cast<double>(bench.ranks) * static_cast<double>(row.chunk * row.calls);
            if (bench.rank == 0) {
                std::printf("%s %d %.0f\n", write ? "write" : "read", row.number, bytes / seconds);
            }
        }
        MPI_File_close(&bench.file);
    }
    std::remove(before.c_str());
    if (bench.wrong > 0) std::fprintf(stderr, "bare_b_eff_io: %ld wrong\n", bench.wrong);
    MPI_Finalize();
    return bench.wrong > 0 ? 1 : 0;
}
