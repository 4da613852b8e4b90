// SPDX-License-Identifier: BSD-3-Clause
// Evidence of where bytes came from and went to: page cache or device.
#pragma once

#include <optional>
#include <string>

#include "core/error.hpp"
#include "core/record.hpp"
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
/// cannot be told.
std::optional<double> drop_from_cache(const std::string& path);

/// Watches the counters of the processes and of the device over one measurement. begin() and
/// end() are collective and belong outside measured intervals.
class CacheWatch {
  public:
    CacheWatch(const Comm& comm, const Topology& topology, const std::optional<FileSystem>& fs)
        : comm_(comm),
          leader_(topology.is_node_leader()),
          device_(fs ? fs->device : std::nullopt) {}

    void begin();
    /// Local: what comes from now on until end() is not counted.
    void stop();
    /// `bytes` moved by all ranks, `reading` or writing; the verdict on reads: "device" if at least
    /// 95 % of the bytes were fetched from a device or server, "cache" if at most 5 % were. Writes
    /// are judged by what the device had got by then: a process is charged for a page when it
    /// makes it dirty, long before it is sent.
    CacheEvidence end(std::int64_t bytes, bool reading);

  private:
    const Comm& comm_;
    bool leader_;
    std::optional<std::string> device_;
    struct Counters {
        std::optional<ProcessIo> process;
        std::optional<DeviceCounters> device;
    };
    Counters now() const;

    Counters first_;
    std::optional<Counters> last_;
};

}  // namespace effio
