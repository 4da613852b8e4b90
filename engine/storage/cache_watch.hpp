// SPDX-License-Identifier: BSD-3-Clause
// Evidence of where bytes came from and went to: page cache or device.
#pragma once

#include <optional>
#include <string>
#include <utility>

#include "core/error.hpp"
#include "core/evidence.hpp"
#include "core/record.hpp"
#include "parallel/client_counters.hpp"
#include "parallel/comm.hpp"
#include "parallel/file_system.hpp"
#include "parallel/system.hpp"
#include "parallel/topology.hpp"

namespace effio {

/// The fraction of a file's pages that this node holds in memory (cachestat, else mincore).
std::optional<double> resident_fraction(const std::string& path);

/// Writes a file's dirty pages to storage: only clean ones can be dropped.
Status flush_to_storage(const std::string& path);

/// Asks the kernel to drop a file's clean pages and says what fraction stayed; nothing where it
/// cannot be known.
std::optional<double> drop_from_cache(const std::string& path);

/// Fills in verdict and reason from what was counted while `bytes` were moved, and what the device
/// did meanwhile. Reads are judged by what was fetched: of block devices the smaller of what the
/// processes and the device count, because the device serves others too; else what the client of
/// the file system got from its servers. "device" (or server) if that is at least 95 % of the
/// bytes, "cache" if at most 5 %. Writes are judged by what the device or the servers had got by
/// then: a process is charged for a page when it makes it dirty, long before it is sent. `fs` may
/// be null.
void judge(CacheEvidence& evidence, std::int64_t bytes, bool reading, const FileSystem* fs);

/// Watches the counters of the processes, of the device, of the file system's client and of the
/// network over one measurement. begin() and end() are collective. All of it belongs outside
/// measured intervals: reading the client of a GlusterFS takes about a millisecond.
class CacheWatch {
  public:
    CacheWatch(const Comm& comm, const Topology& topology, std::optional<FileSystem> fs)
        : comm_(comm), leader_(topology.is_node_leader()), fs_(std::move(fs)) {}

    void begin();
    /// Local: what comes from now on until end() is not counted.
    void stop();
    /// Local: all that was written has been synced, and the sync has just ended.
    void synced();
    /// `bytes` moved by all ranks, `reading` or writing.
    CacheEvidence end(std::int64_t bytes, bool reading);

  private:
    struct Counters {
        std::optional<ProcessIo> process;
        std::optional<DeviceCounters> device;
        std::optional<ClientCounters> client;
        std::optional<NetworkBytes> interfaces;
        std::optional<NetworkBytes> messages;  ///< of the client of a GlusterFS
    };
    Counters now() const;

    const Comm& comm_;
    bool leader_;
    std::optional<FileSystem> fs_;
    Counters first_;
    std::optional<Counters> last_;
    std::optional<Counters> synced_;
};

}  // namespace effio
