// SPDX-License-Identifier: BSD-3-Clause
// Files as memory: transfers are copies into and from a mapping of the file, msync is the sync.
//
// Each rank (and thread) that opens a file maps all of it up to where it was, twice as much where
// it gets longer. A write that lengthens the file asks the file system for the space first
// (fallocate, which never shortens), so that a full disk is an error with its place; that call and
// the page faults are part of the transfer's time. What a copy cannot have (space for a hole, a
// page that the device does not give, a file that another process shortened) arrives as SIGBUS; it
// is caught around the copy and becomes an error with the place, too.
#pragma once

#include <memory>

#include "storage/byte_file.hpp"

namespace effio {

std::unique_ptr<Storage> make_mmap_storage(Session& session);

}  // namespace effio
