// SPDX-License-Identifier: BSD-3-Clause
// Files that ranks of several nodes share where a node's view of names and sizes may be late.
//
// The kernel's client of a FUSE file system (GlusterFS, MooseFS, CephFS, ...) keeps the inode of a
// name and the size of a file for a second or so without asking the server. A rank that opens a
// name which another node has just removed and made anew gets the old file: its calls fail with
// ENOENT. One that looks at a file that another node has just written sees it too short. And where
// two nodes create the same name at the same time, one of them may get EEXIST without O_EXCL
// (MooseFS), or a file that no other node sees (GlusterFS). Kernel clients (NFS, Lustre, GPFS) ask
// the server when a file is opened.
//
// All of this does nothing unless Session::late_views is set (Target::prepare).
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>

#include "parallel/session.hpp"

namespace effio {

/// Clients keep views for a second by default; a client that keeps them longer shows an error.
inline constexpr double longest_late_view = 5;

/// Collective, before the ranks of `comm` create `path`: where one of them no longer sees the name,
/// waits until none does, so that all open the new file.
void wait_until_gone(Session& session, const Comm& comm, const std::string& path);

/// Calls `look` again while it says false and the view may be late. Local.
template <class Look>
bool look_until(Session& session, Look&& look);

/// Like size_of(path), once the file is there and has at least `needed` bytes; the last view if
/// that takes too long. Local.
Result<std::int64_t> size_of_late(Session& session, const std::string& path, std::int64_t needed);

/// One pause of look_until, or false if the time is over. `waited` counts the seconds.
bool pause_for_late_view(Session& session, double& waited);

template <class Look>
bool look_until(Session& session, Look&& look) {
    double waited = 0;
    while (!look()) {
        if (!pause_for_late_view(session, waited)) return false;
    }
    return true;
}

}  // namespace effio
