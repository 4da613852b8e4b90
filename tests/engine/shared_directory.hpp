// SPDX-License-Identifier: BSD-3-Clause
// A directory of one test that all its ranks see.
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <string>

#include "parallel/comm.hpp"

namespace effio {

class SharedDirectory {
  public:
    /// Collective, as is the destructor; `comm` must outlive it.
    explicit SharedDirectory(const Comm& comm) : comm_(comm) {
        if (comm.is_root()) {
            path_ = testing::TempDir() + "/effio-test-XXXXXX";
            if (mkdtemp(path_.data()) == nullptr) path_.clear();
        }
        comm.broadcast(path_);
    }
    SharedDirectory(const SharedDirectory&) = delete;
    SharedDirectory& operator=(const SharedDirectory&) = delete;
    ~SharedDirectory() {
        comm_.barrier();
        std::error_code ignored;
        if (comm_.is_root()) std::filesystem::remove_all(path_, ignored);
    }
    const std::string& path() const { return path_; }
    std::string operator/(const std::string& name) const { return path_ + "/" + name; }

  private:
    const Comm& comm_;
    std::string path_;
};

}  // namespace effio
