// SPDX-License-Identifier: BSD-3-Clause
// Cells of many small files: all that is done to a file belongs to the pass.
#include <algorithm>
#include <utility>

#include "frame/study/mover.hpp"
#include "storage/as_itself.hpp"

namespace effio::study {
namespace {

class ItemMover : public Mover {
  public:
    ItemMover(Storage& storage, const RankContext& place)
        : Mover(storage, place),
          items_(std::get<Items>(place.cell.data)),
          alone_(Comm::self(place.session.clock)) {}

    Status open(bool create) override {
        create_ = create;
        return {};
    }

    Status move(Access access, Payload& payload, const Watching& watching, Moved& moved) override {
        Deadline::Limits limits;
        limits.start = place_.session.clock.now();
        limits.max_count = items_.visits(place_.owner);
        Deadline pace(place_.session.clock, place_.session.interrupted, limits);
        Status status = paced_calls(pace, limits, moved, [&](std::int64_t visit) {
            const std::int64_t file = items_.file(place_.owner, visit);
            return logged(place_.session.clock, watching, moved,
                          [&] { return one(file, visit, access, payload, watching, moved); });
        });
        moved.files = moved.calls;
        moved.calls = calls_;
        moved.bytes = moved.files * place_.addresses.piece();
        moved.parts = {{"open", open_}, {"close", close_}};
        if (access == Access::write && place_.cell.sync == Sync::inside) {
            moved.parts.emplace_back("sync", sync_);
        }
        return status;
    }

    Status sync() override { return {}; }
    Status close() override { return {}; }
    GrantedHints granted_hints() override { return {}; }
    Json describe() override { return Json::object(); }
    std::string call_name(Access access) const override {
        return access == Access::write ? write_call_ : read_call_;
    }

    bool opens_in_pass() const override { return true; }
    std::vector<std::string> files() const override {
        std::vector<std::string> paths;
        for (std::int64_t i = 0; i < items_.visits(place_.owner); ++i) {
            paths.push_back(place_.path_of(items_.file(place_.owner, i)));
        }
        return paths;
    }
    bool reports_files() const override { return true; }
    Status look_at_files(Readable& readable) const override {
        for (const auto& path : files()) {
            auto fits = Readable::fits(place_.session, path, items_.file_bytes);
            if (!fits) return fits;
            readable.reads(path, 0, items_.file_bytes);
            place_.session.progress.beat();
        }
        return {};
    }
    void each_call(const std::function<bool(const KeptCall&)>& function) const override {
        for (std::int64_t i = 0; i < items_.visits(place_.owner); ++i) {
            const std::int64_t file = items_.file(place_.owner, i);
            const std::int64_t place = place_.addresses.place(file);
            const std::string path = place_.path_of(file);
            const std::int64_t bytes = items_.file_bytes;
            if (!function({i * bytes, bytes, place, place, path})) return;
        }
    }
    /// Reads each visited file in one call.
    Status read_again(const SecondReading& reading) override {
        for (std::int64_t i = 0; i < items_.visits(place_.owner); ++i) {
            const std::int64_t file = items_.file(place_.owner, i);
            const std::string path = place_.path_of(file);
            auto opened = storage_.open(alone_, {path, OpenMode::reading(), Element::byte, {}});
            if (!opened) return std::move(opened.error());
            Status read = (*opened)->read({Pointer::at, false}, reading.payload.piece(0), 0);
            if (read) read = (*opened)->close();
            if (!read) return read;
            if (auto wrong = reading.payload.check(file, reading.generation)) {
                wrong->offset -= place_.addresses.place(file);
                reading.wrong(*wrong, path);
            }
            reading.read(items_.file_bytes);
        }
        return {};
    }

  private:
    Status one(std::int64_t number, std::int64_t visit, Access access, Payload& payload,
               const Watching& watching, Moved& moved) {
        const Clock& clock = place_.session.clock;
        const bool writing = access == Access::write;
        const OpenMode mode = !writing  ? OpenMode::reading()
                              : create_ ? OpenMode::creating()
                                        : OpenMode::updating();
        const double begin = clock.now();
        auto opened =
            storage_.open(alone_, {place_.path_of(number), mode, Element::byte, place_.hints});
        const double there = clock.now();
        open_ += there - begin;
        if (!opened) return std::move(opened.error());
        ByteFile& file = **opened;
        if (watching.time_calls) file.time_calls_into(&moved.times);
        if (auto done = calls(file, number, visit, writing, payload); !done) return done;
        if (writing && place_.cell.sync == Sync::inside) {
            const double before = clock.now();
            if (auto done = file.sync(); !done) return done;
            sync_ += clock.now() - before;
        }
        const double before = clock.now();
        Status closed = file.close();
        close_ += clock.now() - before;
        return closed;
    }

    Status calls(ByteFile& file, std::int64_t number, std::int64_t visit, bool writing,
                 Payload& payload) {
        const std::span<std::byte> memory = payload.to_read(visit, 0);
        const std::span<const std::byte> data =
            writing ? payload.stamped(place_.addresses.place(number)) : memory;
        const auto request = static_cast<std::size_t>(items_.request);
        Status status;
        as_itself(file, [&](auto itself) {
            for (std::size_t at = 0; at < data.size() && status; at += request) {
                const std::size_t bytes = std::min(request, data.size() - at);
                const auto offset = static_cast<std::int64_t>(at);
                status = writing ? itself.write_at(data.subspan(at, bytes), offset)
                                 : itself.read_at(memory.subspan(at, bytes), offset);
                ++calls_;
            }
        });
        const CallForm form{Pointer::at, false};
        (writing ? write_call_ : read_call_) = file.call_name(form, writing);
        return status;
    }

    const Items& items_;
    Comm alone_;
    bool create_ = false;
    std::int64_t calls_ = 0;
    double open_ = 0;
    double sync_ = 0;
    double close_ = 0;
    const char* write_call_ = "";
    const char* read_call_ = "";
};

}  // namespace

std::unique_ptr<Mover> make_item_mover(Storage& storage, const RankContext& place) {
    return std::make_unique<ItemMover>(storage, place);
}

}  // namespace effio::study
