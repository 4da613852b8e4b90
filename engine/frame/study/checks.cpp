// SPDX-License-Identifier: BSD-3-Clause
// Whether what a pass read, or left behind, is what was written.
#include <fmt/format.h>

#include <utility>

#include "frame/study/done.hpp"

namespace effio::study {

void Measure::note_wrong(Done& done, const Mismatch& wrong, const std::string& path) const {
    std::string found = found_in(wrong);
    if (visit_.cell.streams && !storage_.capabilities().plain) {
        found += counted_in_data(fmt::format(
            "byte {} of task {}", wrong.offset - visit_.cell.streams->begin(owner_), owner_));
    }
    Error error = io_error("verify", path, std::move(found));
    error.exit_code = ExitCode::data_errors;
    error.offset = wrong.offset;
    done.outcome.fail(session().signed_error(std::move(error)));
}

/// Which element of which array it is, if the file holds arrays.
std::string Measure::found_in(const Mismatch& wrong) const {
    if (!visit_.cell.arrays) return wrong.text();
    const ArraySchema& schema = *visit_.cell.arrays;
    const auto variable = static_cast<std::size_t>(wrong.offset / schema.bytes(0));
    std::int64_t element =
        wrong.offset % schema.bytes(0) / schema.variables[variable].element_bytes();
    std::string place;
    const auto shape = schema.shape(variable);
    for (std::size_t d = shape.size(); d-- > 0; element /= shape[d]) {
        place = fmt::format("{}{}{}", element % shape[d], place.empty() ? "" : ", ", place);
    }
    return fmt::format("variable {} at ({}): {}", schema.variables[variable].name, place,
                       wrong.text());
}

/// What a pass put into memory.
void Measure::check_memory(Done& done) {
    for (std::int64_t n = 0; n < addresses_.calls(); ++n) {
        const std::uint64_t read = done.generation - (done.pass.writes() ? 1 : 0);
        const bool changing = done.pass.writes() && visit_.cell.overlaps;
        const auto wrong = changing ? payload_.check_either(n, read) : payload_.check(n, read);
        if (wrong) note_wrong(done, *wrong, path_);
        session().progress.beat();
    }
    done.of_timed_reads = addresses_.bytes();
}

/// What a pass put into memory as far as it is kept there: its first calls.
void Measure::check_kept(Done& done) {
    const Cell& cell = visit_.cell;
    const auto compared = [&](std::int64_t before, std::int64_t bytes, std::int64_t place,
                              std::int64_t begin, const std::string& path) {
        if (!payload_.keeps(before + bytes)) return false;
        if (auto wrong =
                compare(payload_.stamped(place, bytes), payload_.target(before, bytes), place)) {
            wrong->offset -= begin;
            note_wrong(done, *wrong, path);
        }
        done.of_timed_reads += bytes;
        session().progress.beat();
        return true;
    };
    payload_.prepare_to_write(done.generation);
    if (cell.streams) {
        const std::int64_t length = cell.streams->bytes(owner_);
        for (std::int64_t i = 0; i < cell.streams->calls(length); ++i) {
            const Run call = cell.streams->call(i, length);
            const std::int64_t place = cell.streams->begin(owner_) + call.offset;
            if (!compared(call.offset, call.bytes, place, 0, path_)) return;
        }
        return;
    }
    const std::int64_t piece = addresses_.piece();
    const std::int64_t calls = cell.items ? cell.items->visits(owner_) : addresses_.calls();
    for (std::int64_t i = 0; i < calls; ++i) {
        const std::int64_t number = cell.items ? cell.items->file(owner_, i) : addresses_.number(i);
        const std::int64_t place = addresses_.place(number);
        const bool more = cell.items
                              ? compared(i * piece, piece, place, place, place_->path_of(number))
                              : compared(i * piece, piece, place, 0, path_);
        if (!more) return;
    }
}

/// What a pass wrote and the next one is to write again: read through the file as it is open.
/// Collective.
void Measure::check_before_it_is_overwritten(Done& done) {
    const Cell& cell = visit_.cell;
    if (cell.items || cell.streams || cell.arrays || stage_.ways.arrays_of(cell) != nullptr) {
        done.not_verifiable = done.moved.bytes / done.pass.ways();
        return;
    }
    session().progress.call("verify");
    const std::uint64_t generation = done.generation;
    Watching watching;
    payload_.prepare_to_read();
    if (payload_.is_stamped()) {
        payload_.prepare_to_write(generation);
        watching.read = [&](std::span<const std::byte> found, std::int64_t place) {
            if (const auto wrong =
                    compare(payload_.stamped(place, std::ssize(found)), found, place))
                note_wrong(done, *wrong, path_);
            done.of_second_reads += std::ssize(found);
        };
    }
    Moved moved;
    Outcome mine;
    if (auto read = mover_->move(Access::read, payload_, watching, moved); !read) {
        mine.fail(session().signed_error(std::move(read.error())));
    } else if (!payload_.is_stamped() && !moved.interrupted) {
        for (std::int64_t n = 0; n < addresses_.calls(); ++n) {
            if (const auto wrong = payload_.check(n, generation)) note_wrong(done, *wrong, path_);
            session().progress.beat();
        }
        done.of_second_reads = addresses_.bytes();
    }
    mine.interrupted = moved.interrupted || session().interrupted.load();
    agreed_ = agree(session(), ranks_.comm, mine);
    if (!agreed_.failed()) return;
    done.outcome.error = agreed_.error;
    done.valid = false;
}

/// Reads all pieces again, one by one, and compares each: what was read and not kept, or written
/// last.
void Measure::check_again(Done& done) {
    session().progress.call("verify");
    auto opened = storage_.open(place_->comm, {path_, OpenMode::reading(), Element::byte, {}});
    if (!opened) done.outcome.fail(std::move(opened.error()));
    Outcome mine = done.outcome;
    mine.interrupted = session().interrupted.load();
    agreed_ = agree(session(), ranks_.comm, mine);
    if (agreed_.failed() || agreed_.interrupted) return;
    for (std::int64_t n = 0; n < addresses_.calls(); ++n) {
        if (auto read =
                (*opened)->read({Pointer::at, false}, payload_.piece(n), addresses_.place(n));
            !read) {
            done.outcome.fail(std::move(read.error()));
            break;
        }
        if (const auto wrong = payload_.check(n, done.generation)) note_wrong(done, *wrong, path_);
        done.of_second_reads += addresses_.piece();
    }
    if (auto closed = (*opened)->close(); !closed) done.outcome.fail(std::move(closed.error()));
}

/// Reads what was read again, by the same calls, and compares each.
void Measure::check_streams_again(Done& done) {
    session().progress.call("verify");
    Outcome mine;
    Moved moved;
    const auto mover = make_mover();
    Status opened = mover->open(false);
    if (opened) opened = mover->confirm();
    if (!opened) mine.fail(std::move(opened.error()));
    mine.interrupted = session().interrupted.load();
    agreed_ = agree(session(), ranks_.comm, mine);
    if (agreed_.failed() || agreed_.interrupted) {
        if (agreed_.failed()) done.outcome.fail(*agreed_.error);
        return;
    }
    payload_.prepare_to_write(done.generation);
    Watching watching;
    watching.read = [&](std::span<const std::byte> found, std::int64_t place) {
        if (const auto wrong = compare(payload_.stamped(place, std::ssize(found)), found, place)) {
            note_wrong(done, *wrong, path_);
        }
        done.of_second_reads += std::ssize(found);
    };
    if (auto read = mover->move(Access::read, payload_, watching, moved); !read) {
        done.outcome.fail(session().signed_error(std::move(read.error())));
    }
    if (auto closed = mover->close(); !closed) done.outcome.fail(std::move(closed.error()));
}

/// Reads all files that were visited again, in whole, and compares each.
void Measure::check_items_again(Done& done) {
    session().progress.call("verify");
    const Items& items = *visit_.cell.items;
    const Comm alone = Comm::self(session().clock);
    for (std::int64_t i = 0; i < items.visits(owner_); ++i) {
        const std::int64_t file = items.file(owner_, i);
        const std::string path = place_->path_of(file);
        auto opened = storage_.open(alone, {path, OpenMode::reading(), Element::byte, {}});
        Status read = opened ? (*opened)->read({Pointer::at, false}, payload_.piece(0), 0)
                             : Status(std::move(opened.error()));
        if (read) read = (*opened)->close();
        if (!read) {
            done.outcome.fail(std::move(read.error()));
            return;
        }
        if (auto wrong = payload_.check(file, done.generation)) {
            wrong->offset -= addresses_.place(file);
            note_wrong(done, *wrong, path);
        }
        done.of_second_reads += addresses_.piece();
    }
}

}  // namespace effio::study
