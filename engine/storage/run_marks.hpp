// SPDX-License-Identifier: BSD-3-Clause
// What proves, after a kill, that data files are those of a run: a file in each of its data
// directories that holds the run's manifest.
//
// A manifest in a result file is a claim that any user can write. The mark is made by the run
// itself, in the directory, before any data file: whoever cleans up (`effio clean`) believes a
// manifest only if the directory holds the same one in a file of the same owner, and removes only
// files that were made after it. POSIX; the root works, an abrupt end on any rank takes the marks
// away.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "core/json.hpp"
#include "parallel/gluster_client.hpp"
#include "parallel/session.hpp"

namespace effio {

class RunMarks {
  public:
    /// `hides`: whether files of a directory may only look removed.
    explicit RunMarks(Session& session,
                      std::function<bool(const std::string& directory)> hides = hides_files)
        : session_(session), hides_(std::move(hides)) {}
    RunMarks(const RunMarks&) = delete;
    RunMarks& operator=(const RunMarks&) = delete;

    /// Collective: makes the marks, before any rank continues. The manifest gets the token and the
    /// inode of each directory. Nothing for runs without separate files, or whose files are
    /// kept anyway. A directory that takes no mark is not an error: nothing is cleaned there later.
    void make(Json& manifest);
    /// Something of the run was left: the marks stay for whoever removes it.
    void keep() { keep_ = true; }
    /// Local, without MPI: takes the marks away, unless they are to stay. A mark also stays while
    /// files of its directory may only look removed.
    void remove() const;

  private:
    Session& session_;
    std::function<bool(const std::string&)> hides_;
    std::vector<std::string> paths_;
    bool keep_ = false;
    std::unique_ptr<const AtAbruptEnd> at_abrupt_end_;
};

}  // namespace effio
