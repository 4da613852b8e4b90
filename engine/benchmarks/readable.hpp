// SPDX-License-Identifier: BSD-3-Clause
// What is about to be read is there: looked at before each read phase, untimed. A count that an MPI
// library hands back is no proof: some say that they moved what was asked for, whatever the file
// holds.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "core/error.hpp"
#include "parallel/comm.hpp"
#include "storage/data_extents.hpp"

namespace effio {

class Readable {
  public:
    /// `counts_holes`: of files that this run did not write.
    explicit Readable(bool counts_holes) : counts_holes_(counts_holes) {}

    /// This rank is about to read the file up to this byte: an error if it is shorter. One that is
    /// not there is left to its open.
    static Status fits(const std::string& path, std::int64_t end);
    /// It is about to read these bytes of it. Files come one after the other.
    void reads(const std::string& path, std::int64_t begin, std::int64_t end);
    /// It is about to read `bytes` somewhere between the two. True if that is all there is to say:
    /// there are no holes there, or none are counted.
    bool reads_within(const std::string& path, std::int64_t begin, std::int64_t end,
                      std::int64_t bytes);

    /// Collective: the share of holes in what all ranks are about to read; nothing where that is
    /// not known of each.
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

/// For people: "79 % of it holes"; empty without any.
std::string holes_remark(const std::optional<double>& fraction);

}  // namespace effio
