// SPDX-License-Identifier: BSD-3-Clause
// Hints as MPI knows them: MPI_Info with RAII, and back.
#pragma once

#include <mpi.h>

#include <string>
#include <string_view>

#include "storage/hints.hpp"

namespace effio {

/// A key that no library knows, given in addition to all others: one that hands it back echoes.
inline constexpr const char* canary_key = "effio_canary";

/// MPI_INFO_NULL where there is nothing to say; else the hints and the canary.
class Info {
  public:
    explicit Info(const Hints& hints);
    Info(const Info&) = delete;
    Info& operator=(const Info&) = delete;
    ~Info() {
        if (info_ != MPI_INFO_NULL) MPI_Info_free(&info_);
    }
    MPI_Info raw() const { return info_; }

  private:
    MPI_Info info_ = MPI_INFO_NULL;
};

/// The pairs of an info object, which stays the caller's; none of MPI_INFO_NULL.
GrantedHints hints_of(MPI_Info info);
/// What the library says of an open file.
GrantedHints hints_of(MPI_File file);

}  // namespace effio
