// SPDX-License-Identifier: BSD-3-Clause
// A container that the ranks of a communicator have open together: made or read by the root, known
// to all; each rank opens the files that it touches. One physical file or several, the tasks shared
// out over them as the format says (file_of).
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "storage/byte_file.hpp"
#include "storage/posix_calls.hpp"
#include "storage/sion/collector.hpp"
#include "storage/sion/format.hpp"
#include "storage/sion/own.hpp"

namespace effio::sion {

/// How a container is made.
struct Making {
    std::vector<std::int64_t> asked;  ///< bytes of each task's chunks, all at least 1
    std::int64_t block = 0;           ///< 0: that of the file system
    std::int64_t files = 1;           ///< at most as many as tasks
    ByteOrder order = ByteOrder::little;
    std::int64_t collector_tasks = 1;  ///< 1: each rank for itself
};

/// Bytes of a task's stream.
struct Extent {
    std::int64_t task = 0;
    std::int64_t position = 0;
    std::int64_t bytes = 0;
};

class SharedContainer {
  public:
    /// Collective. One that is there is kept, if there are as many tasks as the making has or it is
    /// only read; a mode that creates makes one where there is none. With collectors each rank must
    /// be the task of its number, or only read. `comm` must outlive it.
    static Result<std::unique_ptr<SharedContainer>> open(Session& session, const Comm& comm,
                                                         const std::string& path,
                                                         const OpenMode& mode,
                                                         const Making& making);

    std::int64_t tasks() const { return std::ssize(places_); }
    /// Length of the task's stream; while writing, as far as this rank wrote it.
    std::int64_t bytes_of(std::int64_t task) const { return ends_[static_cast<std::size_t>(task)]; }
    const File& file(std::size_t number) const { return files_[number]; }
    std::int64_t files() const { return std::ssize(files_); }
    bool has_collectors() const { return collector_.has_value(); }
    /// Ranks that touch the files in calls that are made together.
    std::int64_t collectors() const { return collectors_; }
    /// What its maker should know; empty where there is nothing.
    const std::string& remark() const { return remark_; }

    /// Consecutive bytes of a stream; fewer than asked only at its end.
    Result<std::int64_t> write(std::int64_t task, std::int64_t position,
                               std::span<const std::byte> data);
    Result<std::int64_t> read(std::int64_t task, std::int64_t position, std::span<std::byte> data);
    /// Collective over all that share a collector: extents whose bytes are one after the other in
    /// memory.
    Result<std::int64_t> write_together(std::span<const Extent> extents,
                                        std::span<const std::byte> data);
    Result<std::int64_t> read_together(std::span<const Extent> extents, std::span<std::byte> data);

    /// Collective: compares the metadata that the open read with what this run wrote. Nothing is
    /// compared if another run wrote the container, or if its first rank then was another one.
    Status confirm();
    Status sync();
    /// Collective: the tails, each file's by one of the ranks.
    Status close();

  private:
    /// What all ranks must know.
    struct Known {
        std::vector<File> files;
        std::string remark;
        bool own = false;  ///< this run wrote it
        /// On the root, for each file of an own container: what was read of its metadata.
        std::vector<std::vector<KeptBytes>> read;
        void share(const Comm& comm);
    };

    SharedContainer(Session& session, const Comm& comm, const std::string& path,
                    const OpenMode& mode, Known known);

    static Result<Known> begin(const std::string& path, const OpenMode& mode, const Making& making,
                               Metadata metadata);
    static Result<Known> make(const std::string& path, const OpenMode& mode, const Making& making,
                              std::int64_t preferred_block);
    static Result<Known> read_known(const std::string& path, const OpenMode& mode,
                                    const Making& making, Metadata metadata);
    void join_collector(const Making& making);

    /// The contiguous range of a file that starts at a place of a stream; nothing behind the end of
    /// a stream that is read.
    FileRange place(std::int64_t task, std::int64_t position) const;
    /// What extents are in the files, as far as their streams go.
    std::vector<FileRange> places_of(std::span<const Extent> extents) const;
    template <class Span, class Move>
    Result<std::int64_t> move(std::int64_t task, std::int64_t position, Span data, Move&& one);
    Result<std::int64_t> write_at(const FileRange& place, std::span<const std::byte> data);
    Result<std::int64_t> read_at(const FileRange& place, std::span<std::byte> data);
    /// Descriptor of the file, opened at first use.
    Result<int> descriptor(std::int64_t file);
    Status write_tail(std::int64_t file);

    Session& session_;
    const Comm& comm_;
    bool writes_;
    bool unlinks_;
    bool own_;
    std::shared_ptr<Layout> layout_;
    std::vector<File>& files_;             ///< the layout's
    std::vector<std::int64_t>& ends_;      ///< the layout's
    std::shared_ptr<const Layout> wrote_;  ///< as this run had closed it; null where unknown
    std::vector<std::vector<KeptBytes>> read_;
    std::vector<std::string> paths_;  ///< of the files
    std::string remark_;
    std::vector<Tail::TaskIndex> places_;  ///< of each task
    std::vector<bool> unfilled_;    ///< of each file: some writer left a chunk before it was full
    std::vector<Descriptor> open_;  ///< of each file, where this rank has it
    std::optional<Collector> collector_;
    std::int64_t collectors_;
};

}  // namespace effio::sion
