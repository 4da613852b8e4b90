// SPDX-License-Identifier: BSD-3-Clause
#include "frame/cold.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <span>

#include "parallel/system.hpp"
#include "storage/cache_watch.hpp"

namespace effio {
namespace {

/// What may stay of a file that counts as dropped.
constexpr double stays = 0.05;

}  // namespace

void CacheOptions::declare(OptionTable& table) {
    constexpr double least_left = 64.0 * MiB;
    table.group("Caches");
    table
        .on_off("drop-cache", drop,
                "before files are read, drop them from the page cache of this node, so that reads "
                "are not from memory; the result says what stayed")
        .notes(drop_given);
    table
        .add("memory-hog", memory_left,
             "occupy the memory of each node during the run except this much, so that the page "
             "cache cannot keep what was written")
        .metavar("LEAVE")
        .range(least_left, 9e18)
        .automatic("memory is left alone");
}

Result<HeldMemory> hold_memory(Session& session, const Topology& topology,
                               const CacheOptions& options) {
    if (!options.memory_left) return HeldMemory{};
    return hold_all_but(session, topology, options.memory_left->count);
}

Cold::Residency Cold::resident() const {
    Residency found;
    files_([&](const std::string& path) {
        const auto share = resident_fraction(path);
        found.shares += share ? *share : 0;
        (share ? found.known : found.unknown) += 1;
    });
    return found;
}

std::optional<double> Cold::mean(Residency mine) const {
    const double shares = place_.comm.sum(mine.shares);
    std::array files{mine.known, mine.unknown};
    place_.comm.sum(std::span<std::int64_t>(files));
    if (files[0] == 0 || files[1] > 0) return {};
    return shares / static_cast<double>(files[0]);
}

void Cold::before(bool my_turn, bool drop) {
    if (!place_.real_files) return;
    drops_ = drop && place_.cached;
    if (drops_ && my_turn) files_([](const std::string& path) { drop_from_cache(path); });
    place_.comm.barrier();
    before_ = resident();
}

void Cold::complete(CacheEvidence& evidence, std::int64_t bytes, bool reading) const {
    if (!place_.real_files) return;
    evidence.resident_before = mean(before_);
    evidence.resident_after = mean(resident());
    const bool elsewhere = place_.comm.min(elsewhere_ ? 1 : 0) > 0;
    const auto add = [&](std::string_view name) { evidence.methods.emplace_back(name); };
    const auto& fs = place_.file_system;
    const bool in_memory = fs && fs->memory_backed;
    const auto& left = evidence.resident_before;
    // Of writes, too: a file system that opened the files so accepted O_DIRECT.
    if (!place_.cached && !in_memory) add(cold_method::direct);
    if (!reading) return;
    if (drops_ && !in_memory && left && *left <= stays) add(cold_method::dropped);
    if (elsewhere) add(cold_method::other_nodes);
    if (options_.memory_left && !in_memory) add(cold_method::memory_hog);
    if (bytes / place_.topology.nodes > find_memory().total_bytes)
        add(cold_method::more_than_memory);
    if (drops_ && !in_memory && !left) {
        evidence.reason += "; the files were dropped, whether they left memory is not known";
    } else if (drops_ && !in_memory && *left > stays) {
        evidence.reason += fmt::format(
            "; {:.0f} % of the files stayed in memory though they were dropped", 100 * *left);
    }
}

AgainstMemory::AgainstMemory(double bytes_in_all, const PlanInput& input)
    : node_bytes(bytes_in_all / input.nodes()),
      memory_bytes(input.node_memory()),
      enough_bytes(1.5 * memory_bytes) {}

std::string AgainstMemory::text() const {
    return fmt::format("a node moves {} and has {} of memory: {}", format_size(node_bytes),
                       format_size(memory_bytes),
                       node_bytes >= enough_bytes
                           ? "more than the page cache can keep"
                           : fmt::format("for more than the page cache can keep it would take {}",
                                         format_size(enough_bytes)));
}

Fact AgainstMemory::fact() const {
    using M = AgainstMemory;
    static const Fields<M> fields{
        {"node_bytes", Unit::bytes, "that a node moves", &M::node_bytes},
        {"memory_bytes", Unit::bytes, "of a node", &M::memory_bytes},
        {"more_than_memory_from_bytes", Unit::bytes,
         "bytes of a node from which on they exceed what the page cache can keep",
         &M::enough_bytes}};
    return {"against_memory", fields, "bytes of a node against its memory", *this};
}

std::string cache_remark(const std::optional<CacheEvidence>& evidence, bool reading) {
    if (!reading || !evidence) return {};
    const Whereabouts where = evidence->verdict;
    if (where == Whereabouts::cache || where == Whereabouts::mixed) {
        return words(where, evidence->storage_fraction, reading);
    }
    if (evidence->methods.empty()) return {};
    return fmt::format("cold: {}", fmt::join(evidence->methods, ", "));
}

}  // namespace effio
