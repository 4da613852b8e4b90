// SPDX-License-Identifier: BSD-3-Clause
#include "benchmarks/array_run.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "benchmarks/phases.hpp"
#include "benchmarks/storage_run.hpp"
#include "storage/cache_watch.hpp"
#include "storage/posix_calls.hpp"

namespace effio {
namespace {

double over(std::int64_t bytes, double seconds) {
    return seconds > 0 ? static_cast<double>(bytes) / seconds : 0;
}

/// Bytes of the file that this rank tells of, its own or the shared one's; nothing where there is
/// none. MPI libraries return success for data that never arrived (full disks): the file must be as
/// long as its data at least.
Result<std::int64_t> checked_size(const Comm& comm, const ArrayTransfer& t) {
    const ArrayCapabilities can = t.library.capabilities();
    if (!can.real_files || (can.shared_file && !comm.is_root())) return std::int64_t{0};
    const ArraySchema& schema = t.request.schema;
    const std::int64_t least = can.shared_file ? schema.bytes() : schema.share_bytes(comm.rank());
    const std::string& path = t.own_paths.front();
    auto size = size_of(path);
    if (size && *size < least) return too_short(path, *size, least);
    return size;
}

/// What the library says of its calls, summed over the ranks.
void add_totals(const Comm& comm, const ArrayFile* file, ArrayRun& run) {
    const ArrayTotals totals = file != nullptr ? file->totals() : ArrayTotals{};
    run.calls = comm.sum(totals.calls);
    run.data_bytes = comm.sum(totals.bytes);
    run.library["collective_calls"] = comm.sum(totals.collective_calls);
    const std::int64_t done = totals.done_collectively.value_or(-1);
    if (comm.min(done) >= 0) run.library["done_collectively"] = comm.sum(done);
    for (const auto& [mode, count] : totals.modes) run.library["modes"][mode] = count;
}

}  // namespace

double ArrayRun::rate() const {
    return over(bytes, counted_seconds());
}

double ArrayRun::synced_rate() const {
    return over(bytes, longest("total"));
}

std::string ArrayRun::collective_words() const {
    const auto count = library.value("collective_calls", std::int64_t{0});
    if (count == 0 || !library.contains("done_collectively")) return {};
    return fmt::format("{} of {} calls collective",
                       library["done_collectively"].get<std::int64_t>(), count);
}

std::string ArrayRun::remark() const {
    if (!valid) return "INVALID: " + (errors.empty() ? "" : errors.front().text());
    if (error_count > 0) {
        return fmt::format("{} WRONG VALUES, {}", error_count, errors.front().text());
    }
    std::string text;
    const auto add = [&](const std::string& words) {
        if (!words.empty()) text += (text.empty() ? "" : ", ") + words;
    };
    if (!write) add("verified");
    add(cache_remark(cache, !write));
    add(collective_words());
    return text;
}

Measurement ArrayRun::to_measurement() const {
    Measurement m;
    m.access = write ? "write" : "read";
    m.bytes = bytes;
    m.operations = calls;
    // Parts stand side by side in a report; this one overlaps them.
    std::copy_if(seconds.begin(), seconds.end(), std::back_inserter(m.seconds),
                 [](const auto& part) { return part.first != "by_definition"; });
    m.valid = valid;
    if (valid) {
        m.rate = Metric::rate(rate());
    } else {
        m.invalid_reason = errors.empty() ? "failed" : errors.front().text();
        m.rate = Metric::none("B/s", "INVALID: " + m.invalid_reason);
    }
    m.stopped_by = valid ? "count" : "error";
    m.call_times = call_times;
    set_hints(m, asked, granted);
    m.verified_bytes = verified_bytes;
    m.error_count = error_count;
    m.errors = errors;
    m.cache = cache;
    m.detail = Json{{"file", path},
                    {"data_bytes", data_bytes},
                    {"by_definition_seconds", counted_seconds()},
                    {"library", library}};
    if (write) m.detail["hole_bytes"] = hole_bytes;
    if (longest("sync") > 0) m.detail["synced_bandwidth_bytes_per_second"] = synced_rate();
    return m;
}

std::pair<ArrayRun, Agreed> carry_out(Job& job, const Comm& comm,
                                      const std::optional<FileSystem>& file_system,
                                      const ArrayTransfer& t) {
    Session& session = job.session;
    ArrayRun run;
    run.path = t.request.path;
    run.write = t.write;
    run.asked = t.request.hints;
    const ArrayCapabilities can = t.library.capabilities();
    Cold cold({comm, job.topology, file_system, can.real_files}, t.cache,
              [&t](const Cold::Look& look) {
                  for (const auto& path : t.own_paths) look(path);
              });
    if (!t.write) cold.before(job.topology.is_node_leader() || !can.shared_file);
    Histogram times;
    std::unique_ptr<ArrayFile> file;
    CacheWatch watch(comm, job.topology, file_system);
    watch.begin();
    Phases phases(session, comm, job.topology);
    bool fine = phases.part(t.opening, [&]() -> Status {
        auto made = t.write ? t.library.create(comm, t.request) : t.library.open(comm, t.request);
        if (!made) return made.error();
        file = std::move(*made);
        if (t.time_calls) file->time_calls_into(&times);
        return t.opened ? t.opened(*file) : Status{};
    });
    fine = fine && phases.part(t.moving, [&] { return t.move(*file); });
    if (fine && t.write && t.sync) {
        fine = phases.part("sync", [&] {
            // The rate by the definition ends here, and what the caches held then is its evidence.
            watch.stop();
            session.progress.call("sync");
            return file->sync();
        });
    }
    if (fine) {
        run.granted = file->granted_hints();
        run.library = file->describe();
        fine = phases.part("close", [&] { return file->close(); });
    }
    phases.finish();
    if (fine && t.write && t.sync) watch.synced();

    Outcome mine;
    std::int64_t beside = 0;
    std::int64_t length = 0;
    if (fine && t.write) {
        if (const auto size = checked_size(comm, t); !size) {
            mine.fail(session.signed_error(size.error()));
        } else if (const auto overhead = file->overhead_bytes(); overhead) {
            length = *size;
            beside = *overhead;
        } else {
            mine.fail(session.signed_error(overhead.error()));
        }
    }
    add_totals(comm, file.get(), run);
    run.bytes = run.data_bytes + comm.sum(beside);
    run.hole_bytes = std::max<std::int64_t>(comm.sum(length) - run.bytes, 0);
    run.cache = watch.end(run.bytes, !t.write);
    cold.tell(run.cache, run.bytes, !t.write);
    if (fine && t.verify) run.verified_bytes = t.verify(mine);
    run.verified_bytes = comm.sum(run.verified_bytes);
    auto parts = phases.seconds();
    if (t.write) parts.emplace_back("by_definition", phases.total_without("sync"));
    run.seconds = spread_over(comm, parts);
    if (t.time_calls) run.call_times = merged_over(comm, times);

    Agreed agreed = phases.agreed();
    if (!agreed.failed()) {
        mine.interrupted = agreed.interrupted;
        agreed = agree(session, comm, mine);
    }
    run.error_count = agreed.error_count;
    if (agreed.error) {
        run.errors.push_back(*agreed.error);
        run.valid = agreed.error->exit_code == ExitCode::data_errors;
    }
    return {std::move(run), std::move(agreed)};
}

void note_wrong(Outcome& outcome, const Session& session, const std::string& path,
                const std::string& first, std::int64_t elements) {
    Error error = io_error("verify", path, first);
    error.exit_code = ExitCode::data_errors;
    outcome.fail(session.signed_error(std::move(error)));
    outcome.error_count += elements - 1;
}

}  // namespace effio
