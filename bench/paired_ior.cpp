// SPDX-License-Identifier: BSD-3-Clause
// Runs ior's passes and bare pwrite/pread loops alternately in one process, to show what the engine
// adds to the calls (bench/ior.py). Each side writes one new file per rank, and each reads both
// files. Both use the same memory, because its address alone changes rates by several per cent.
// Both generate the same data, which differ from call to call; bench/data.py measures that cost.
//
//   paired_ior DIRECTORY TRANSFER BLOCK TURNS    rates in bytes/s
#include <mpi.h>

#include <cmath>
#include <cstdio>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "bare_files.hpp"
#include "benchmarks/ior/pass.hpp"
#include "paired.hpp"
#include "storage/posix.hpp"

namespace {

using effio::ior::Access;
using paired::both;
using paired::mean;
using paired::Rates;

struct Engine {
    effio::Session& session;
    effio::ior::Geometry geometry;
    std::optional<effio::ior::Data> data;
    effio::Buffer memory;
    const effio::Comm self = effio::Comm::self(session.clock);
    std::unique_ptr<effio::Storage> storage = effio::make_posix_storage(session);
    bool failed = false;

    double pass(Access access, const std::string& path) {
        const auto worker = static_cast<std::int64_t>(session.comm.rank());
        effio::ior::Calls calls;
        calls.access = access;
        calls.geometry = geometry;
        std::vector<effio::ior::WorkerShare> shares(1);
        effio::ior::WorkerShare& share = shares.front();
        share.walk = geometry.walk(worker, geometry.block);
        share.transfers = geometry.block / geometry.transfer;
        const auto mode =
            access == Access::write ? effio::OpenMode::creating() : effio::OpenMode::reading();
        auto file = storage->open(self, {path, mode, effio::Element::byte, {}});
        if (!file) {
            failed = true;
            return 0;
        }
        share.file = std::move(*file);
        share.data.swap(data);
        std::swap(share.memory, memory);
        const effio::ior::Until until;
        session.comm.barrier();
        const double start = MPI_Wtime();
        const auto done = effio::ior::Pass(session, session.comm, calls, until).run(shares);
        const double rate = bare::rate_of(MPI_Wtime() - start, static_cast<long>(geometry.block));
        share.data.swap(data);
        std::swap(share.memory, memory);
        failed = failed || done.sum(&effio::ior::WorkerResult::transfers) != share.transfers ||
                 !share.file->close();
        return rate;
    }
    double write(const std::string& path) { return pass(Access::write, path); }
    double read(const std::string& path) { return pass(Access::read, path); }
};

int measure(effio::Session& session, const std::string& directory, long transfer, long block,
            long turns) {
    const std::string rank = std::to_string(session.comm.rank());
    effio::ior::Geometry geometry;
    geometry.files = effio::ior::Files::per_process;
    geometry.workers = session.comm.size();
    geometry.transfer = transfer;
    geometry.block = block;
    const auto size = static_cast<std::size_t>(transfer);
    Engine engine{session, geometry, effio::ior::Data({}, size), effio::Buffer(size)};
    effio::ior::Data& data = *engine.data;
    std::byte* const memory = engine.memory.bytes().data();
    bare::Files bare(transfer, block);
    const std::string our_file = directory + "/ior." + rank;
    const std::string their_file = directory + "/bare." + rank;
    const auto read = [&](bool ours_first, const std::string& path) {
        return both(
            ours_first, [&] { return engine.read(path); }, [&] { return bare.read(path, memory); });
    };
    // The turn before the first warms up; who begins changes.
    for (long number = -1; number < turns; ++number) {
        const bool first = number % 2 == 0;
        const Rates write = both(
            first, [&] { return engine.write(our_file); },
            [&] {
                return bare.write(their_file,
                                  [&](long offset) { return data.at(offset, size).data(); });
            });
        const Rates of_ours = read(first, our_file);
        const Rates of_theirs = read(!first, their_file);
        for (const std::string& path : {our_file, their_file}) {
            engine.failed = engine.failed || !engine.storage->remove(path);
        }
        if (number < 0 || !session.comm.is_root()) continue;
        std::printf("write %.0f %.0f\nread %.0f %.0f\n", write.ours, write.theirs,
                    mean(of_ours.ours, of_theirs.ours), mean(of_ours.theirs, of_theirs.theirs));
    }
    return engine.failed ? 1 : 0;
}

}  // namespace

int main(int argc, char** argv) {
    return paired::program(
        argc, argv, "paired_ior DIRECTORY TRANSFER BLOCK TURNS",
        [](effio::Session& session, const std::string& directory, paired::Numbers numbers) {
            return measure(session, directory, std::lround(numbers[0]), std::lround(numbers[1]),
                           std::lround(numbers[2]));
        });
}
