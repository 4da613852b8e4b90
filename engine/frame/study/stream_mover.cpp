// SPDX-License-Identifier: BSD-3-Clause
// Cells of one stream a rank, whose calls need not be equally long.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "frame/storage_run.hpp"
#include "frame/study/mover.hpp"
#include "storage/as_itself.hpp"

namespace effio::study {
namespace {

class StreamMover : public Mover {
  public:
    StreamMover(Storage& storage, const RankContext& place)
        : Mover(storage, place),
          form_{Pointer::at, place.cell.collective},
          streams_(std::get<Streams>(place.cell.data)),
          bytes_(streams_.bytes(place.owner)),
          begin_(streams_.begin(place.owner)) {}

    Status open(bool create) override {
        const OpenMode mode = create                 ? OpenMode::creating()
                              : place_.cell.writes() ? OpenMode::updating()
                                                     : OpenMode::reading();
        auto opened = storage_.open(
            place_.comm, {place_.path, mode, Element::byte, place_.hints,
                          streams_.blocks(place_.cell.ranks), place_.cell.collective, true});
        if (!opened) return std::move(opened.error());
        file_ = std::move(*opened);
        return {};
    }

    Status confirm() override { return file_->confirm(); }

    Status move(Access access, Payload& payload, const Watching& watching, Moved& moved) override {
        file_->time_calls_into(watching.time_calls ? &moved.times : nullptr);
        Status status = place_.cell.collective ? move_together(access, payload, watching, moved)
                                               : move_apart(access, payload, watching, moved);
        file_->time_calls_into(nullptr);
        return status;
    }

    Status sync() override { return file_->sync(); }
    Status close() override { return file_->close(); }
    GrantedHints granted_hints() override { return file_->granted_hints(); }
    Json describe() override {
        Json described = file_->describe();
        if (const auto detours = file_->detours(); detours > 0) described["detours"] = detours;
        return described;
    }
    std::string call_name(Access access) const override {
        return file_->call_name(form_, access != Access::read);
    }

    std::int64_t least_bytes() const override {
        return streams_.apart ? bytes_ : place_.cell.file_bytes;
    }
    Status look_at_files(Readable& readable) const override {
        // Only the format knows what else a file contains.
        if (!storage_.capabilities().plain || place_.cell.parts_of_file > 1) return {};
        const std::int64_t end = begin_ + bytes_;
        if (auto fits = Readable::fits(place_.session, place_.path, end); !fits) return fits;
        if (!readable.reads_within(place_.path, begin_, end, bytes_)) {
            readable.reads(place_.path, begin_, end);
        }
        return {};
    }
    void each_call(const std::function<bool(const KeptCall&)>& function) const override {
        for (std::int64_t i = 0; i < streams_.calls(bytes_); ++i) {
            const Run call = streams_.call(i, bytes_);
            if (!function({call.offset, call.bytes, begin_ + call.offset, 0, place_.own_path})) {
                return;
            }
        }
    }
    /// Reads again by the same calls.
    Status read_again(const SecondReading& reading) override {
        StreamMover again(storage_, place_);
        Status opened = again.open(false);
        if (opened) opened = again.confirm();
        if (!reading.all_opened(std::move(opened))) return {};
        Payload& payload = reading.payload;
        payload.prepare_to_write(reading.generation);
        Watching watching;
        watching.read = [&](std::span<const std::byte> found, std::int64_t place) {
            const auto wrong = compare(payload.stamped(place, std::ssize(found)), found, place);
            if (wrong) reading.wrong(*wrong, place_.own_path);
            reading.read(std::ssize(found));
        };
        Moved moved;
        Status read = again.move(Access::read, payload, watching, moved);
        Status closed = again.close();
        return read ? std::move(closed) : std::move(read);
    }
    std::string explain(const Mismatch& wrong) const override {
        if (storage_.capabilities().plain) return wrong.text();
        return wrong.text() + counted_in_data(fmt::format("byte {} of task {}",
                                                          wrong.offset - begin_, place_.owner));
    }

  private:
    Status move_apart(Access access, Payload& payload, const Watching& watching, Moved& moved) {
        Deadline::Limits limits;
        limits.start = place_.session.clock.now();
        limits.max_count = streams_.calls(bytes_);
        Deadline pace(place_.session.clock, place_.session.interrupted, limits);
        Status status;
        as_itself(*file_, [&](auto file) {
            status = paced_calls(pace, limits, moved, [&](std::int64_t number) {
                return one(
                    streams_.call(number, bytes_), access, payload, watching, moved,
                    [&](auto data, std::int64_t place) { return file.write_at(data, place); },
                    [&](auto data, std::int64_t place) { return file.read_at(data, place); });
            });
        });
        return status;
    }

    /// Collective calls: all ranks make equally many, with nothing to move if need be.
    Status move_together(Access access, Payload& payload, const Watching& watching, Moved& moved) {
        const std::int64_t own = streams_.calls(bytes_);
        Deadline::Limits limits;
        limits.start = place_.session.clock.now();
        limits.max_count = streams_.calls(streams_.largest);
        SlicedVote vote(place_.comm, place_.session.interrupted, limits);
        const auto write = [&](auto data, std::int64_t place) {
            return file_->write(form_, data, place);
        };
        const auto read = [&](auto data, std::int64_t place) {
            return file_->read(form_, data, place);
        };
        Status status = paced_calls(vote, limits, moved, [&](std::int64_t number) {
            if (number < own) {
                return one(streams_.call(number, bytes_), access, payload, watching, moved, write,
                           read);
            }
            return access == Access::write ? write(std::span<const std::byte>(), 0)
                                           : read(std::span<std::byte>(), 0);
        });
        moved.calls = std::min(moved.calls, own);
        return status;
    }

    template <class Write, class Read>
    Status one(const Run& call, Access access, Payload& payload, const Watching& watching,
               Moved& moved, Write&& write, Read&& read) {
        const std::int64_t place = begin_ + call.offset;
        const auto memory = payload.target(call.offset, call.bytes);
        Status done = logged(place_.session.clock, watching, moved, [&] {
            return access == Access::write ? write(payload.stamped(place, call.bytes), place)
                                           : read(memory, place);
        });
        if (done) moved.bytes += call.bytes;
        if (done && watching.read) watching.read(memory, place);
        return done;
    }

    CallForm form_;
    const Streams& streams_;
    std::int64_t bytes_;
    std::int64_t begin_;
    std::unique_ptr<ByteFile> file_;
};

}  // namespace

std::unique_ptr<Mover> make_stream_mover(Storage& storage, const RankContext& place) {
    return std::make_unique<StreamMover>(storage, place);
}

}  // namespace effio::study
