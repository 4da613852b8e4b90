// SPDX-License-Identifier: BSD-3-Clause
// Cells of one stream a rank, whose calls need not be equally long.
#include <utility>

#include "benchmarks/study/mover.hpp"
#include "storage/as_itself.hpp"

namespace effio::study {
namespace {

class StreamMover : public Mover {
  public:
    StreamMover(Storage& storage, const Place& place)
        : storage_(storage),
          place_(place),
          streams_(*place.cell.streams),
          bytes_(streams_.bytes(place.owner)),
          begin_(streams_.begin(place.owner)) {}

    Status open(bool create) override {
        const OpenMode mode = create                 ? OpenMode::creating()
                              : place_.cell.writes() ? OpenMode::updating()
                                                     : OpenMode::reading();
        auto opened = storage_.open(place_.comm, {place_.path, mode, Element::byte, place_.hints,
                                                  streams_.blocks(place_.cell.ranks)});
        if (!opened) return std::move(opened.error());
        file_ = std::move(*opened);
        return {};
    }

    Status move(Access access, Payload& payload, const Watching& watching, Moved& moved) override {
        file_->time_calls_into(watching.time_calls ? &moved.times : nullptr);
        Deadline::Limits limits;
        limits.start = place_.session.clock.now();
        limits.max_count = streams_.calls(bytes_);
        Deadline pace(place_.session.clock, place_.session.interrupted, limits);
        Status status;
        as_itself(*file_, [&](auto file) {
            status = paced_calls(pace, limits.max_count, moved, [&](std::int64_t number) {
                const Run call = streams_.call(number, bytes_);
                const std::int64_t place = begin_ + call.offset;
                const double start = watching.keep_calls ? place_.session.clock.now() : 0;
                Status done = access == Access::write
                                  ? file.write_at(payload.stamped(place, call.bytes), place)
                                  : file.read_at(payload.part(call.bytes), place);
                if (watching.keep_calls) {
                    moved.kept.push_back({start, place_.session.clock.now() - start});
                }
                if (done) moved.bytes += call.bytes;
                if (done && watching.read) watching.read(payload.part(call.bytes), place);
                return done;
            });
        });
        file_->time_calls_into(nullptr);
        return status;
    }

    Status sync() override { return file_->sync(); }
    Status close() override { return file_->close(); }
    GrantedHints granted_hints() override { return file_->granted_hints(); }
    Json describe() override {
        Json told = file_->describe();
        if (const auto detours = file_->detours(); detours > 0) told["detours"] = detours;
        return told;
    }
    std::string call_name(Access access) const override {
        return file_->call_name({Pointer::at, false}, access != Access::read);
    }

  private:
    Storage& storage_;
    const Place& place_;
    const Streams& streams_;
    std::int64_t bytes_;
    std::int64_t begin_;
    std::unique_ptr<ByteFile> file_;
};

}  // namespace

std::unique_ptr<Mover> make_stream_mover(Storage& storage, const Place& place) {
    return std::make_unique<StreamMover>(storage, place);
}

}  // namespace effio::study
