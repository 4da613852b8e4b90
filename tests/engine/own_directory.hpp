// SPDX-License-Identifier: BSD-3-Clause
// A directory of one process's own, gone at the end.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <string>
#include <system_error>

namespace effio {

class OwnDirectory {
  public:
    OwnDirectory() : path_(std::filesystem::temp_directory_path() / "effio-test-XXXXXX") {
        if (mkdtemp(path_.data()) == nullptr) path_.clear();
    }
    OwnDirectory(const OwnDirectory&) = delete;
    OwnDirectory& operator=(const OwnDirectory&) = delete;
    ~OwnDirectory() {
        std::error_code ignored;
        if (!path_.empty()) std::filesystem::remove_all(path_, ignored);
    }
    /// Empty if none could be made.
    const std::string& path() const { return path_; }
    std::string operator/(const std::string& name) const { return path_ + "/" + name; }

  private:
    std::string path_;
};

}  // namespace effio
