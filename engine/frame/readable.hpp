// SPDX-License-Identifier: BSD-3-Clause
// Checks before each read phase, untimed, that the files contain what the phase reads. The byte
// count of an MPI library is not enough: some report the requested bytes even if the file is
// shorter.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "core/error.hpp"
#include "parallel/comm.hpp"
#include "parallel/session.hpp"
#include "storage/data_extents.hpp"

namespace effio {

class Readable {
  public:
    /// `counts_holes`: only in files that this run did not write.
    explicit Readable(bool counts_holes) : counts_holes_(counts_holes) {}

    /// Returns an error if the file is shorter than `end` bytes. A missing file is not an error
    /// here; opening it reports that.
    static Status fits(Session& session, const std::string& path, std::int64_t end);
    /// Notes that this rank reads these bytes. Calls for one file follow each other.
    void reads(const std::string& path, std::int64_t begin, std::int64_t end);
    /// Notes that this rank reads `bytes` somewhere between `begin` and `end`. Returns false, and
    /// notes nothing, if there are holes: the caller must then name each range (reads).
    bool reads_within(const std::string& path, std::int64_t begin, std::int64_t end,
                      std::int64_t bytes);

    /// Collective: the share of holes in what all ranks read; empty if it is unknown for any file.
    std::optional<double> hole_fraction(const Comm& comm) const;

  private:
    const DataExtents* extents_of(const std::string& path);

    bool counts_holes_;
    std::string path_;
    std::optional<DataExtents> extents_;
    std::int64_t bytes_ = 0;
    std::int64_t holes_ = 0;
    bool unknown_ = false;
};

/// For the console: "79 % of it holes, never written"; empty without holes.
std::string holes_remark(const std::optional<double>& fraction);

}  // namespace effio
