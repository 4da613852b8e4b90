// SPDX-License-Identifier: BSD-3-Clause
// Cells over files of bytes. The loops of calls are here, one for each kind of file and of data.
#include <algorithm>
#include <numeric>
#include <optional>
#include <utility>
#include <vector>

#include "frame/storage_run.hpp"
#include "frame/study/mover.hpp"
#include "storage/as_itself.hpp"

namespace effio::study {
namespace {

class ByteMover : public Mover {
  public:
    ByteMover(Storage& storage, const RankContext& place)
        : Mover(storage, place),
          form_{Pointer::at, place.cell.collective},
          through_(std::get<Pieces>(place.cell.data).through) {
        if (place.cell.collective && through_ == Through::offsets) {
            most_calls_ = place.comm.max(place.addresses.calls());
        }
        draw_order();
        if (place.cell.in_flight() > 1) {
            const auto piece = static_cast<std::size_t>(place.addresses.piece());
            slots_.emplace(static_cast<std::size_t>(place.cell.in_flight()) * piece);
        }
    }

    Status open(bool create) override {
        const bool writes = place_.cell.writes();
        const OpenMode mode = create   ? OpenMode::creating()
                              : writes ? OpenMode::updating()
                                       : OpenMode::reading();
        OpenRequest request{place_.path, mode, Element::byte, place_.hints};
        request.confirms_later = true;
        auto opened = storage_.open(place_.comm, request);
        if (!opened) return std::move(opened.error());
        file_ = std::move(*opened);
        if (through_ == Through::offsets) return {};
        return file_->set_view(place_.addresses.view(), place_.hints);
    }

    Status confirm() override { return file_->confirm(); }

    Status move(Access access, Payload& payload, const Watching& watching, Moved& moved) override {
        file_->time_calls_into(watching.time_calls ? &moved.times : nullptr);
        Status status;
        if (through_ == Through::view) {
            status = move_whole(access, payload, watching, moved);
        } else if (place_.cell.collective) {
            status = move_together(access, payload, watching, moved);
        } else {
            status = move_apart(access, payload, watching, moved);
        }
        file_->time_calls_into(nullptr);
        const int directions = Pass{access, {}}.directions();
        moved.calls *= directions;
        moved.bytes *= directions;
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
    bool reads_while_open() const override { return true; }

  private:
    /// All pieces by one call.
    Status move_whole(Access access, Payload& payload, const Watching& watching, Moved& moved) {
        return logged(place_.session.clock, watching, moved, [&] {
            Status status = by_access(
                access, [&] { return file_->read_spaced(form_, payload.all(), 0); },
                [&] { return file_->write_spaced(form_, payload.all_sources(), 0); });
            if (status) {
                moved.calls = 1;
                moved.bytes = place_.addresses.bytes();
            }
            return status;
        });
    }

    /// Collective calls: all ranks make equally many, with nothing to move if need be.
    Status move_together(Access access, Payload& payload, const Watching& watching, Moved& moved) {
        Deadline::Limits limits;
        limits.start = place_.session.clock.now();
        limits.max_count = most_calls_;
        SlicedVote vote(place_.comm, place_.session.interrupted, limits);
        const std::int64_t own = place_.addresses.calls();
        Status status = paced_calls(vote, limits, moved, [&](std::int64_t call) {
            return logged(place_.session.clock, watching, moved, [&] {
                if (call < own) {
                    const std::int64_t piece = number(call);
                    return one(access, payload, call, piece, watching);
                }
                return by_access(
                    access, [&] { return file_->read(form_, std::span<std::byte>(), 0); },
                    [&] { return file_->write(form_, std::span<const std::byte>(), 0); });
            });
        });
        moved.calls = std::min(moved.calls, own);
        moved.bytes = moved.calls * place_.addresses.piece();
        return status;
    }

    /// Independent calls, several in flight, each with its own buffer.
    Status move_queued(Access access, Payload& payload, const Watching& watching, Moved& moved) {
        const auto depth = static_cast<std::size_t>(place_.cell.in_flight());
        auto queue = file_->queue({depth});
        if (!queue) return std::move(queue.error());
        const Clock& clock = place_.session.clock;
        Deadline::Limits limits;
        limits.start = clock.now();
        limits.max_count = place_.addresses.calls();
        Deadline pace(clock, place_.session.interrupted, limits);
        Status failure;
        std::vector<std::size_t> free(depth);
        std::iota(free.begin(), free.end(), std::size_t{0});
        std::vector<double> begin(depth);
        std::int64_t posted = 0;
        bool more = limits.max_count > 0;
        while (more || free.size() < depth) {
            while (more && posted < limits.max_count && !free.empty()) {
                const std::size_t slot = free.back();
                free.pop_back();
                begin[slot] = clock.now();
                post(**queue, access, payload, slot, posted++);
            }
            Completion over = (*queue)->wait();
            free.push_back(over.slot);
            const double now = clock.now();
            if (over.status) {
                ++moved.calls;
                if (watching.time_calls) moved.times.add(now - begin[over.slot]);
                moved.over_time.add(begin[over.slot] - limits.start, now - limits.start, 1);
            } else {
                failure = std::move(over.status);
                pace.failed();
            }
            more = pace.go_on(now) && more;
        }
        moved.interrupted = pace.reason() == StopReason::interrupted;
        moved.bytes = moved.calls * place_.addresses.piece();
        return failure;
    }

    void post(TransferQueue& queue, Access access, Payload& payload, std::size_t slot,
              std::int64_t call) {
        const std::int64_t piece = number(call);
        const std::int64_t place = place_.addresses.place(piece);
        const auto size = static_cast<std::size_t>(place_.addresses.piece());
        const auto own = slots_->bytes().subspan(slot * size, size);
        if (access == Access::read) {
            const bool kept = payload.keeps((call + 1) * place_.addresses.piece());
            queue.post_read(slot, kept ? payload.to_read(call, piece) : own, place);
            return;
        }
        // Stamped data are made in one buffer, so a call in flight needs a copy.
        const auto data = payload.stamped(place);
        std::copy(data.begin(), data.end(), own.begin());
        queue.post_write(slot, own, place);
    }

    /// Each rank for itself: effio adds nothing between the loop and the library.
    Status move_apart(Access access, Payload& payload, const Watching& watching, Moved& moved) {
        if (slots_) return move_queued(access, payload, watching, moved);
        Deadline::Limits limits;
        limits.start = place_.session.clock.now();
        limits.max_count = place_.addresses.calls();
        Deadline pace(place_.session.clock, place_.session.interrupted, limits);
        Status status;
        const auto loop = [&](auto&& call) {
            status = paced_calls(pace, limits, moved, std::forward<decltype(call)>(call));
        };
        const Addresses& where = place_.addresses;
        const auto with = [&](auto file) {
            if (access == Access::read) {
                loop([&, file](std::int64_t call) __attribute__((always_inline)) {
                    const std::int64_t piece = number(call);
                    return file.read_at(payload.to_read(call, piece), where.place(piece));
                });
            } else if (access == Access::modify) {
                loop([&, file](std::int64_t call) __attribute__((always_inline)) {
                    const std::int64_t piece = number(call);
                    const std::int64_t place = where.place(piece);
                    if (Status read = file.read_at(payload.piece(piece), place); !read) return read;
                    return file.write_at(payload.source(piece), place);
                });
            } else if (payload.is_stamped()) {
                loop([&, file](std::int64_t call) __attribute__((always_inline)) {
                    const std::int64_t place = where.place(number(call));
                    return file.write_at(payload.stamped(place), place);
                });
            } else {
                loop([&, file](std::int64_t call) __attribute__((always_inline)) {
                    const std::int64_t piece = number(call);
                    return file.write_at(payload.source(piece), where.place(piece));
                });
            }
        };
        if (!watching.keep_calls && !watching.read) {
            as_itself(*file_, with);
        } else {
            loop([&](std::int64_t call) {
                return logged(place_.session.clock, watching, moved,
                              [&] { return one(access, payload, call, number(call), watching); });
            });
        }
        moved.bytes = moved.calls * where.piece();
        return status;
    }

    /// A scattered order is computed before it is used: a random place takes as long as some per
    /// cent of a system call. What is longer than this is computed call by call.
    static constexpr std::int64_t most_drawn = std::int64_t{1} << 22;

    void draw_order() {
        const Addresses& where = place_.addresses;
        if (where.order() == Order::sequential || where.calls() > most_drawn) return;
        order_.reserve(static_cast<std::size_t>(where.calls()));
        for (std::int64_t call = 0; call < where.calls(); ++call) {
            order_.push_back(where.number(call));
        }
    }
    std::int64_t number(std::int64_t call) const {
        return order_.empty() ? place_.addresses.number(call)
                              : order_[static_cast<std::size_t>(call)];
    }

    /// Reading, writing, or both. All ranks make the same calls, however they go: they may be
    /// collective.
    template <class Read, class Write>
    static Status by_access(Access access, Read&& read, Write&& write) {
        Status status = access == Access::write ? Status() : read();
        if (access == Access::read) return status;
        Status written = write();
        return status ? std::move(written) : std::move(status);
    }

    /// One piece.
    Status one(Access access, Payload& payload, std::int64_t call, std::int64_t number,
               const Watching& watching) {
        const std::int64_t place = place_.addresses.place(number);
        return by_access(
            access,
            [&] {
                const auto data = payload.to_read(call, number);
                Status read = file_->read(form_, data, place);
                if (read && watching.read) watching.read(data, place);
                return read;
            },
            [&] {
                return file_->write(
                    form_, payload.is_stamped() ? payload.stamped(place) : payload.source(number),
                    place);
            });
    }

    CallForm form_;
    Through through_;
    std::int64_t most_calls_ = 0;      ///< of a rank that uses the file
    std::vector<std::int64_t> order_;  ///< pieces by call; empty: computed
    std::optional<Buffer> slots_;      ///< buffers of the calls in flight
    std::unique_ptr<ByteFile> file_;
};

}  // namespace

Status check_mover(const Storage& storage, bool collective, Through through) {
    const Capabilities can = storage.capabilities();
    return require(storage.name(), {{through == Through::offsets || can.views, "views"},
                                    {!collective || can.collective, "collective calls"}});
}

std::unique_ptr<Mover> make_byte_mover(Storage& storage, const RankContext& place) {
    return std::make_unique<ByteMover>(storage, place);
}

}  // namespace effio::study
