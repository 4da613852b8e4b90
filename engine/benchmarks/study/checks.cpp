// SPDX-License-Identifier: BSD-3-Clause
// Whether what a pass read, or left behind, is what was written.
#include <fmt/format.h>

#include <utility>

#include "benchmarks/study/done.hpp"

namespace effio::study {

void Measure::note_wrong(Done& done, const Mismatch& wrong, const std::string& path) const {
    Error error = io_error("verify", path, found_in(wrong));
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
    done.verified = addresses_.bytes();
}

/// Reads all pieces again, one by one, and compares each: what was read and not kept, or written
/// last.
void Measure::check_again(Done& done) {
    session().progress.call("verify");
    auto opened = storage_.open(place_->comm, {path_, OpenMode::reading(), Element::byte, {}});
    if (!opened) done.outcome.fail(std::move(opened.error()));
    Outcome mine = done.outcome;
    mine.interrupted = session().interrupted.load();
    agreed_ = agree(session(), crew_.comm, mine);
    if (agreed_.failed() || agreed_.interrupted) return;
    for (std::int64_t n = 0; n < addresses_.calls(); ++n) {
        if (auto read =
                (*opened)->read({Pointer::at, false}, payload_.piece(n), addresses_.place(n));
            !read) {
            done.outcome.fail(std::move(read.error()));
            break;
        }
        if (const auto wrong = payload_.check(n, done.generation)) note_wrong(done, *wrong, path_);
        done.verified += addresses_.piece();
    }
    if (auto closed = (*opened)->close(); !closed) done.outcome.fail(std::move(closed.error()));
}

/// Reads what was read again, by the same calls, and compares each.
void Measure::check_streams_again(Done& done) {
    session().progress.call("verify");
    Outcome mine;
    Moved moved;
    const auto mover = make_mover();
    if (auto opened = mover->open(false); !opened) mine.fail(std::move(opened.error()));
    mine.interrupted = session().interrupted.load();
    agreed_ = agree(session(), crew_.comm, mine);
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
        done.verified += std::ssize(found);
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
        done.verified += addresses_.piece();
    }
}

}  // namespace effio::study
