// SPDX-License-Identifier: BSD-3-Clause
// What file system a directory is on, how full it is and how it stripes files.
#pragma once

#include <cstdint>
#include <istream>
#include <optional>
#include <string>

#include "core/error.hpp"
#include "core/json.hpp"

namespace effio {

struct FileSystem {
    std::string path;    ///< the directory asked about
    std::string type;    ///< "ext4", "lustre", "tmpfs", ...
    std::string source;  ///< device or server
    std::string mount_point;
    /// Where all of the file system is mounted, if `mount_point` shows a folder of it only (a bind
    /// mount); the same elsewhere. Empty if it is mounted nowhere in this namespace.
    std::string whole_mount_point;
    std::string options;         ///< of the mount and of the superblock
    bool memory_backed = false;  ///< tmpfs, ramfs
    std::int64_t block_bytes = 0;
    std::int64_t total_bytes = 0;
    std::int64_t free_bytes = 0;  ///< for this user
    std::int64_t total_inodes = 0;
    std::int64_t free_inodes = 0;
    // Of all users: with what is free for some of them only (root's reserve), less than total -
    // free.
    std::int64_t used_bytes = 0;
    std::int64_t used_inodes = 0;
    std::optional<std::int64_t> quota_free_bytes;  ///< left of the user's quota, where one is set
    std::optional<std::string> device;             ///< "major:minor" of a block device
    Json striping = nullptr;                       ///< {"count", "unit_bytes"} where known
    /// Whether a node that opens a file reads what another node wrote and closed before; empty if
    /// that was not tried (storage/shared_directory.hpp).
    std::optional<bool> close_to_open;

    Json to_json() const;
};

Result<FileSystem> find_file_system(const std::string& directory);

/// What whole_mount_point says of `mount_point`, from lines as /proc/self/mountinfo has them.
std::string find_whole_mount(std::istream& mountinfo, const std::string& mount_point);

/// Bytes that the block device has read and written since it was attached, all users together.
struct DeviceCounters {
    std::int64_t read_bytes = 0;
    std::int64_t written_bytes = 0;
};
std::optional<DeviceCounters> device_counters(const std::string& device);

}  // namespace effio
