// SPDX-License-Identifier: BSD-3-Clause
// Transfers that are under way while their rank continues: posted, and waited for in any order.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "core/error.hpp"

namespace effio {

/// What a queue is to be for.
struct QueueRequest {
    std::size_t depth = 1;  ///< transfers under way at the same time, at most
    /// All ranks of the file post the same number of transfers, in the same order, and wait for
    /// them as they were posted: then an MPI library may carry them out together. Whether it can
    /// do that at all has to be known from a trial (mpi_queue.hpp).
    bool collective = false;
    /// Where all transfers will be from and to; may be registered with the kernel, until the queue
    /// is gone. Empty: not known.
    std::span<const std::span<std::byte>> memory = {};
};

/// A transfer of a queue that is over.
struct Completion {
    std::size_t slot = 0;  ///< as posted
    Status status;         ///< with rank, path and offset if it failed
};

/// Local, for one thread. The owner gives each transfer that is under way a separate slot, and
/// keeps its memory until the transfer was waited for. Who ends a queue waits for all before.
class TransferQueue {
  public:
    virtual ~TransferQueue() = default;
    TransferQueue(const TransferQueue&) = delete;
    TransferQueue& operator=(const TransferQueue&) = delete;

    /// Transfers at explicit offsets, in bytes of the file. `slot` is below the depth and free. It
    /// begins by the next `wait` or `test` at the latest; its failure is reported there.
    virtual void post_write(std::size_t slot, std::span<const std::byte> data,
                            std::int64_t offset) = 0;
    virtual void post_read(std::size_t slot, std::span<std::byte> data, std::int64_t offset) = 0;
    /// One that is over; waits for it if there is none. Something must be under way.
    virtual Completion wait() = 0;
    /// Whether one is over, so that `wait` would not wait.
    virtual bool test() = 0;

  protected:
    TransferQueue() = default;
};

}  // namespace effio
