// SPDX-License-Identifier: BSD-3-Clause
// Transfers under way on a file that has no separate queue: a helper thread makes its calls.
#pragma once

#include <memory>

#include "storage/byte_file.hpp"

namespace effio {

/// A queue for a file whose element is the byte and whose view has no holes. Its calls are made one
/// after the other, in the order of the posts, by a thread of the queue's own, which alone uses the
/// file from the first post on until all were waited for; the call of an MPI library needs one that
/// allows that. Where time is virtual nothing runs next to the rank but time: a transfer moves its
/// data when it is posted, and is over when the clock has come so far. An error where the system
/// gives no thread.
Result<std::unique_ptr<TransferQueue>> make_threaded_queue(Session& session, ByteFile& file);

}  // namespace effio
