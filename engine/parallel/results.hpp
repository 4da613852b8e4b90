// SPDX-License-Identifier: BSD-3-Clause
// The result file of a run: created before anything is measured, one line appended and flushed at a
// time, readable after any kind of end.
#pragma once

#include <memory>
#include <string>

#include "core/record.hpp"
#include "parallel/comm.hpp"

namespace effio {

/// Appends lines to a new file. A failure is remembered, told on stderr once, and does not stop the
/// run; `failed` lets the run end with an I/O error.
class FileSink : public LineSink {
  public:
    /// Creates the file; it must not exist.
    static Result<std::unique_ptr<FileSink>> create(const std::string& path);
    ~FileSink() override;
    FileSink(const FileSink&) = delete;
    FileSink& operator=(const FileSink&) = delete;

    void line(std::string_view text) override;
    bool failed() const { return failed_; }

  private:
    FileSink(int descriptor, std::string path) : descriptor_(descriptor), path_(std::move(path)) {}
    int descriptor_;
    std::string path_;
    bool failed_ = false;
};

/// What every rank of a group knows about its result file. Rank 0 of the group writes it.
class Results {
  public:
    /// Collective. `where`: a file to create, an existing directory, or empty for the current
    /// directory; in a directory the name is effio-<benchmark>-<UTC>.jsonl, made unique. An
    /// existing file is refused: results are never overwritten.
    static Result<std::unique_ptr<Results>> open(const Comm& comm, const std::string& where,
                                                 const std::string& benchmark);

    const std::string& path() const { return path_; }
    /// Does nothing on ranks other than the group's root.
    Recorder& recorder() { return *recorder_; }
    bool failed() const { return sink_ != nullptr && sink_->failed(); }

    /// The last words of a rank whose job cannot end in an orderly way; any rank, any thread. A
    /// file that has its `end` line already is left alone.
    void end_from_any_rank(const End& end);

  private:
    std::string path_;
    bool writer_ = false;
    FileSink* sink_ = nullptr;  ///< owned by the recorder
    std::unique_ptr<Recorder> recorder_;
};

/// "2026-11-20T21:54:03Z"
std::string utc_now();

}  // namespace effio
