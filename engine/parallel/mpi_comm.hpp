// SPDX-License-Identifier: BSD-3-Clause
// Communicators as MPI knows them, for what calls MPI itself.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <cstring>

#include "parallel/comm.hpp"

namespace effio {

// A pointer in one library, a number in another.
static_assert(sizeof(MPI_Comm) <= sizeof(std::uintptr_t));

/// Stays the communicator's.
inline MPI_Comm raw(const Comm& comm) {
    const std::uintptr_t bits = comm.handle();
    MPI_Comm own = MPI_COMM_NULL;
    std::memcpy(static_cast<void*>(&own), &bits, sizeof(MPI_Comm));
    return own;
}

/// Makes communicators of MPI's own.
class MpiComm {
  public:
    /// Frees `comm` at its end if it is `owned`.
    static Comm make(MPI_Comm comm, Clock& clock, bool owned) {
        Comm made(clock);
        std::memcpy(&made.handle_, static_cast<const void*>(&comm), sizeof(MPI_Comm));
        made.owned_ = owned;
        MPI_Comm_rank(comm, &made.rank_);
        MPI_Comm_size(comm, &made.size_);
        return made;
    }
    /// None where a rank is not part of it.
    static std::optional<Comm> made(MPI_Comm comm, Clock& clock) {
        if (comm == MPI_COMM_NULL) return {};
        return make(comm, clock, true);
    }
};

}  // namespace effio
