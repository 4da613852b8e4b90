// SPDX-License-Identifier: BSD-3-Clause
// Two rows of the separated files, alternately by the engine and bare in one process, of the same
// file and memory: what the engine costs next to the calls, to a per cent where whole processes
// differ by ten (bench/b_eff_io.py).
//
//   paired_b_eff_io DIRECTORY SECONDS TURNS    rates in bytes/s
#include <mpi.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <string>

#include "bare_rows.hpp"
#include "benchmarks/b_eff_io/measure.hpp"
#include "paired.hpp"
#include "storage/mpiio.hpp"

namespace {

using effio::b_eff_io::Access;

constexpr std::int64_t lmax = 2 << 20;

/// One file of each rank, and the two that measure on it.
struct Paired {
    effio::Session& session;
    effio::ByteFile& file;
    effio::b_eff_io::Buffers buffers{lmax, effio::b_eff_io::Buffers::Fill::definition,
                                     session.comm.rank()};
    bare::Bench bench{};
    double budget = 0;
    bool failed = false;

    double engine_rate(bare::Row& row, bool writes) {
        effio::b_eff_io::RowTask task;
        task.ranks = session.comm.size();
        task.access = writes ? Access::write : Access::read;
        task.row = effio::b_eff_io::row_table(lmax).at(static_cast<std::size_t>(row.number));
        task.form = effio::b_eff_io::call_form(task.row.type, true);
        task.place = {0, effio::Contiguous{}};
        task.view = task.place;
        task.budget = budget;
        task.repetitions = writes ? 0 : row.calls;
        task.time_calls = false;
        const auto done = measure_row(session, session.comm, file, buffers, task,
                                      [](const std::string& text) { std::puts(text.c_str()); });
        failed = failed || done.agreed.failed() || done.outcome.error_count > 0;
        row.calls = done.repetitions;
        return rate(row, done.times.total);
    }
    double bare_rate(bare::Row& row, bool writes) {
        bench.scheduled = bench.measured = 0;
        return rate(row, bench.measure(bare::Type::separated, row, true, writes, budget));
    }
    double rate(const bare::Row& row, double seconds) const {
        return static_cast<double>(bench.ranks) * static_cast<double>(row.memory * row.calls) /
               seconds;
    }

    /// Who begins changes from turn to turn.
    void turn(long number, std::int64_t chunk, int row_number, const char* name) {
        bare::Row ours{row_number, chunk, chunk, 1};
        bare::Row theirs = ours;
        for (const bool writes : {true, false}) {
            // What both wrote is the same, so both read as much as both wrote.
            ours.calls = theirs.calls = std::min(ours.calls, theirs.calls);
            double engine = 0;
            if (number % 2 == 0) engine = engine_rate(ours, writes);
            const double alone = bare_rate(theirs, writes);
            if (number % 2 != 0) engine = engine_rate(ours, writes);
            if (bench.rank != 0 || number < 0) continue;
            std::printf("%s %s %.0f %.0f\n", writes ? "write" : "read", name, engine, alone);
        }
    }
};

/// The engine's memory for the bare loop, which writes the same marks into it: how two buffers lie
/// in a processor's cache is good for some per cent of a MiB copied.
std::span<double> doubles(std::span<const std::byte> bytes) {
    return {reinterpret_cast<double*>(const_cast<std::byte*>(bytes.data())),
            bytes.size() / sizeof(double)};
}

int measure(effio::Session& session, const std::string& directory, double budget, long turns) {
    const effio::Comm& comm = session.comm;
    const effio::Comm self = effio::Comm::self(session.clock);
    const auto storage = effio::make_mpiio_storage(session);
    const std::string path = directory + "/paired." + std::to_string(comm.rank());
    effio::OpenMode mode = effio::OpenMode::creating();
    mode.unique = true;
    auto file = storage->open(self, {path, mode, effio::Element::real64, {}});
    if (!file) return 3;
    Paired paired{session, **file};
    paired.budget = budget;
    paired.bench.rank = comm.rank();
    paired.bench.ranks = comm.size();
    effio::b_eff_io::Row all;
    all.memory = lmax;
    paired.bench.out = doubles(paired.buffers.to_write(all));
    paired.bench.in = doubles(paired.buffers.to_read(all));
    MPI_File_open(MPI_COMM_SELF, path.c_str(), MPI_MODE_RDWR | MPI_MODE_UNIQUE_OPEN, MPI_INFO_NULL,
                  &paired.bench.file);
    // The turn before the first gives the file its memory.
    for (long number = -1; number < turns; ++number) {
        paired.turn(number, 1 << 20, 19, "1 MiB");
        paired.turn(number, 1 << 10, 21, "1 KiB");
    }
    MPI_File_close(&paired.bench.file);
    const bool closed = static_cast<bool>((*file)->close());
    return closed && !paired.failed && paired.bench.wrong == 0 ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
    return paired::program(
        argc, argv, "paired_b_eff_io DIRECTORY SECONDS TURNS",
        [](effio::Session& session, const std::string& directory, paired::Numbers numbers) {
            return measure(session, directory, numbers[0], std::lround(numbers[1]));
        });
}
