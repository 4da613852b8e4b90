// SPDX-License-Identifier: BSD-3-Clause
// A file that a library is about to create by its path, held against what others may put in its
// place.
//
// Libraries open a path themselves and follow a symbolic link in its place. So the file is made
// first, by a descriptor that follows none, and after the library's open the path must still lead
// to a regular file of this user with no second name. What remains is the time between the two: a
// link that is put there and taken away again in that time is followed (docs/safety.md). MPI-IO
// does not truncate a file when it opens it, so there the check after the open is sufficient.
#pragma once

#include <string>
#include <utility>

#include "parallel/comm.hpp"
#include "storage/posix_calls.hpp"

namespace effio {

class GuardedPath {
  public:
    GuardedPath(const Comm& comm, std::string path) : comm_(comm), path_(std::move(path)) {}

    /// Collective: the root makes the file, or opens the one that is there. An error on all ranks
    /// if that is not possible or leads elsewhere.
    Status make();
    /// Checks on the root, after the library's open, that the path leads to a file of ours. Local.
    Status check() const;
    /// Collective, after an open for writing that neither creates nor truncates an existing file.
    /// Returns an error on all ranks if the path does not lead to a regular file with one name.
    Status confirm() const;

  private:
    Status on_all(Status of_root, const char* cause) const;

    const Comm& comm_;
    std::string path_;
    /// Open until the library has opened the file: its inode is not used again as long.
    Descriptor made_;
};

}  // namespace effio
