// SPDX-License-Identifier: BSD-3-Clause
// A directory of one test that all its ranks see.
#pragma once

#include <optional>
#include <string>

#include "own_directory.hpp"
#include "parallel/comm.hpp"

namespace effio {

class SharedDirectory {
  public:
    /// Collective, as is the destructor; `comm` must outlive it.
    explicit SharedDirectory(const Comm& comm) : comm_(comm) {
        if (comm.is_root()) {
            own_.emplace();
            path_ = own_->path();
        }
        comm.broadcast(path_);
    }
    SharedDirectory(const SharedDirectory&) = delete;
    SharedDirectory& operator=(const SharedDirectory&) = delete;
    ~SharedDirectory() { comm_.barrier(); }
    const std::string& path() const { return path_; }
    std::string operator/(const std::string& name) const { return path_ + "/" + name; }

  private:
    const Comm& comm_;
    std::optional<OwnDirectory> own_;
    std::string path_;
};

}  // namespace effio
