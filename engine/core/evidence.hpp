// SPDX-License-Identifier: BSD-3-Clause
// Where the bytes of a measurement were: the counters, the verdict, and the text for it. The
// driver's counterpart is driver/effio/store/evidence.py; docs/reading.md explains it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/json.hpp"

namespace effio {

/// Where bytes came from, or where they were when the clock stopped.
enum class Whereabouts : char {
    unknown,
    cache,   ///< memory: at most 5 % from or on storage
    mixed,   ///< a part, whose share is known
    device,  ///< storage: at least 95 %
};
/// The name in results.
std::string_view name(Whereabouts where);
/// The verdict for a share of bytes that storage read or wrote.
Whereabouts whereabouts_of(double storage_fraction);
/// The text in tables and headlines: "on storage", "43 % from storage".
std::string words(Whereabouts where, std::optional<double> storage_fraction, bool reading);

struct NetworkBytes {
    std::int64_t received = 0;
    std::int64_t sent = 0;
};

/// What crossed the network of the nodes meanwhile, with headers: an upper bound for the bytes of
/// the measurement. For file systems of servers only.
struct NetworkEvidence {
    std::optional<NetworkBytes> interfaces;  ///< of the nodes, all users
    std::optional<NetworkBytes> client;  ///< of the file system's clients there, where they count
    double copies = 1;                   ///< how often a byte that is written leaves the node
    Json to_json() const;
};

/// What is known about where the bytes of a measurement came from or went to. Members without a
/// value could not be observed on this system.
struct CacheEvidence {
    /// Methods that were active to make reads come from storage; empty: none.
    std::vector<std::string> methods;
    std::optional<double> resident_before;        ///< fraction of the files in the page cache
    std::optional<double> resident_after;         ///< the same after the transfers
    std::optional<std::int64_t> process_read;     ///< bytes the processes caused to be fetched
    std::optional<std::int64_t> process_written;  ///< bytes the processes caused to be sent
    std::optional<std::int64_t> device_read;      ///< bytes read from the block device, all users
    std::optional<std::int64_t> device_written;   ///< bytes written to it, all users
    std::string client;                           ///< whose counters these are: "nfs", "lustre"
    std::optional<std::int64_t> client_read;      ///< bytes the nodes' clients got from servers
    std::optional<std::int64_t> client_written;   ///< bytes they sent there, all users of the nodes
    std::optional<NetworkEvidence> network;
    /// Bytes written minus those that the device had received at the end of the sync: holes,
    /// compressed data, or a device without counters. At least 0.
    std::optional<std::int64_t> unwritten;
    /// Bytes of the device that no rank caused: other users, or the file system itself.
    std::optional<std::int64_t> others;
    /// Share of holes in the bytes read from files that this run did not write. Holes were never
    /// written, so storage does not read them.
    std::optional<double> holes;
    Whereabouts verdict = Whereabouts::unknown;
    /// Share of the bytes that storage read or wrote; no value if the verdict is `unknown`.
    std::optional<double> storage_fraction;
    std::string reason;  ///< of the verdict, a sentence without its full stop
    Json to_json() const;
};

/// The share of bytes that storage read or wrote, over several measurements of one direction.
class StorageShare {
  public:
    void add(const std::optional<CacheEvidence>& evidence, std::int64_t bytes);
    /// No value if it is not known of more than 5 % of the bytes, or there are none.
    std::optional<double> value() const;
    std::string words(bool reading) const;

  private:
    double known_bytes_ = 0;
    double unknown_bytes_ = 0;
    double storage_bytes_ = 0;
};

}  // namespace effio
