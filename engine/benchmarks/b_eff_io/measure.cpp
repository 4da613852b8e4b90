// SPDX-License-Identifier: BSD-3-Clause
#include "benchmarks/b_eff_io/measure.hpp"

#include <fmt/format.h>

#include "core/pattern.hpp"
#include "core/units.hpp"
#include "frame/memory_options.hpp"
#include "storage/as_itself.hpp"

namespace effio::b_eff_io {
namespace {

/// The file offset of byte `position` of the row's stream.
std::int64_t file_offset(const RowTask& task, std::int64_t position) {
    std::int64_t offset = 0;
    for_each_run(task.place, position, 1, [&](const Run& run) {
        offset = run.offset;
        return false;
    });
    return offset;
}

Error wrong_bytes(const std::string& call_name, const ByteFile& file, const RowTask& task,
                  std::int64_t call, const Mismatch& bad) {
    Error error = io_error(call_name, file.path(),
                           fmt::format("wrong data in row {} ({}), call {}: expected byte "
                                       "0x{:02x}, found 0x{:02x}; {} in the call",
                                       task.row.number, name(task.row.type), call, bad.expected,
                                       bad.found, count_of(bad.wrong_bytes, "wrong byte")));
    error.exit_code = ExitCode::data_errors;
    error.offset = file_offset(task, call * task.row.memory + bad.offset);
    return error;
}

/// What goes wrong in a row: counted, the first failure kept, the first few reported.
class Trouble {
  public:
    Trouble(const Session& session, const RowTask& task, RowMeasured& measured,
            const std::function<void(const std::string&)>& warn)
        : session_(session), task_(task), measured_(measured), warn_(warn) {}

    /// True if the call went well.
    [[gnu::always_inline]] bool passed(Status done) {
        if (done) [[likely]]
            return true;
        failed(std::move(done.error()));
        return false;
    }

    [[gnu::cold]] void failed(Error error) {
        say(fmt::format("[{}] ERROR in File_{}: n={}, p={}: {}", session_.world_rank,
                        task_.access == Access::read ? "read" : "write", task_.ranks,
                        task_.row.number, error.text()));
        measured_.outcome.fail(session_.signed_error(std::move(error)));
    }

    [[gnu::cold]] void wrong(std::int64_t chunks, std::int64_t call, const WrongChunk& w,
                             const ByteFile& file) {
        say(
            fmt::format("[{}] ERROR in reading: p={}, r={}, i={}, buf=({},{}) != "
                        "({},{})",
                        session_.world_rank, task_.row.number, call, w.i, w.found_first,
                        w.found_last, w.expected_first, w.expected_last));
        Error error = io_error(
            file.call_name(task_.form, false), file.path(),
            fmt::format("wrong data in row {} ({} {}), call {}: first and last double of a chunk "
                        "are ({},{}) instead of ({},{})",
                        task_.row.number, name(task_.access), name(task_.row.type), call,
                        w.found_first, w.found_last, w.expected_first, w.expected_last));
        error.exit_code = ExitCode::data_errors;
        // Of the first one if it is wrong, or of the last one.
        const bool at_end = w.found_first == w.expected_first;
        const std::int64_t number = w.i + (at_end ? task_.row.chunk / 8 - 1 : 0);
        error.offset = file_offset(task_, call * task_.row.memory + 8 * number);
        error = session_.signed_error(std::move(error));
        if (!measured_.outcome.error) measured_.outcome.error = std::move(error);
        measured_.outcome.error_count += chunks;
    }

    /// Marks are right, and what is between them is not.
    [[gnu::cold]] void differs(std::int64_t call, const Mismatch& bad, const ByteFile& file) {
        Error error = wrong_bytes(file.call_name(task_.form, false), file, task_, call, bad);
        say(fmt::format("[{}] ERROR in reading: p={}, r={}: {}", session_.world_rank,
                        task_.row.number, call, error.cause));
        measured_.outcome.fail(session_.signed_error(std::move(error)));
    }

  private:
    void say(const std::string& message) {
        if (warned_++ < task_.max_messages) warn_(message);
    }

    const Session& session_;
    const RowTask& task_;
    RowMeasured& measured_;
    const std::function<void(const std::string&)>& warn_;
    std::int64_t warned_ = 0;
};

// Separate loops for writing and for reading: the less code is between two calls, the less
// of it the kernel has thrown out of the processor's cache when the first one returns.

/// The loop over calls that are voted on. The length of the last call runs from the end of the vote
/// before it to its own end, which is where its vote begins: one reading of the clock for both.
template <class OneCall>
[[gnu::noinline]] void voted_calls(const Clock& clock, RootVote& vote, RowTimes& times,
                                   CallMarks& marks, const OneCall& one_call) {
    double begin = clock.now();
    marks.begin(begin);
    while (true) {
        if (!one_call(vote.done())) vote.failed();
        const double end = clock.now();
        times.last_call = end - begin;
        if (!vote.go_on(end)) return;
        begin = vote.now();
        marks.note(vote.done(), begin);
    }
}

/// A fixed number of calls needs no clock except around the last one.
template <class OneCall>
[[gnu::noinline]] void counted_calls(const Clock& clock, FixedCount& count, std::int64_t calls,
                                     RowTimes& times, const OneCall& one_call) {
    double begin = clock.now();
    do {
        if (count.done() == calls - 1) [[unlikely]]
            begin = clock.now();
        if (!one_call(count.done())) count.failed();
    } while (count.go_on());
    times.last_call = clock.now() - begin;
}

/// All calls of the row; its budget runs since `start`.
template <class OneCall>
void make_calls(const Session& session, const Comm& comm, const RowTask& task, double start,
                RowMeasured& m, CallMarks& over, const OneCall& one_call) {
    if (task.repetitions == 0) {
        RootVote vote(comm, session.interrupted, {start, task.budget, task.cap_calls});
        voted_calls(session.clock, vote, m.times, over, one_call);
        m.times.barrier = vote.barrier_seconds();
        m.times.broadcast = vote.broadcast_seconds();
        m.times.last_vote = vote.last_vote_seconds();
        m.repetitions = vote.done();
        m.stopped = vote.reason();
    } else {
        FixedCount count(task.repetitions);
        counted_calls(session.clock, count, task.repetitions, m.times, one_call);
        m.repetitions = count.done();
        m.stopped = count.reason();
    }
}

/// The calls of rows whose data are in one piece of memory.
class WholeCalls {
  public:
    explicit WholeCalls(Buffers& buffers) : buffers_(buffers) {}

    [[gnu::always_inline]] void mark(const Marks& marks, std::int64_t call) const {
        buffers_.mark(marks, call);
    }
    [[gnu::always_inline]] std::int64_t check(const Marks& marks, std::int64_t call,
                                              std::optional<WrongChunk>& wrong) const {
        return buffers_.check(marks, call, wrong);
    }
    template <class File>
    [[gnu::always_inline]] Status write(const File& file, CallForm form, const Row& row) const {
        return file.write(form, buffers_.to_write(row));
    }
    template <class File>
    [[gnu::always_inline]] Status read(const File& file, CallForm form, const Row& row) const {
        return file.read(form, buffers_.to_read(row));
    }
    std::span<std::byte> what_came(const Row& row) const { return buffers_.to_read(row); }
    bool gaps_are_intact(const Row&) const { return true; }

  private:
    Buffers& buffers_;
};

/// The calls of rows whose data are apart in memory.
class SpacedCalls {
  public:
    SpacedCalls(Buffers& buffers, ByteFile& file) : buffers_(buffers), file_(file) {}

    void mark(const Marks& marks, std::int64_t call) const { buffers_.mark_spaced(marks, call); }
    std::int64_t check(const Marks& marks, std::int64_t call,
                       std::optional<WrongChunk>& wrong) const {
        return buffers_.check_spaced(marks, call, wrong);
    }
    template <class File>
    Status write(const File&, CallForm form, const Row& row) const {
        return file_.write_spaced(form, buffers_.spaced_to_write(row));
    }
    template <class File>
    Status read(const File&, CallForm form, const Row& row) const {
        return file_.read_spaced(form, buffers_.spaced_to_read(row));
    }
    std::span<std::byte> what_came(const Row& row) const { return buffers_.gathered(row); }
    bool gaps_are_intact(const Row& row) const { return buffers_.gaps_are_intact(row); }

  private:
    Buffers& buffers_;
    ByteFile& file_;
};

Batches batches_of(const RowTask& task, const CallMarks& over, int ranks) {
    if (task.repetitions == 0) return over.batches(static_cast<double>(task.row.memory * ranks));
    Batches none;
    none.none = "the number of calls is fixed: ranks do not meet after each, and none is timed";
    return none;
}

}  // namespace

CallForm call_form(Type type, bool shared_pointer) {
    switch (type) {
        case Type::scatter:
        case Type::seg_coll:
            return {Pointer::individual, true};
        case Type::shared:
            return {shared_pointer ? Pointer::shared : Pointer::individual, true};
        case Type::separated:
        case Type::segmented:
            break;
    }
    return {Pointer::individual, false};
}

RowMeasured measure_row(Session& session, const Comm& comm, ByteFile& file, Buffers& buffers,
                        const RowTask& task, const std::function<void(const std::string&)>& warn) {
    RowMeasured m;
    Trouble trouble(session, task, m, warn);
    const Clock& clock = session.clock;
    const Row& row = task.row;
    const CallForm form = task.form;
    const bool writing = task.access != Access::read;
    file.time_calls_into(task.time_calls ? &m.call_times : nullptr);
    const Marks marks(row, writing ? task.access : task.writer);
    CallMarks over;
    std::vector<double> model;
    if (task.compare_all) model = buffers.before(task.partition, task.writer, row);
    const auto expected = std::as_bytes(std::span(model));

    session.progress.wait("barrier");
    comm.barrier();
    const double start = clock.now();
    if (task.view) {
        if (auto set = file.set_view(*task.view, task.hints); !set) trouble.failed(set.error());
    } else if (task.has_hints) {
        if (auto set = file.set_hints(task.hints); !set) trouble.failed(set.error());
    }
    const auto all_calls = [&](const auto& itself, const auto& calls) {
        if (writing) {
            make_calls(session, comm, task, start, m, over,
                       [&](std::int64_t call) __attribute__((always_inline)) {
                           calls.mark(marks, call);
                           return trouble.passed(calls.write(itself, form, row));
                       });
            return;
        }
        if (task.compare_all) {
            make_calls(session, comm, task, start, m, over, [&](std::int64_t call) {
                if (!trouble.passed(calls.read(itself, form, row))) return false;
                std::optional<WrongChunk> wrong;
                const std::int64_t bad = calls.check(marks, call, wrong);
                if (bad > 0) trouble.wrong(bad, call, *wrong, file);
                const auto data = calls.what_came(row);
                if (!calls.gaps_are_intact(row)) {
                    trouble.failed(changed_gap(file.call_name(form, false), file));
                }
                marks.place(model, call);
                const auto differs = compare(expected.first(data.size()), data, 0);
                if (differs && bad == 0) trouble.differs(call, *differs, file);
                m.compared += row.memory;
                return true;
            });
            return;
        }
        make_calls(session, comm, task, start, m, over,
                   [&](std::int64_t call) __attribute__((always_inline)) {
                       if (!trouble.passed(calls.read(itself, form, row))) return false;
                       std::optional<WrongChunk> wrong;
                       const std::int64_t bad = calls.check(marks, call, wrong);
                       if (bad > 0) [[unlikely]]
                           trouble.wrong(bad, call, *wrong, file);
                       return true;
                   });
    };
    as_itself(file, [&](const auto& itself) {
        if (buffers.is_spaced()) {
            all_calls(itself, SpacedCalls(buffers, file));
        } else {
            all_calls(itself, WholeCalls(buffers));
        }
    });
    if (writing) {
        session.progress.wait("barrier before sync");
        {
            const Lap lap(clock, m.times.barrier);
            comm.barrier();
        }
        session.progress.allow(static_cast<double>(comm.size() * row.memory * m.repetitions) /
                               slowest_storage);
        const Lap lap(clock, m.times.sync);
        if (auto synced = file.sync(); !synced) trouble.failed(synced.error());
    }
    session.progress.wait("closing barrier");
    const double before_agreement = clock.now();
    // The definition's closing barrier; agreeing is one, and it cannot hang on a rank whose sync
    // failed. Wrong data stop nothing, so only failed calls are put to the vote here.
    Outcome failures = m.outcome;
    if (failures.error && failures.error->exit_code == ExitCode::data_errors)
        failures.error.reset();
    failures.interrupted = session.interrupted.load();
    m.agreed = agree(session, comm, failures);
    const double stop = clock.now();
    m.times.barrier += stop - before_agreement;
    m.times.total = stop - start;
    m.start = start;
    m.stop = stop;
    m.call_failed = m.agreed.failed();
    m.batches = batches_of(task, over, comm.size());
    file.time_calls_into(nullptr);
    return m;
}

RowVerified verify_row(ByteFile& file, Buffers& buffers, const RowTask& task,
                       const Session& session) {
    RowVerified v;
    const Row& row = task.row;
    if (task.view) {
        if (auto set = file.set_view(*task.view, Hints{}); !set) v.outcome.fail(set.error());
    }
    auto model = buffers.before(task.partition, task.writer, row);
    const auto expected =
        std::as_bytes(std::span(model)).first(static_cast<std::size_t>(row.memory));
    const Marks marks(row, task.writer);
    for (std::int64_t call = 0; call < task.repetitions; ++call) {
        marks.place(model, call);
        const bool spaced = buffers.is_spaced();
        if (auto done = spaced ? file.read_spaced(task.form, buffers.spaced_to_read(row))
                               : file.read(task.form, buffers.to_read(row));
            !done) {
            v.outcome.fail(done.error());
            continue;  // others may be in the same collective call: stay in step
        }
        const auto data = spaced ? buffers.gathered(row) : buffers.to_read(row);
        if (spaced && !buffers.gaps_are_intact(row)) {
            v.outcome.fail(session.signed_error(changed_gap("verify", file)));
        }
        v.bytes += row.memory;
        const auto bad = compare(expected, data, 0);
        if (!bad) continue;
        v.outcome.fail(session.signed_error(wrong_bytes("verify", file, task, call, *bad)));
    }
    return v;
}

}  // namespace effio::b_eff_io
