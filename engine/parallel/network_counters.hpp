// SPDX-License-Identifier: BSD-3-Clause
// Bytes that this node's network interfaces moved: an upper bound for what a file system of servers
// got and sent, because the interfaces also have other users.
#pragma once

#include <optional>
#include <string>

#include "core/evidence.hpp"
#include "parallel/file_system.hpp"

namespace effio {

/// Whether its files are neither on a device nor in memory of this node.
bool is_of_servers(const FileSystem& fs);

/// Bytes of all interfaces that are devices, and of the loopback, behind which a server may be. Not
/// of bridges and bonds, which count the bytes of others once more. InfiniBand counts words of four
/// bytes, and traffic that bypasses the kernel as well. Where no interface is a device (containers,
/// whose end of a veth pair carries all of their traffic), of all that are not made of others.
/// Nothing if one of them cannot be read: then the sum is unknown, not smaller. `root` stands
/// before "/proc/…" and "/sys/…"; tests put samples there.
std::optional<NetworkBytes> network_counters(const std::string& root = "");

}  // namespace effio
