// SPDX-License-Identifier: BSD-3-Clause
// What is done around the phases, untimed: caches, sizes, removal.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>

#include "benchmarks/ior/runner.hpp"
#include "core/units.hpp"
#include "frame/count_file.hpp"
#include "storage/cache_watch.hpp"
#include "storage/late_views.hpp"
#include "storage/posix_calls.hpp"

namespace effio::ior {

/// End of the file range that the transfers of a worker read.
std::int64_t Runner::end_of_read(const Geometry& g, std::int64_t worker,
                                 std::int64_t transfers) const {
    constexpr std::int64_t most_drawn = std::int64_t{1} << 22;
    const std::int64_t all = g.blocks().transfers();
    const bool strided = setup_.parameters.placement == Placement::strided;
    if (g.order == Order::shuffled && transfers < all && !strided) {
        const Walk walk = g.walk(worker, g.blocks().file_bytes());
        std::int64_t end = 0;
        for (std::int64_t i = 0; i < std::min(transfers, most_drawn); ++i) {
            end = std::max(end, walk.offset(i) + g.transfer);
        }
        return end;
    }
    const bool whole = strided || g.order != Order::sequential;
    const std::int64_t last = whole ? all - 1 : transfers - 1;
    return g.blocks().offset(g.part_of(worker), last) + g.transfer;
}

/// Checks that the files are long enough for the read, and counts the holes in what it reads.
Status Runner::check_readable(const PassPlan& task, Readable& readable) const {
    const auto& p = setup_.parameters;
    if (!real_files_) return {};
    const Geometry g = geometry(task.transfer);
    for (std::size_t i = 0; i < task.transfers.size(); ++i) {
        if (task.transfers[i] == 0) continue;
        const std::int64_t number = worker(task.owner, i);
        const std::string path = path_of(task, number);
        // Several files cannot say it; opening them does.
        const bool several = storage_.files_of(path).size() > 1;
        const bool anywhere = p.order == Order::random;
        const std::int64_t needed = end_of_read(g, number, task.transfers[i]);
        const auto size = size_of_late(session_, path, several || anywhere ? 0 : needed);
        if (!size) return size.error();
        if (several) continue;
        if (storage_.capabilities().plain)
            count_holes(g, number, task.transfers[i], path, readable);
        if (anywhere || *size >= needed) continue;
        const std::int64_t rest = *size / task.transfer * task.transfer;
        std::string advice;
        if (g.files == Files::per_process && g.segments == 1 && storage_.capabilities().plain) {
            advice =
                fmt::format("; --block {} reads what this file holds", format_exact(Bytes{rest}));
        }
        return io_error("read", path,
                        fmt::format("the file holds {}, this phase reads up to {}{}",
                                    exact_size(*size), exact_size(needed), advice));
    }
    return {};
}

/// Counts holes by whole blocks, for any order of the transfers.
void Runner::count_holes(const Geometry& g, std::int64_t worker, std::int64_t transfers,
                         const std::string& path, Readable& readable) {
    const Blocks blocks{g.block, g.block, g.segments, g.blocks().parts};
    const std::int64_t each = g.block / g.transfer;
    const std::int64_t part = g.part_of(worker);
    const bool cut = g.order == Order::sequential && transfers < g.blocks().transfers();
    const std::int64_t count = cut ? (transfers + each - 1) / each : blocks.transfers();
    for (std::int64_t i = 0; i < count; ++i) {
        const std::int64_t begin = blocks.offset(part, i);
        const std::int64_t rest = cut ? (transfers - i * each) * g.transfer : g.block;
        readable.reads(path, begin, begin + std::min(g.block, rest));
    }
}

/// The files that this rank is about to read, each of them once.
std::vector<std::string> Runner::files_of(const PassPlan& task) const {
    std::vector<std::string> paths;
    const bool shared = setup_.parameters.files == Files::shared;
    const std::size_t files = shared ? 1 : task.transfers.size();
    for (std::size_t i = 0; i < files; ++i) {
        for (auto& path : storage_.files_of(path_of(task, worker(task.owner, i)))) {
            paths.push_back(std::move(path));
        }
    }
    return paths;
}

/// Drops what is to be read from this node's cache, if asked, and sees what stays.
void Runner::before_reading(const PassPlan& task, Cold& cold, Readable& readable, Outcome& mine) {
    const auto& p = setup_.parameters;
    if (!real_files_) return;
    if (session_.late_views) {
        for (auto& path : files_of(task)) seen_.push_back(std::move(path));
    }
    const bool drops = p.storage.cache.drop;
    if (drops && p.writes() && p.sync == SyncWhen::never) {
        // Only clean pages can be dropped.
        for (std::size_t i = 0; i < task.transfers.size(); ++i) {
            session_.progress.call("flush before dropping");
            for (const auto& path : storage_.files_of(path_of(task, worker(comm_.rank(), i)))) {
                if (auto flushed = flush_to_storage(path); !flushed) {
                    mine.fail(session_.signed_error(flushed.error()));
                }
            }
        }
    }
    comm_.barrier();
    if (auto fits = check_readable(task, readable); !fits) {
        mine.fail(session_.signed_error(fits.error()));
    }
    session_.progress.call("drop from the cache");
    cold.before(p.files != Files::shared || topology_.is_node_leader());
}

/// Collective: the calls of the busiest worker, for a later run that reads.
void Runner::write_count(const Measured& m, Outcome& mine) const {
    std::int64_t most = 0;
    for (const auto& share : m.pass.results) most = std::max(most, share.transfers);
    most = comm_.max(most);
    if (!comm_.is_root()) return;
    if (auto done = effio::write_count(*setup_.parameters.count_file, most); !done) {
        mine.fail(session_.signed_error(std::move(done.error())));
    }
}

/// Removes what this rank would write, so that it is written anew.
void Runner::remove_own(std::int64_t repetition, Outcome& mine) {
    const auto& p = setup_.parameters;
    session_.progress.call("unlink");
    const bool shared = p.files == Files::shared;
    if (shared && !comm_.is_root()) return;
    const std::int64_t files = shared ? 1 : p.threads;
    for (std::int64_t i = 0; i < files; ++i) {
        const std::int64_t number = worker(comm_.rank(), static_cast<std::size_t>(i));
        for (const auto& path : names_.paths(target_, number, repetition)) {
            if (auto removed = storage_.remove(path); !removed) mine.fail(removed.error());
        }
    }
}

/// Before the time begins: the files that this rank makes, with their stripes.
void Runner::make_striped_files(const PassPlan& task, Outcome& mine) {
    const auto& p = setup_.parameters;
    const bool shared = p.files == Files::shared;
    if (mine.error || (shared && !comm_.is_root())) return;
    session_.progress.call("create with stripes");
    const std::size_t files = shared ? 1 : task.transfers.size();
    for (std::size_t i = 0; i < files && !mine.error; ++i) {
        auto made = make_striped(path_of(task, worker(comm_.rank(), i)), p.striping);
        if (!made) mine.fail(session_.signed_error(std::move(made.error())));
    }
}

void Runner::remove_files(std::int64_t repetition) {
    comm_.barrier();
    const double start = session_.clock.now();
    Outcome mine;
    remove_own(repetition, mine);
    const double seconds = comm_.max(session_.clock.now() - start);
    loop_.go_on(comm_, mine);
    if (session_.late_views) {
        // A rank that has read another's file would open the old one under its name again.
        for (const auto& path : seen_) {
            look_until(session_, [&path] { return access(path.c_str(), F_OK) != 0; });
        }
        seen_.clear();
        comm_.barrier();
    }
    notify_([&](Observer& o) { o.removed(repetition, seconds); });
}

}  // namespace effio::ior
