// SPDX-License-Identifier: BSD-3-Clause
// What a node's client of a network file system got from its servers and sent to them: where there
// is not a block device, the only counters that distinguish a cache from storage. Bytes since the
// mount, of all users of the node.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "parallel/file_system.hpp"

namespace effio {

struct ClientCounters {
    std::int64_t read_bytes = 0;
    std::int64_t written_bytes = 0;
};

/// Counters of the NFS mount at `mount_point`, from /proc/self/mountstats (nfsiostat(8), line
/// "bytes:"): what went over the network, the fifth and sixth number; the first four count what
/// programs requested.
std::optional<ClientCounters> nfs_counters(std::string_view mountstats,
                                           std::string_view mount_point);

/// Counters of one Lustre object storage client, from its "stats": the sums of read_bytes and
/// write_bytes, which are of the requests to servers (those of llite are of the calls of programs).
/// Nothing if the text is none of these.
std::optional<ClientCounters> lustre_counters(std::string_view osc_stats);

/// "nfs" or "lustre" where this client's counters distinguish the network from the cache; else
/// empty.
std::string client_of(const FileSystem& fs);

/// Counters of the file system as far as this user may read them. `root` is put before the paths of
/// the system ("/proc/…"); tests put samples there.
std::optional<ClientCounters> client_counters(const FileSystem& fs, const std::string& root = "");

/// Why there are no counters of this client, as part of a sentence; empty where there is nothing to
/// say.
std::string why_no_client_counters(const FileSystem& fs);

}  // namespace effio
