// SPDX-License-Identifier: BSD-3-Clause
// The containers that a run has opened or written: names of their files, so that no rank has to
// read them, and what their metadata must be when the run reads them.
#pragma once

#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "storage/sion/container.hpp"
#include "storage/sion/format.hpp"

namespace effio::sion {

/// A container's heads and how many bytes each task wrote.
struct Layout {
    std::vector<File> files;
    std::vector<std::int64_t> ends;  ///< of each task's stream, by rank
};

/// The tail of a container's file if its tasks wrote this much.
Tail tail_of(const Layout& layout, std::size_t file);

/// What one rank knows. A layout is known to the ranks that closed the container together.
class OwnContainers {
  public:
    /// The files of a container that this rank opened; empty if it did not.
    std::vector<std::string> files_of(const std::string& path) const;
    void opened(const std::string& path, std::int64_t files) { of_[path].files = files; }
    void forget(const std::string& path) { of_.erase(path); }

    /// As this run closed it last; null if another run wrote it.
    std::shared_ptr<const Layout> layout(const std::string& path) const;
    void closed(const std::string& path, std::shared_ptr<const Layout> layout) {
        of_[path].layout = std::move(layout);
    }

  private:
    struct One {
        std::int64_t files = 1;
        std::shared_ptr<const Layout> layout;
    };
    std::map<std::string, One> of_;
};

/// An error that names the first byte of a file's metadata, as they were read, that differs from
/// what the run wrote. `first` is the path of the container.
Status compare_metadata(const std::string& first, const Layout& wrote, std::size_t file,
                        std::span<const KeptBytes> read);

}  // namespace effio::sion
