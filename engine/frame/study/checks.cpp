// SPDX-License-Identifier: BSD-3-Clause
// Whether what a pass read, or left behind, is what was written.
#include <fmt/format.h>

#include <utility>

#include "frame/study/done.hpp"

namespace effio::study {

void Measure::note_wrong(Done& done, const Mismatch& wrong, const std::string& path) const {
    Error error = io_error("verify", path, mover_->explain(wrong));
    error.exit_code = ExitCode::data_errors;
    error.offset = wrong.offset;
    done.outcome.fail(session().signed_error(std::move(error)));
}

/// What a pass put into memory.
void Measure::check_memory(Done& done) {
    for (std::int64_t n = 0; n < addresses_.calls(); ++n) {
        const std::uint64_t read = done.generation - (done.pass.writes() ? 1 : 0);
        const bool changing = done.pass.writes() && visit_.cell.overlap();
        const auto wrong = changing ? payload_.check_either(n, read) : payload_.check(n, read);
        if (wrong) note_wrong(done, *wrong, path_);
        session().progress.beat();
    }
    done.of_timed_reads = addresses_.bytes();
}

/// What a pass put into memory as far as it is kept there: its first calls.
void Measure::check_kept(Done& done) {
    payload_.prepare_to_write(done.generation);
    mover_->each_call([&](const KeptCall& call) {
        if (!payload_.keeps(call.before + call.bytes)) return false;
        if (auto wrong = compare(payload_.stamped(call.place, call.bytes),
                                 payload_.target(call.before, call.bytes), call.place)) {
            wrong->offset -= call.file_place;
            note_wrong(done, *wrong, call.path);
        }
        done.of_timed_reads += call.bytes;
        session().progress.beat();
        return true;
    });
}

/// What a pass wrote and the next one is to write again: read through the file as it is open.
/// Collective.
void Measure::check_before_it_is_overwritten(Done& done) {
    if (!mover_->reads_while_open()) {
        done.not_verifiable = done.moved.bytes / done.pass.directions();
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

/// Checks data that a pass read but did not keep, or that nothing has read since they were written.
void Measure::read_again(Done& done) {
    session().progress.call("verify");
    SecondReading reading{payload_, done.generation, {}, {}, {}};
    reading.all_opened = [&](Status opened) {
        if (!opened) done.outcome.fail(session().signed_error(std::move(opened.error())));
        Outcome mine = done.outcome;
        mine.interrupted = session().interrupted.load();
        agreed_ = agree(session(), ranks_.comm, mine);
        return !agreed_.failed() && !agreed_.interrupted;
    };
    reading.wrong = [&](const Mismatch& wrong, const std::string& path) {
        note_wrong(done, wrong, path);
    };
    reading.read = [&](std::int64_t bytes) { done.of_second_reads += bytes; };
    if (auto read = mover_->read_again(reading); !read) {
        done.outcome.fail(session().signed_error(std::move(read.error())));
    }
}

}  // namespace effio::study
