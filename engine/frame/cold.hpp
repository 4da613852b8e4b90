// SPDX-License-Identifier: BSD-3-Clause
// The methods to read past or without the page cache that every benchmark of storage offers, and
// what is known of the cache before and after an access.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/options.hpp"
#include "core/record.hpp"
#include "frame/plan.hpp"
#include "parallel/comm.hpp"
#include "parallel/file_system.hpp"
#include "parallel/held_memory.hpp"
#include "parallel/over_ranks.hpp"
#include "parallel/topology.hpp"

namespace effio {

struct CacheOptions {
    /// Files are dropped from the cache before they are read.
    bool drop = true;
    bool drop_given = false;
    /// What a memory hog leaves of each node's memory.
    std::optional<Bytes> memory_left;

    void declare(OptionTable& table);
};

/// Collective over the session's ranks: what --memory-hog asks for, held as long as the object
/// lives; nothing without it.
Result<HeldMemory> hold_memory(Session& session, const Topology& topology,
                               const CacheOptions& options);

/// Those methods as results name them (CacheEvidence::methods).
namespace cold_method {
inline constexpr std::string_view dropped = "dropped";
inline constexpr std::string_view direct = "direct";
inline constexpr std::string_view other_nodes = "other nodes";
inline constexpr std::string_view memory_hog = "memory hog";
inline constexpr std::string_view more_than_memory = "more than memory";
}  // namespace cold_method

/// One access to files: drops them from the cache of this node before, where that is asked, and
/// says what was in effect. All of it belongs outside measured intervals.
class Cold {
  public:
    using Look = std::function<void(const std::string& path)>;
    /// Calls its argument for each file that this rank moves; for nothing where there is none.
    using Files = std::function<void(const Look&)>;

    struct Context {
        const Comm& comm;  ///< the ranks of the access
        const Topology& topology;
        const std::optional<FileSystem>& file_system;
        bool real_files = true;  ///< of this system
        bool cached = true;      ///< there may be a page cache between us and the device
    };

    Cold(const Context& place, const CacheOptions& options, Files files)
        : place_(place), options_(options), files_(std::move(files)) {}

    /// Collective. The files are there. What was written has to be clean: only clean pages can be
    /// dropped. A file that the ranks of a node share is dropped by one of them: `my_turn`.
    void before(bool my_turn, bool drop);
    void before(bool my_turn) { before(my_turn, options_.drop); }
    /// Local: this rank reads what another node wrote.
    void reads_of_another_node() { elsewhere_ = true; }
    /// Collective. After the access: `bytes` were moved by all, `reading` or writing.
    void complete(CacheEvidence& evidence, std::int64_t bytes, bool reading) const;

  private:
    /// The files that this rank looked at.
    struct Residency {
        double shares = 0;  ///< in memory, summed over the known ones
        std::int64_t known = 0;
        std::int64_t unknown = 0;
    };
    Residency resident() const;
    /// Collective: the mean share over the files of all ranks; empty if one is unknown.
    std::optional<double> mean(Residency mine) const;

    Context place_;
    const CacheOptions& options_;
    Files files_;
    bool drops_ = false;
    bool elsewhere_ = false;
    Residency before_;
};

/// The memory part of a plan: what a node moves against its memory, and how much it would take for
/// reads that cannot all come from there.
struct AgainstMemory {
    double node_bytes = 0;
    double memory_bytes = 0;
    double enough_bytes = 0;  ///< on a node: half as much again as its memory

    AgainstMemory(double bytes_in_all, const PlanInput& input);
    /// A sentence without its full stop.
    std::string text() const;
    Fact fact() const;
};

/// For the tables of people: "from memory" or "43 % from storage" where reads were, else the
/// methods that were in effect, "cold: dropped"; empty where there is nothing to say.
std::string cache_remark(const std::optional<CacheEvidence>& evidence, bool reading);

}  // namespace effio
