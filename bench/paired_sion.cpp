// SPDX-License-Identifier: BSD-3-Clause
// A container and bare pwrite/pread loops at the same places of one file alternate in one process:
// what the format costs next to the calls (bench/sion.py). Each writes a new file, and both read
// the container; both use the same memory.
//
//   paired_sion DIRECTORY TRANSFER BLOCK TURNS    rates in bytes/s
#include <mpi.h>

#include <cmath>
#include <cstdio>
#include <cstring>
#include <memory>
#include <string>

#include "bare_files.hpp"
#include "core/buffer.hpp"
#include "paired.hpp"
#include "storage/sion/storage.hpp"

namespace {

using paired::both;
using paired::mean;
using paired::Rates;

constexpr effio::CallForm at{effio::Pointer::at, false};
constexpr long file_block = 4096;

effio::SionSettings settings() {
    effio::SionSettings settings;
    settings.block = effio::Bytes{file_block};
    return settings;
}

/// Of each rank one stream, in one chunk.
struct Container {
    effio::Session& session;
    long transfer;
    long block;
    std::unique_ptr<effio::Storage> storage = effio::make_sion_storage(session, settings());
    bool failed = false;

    template <class Call>
    double timed(const effio::OpenMode& mode, const std::string& path, Call&& call) {
        auto file =
            storage->open(session.comm, {path,
                                         mode,
                                         effio::Element::byte,
                                         {},
                                         effio::Blocks{transfer, block, 1, session.comm.size()},
                                         false});
        if (!file) {
            failed = true;
            return 0;
        }
        const long first = session.comm.rank() * block;
        session.comm.barrier();
        const double start = MPI_Wtime();
        for (long offset = 0; offset < block; offset += transfer) {
            if (!call(**file, offset, first + offset)) failed = true;
        }
        const double rate = bare::rate_of(MPI_Wtime() - start, block);
        failed = failed || !(*file)->close();
        session.comm.barrier();
        return rate;
    }
    double write(const std::string& path, std::span<const std::byte> data) {
        return timed(effio::OpenMode::creating(), path,
                     [&](effio::ByteFile& file, long offset, long place) {
                         return file.write(
                             at,
                             data.subspan(static_cast<std::size_t>(offset % bare::Files::period),
                                          static_cast<std::size_t>(transfer)),
                             place);
                     });
    }
    double read(const std::string& path, std::span<std::byte> memory) {
        return timed(
            effio::OpenMode::reading(), path,
            [&](effio::ByteFile& file, long, long place) { return file.read(at, memory, place); });
    }
};

int measure(effio::Session& session, const std::string& directory, long transfer, long block,
            long turns) {
    const effio::Comm& comm = session.comm;
    effio::Buffer data(static_cast<std::size_t>(bare::Files::period + transfer));
    std::memset(data.bytes().data(), 'x', data.size());
    effio::Buffer memory(static_cast<std::size_t>(transfer));
    Container container{session, transfer, block};
    // The head takes one block; the chunks follow it.
    bare::Files bare(transfer, block, file_block + comm.rank() * block);
    const std::string our_file = directory + "/container";
    const std::string their_file = directory + "/bare";
    const auto write_bare = [&] {
        const auto made =
            comm.is_root() ? ::open(their_file.c_str(), O_RDWR | O_CREAT | O_EXCL, 0666) : -1;
        comm.barrier();
        return bare.write_into(comm.is_root() ? made : ::open(their_file.c_str(), O_RDWR),
                               data.bytes().data());
    };
    // Both the container: a bare file is none.
    const auto read = [&](bool ours_first) {
        return both(
            ours_first, [&] { return container.read(our_file, memory.bytes()); },
            [&] { return bare.read(our_file, memory.bytes().data()); });
    };
    // The turn before the first warms up; who begins changes.
    for (long number = -1; number < turns; ++number) {
        const bool first = number % 2 == 0;
        const Rates write =
            both(first, [&] { return container.write(our_file, data.bytes()); }, write_bare);
        const Rates once = read(first);
        const Rates again = read(!first);
        comm.barrier();
        for (const std::string& path : {our_file, their_file}) {
            if (comm.is_root() && !container.storage->remove(path)) container.failed = true;
        }
        comm.barrier();
        if (number < 0 || !comm.is_root()) continue;
        std::printf("write %.0f %.0f\nread %.0f %.0f\n", write.ours, write.theirs,
                    mean(once.ours, again.ours), mean(once.theirs, again.theirs));
    }
    return container.failed ? 1 : 0;
}

}  // namespace

int main(int argc, char** argv) {
    return paired::program(
        argc, argv, "paired_sion DIRECTORY TRANSFER BLOCK TURNS",
        [](effio::Session& session, const std::string& directory, paired::Numbers numbers) {
            return measure(session, directory, std::lround(numbers[0]), std::lround(numbers[1]),
                           std::lround(numbers[2]));
        });
}
