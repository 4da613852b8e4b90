// SPDX-License-Identifier: BSD-3-Clause
// What the client of a GlusterFS mount says of itself, to every user, in the directory ".meta" of
// the mount of all of the volume (FileSystem::whole_mount_point). All of it comes from the client's
// own process; no server is asked.
#pragma once

#include <optional>
#include <string>

#include "core/evidence.hpp"
#include "parallel/file_system.hpp"

namespace effio {

/// Checks the type first: on other file systems any user may have made a ".meta".
bool is_gluster(const FileSystem& fs);

/// Messages from and to all servers, of all users of the mount. Nothing if the client does not
/// report them. A connection that comes up again counts from 0.
std::optional<NetworkBytes> gluster_messages(const std::string& mount_point);

/// How often a byte that is written leaves the node: the client sends copies, or coded parts.
double gluster_copies(const std::string& mount_point);

/// Whether some files only look removed: the volume is distributed, and all servers of a part of it
/// are away. Their names are back as soon as the servers are.
bool gluster_hides_files(const std::string& mount_point);
/// The same for whatever file system a directory is on.
bool hides_files(const std::string& directory);

}  // namespace effio
