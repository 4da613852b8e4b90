// SPDX-License-Identifier: BSD-3-Clause
// ior's passes and a bare pwrite/pread loop in turn in one process, each on a new file of each
// rank: what the engine costs beside the calls (bench/ior.py).
//
//   beside_ior DIRECTORY TRANSFER BLOCK TURNS    rates in bytes/s
#include <mpi.h>

#include <cmath>
#include <cstdio>
#include <string>
#include <vector>

#include "bare_files.hpp"
#include "benchmarks/ior/pass.hpp"
#include "beside.hpp"
#include "storage/posix.hpp"

namespace {

using effio::ior::Access;

struct Engine {
    effio::Session& session;
    effio::ior::Geometry geometry;
    std::string path;
    const effio::Comm self = effio::Comm::self(session.clock);
    std::unique_ptr<effio::Storage> storage = effio::make_posix_storage(session);
    bool failed = false;

    double pass(Access access) {
        const auto worker = static_cast<std::int64_t>(session.comm.rank());
        effio::ior::Calls calls;
        calls.access = access;
        calls.geometry = geometry;
        std::vector<effio::ior::Lane> lanes(1);
        effio::ior::Lane& lane = lanes.front();
        if (access == Access::write) {
            lane.data.emplace(effio::ior::Data::Source{},
                              static_cast<std::size_t>(geometry.transfer));
        }
        lane.take_memory(calls, worker);
        lane.walk = geometry.walk(worker, geometry.block);
        lane.transfers = geometry.block / geometry.transfer;
        const auto mode =
            access == Access::write ? effio::OpenMode::creating() : effio::OpenMode::reading();
        auto file = storage->open(self, {path, mode, effio::Element::byte, {}});
        if (!file) {
            failed = true;
            return 0;
        }
        lane.file = file->get();
        const effio::ior::Until until;
        session.comm.barrier();
        const double start = MPI_Wtime();
        const auto done = effio::ior::Pass(session, session.comm, calls, until).run(lanes);
        const double rate = bare::rate_of(MPI_Wtime() - start, static_cast<long>(geometry.block));
        failed = failed || done.transfers() != lane.transfers || !(*file)->close();
        return rate;
    }
    bare::Rates measure() {
        bare::Rates rates;
        rates.write = pass(Access::write);
        rates.read = pass(Access::read);
        failed = failed || !storage->remove(path);
        return rates;
    }
};

int measure(effio::Session& session, const std::string& directory, long transfer, long block,
            long turns) {
    const std::string rank = std::to_string(session.comm.rank());
    effio::ior::Geometry geometry;
    geometry.files = effio::ior::Files::per_process;
    geometry.workers = session.comm.size();
    geometry.transfer = transfer;
    geometry.block = block;
    Engine engine{session, geometry, directory + "/ior." + rank};
    bare::Files bare(directory + "/bare." + rank, transfer, block);
    // The turn before the first warms up; who begins changes.
    for (long number = -1; number < turns; ++number) {
        bare::Rates ours;
        if (number % 2 == 0) ours = engine.measure();
        const bare::Rates theirs = bare.measure();
        if (number % 2 != 0) ours = engine.measure();
        if (number < 0 || !session.comm.is_root()) continue;
        std::printf("write %.0f %.0f\nread %.0f %.0f\n", ours.write, theirs.write, ours.read,
                    theirs.read);
    }
    return engine.failed ? 1 : 0;
}

}  // namespace

int main(int argc, char** argv) {
    return beside::program(
        argc, argv, "beside_ior DIRECTORY TRANSFER BLOCK TURNS",
        [](effio::Session& session, const std::string& directory, beside::Numbers numbers) {
            return measure(session, directory, std::lround(numbers[0]), std::lround(numbers[1]),
                           std::lround(numbers[2]));
        });
}
