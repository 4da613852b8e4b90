// SPDX-License-Identifier: BSD-3-Clause
// Rows of b_eff_io's pattern types 0 to 2 without the engine: the definition's calls, clock
// readings, stamps, checks, barriers and votes, and nothing else.
#pragma once

#include <mpi.h>

#include <array>
#include <cstdint>
#include <span>

namespace bare {

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
inline double first_mark(const Row& row, std::int64_t call, std::int64_t i) {
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
    double begin = 0;  ///< of a call; the parts of the row's time
    double barrier = 0;
    double broadcast = 0;

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

    // All in the loop itself: nothing but the library is between it and the kernel.
    [[gnu::always_inline]] void write(Type type, int count) {
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

    [[gnu::always_inline]] void read(Type type, int count) {
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

    [[gnu::always_inline]] void expect(MPI_Status& status, int count) {
        int moved = 0;
        MPI_Get_count(&status, MPI_DOUBLE, &moved);
        if (moved != count) ++wrong;
    }

    [[gnu::always_inline]] void one_call(Type type, const Row& row, bool writes,
                                         std::int64_t call) {
        const auto doubles = static_cast<std::size_t>(row.memory / 8);
        const auto step = static_cast<std::size_t>(row.chunk / 8);
        if (!writes) read(type, static_cast<int>(doubles));
        for (std::size_t i = 0; i < doubles; i += step) {
            const double mark = first_mark(row, call, static_cast<std::int64_t>(i));
            if (writes) {
                out[i] = mark;
                out[i + step - 1] = mark + 5;
            } else if (in[i] != mark || in[i + step - 1] != mark + 5) {
                ++wrong;
            }
        }
        if (writes) write(type, static_cast<int>(doubles));
    }

    /// Whether the root has all continue.
    bool vote(double start, double budget, double after, std::int64_t done) {
        MPI_Barrier(MPI_COMM_WORLD);
        const double voted = MPI_Wtime();
        barrier += voted - after;
        const auto calls = static_cast<double>(done);
        char go_on = (voted - start) * (calls + 1) / calls <= budget ? 1 : 0;
        MPI_Bcast(&go_on, 1, MPI_CHAR, 0, MPI_COMM_WORLD);
        begin = MPI_Wtime();
        broadcast += begin - voted;
        return go_on != 0;
    }

    /// Seconds of the row, which may be the first in its file; where it writes, `row.calls` is set.
    double measure(Type type, Row& row, bool first, bool writes, double unit) {
        double budget = unit * row.units;
        if (writes && scheduled > 0 && measured > scheduled) {
            budget /= 0.5 * (1 + measured / scheduled);
        }
        double last = 0;
        barrier = broadcast = 0;
        std::int64_t done = 0;
        if (first) before = 0;
        MPI_Barrier(MPI_COMM_WORLD);
        const double start = MPI_Wtime();
        if (first || type == Type::scatter) set_view(type, row);
        begin = MPI_Wtime();
        if (writes) {
            while (true) {
                one_call(type, row, true, done++);
                const double after = MPI_Wtime();
                last = after - begin;
                if (!vote(start, budget, after, done)) break;
            }
            MPI_Barrier(MPI_COMM_WORLD);
            MPI_File_sync(file);
        } else {
            while (done < row.calls) one_call(type, row, false, done++);
        }
        MPI_Barrier(MPI_COMM_WORLD);
        const double total = MPI_Wtime() - start;
        row.calls = done;
        before += row.memory * row.calls;
        measured += total;
        scheduled += unit * row.units;
        // The parts are reported by the engine too; here they only must not be optimized away.
        if (barrier + broadcast + last < 0) ++wrong;
        return total;
    }
};

}  // namespace bare
