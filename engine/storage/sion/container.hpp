// SPDX-License-Identifier: BSD-3-Clause
// A whole container for reading: its physical files and the streams of its tasks. POSIX, local.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "storage/posix_calls.hpp"
#include "storage/sion/format.hpp"

namespace effio::sion {

/// Consecutive bytes of a file.
struct KeptBytes {
    std::int64_t offset = 0;
    std::vector<std::byte> bytes;
};

/// An open file of the system.
class FileSource final : public Source {
  public:
    static Result<std::unique_ptr<FileSource>> open(const std::string& path);

    const std::string& path() const override { return path_; }
    std::int64_t size() const override { return size_; }
    Status read(std::int64_t offset, std::span<std::byte> data) override;
    std::int64_t stored(std::int64_t offset, std::int64_t length) const override;
    /// Bytes that the file takes on storage, which are fewer where it is sparse.
    std::int64_t allocated() const { return allocated_; }
    /// Keeps what is read from now on.
    void keep() { keeps_ = true; }
    std::vector<KeptBytes> take_kept() { return std::move(kept_); }

  private:
    FileSource(std::string path, Descriptor fd, std::int64_t size, std::int64_t allocated)
        : path_(std::move(path)), fd_(std::move(fd)), size_(size), allocated_(allocated) {}

    std::string path_;
    Descriptor fd_;
    std::int64_t size_;
    std::int64_t allocated_;
    bool keeps_ = false;
    std::vector<KeptBytes> kept_;
};

/// Whether the bytes of the metadata are kept as they were read (FileSource::take_kept).
enum class Metadata : std::uint8_t { parsed, kept };

class Container {
  public:
    /// What is there of one physical file.
    struct Part {
        std::string path;
        std::unique_ptr<FileSource> source;  ///< null if it could not be opened
        File file;
        std::optional<Error> error;  ///< why it, or what it says, cannot be used

        bool usable() const { return !error; }
    };
    /// A task, and where its stream is.
    struct Task {
        std::int64_t rank = 0;
        std::size_t part = 0;
        std::int64_t task = 0;  ///< of that file
    };
    /// Consecutive bytes of a stream.
    struct Piece {
        std::int64_t offset = 0;  ///< in the file
        std::int64_t bytes = 0;
    };

    /// Opens the first file, without which nothing is known, and then all others. What is wrong
    /// with those, or between the files, is in the parts.
    static Result<Container> open(const std::string& path, Metadata metadata = Metadata::parsed);

    const std::vector<Part>& parts() const { return parts_; }
    const Part& first() const { return parts_.front(); }
    /// Tasks of the files that can be used, by rank.
    const std::vector<Task>& tasks() const { return tasks_; }
    const Task* find(std::int64_t rank) const;
    /// The first part's fault that there is, if any.
    const Error* fault() const;

    /// Pieces of the task's stream; nothing while its file is not closed.
    std::vector<Piece> pieces(const Task& task) const;

  private:
    void add_file(std::int64_t number, Metadata metadata);
    void compare_parts();
    Status compare(std::size_t part) const;
    Status check_places() const;

    std::vector<Part> parts_;
    std::vector<Task> tasks_;
};

/// A task's stream as consecutive bytes. The container must outlive it, and the task's file be
/// closed; else the stream has no bytes.
class Stream {
  public:
    Stream(const Container& container, const Container::Task& task);

    std::int64_t bytes() const { return begins_.back(); }
    /// Fills `data`, which is inside the stream.
    Status read(std::int64_t offset, std::span<std::byte> data) const;
    /// Where byte `offset` of the stream, which is inside it, is in the file.
    std::int64_t place_of(std::int64_t offset) const;

  private:
    std::size_t piece_of(std::int64_t offset) const;

    const Container::Part& part_;
    std::vector<Container::Piece> pieces_;
    std::vector<std::int64_t> begins_;  ///< of each piece in the stream; then its length
};

}  // namespace effio::sion
