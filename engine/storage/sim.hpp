// SPDX-License-Identifier: BSD-3-Clause
// Storage in virtual time: real bytes, pretended seconds (core/sim_model.hpp).
#pragma once

#include <memory>
#include <string>

#include "core/sim_model.hpp"
#include "storage/byte_file.hpp"

namespace effio {

/// A directory of this job's own that all its ranks see, gone when the last rank's object goes.
/// Holds what `sim` stores; a path of the benchmark is below it under its own
/// name; one that leads out of it ("../data") ends at its top.
class SimRoom {
  public:
    /// Collective; the ranks must share a node.
    static Result<std::unique_ptr<SimRoom>> create(const Comm& comm);
    SimRoom(const SimRoom&) = delete;
    SimRoom& operator=(const SimRoom&) = delete;
    ~SimRoom();

    /// The real place of `path`; its parent directories exist afterwards.
    std::string inside(const std::string& path) const;
    /// The same, but nothing is created.
    std::string place_of(const std::string& path) const;

  private:
    SimRoom(std::string path, int rank);
    std::string markers() const { return path_ + "/.ranks"; }

    std::string path_;
    std::string marker_;  ///< a file that represents this rank's object
};

/// Session's clock must be virtual; it gets the model's cost of collective calls.
std::unique_ptr<Storage> make_sim_storage(Session& session, const SimModel& model,
                                          const SimRoom& room);

}  // namespace effio
