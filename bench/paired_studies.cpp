// SPDX-License-Identifier: BSD-3-Clause
// Cells of studies and bare programs that make the same calls alternate in one process: what the
// frame costs (bench/studies.py). Each side writes new files, and each reads both sides'; both use
// the same memory. Without opening and closing, but for small files.
//
//   paired_studies DIRECTORY STUDY BYTES TURNS    rates in bytes/s
//
// BYTES of a rank; STUDY is 0: tile-io's tile and pio's nested strides, 1: io-bench at random in 4
// KiB, 2: ssca3's small files.
#include <fmt/format.h>
#include <mpi.h>

#include <array>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "bare_studies.hpp"
#include "benchmarks/io_bench/io_bench.hpp"
#include "benchmarks/pio/pio.hpp"
#include "benchmarks/ssca3/ssca3.hpp"
#include "benchmarks/tile_io/tile_io.hpp"
#include "frame/study/mover.hpp"
#include "paired.hpp"

namespace {

using effio::study::Access;
using effio::study::Cell;
using effio::study::Items;

/// One cell, carried out by the frame's mover.
class Engine {
  public:
    Engine(effio::Session& session, effio::Storage& storage, Cell cell)
        : session_(session),
          storage_(storage),
          cell_(std::move(cell)),
          addresses_(cell_.addresses(session.comm.rank())),
          payload_(cell_, addresses_, effio::study::Payload::Data{}) {
        payload_.prepare_to_write(1);
    }

    double pass(Access access, const std::string& path) {
        effio::study::RankContext place{session_,   cell_, cell_.files > 1 ? self_ : session_.comm,
                                        path,       path,  false,
                                        addresses_, {}};
        place.owner = session_.comm.rank();
        place.path_of = [&](std::int64_t file) { return item(path, file); };
        const auto mover = items_ != nullptr ? effio::study::make_item_mover(storage_, place)
                                             : effio::study::make_byte_mover(storage_, place);
        effio::study::Moved moved;
        if (!mover->open(access == Access::write)) return failure();
        const auto status = [&] { return mover->move(access, payload_, {}, moved); };
        bool good = false;
        const double rate = bare::timed(bytes(), [&] { good = bool(status()); });
        if (!good || moved.bytes != bytes() || !mover->close()) return failure();
        return rate;
    }

    const Cell& cell() const { return cell_; }
    bool has_items() const { return items_ != nullptr; }
    const effio::Addresses& addresses() const { return addresses_; }
    effio::study::Payload& payload() { return payload_; }
    bool failed() const { return failed_; }
    long bytes() const {
        const auto of_rank = [&](const auto& data) { return data.bytes_of(session_.comm.rank()); };
        return std::visit(of_rank, cell_.data);
    }
    /// Paths of the files that this rank visits, in its order.
    std::vector<std::string> items(const std::string& path) const {
        std::vector<std::string> all;
        const int rank = session_.comm.rank();
        for (std::int64_t i = 0; i < items_->visits(rank); ++i) {
            all.push_back(item(path, items_->file(rank, i)));
        }
        return all;
    }
    /// The number of the file of a visit of this rank.
    std::int64_t file(std::int64_t visit) const {
        return items_->file(session_.comm.rank(), visit);
    }

  private:
    static std::string item(const std::string& path, std::int64_t file) {
        return fmt::format("{}.{:06d}", path, file);
    }
    double failure() {
        failed_ = true;
        return 1;
    }

    effio::Session& session_;
    effio::Storage& storage_;
    Cell cell_;
    const Items* items_ = std::get_if<Items>(&cell_.data);
    effio::Addresses addresses_;
    effio::study::Payload payload_;
    effio::Comm self_ = effio::Comm::self(session_.clock);
    bool failed_ = false;
};

/// The bare side of a cell; rates by path of the file, or begin of the files' paths.
struct Bare {
    std::function<double(const std::string& path)> write;
    std::function<double(const std::string& path)> read;
};

Bare through(const std::shared_ptr<bare::Viewed>& view, effio::study::Payload& payload) {
    std::byte* const memory = payload.all().memory.data();
    return {[=](const std::string& path) { return view->write(path, memory); },
            [=](const std::string& path) { return view->read(path, memory); }};
}

void remove(const Engine& engine, const std::string& path, const effio::Comm& comm) {
    comm.barrier();
    if (engine.has_items()) {
        for (const auto& file : engine.items(path)) std::filesystem::remove(file);
    } else if (engine.cell().files > 1 || comm.is_root()) {
        std::filesystem::remove(path);
    }
    comm.barrier();
}

/// The turn before the first warms up; who begins changes.
int take_turns(const effio::Comm& comm, const std::string& name, const std::string& directory,
               Engine& engine, const Bare& bare, long turns) {
    const std::string rank =
        engine.cell().files > 1 && !engine.has_items() ? std::to_string(comm.rank()) : "";
    const std::string our_file = directory + "/ours" + rank;
    const std::string their_file = directory + "/bare" + rank;
    const auto read = [&](bool ours_first, const std::string& path) {
        return paired::both(
            ours_first, [&] { return engine.pass(Access::read, path); },
            [&] { return bare.read(path); });
    };
    for (long number = -1; number < turns; ++number) {
        const bool first = number % 2 == 0;
        const auto write = paired::both(
            first, [&] { return engine.pass(Access::write, our_file); },
            [&] { return bare.write(their_file); });
        const auto of_ours = read(first, our_file);
        const auto of_theirs = read(!first, their_file);
        for (const auto& path : {our_file, their_file}) remove(engine, path, comm);
        if (number < 0 || !comm.is_root()) continue;
        std::printf("%s write %.0f %.0f\n%s read %.0f %.0f\n", name.c_str(), write.ours,
                    write.theirs, name.c_str(), paired::mean(of_ours.ours, of_theirs.ours),
                    paired::mean(of_ours.theirs, of_theirs.theirs));
    }
    return engine.failed() ? 1 : 0;
}

/// The first cell of a study for these ranks.
template <class Parameters, class Define>
Cell first_cell(Parameters& parameters, int ranks, const Define& define) {
    bare::must(bool(parameters.check()));
    auto study = define(parameters, ranks);
    bare::must(bool(study));
    return study->cells.front();
}

/// Rows of 4 KiB: elements of 32 bytes, 128 of them wide.
int tile(effio::Session& session, const std::string& directory, long bytes, long turns) {
    const int ranks = session.comm.size();
    effio::tile_io::Parameters p;
    p.elements = {{32}};
    p.tile = {128, bytes / 4096, 1};
    const auto storage = effio::make_storage(session, p.storage.backend, nullptr);
    Engine engine(session, *storage, first_cell(p, ranks, effio::tile_io::define));
    const auto& grid = engine.cell().layout.grid;
    const auto view =
        std::make_shared<bare::Viewed>(bare::tile_type(session.comm.rank(), {grid[0], grid[1]},
                                                       static_cast<int>(p.tile[1]), 128, 32),
                                       static_cast<int>(bytes));
    return take_turns(session.comm, "tile", directory, engine, through(view, engine.payload()),
                      turns);
}

/// Groups of 4 pieces of 4 KiB, and a hole as wide as a row of all ranks.
int nested(effio::Session& session, const std::string& directory, long bytes, long turns) {
    constexpr int piece = 4096;
    constexpr int inner = 4;
    const int ranks = session.comm.size();
    effio::pio::Parameters p;
    p.spatial = {effio::pio::Spatial::nested_strided};
    p.size = {bytes};
    p.buffers = {{piece}};
    p.by = {effio::study::Through::view};
    const auto storage = effio::make_storage(session, p.storage.backend, nullptr);
    Engine engine(session, *storage, first_cell(p, ranks, effio::pio::define));
    const MPI_Aint row = static_cast<MPI_Aint>(ranks) * piece;
    const auto view = std::make_shared<bare::Viewed>(
        bare::nested_type(static_cast<MPI_Aint>(session.comm.rank()) * piece, piece, {inner, row},
                          {static_cast<int>(bytes / piece / inner), (inner + 1) * row}),
        static_cast<int>(bytes));
    return take_turns(session.comm, "nested", directory, engine, through(view, engine.payload()),
                      turns);
}

/// A file of each rank by calls of 4 KiB in the same random order.
int random(effio::Session& session, const std::string& directory, long bytes, long turns) {
    effio::io_bench::Parameters p;
    p.size = {bytes};
    p.blocks = {{4096}};
    p.copies = {session.comm.size()};
    bare::must(bool(p.check()));
    const auto study = effio::io_bench::define(p, session.comm.size());
    bare::must(bool(study));
    const auto& cells = study->cells;
    const auto storage = effio::make_storage(session, p.storage.backend, nullptr);
    Engine engine(session, *storage, cells[4]);  // after sequential and backward
    bare::must(engine.cell().pattern == "random");
    const effio::Addresses& addresses = engine.addresses();
    std::vector<long> places;
    for (std::int64_t i = 0; i < addresses.calls(); ++i) {
        places.push_back(addresses.place(addresses.number(i)));
    }
    const auto files = std::make_shared<bare::Scattered>(4096, std::move(places));
    std::byte* const memory = engine.payload().piece(0).data();
    // Both sides generate their data, which differ from call to call.
    const auto data_at = [&](long place) { return engine.payload().stamped(place).data(); };
    const Bare bare{[=](const std::string& path) { return files->write(path, data_at); },
                    [=](const std::string& path) { return files->read(path, memory); }};
    return take_turns(session.comm, "random", directory, engine, bare, turns);
}

/// Detections: many files of 4624 bytes, flushed by none.
int small(effio::Session& session, const std::string& directory, long bytes, long turns) {
    effio::ssca3::Parameters p;
    p.own_chains = true;
    p.fsync = effio::study::Sync::none;
    p.templates = bytes / p.amounts().template_size.count;
    // Its first cell writes the templates.
    const auto storage = effio::make_storage(session, p.storage.backend, nullptr);
    Engine engine(session, *storage, first_cell(p, session.comm.size(), effio::ssca3::define));
    const long size = engine.addresses().piece();
    std::byte* const memory = engine.payload().piece(0).data();
    const auto data_of = [&](std::size_t n) {
        const std::int64_t file = engine.file(static_cast<std::int64_t>(n));
        return engine.payload().stamped(engine.addresses().place(file)).data();
    };
    const auto files = [&](const std::string& path) {
        return bare::Small(engine.items(path), size);
    };
    const Bare bare{[&](const std::string& path) { return files(path).write(data_of); },
                    [&](const std::string& path) { return files(path).read(memory); }};
    return take_turns(session.comm, "small", directory, engine, bare, turns);
}

}  // namespace

int main(int argc, char** argv) {
    return paired::program(
        argc, argv, "paired_studies DIRECTORY STUDY BYTES TURNS",
        [](effio::Session& session, const std::string& directory, paired::Numbers numbers) {
            const long study = std::lround(numbers[0]);
            const long bytes = std::lround(numbers[1]);
            const long turns = std::lround(numbers[2]);
            using Study = int (*)(effio::Session&, const std::string&, long, long);
            constexpr std::array<Study, 4> studies{tile, nested, random, small};
            return studies.at(static_cast<std::size_t>(study))(session, directory, bytes, turns);
        });
}
