// SPDX-License-Identifier: BSD-3-Clause
#include "benchmarks/b_eff_io/result.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace effio::b_eff_io {

void RowResult::join(const RowResult& earlier) {
    scheduled += earlier.scheduled;
    repetitions += earlier.repetitions;
    bytes += earlier.bytes;
    times.total += earlier.times.total;
    span.seconds += earlier.span.seconds;
    span.by_common_clock = span.by_common_clock || earlier.span.by_common_clock;
    times.barrier += earlier.times.barrier;
    times.broadcast += earlier.times.broadcast;
    times.sync += earlier.times.sync;
    errors += earlier.errors;
    if (!earlier.valid) {
        valid = false;
        error_list = earlier.error_list;
    }
    if (earlier.stopped == StopReason::cap) stopped = StopReason::cap;
}

void TypeResult::join(const TypeResult& earlier) {
    const auto before = static_cast<double>(earlier.rounds);
    weighted_rate = (weighted_rate + before * earlier.weighted_rate) / (1 + before);
    rounds += earlier.rounds;
    open += earlier.open;
    close += earlier.close;
    seconds += earlier.seconds;
    bytes += earlier.bytes;
    verified_bytes += earlier.verified_bytes;
}

bool PartitionResult::complete() const {
    return std::all_of(accesses.begin(), accesses.end(),
                       [](const auto& a) { return a.has_value(); });
}

bool PartitionResult::all_rows_valid() const {
    for (const auto& access : rows) {
        for (const auto& row : access) {
            if (row && !row->valid) return false;
        }
    }
    return true;
}

std::array<double, 5> PartitionResult::rates(Access access) const {
    std::array<double, 5> rates{};
    for (const Type t : all_types) {
        const auto& result = types[index(access)][index(t)];
        if (result) rates[index(t)] = result->rate();
    }
    return rates;
}

double PartitionResult::write_average() const {
    return b_eff_io::write_average(rates(Access::write), rates(Access::rewrite)[0]);
}

double PartitionResult::effective_bandwidth() const {
    return b_eff_io::effective_bandwidth(write_average(), access_average(rates(Access::read)));
}

std::int64_t PartitionResult::bytes() const {
    std::int64_t sum = 0;
    for (const auto& a : accesses) sum += a ? a->bytes : 0;
    return sum;
}

double PartitionResult::seconds() const {
    double sum = 0;
    for (const auto& a : accesses) sum += a ? a->seconds : 0;
    return sum;
}

bool RowResult::read_ahead() const {
    if (access != Access::read || !cache) return false;
    const auto& methods = cache->methods;
    return (cache->verdict == Whereabouts::cache || cache->verdict == Whereabouts::mixed) &&
           std::find(methods.begin(), methods.end(), "dropped") != methods.end();
}

double PartitionResult::weighted_rate() const {
    double sum = 0;
    double units = 0;
    for (const auto& access : rows) {
        for (const auto& row : access) {
            if (!row) continue;
            sum += row->row.units * row->rate();
            units += row->row.units;
        }
    }
    return units > 0 ? sum / units : 0;
}

int PartitionResult::rows_cut_short() const {
    int cut = 0;
    for (const auto& row : rows[index(Access::write)]) {
        if (row && row->stopped == StopReason::cap) ++cut;
    }
    return cut;
}

int PartitionResult::rows_by_common_clock() const {
    int count = 0;
    for (const auto& of_access : rows) {
        for (const auto& row : of_access) {
            if (row && row->span.by_common_clock) ++count;
        }
    }
    return count;
}

std::optional<Estimate> RunResult::estimated(const Formula& formula) const {
    if (setup.parameters.rounds <= 1) return {};
    return estimate(rounds, formula);
}

Estimate RunResult::of_type(std::size_t partition, Access access, Type type) const {
    return estimate(rounds, [=](const auto& all) { return all[partition].rate(access, type); });
}

Estimate RunResult::of_access(std::size_t partition, Access access) const {
    const bool rewrite = setup.parameters.rewrite;
    return estimate(rounds,
                    [=](const auto& all) { return all[partition].average(access, rewrite); });
}

double RunResult::official_time_share() const {
    return execution_seconds / (valid_partition_seconds *
                                static_cast<double>(std::max<std::size_t>(partitions.size(), 1)));
}

std::optional<std::size_t> RunResult::best() const {
    std::optional<std::size_t> best;
    for (std::size_t i = 0; i < partitions.size(); ++i) {
        if (!partitions[i].complete() || !partitions[i].all_rows_valid()) continue;
        if (!best ||
            partitions[i].effective_bandwidth() > partitions[*best].effective_bandwidth()) {
            best = i;
        }
    }
    return best;
}

std::vector<Criterion> RunResult::criteria(std::size_t i) const {
    const auto& partition = partitions[i];
    const double minutes = setup.scheduled_seconds() / 60;
    std::vector<Criterion> list{
        {fmt::format("scheduled for at least 30 min (this run: {:.1f} min)", minutes),
         setup.scheduled_seconds() >= valid_partition_seconds},
        {"shared file pointers in pattern type shared", setup.shared_pointer},
        {fmt::format("no errors (this run: {})", partition.errors), partition.errors == 0}};
    if (const int cut = partition.rows_cut_short(); cut > 0) {
        list.push_back({fmt::format("no row cut short by --max-bytes (this run: {})", cut), false});
    }
    if (const int late = partition.rows_by_common_clock(); late > 0) {
        list.push_back(
            {fmt::format("all ranks run at the same time (rows in which they did not: {})", late),
             false});
    }
    if (!partition.all_rows_valid()) list.push_back({"no row is INVALID", false});
    if (setup.parameters.rounds > 1) {
        list.push_back({"measured in one piece, not in rounds", false});
    }
    if (setup.parameters.adapt) list.push_back({"scheduled times are not adapted", false});
    if (setup.parameters.storage.cache.drop) {
        list.push_back({"caches are left as the definition finds them (no --drop-cache)", false});
    }
    if (setup.parameters.storage.cache.memory_left) {
        list.push_back({"memory is left to the page cache (no --memory-hog)", false});
    }
    if (setup.parameters.storage.backend.name != "mpiio") {
        list.push_back({fmt::format("storage is reached through MPI-IO, not {}",
                                    setup.parameters.storage.backend.name),
                        false});
    }
    if (const auto& mpi = setup.parameters.storage.backend.mpiio; mpi.any()) {
        list.push_back({fmt::format("calls as in the definition, not with {}", mpi.text()), false});
    }
    if (const auto& memory = setup.parameters.memory; memory.given()) {
        list.push_back(
            {fmt::format("the data of a call are in one piece of memory, not in {}", memory.text()),
             false});
    }
    return list;
}

bool RunResult::valid(std::size_t partition) const {
    const auto list = criteria(partition);
    return std::all_of(list.begin(), list.end(), [](const Criterion& c) { return c.reached; });
}

}  // namespace effio::b_eff_io
