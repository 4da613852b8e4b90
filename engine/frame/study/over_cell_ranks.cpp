// SPDX-License-Identifier: BSD-3-Clause
// What a cell's ranks measured, summed up over them.
#include <algorithm>
#include <iterator>
#include <utility>

#include "frame/study/done.hpp"
#include "frame/study/measure.hpp"
#include "parallel/over_ranks.hpp"

namespace effio::study {
namespace {

/// Variance of the ranks' numbers about their means, n-1 in the denominator; 0 for one rank.
std::vector<double> variance_over(const Comm& comm, std::span<const NamedNumber> mine,
                                  const std::vector<Named<Spread>>& spreads) {
    std::vector<double> squares;
    for (std::size_t i = 0; i < mine.size(); ++i) {
        const double away = mine[i].value - spreads[i].value.mean;
        squares.push_back(away * away);
    }
    comm.sum(std::span<double>(squares));
    for (double& square : squares) square /= std::max(1, comm.size() - 1);
    return squares;
}

/// The waits after the parts, named as these.
std::vector<NamedNumber> waits_of(const std::vector<PartSpan>& parts, double PartSpan::* wait) {
    std::vector<NamedNumber> waits;
    for (const auto& part : parts) waits.emplace_back(part.name, part.*wait);
    return waits;
}

/// The named numbers of each rank; on the root only. Names and order are the same on all ranks.
std::vector<std::vector<NamedNumber>> gathered(const Comm& comm,
                                               std::span<const NamedNumber> mine) {
    std::vector<std::vector<NamedNumber>> all;
    for (const auto& [name, value] : mine) {
        const auto column = comm.gather(value);
        all.resize(column.size());
        for (std::size_t rank = 0; rank < column.size(); ++rank) {
            all[rank].emplace_back(name, column[rank]);
        }
    }
    return all;
}

/// The files that each rank removed, in the ranks' order; on the root only.
std::vector<RemovedFile> gathered(const Comm& comm, const std::vector<RemovedFile>& mine) {
    Json list = Json::array();
    for (const auto& file : mine) list.push_back({file.path, file.seconds, file.rank});
    std::vector<RemovedFile> all;
    for (const auto& text : comm.gather(json_line(list))) {
        for (const auto& file : parse_json(text)) {
            all.push_back({file[0].get<std::string>(), file[1].get<double>(), file[2].get<int>()});
        }
    }
    return all;
}

}  // namespace

/// How single ranks fared: the spread of their rates, where the slowest and the fastest are, and
/// all of them if that is requested.
void Measure::add_rank_results(const Done& done, PassResult& r) const {
    const Comm& comm = ranks_.of_the_run();
    const auto part = std::find_if(done.seen.seconds.begin(), done.seen.seconds.end(),
                                   [](const NamedNumber& s) { return s.name == "transfer"; });
    const double seconds = part == done.seen.seconds.end() ? 0 : part->value;
    r.rank_rates = spread_over(comm, rate_of(static_cast<double>(done.moved.bytes), seconds));
    const int called = session().comm.rank();
    r.slowest = largest_over(comm, seconds, session().host, 1, called).front();
    r.fastest = largest_over(comm, -seconds, session().host, 1, called).front();
    r.fastest.value = -r.fastest.value;
    if (!context_.each_rank) return;
    const auto hosts = comm.gather(session().host);
    const auto numbers = gathered_over(
        comm, std::array{static_cast<double>(done.moved.bytes),
                         done.seen.seconds.empty() ? 0 : done.seen.seconds.front().value, seconds,
                         static_cast<double>(called), static_cast<double>(done.moved.calls)});
    auto seconds_of = gathered(comm, done.seen.seconds);
    std::vector<std::vector<NamedNumber>> file_waits;
    std::vector<std::vector<NamedNumber>> global_waits;
    if (visit_.cell.manner.waits) {
        file_waits = gathered(comm, waits_of(done.seen.parts, &PartSpan::file_wait));
        global_waits = gathered(comm, waits_of(done.seen.parts, &PartSpan::global_wait));
    }
    for (std::size_t i = 0; i < hosts.size(); ++i) {
        RankLine line{hosts[i],
                      numbers[i][0],
                      numbers[i][1],
                      numbers[i][2],
                      static_cast<int>(numbers[i][3]),
                      static_cast<std::int64_t>(numbers[i][4]),
                      std::move(seconds_of[i]),
                      {},
                      {}};
        if (visit_.cell.manner.waits) {
            line.file_waits = std::move(file_waits[i]);
            line.global_waits = std::move(global_waits[i]);
        }
        r.each.push_back(std::move(line));
    }
    if (visit_.cell.manner.unlinks) r.removed = gathered(comm, done.removed);
}

/// Batches of what all ranks moved together; each rank's series is of calls, which all move the
/// same.
Batches Measure::batches(const Done& done, const PassResult& r) const {
    const Comm& comm = ranks_.comm;
    double own = 0;
    for (const double calls : done.moved.over_time.slices()) own += calls;
    const double all = comm.sum(own);
    TimeSeries bytes(done.moved.over_time.width(), {});
    double from = 0;
    for (const double calls : done.moved.over_time.slices()) {
        const double share = calls / own * static_cast<double>(done.moved.bytes);
        if (calls > 0) bytes.add(from, from, share);
        from += bytes.width();
    }
    bytes = summed_over(comm, std::move(bytes), done.seen.late);
    Batches found;
    if (visit_.cell.manner.at_a_time > 0) {
        found.none = "ranks take turns: what a slice moved is of another number of ranks each time";
    } else if (!(all > 0) && r.calls > 0) {
        found.none = "the calls are the library's, which are not seen one by one";
    } else {
        found = batches_of(bytes, r.longest("transfer"), all / comm.size());
    }
    return found;
}

PassResult Measure::sum_up(Done& done) {
    const Comm& comm = ranks_.comm;
    PassResult r;
    r.add(comm, done.seen, context_.options.storage.times_calls() ? &done.moved.times : nullptr);
    r.cell = &visit_.cell;
    r.pass = done.pass;
    r.writing = done.pass.writes();
    r.of_arrays = visit_.cell.holds_arrays();
    r.repetition = visit_.repetition;
    r.nodes = ranks_.topology.nodes;
    r.path = place_->path;
    r.call = done.call;
    r.data_bytes = comm.sum(done.moved.bytes);
    r.bytes = r.data_bytes + comm.sum(done.overhead);
    r.calls = comm.sum(done.moved.calls);
    r.files = comm.sum(done.moved.files);
    r.variance = variance_over(comm, done.seen.seconds, r.seconds);
    if (visit_.cell.manner.waits) {
        r.file_waits = spread_over(comm, waits_of(done.seen.parts, &PartSpan::file_wait));
        r.global_waits = spread_over(comm, waits_of(done.seen.parts, &PartSpan::global_wait));
    }
    if (visit_.cell.counts == Counts::calls) {
        r.counted_seconds = r.longest("transfer");
        if (visit_.cell.sync == Sync::inside) r.counted_seconds += r.longest("sync");
    }
    r.asked = place_->hints;
    r.granted = done.granted;
    r.library = done.library;
    if (r.of_arrays) r.add_totals(comm, done.totals);
    r.backend = storage_.name();
    add_rank_results(done, r);
    r.batches = batches(done, r);
    if (done.on_disk) r.on_disk = done.on_disk->over(comm);
    r.verifies = verifies();
    r.timed_reads = comm.sum(done.of_timed_reads);
    r.second_reads = comm.sum(done.of_second_reads);
    r.not_verifiable = comm.sum(done.not_verifiable);
    // A second read is of the same bytes, but for a pass that modifies: it is of what that wrote.
    r.verified_bytes = done.pass.access == Access::modify ? r.timed_reads + r.second_reads
                                                          : std::max(r.timed_reads, r.second_reads);
    r.valid = done.valid;
    r.interrupted = done.moved.interrupted;
    // Known to all already: it need not be agreed on again.
    if (!done.valid) {
        // A signal ends a pass without an error.
        r.error_count = r.interrupted && !done.outcome.error ? 0 : 1;
        if (done.outcome.error) r.errors.push_back(*done.outcome.error);
        return r;
    }
    done.outcome.interrupted = agreed_.interrupted;
    const Agreed found = agree(session(), comm, done.outcome);
    r.add(found);
    if (!r.valid) agreed_ = found;
    return r;
}

}  // namespace effio::study
