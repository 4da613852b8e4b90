// SPDX-License-Identifier: BSD-3-Clause
#include "frame/visit.hpp"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>

#include "frame/readable.hpp"
#include "frame/storage_run.hpp"
#include "storage/cache_watch.hpp"
#include "storage/late_views.hpp"
#include "storage/posix_calls.hpp"

namespace effio {
namespace {

/// "24 of 24 calls collective", where the library says what it made of them; else empty.
std::string collective_words(const Json& library) {
    const auto count = library.value("collective_calls", std::int64_t{0});
    if (count == 0 || !library.contains("done_collectively")) return {};
    return fmt::format("{} of {} calls collective",
                       library["done_collectively"].get<std::int64_t>(), count);
}

}  // namespace

void Footprint::add(const std::string& path, std::int64_t length) {
    constexpr std::int64_t unit = 512;  // of st_blocks
    struct stat info{};
    ++files;
    bytes += length;
    if (::stat(path.c_str(), &info) == 0) allocated += unit * info.st_blocks;
}

double Footprint::sparse_share() const {
    const auto filled = static_cast<double>(std::min(allocated, bytes));
    return bytes > 0 ? 1 - filled / static_cast<double>(bytes) : 0;
}

const Fields<Footprint>& footprint_fields() {
    using P = Footprint;
    static const Fields<P> fields{
        {"files", Unit::count, "of all ranks", &P::files},
        {"bytes", Unit::bytes, "their lengths", &P::bytes},
        {"allocated_bytes", Unit::bytes, "what the file system has reserved", &P::allocated},
        {"sparse_share", Unit::number, "share of the files' lengths without reserved space",
         &P::sparse_share}};
    return fields;
}

Footprint Footprint::over(const Comm& comm) const {
    std::array sums{files, bytes, allocated};
    comm.sum(std::span<std::int64_t>(sums));
    return {sums[0], sums[1], sums[2]};
}

Result<Footprint> sized(Session& session, std::span<const std::string> paths, std::int64_t least,
                        bool together) {
    Footprint sum;
    Status found;
    for (const auto& path : paths) {
        session.progress.beat();
        const auto size = size_of_late(session, path, together ? 0 : least);
        if (!size) {
            found = size.error();
            continue;
        }
        sum.add(path, *size);
        if (!together && *size < least) found = too_short(path, *size, least);
    }
    if (together && found && sum.bytes < least) found = too_short(paths.front(), sum.bytes, least);
    if (!found) return std::move(found.error());
    return sum;
}

Visited carry_out(const Visitors& who, const VisitSteps& steps, Outcome& mine) {
    Session& session = who.session;
    Visited seen;
    CacheWatch watch(who.comm, who.topology, who.file_system);
    if (steps.watched) watch.begin();
    Phases phases(session, who.comm, who.common, mine);
    if (steps.waits_for != nullptr) phases.wait_after_parts(*steps.waits_for);
    bool fine = true;
    bool alone = false;  // the ranks may differ in what they know
    const auto next = [&](const VisitSteps::Part& part, bool does) {
        // A rank that has stopped still joins the agreement and reports the same parts.
        if (does || alone) {
            const auto nothing = [] { return Status(); };
            const bool good = does ? phases.part(part.name, part.alone, part.work)
                                   : phases.part(part.name, part.alone, nothing);
            fine = fine && good;
        }
        alone = part.alone;
    };
    for (const auto& part : steps.opening) next(part, fine);
    if (steps.confirm && fine && !steps.opening.empty())
        fine = phases.untimed(alone, steps.confirm);
    next(steps.moving, fine || steps.moving_meets);
    if (steps.sync.work) {
        if (fine && !steps.sync_counts && steps.watched) {
            phases.untimed(true, [&] {
                watch.stop();
                return Status();
            });
        }
        const auto sync = [&] {
            session.progress.call("sync");
            return steps.sync.work();
        };
        next({steps.sync.name, sync, steps.sync.alone}, fine);
    }
    if (fine && steps.ask) steps.ask();
    if (steps.close.work) next(steps.close, fine || steps.closes_anyway);
    phases.finish();
    seen.ended = session.clock.now();
    if (fine && steps.sync.work) watch.synced();
    seen.fine = fine;
    seen.agreed = phases.agreed();
    seen.parts = phases.parts();
    seen.seconds = phases.seconds();
    seen.start = phases.start();
    seen.late = phases.late();
    seen.counted = steps.sync_counts ? phases.total() : phases.total_without("sync");
    if (!steps.watched) return seen;
    const VisitSteps::Bytes own = steps.bytes(fine);
    std::array sums{own.read, own.written};
    who.comm.sum(std::span<std::int64_t>(sums));
    const bool reading = sums[0] > 0;
    seen.bytes = sums[reading ? 0 : 1];
    seen.cache = watch.end(seen.bytes, reading);
    if (steps.cold != nullptr) steps.cold->complete(*seen.cache, seen.bytes, reading);
    return seen;
}

std::string VisitResult::why_invalid() const {
    return errors.empty() ? "stopped by a signal" : errors.front().text();
}

std::int64_t VisitResult::hole_bytes() const {
    return on_disk ? std::max<std::int64_t>(on_disk->bytes - bytes, 0) : 0;
}

std::string VisitResult::remark() const {
    if (!valid) return "INVALID: " + why_invalid();
    if (error_count > 0) {
        return fmt::format("{} WRONG, {}", count_of(error_count, of_arrays ? "value" : "piece"),
                           errors.front().text());
    }
    std::string text;
    const auto add = [&](const std::string& words) {
        if (!words.empty()) text += (text.empty() ? "" : ", ") + words;
    };
    if (verified_bytes > 0) add("verified");
    add(cache_remark(cache, !writing));
    if (cache) add(holes_remark(cache->holes));
    add(collective_words(library));
    return text;
}

void VisitResult::add_totals(const Comm& comm, const ArrayTotals& mine) {
    library["collective_calls"] = comm.sum(mine.collective_calls);
    const std::int64_t done = mine.done_collectively.value_or(-1);
    if (comm.min(done) >= 0) library["done_collectively"] = comm.sum(done);
    for (const auto& [mode, count] : mine.modes) library["modes"][mode] = count;
}

void VisitResult::add(const Comm& comm, const Visited& visited, const Histogram* times) {
    bytes = visited.bytes;
    seconds = spread_over(comm, visited.seconds);
    counted_seconds = comm.max(visited.counted);
    ended = visited.ended;
    if (times != nullptr) call_times = merged_over(comm, *times);
    cache = visited.cache;
}

void VisitResult::add(const Agreed& agreed) {
    error_count += agreed.error_count;
    if (!agreed.error) return;
    errors.push_back(*agreed.error);
    valid = valid && agreed.error->exit_code == ExitCode::data_errors;
}

Measurement VisitResult::to_measurement() const {
    Measurement m;
    m.bytes = bytes;
    m.operations = calls;
    m.seconds = seconds;
    m.ended = ended;
    m.valid = valid;
    if (valid) {
        m.rate = Metric::rate(rate());
    } else {
        m.invalid_reason = why_invalid();
        m.rate = Metric::none("B/s", "INVALID: " + m.invalid_reason);
    }
    m.stopped_by = interrupted ? "interrupted" : valid ? "count" : "error";
    m.call_times = call_times;
    m.response_times = response_times;
    set_hints(m, asked, granted);
    m.verified_bytes = verified_bytes;
    m.error_count = error_count;
    m.errors = errors;
    m.cache = cache;
    m.detail = visit_fields().json(*this);
    return m;
}

const Fields<VisitResult>& visit_fields() {
    using V = VisitResult;
    using F = Field<V>;
    static const Fields<V> fields{
        {"file", Unit::word, "path of the root's file", &V::path},
        {"library", Unit::object, "what the I/O library says of its calls", &V::library},
        F("on_disk", footprint_fields(), "files that were written and closed",
          [](const V& v) {
              return *v.on_disk;
          }).only_if([](const V& v) { return v.on_disk.has_value(); }),
        F("data_bytes", Unit::bytes, "of the arrays, without headers and record marks",
          &V::data_bytes)
            .only_if([](const V& v) { return v.of_arrays; }),
        F("by_definition_seconds", Unit::seconds, "seconds that the definition's rate counts",
          &V::counted_seconds)
            .only_if([](const V& v) { return v.of_arrays; }),
        F("hole_bytes", Unit::bytes, "of the files, left empty by alignment", &V::hole_bytes)
            .only_if([](const V& v) { return v.of_arrays && v.writing; }),
        F("synced_bandwidth_bytes_per_second", Unit::bytes_per_second,
          "bytes over all seconds, the flush included", &V::synced_rate)
            .only_if([](const V& v) { return v.of_arrays && v.flushed(); })};
    return fields;
}

void note_wrong(Outcome& outcome, const Session& session, const std::string& path,
                const std::string& first, std::int64_t elements) {
    Error error = io_error("verify", path, first);
    error.exit_code = ExitCode::data_errors;
    outcome.fail(session.signed_error(std::move(error)));
    outcome.error_count += elements - 1;
}

}  // namespace effio
