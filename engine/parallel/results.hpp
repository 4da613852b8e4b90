// SPDX-License-Identifier: BSD-3-Clause
// The result file of a run: created before anything is measured, one line appended and flushed at a
// time, readable after any kind of end.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "core/record.hpp"
#include "parallel/comm.hpp"
#include "parallel/text_file.hpp"

namespace effio {

/// Appends lines to a new file. When that cannot grow, the lines go to a file elsewhere. Either
/// is reported on stderr once and does not stop the run; its exit code says (ExitCode::results).
class FileSink : public LineSink {
  public:
    /// Creates the file; it must not exist.
    static Result<std::unique_ptr<FileSink>> create(const std::string& path);
    ~FileSink() override;
    FileSink(const FileSink&) = delete;
    FileSink& operator=(const FileSink&) = delete;

    void line(std::string_view text) override;
    /// A further directory for what the first one has no room for, after TMPDIR and /tmp.
    void rescue_to(std::string directory) { last_resort_ = std::move(directory); }
    /// Lines are missing.
    bool failed() const { return failed_; }
    /// All lines are kept, but not where they were requested.
    bool moved() const { return moved_; }

  private:
    FileSink(Descriptor descriptor, std::string path)
        : descriptor_(std::move(descriptor)), path_(std::move(path)) {}
    bool rescue(std::string_view text);
    bool others_ended_it() const;

    Descriptor descriptor_;
    std::string path_;
    std::string last_resort_;
    std::int64_t size_ = 0;  ///< bytes, after the last line of this sink
    bool failed_ = false;
    bool moved_ = false;
    bool over_ = false;
};

/// What every rank of a group knows about its result file. Rank 0 of the group writes it.
class Results {
  public:
    /// Collective. `where`: a file to create, an existing directory, or empty for the current
    /// directory; in a directory the name is effio-<benchmark>-<UTC>.jsonl, made unique. An
    /// existing file is refused: results are never overwritten.
    static Result<std::unique_ptr<Results>> open(const Comm& comm, const std::string& where,
                                                 const std::string& benchmark);

    /// Collective. In the first of the places, each as `where` above, that takes a file; without a
    /// file if none does.
    static std::unique_ptr<Results> open_somewhere(const Comm& comm,
                                                   std::span<const std::string> places,
                                                   const std::string& benchmark);

    /// Empty if there is no file.
    const std::string& path() const { return path_; }
    /// On the root after open_somewhere: one line that says where the file is, or why there is
    /// none; empty if the first place took it.
    const std::string& remark() const { return remark_; }
    /// Does nothing on ranks other than the group's root.
    Recorder& recorder() { return *recorder_; }
    /// On the root: lines are missing, or all are kept elsewhere.
    bool failed() const { return sink_ != nullptr && sink_->failed(); }
    bool moved() const { return sink_ != nullptr && sink_->moved(); }
    /// See FileSink::rescue_to.
    void rescue_to(const std::string& directory) {
        if (sink_ != nullptr) sink_->rescue_to(directory);
    }

    /// The last words of a rank whose job cannot end in an orderly way; any rank, any thread. A
    /// file that has its `end` line already is left alone.
    /// Of a run that hangs, the calls that the ranks noted become `detail.calls`.
    void end_from_any_rank(const End& end);
    /// On the root: the run did nothing, so no file is left of it.
    void discard();

  private:
    std::string path_;
    std::string remark_;
    bool writer_ = false;
    FileSink* sink_ = nullptr;  ///< owned by the recorder
    std::unique_ptr<Recorder> recorder_;
};

/// Whether the result file of this descriptor ends in an `end` line.
bool has_end_line(int descriptor);
/// Locks the file for this process; false if that takes longer than `seconds`.
bool lock_for(int descriptor, double seconds);

/// "2026-11-20T21:54:03Z"
std::string utc_now();

}  // namespace effio
