// SPDX-License-Identifier: BSD-3-Clause
// The container format of SIONlib (docs/sion-format.md): many tasks' streams in one file or a
// few. Pure: bytes in, bytes out.
// A file starts with a head: the tasks that write into it and the size of each task's chunks. Then
// come rows of chunks, one chunk of each task in a row; a task whose chunk is full continues in the
// next row without asking other tasks. Unused bytes are never written, so files are sparse. At the
// end, written when the file is closed, is how much of each chunk is used. Integers have no
// padding between them; their byte order is the file's own.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "core/error.hpp"

namespace effio::sion {

enum class ByteOrder : std::uint8_t { little, big };
constexpr const char* name_of(ByteOrder order) {
    return order == ByteOrder::big ? "big" : "little";
}

/// Whether the streams are made of records that follow a key and a length.
enum class KeyValues : std::uint8_t { none = 50, inlined = 51, meta = 52, hash = 53 };

inline constexpr std::int32_t newest_version = 5;
inline constexpr std::int32_t oldest_version = 3;
inline constexpr std::int64_t longest_prefix = 1023;  ///< bytes of a name
inline constexpr std::int64_t lists_offset = 1076;    ///< where the head lists the tasks' ranks

/// `bytes` to a whole number of `block`s; both positive, the sum below 2^63.
constexpr std::int64_t rounded_up(std::int64_t bytes, std::int64_t block) {
    return (bytes + block - 1) / block * block;
}

/// What is at the start of each file.
struct Header {
    ByteOrder metadata = ByteOrder::little;
    ByteOrder data = ByteOrder::little;  ///< of what the tasks wrote, as they say
    std::int32_t library = 1007;         ///< 1000 * main + sub version
    std::int32_t patch = 6;
    std::int32_t version = newest_version;  ///< of the format
    std::int64_t block = 0;                 ///< of the file system; chunks are multiples of it
    std::int64_t files = 1;                 ///< of the container
    std::int64_t file_number = 0;           ///< of this file, from 0
    KeyValues key_values = KeyValues::none;
    std::string prefix;                ///< name of the container's first file, when it was made
    std::vector<std::int64_t> ranks;   ///< of each task of this file, among all of the container
    std::vector<std::int64_t> chunks;  ///< bytes for each task in a row, as they are stored
    // Both 0 until the file is closed:
    std::int64_t rows = 0;  ///< most chunks that a task used
    std::int64_t tail = 0;  ///< where the tail begins

    std::int64_t tasks() const { return static_cast<std::int64_t>(ranks.size()); }
    bool closed() const { return tail != 0; }
    /// Up to the first place where a chunk can be.
    std::int64_t bytes() const;
    /// Places of rows and tail, which are written last.
    std::int64_t offset_of_rows() const { return bytes() - 12; }
};

/// Where the chunks of a file are.
class Chunks {
  public:
    Chunks() = default;
    /// Nothing if they are not places in a file: more than 2^63 bytes, or no positive block.
    static Result<Chunks> of(const Header& head);

    /// Bytes that fit into a chunk of the task. In formats before 4 the stored size is the one
    /// requested; the room is that rounded up.
    std::int64_t room(std::int64_t task) const {
        const auto t = static_cast<std::size_t>(task);
        return begins_[t + 1] - begins_[t];
    }
    std::int64_t begin(std::int64_t task, std::int64_t row) const {
        return begins_[static_cast<std::size_t>(task)] + row * row_bytes();
    }
    std::int64_t row_bytes() const { return begins_.back() - begins_.front(); }
    /// Where the tail begins after this many rows; nothing beyond 2^63.
    Result<std::int64_t> tail(std::int64_t rows) const;

  private:
    std::vector<std::int64_t> begins_;  ///< of each task's first chunk; then the end of the row
};

/// What is at the end of each file.
struct Tail {
    struct TaskIndex {
        std::int32_t file = 0;
        std::int32_t task = 0;  ///< of that file
        friend bool operator==(TaskIndex, TaskIndex) = default;
    };
    std::vector<std::int64_t> used;   ///< chunks of each task
    std::vector<std::int64_t> bytes;  ///< in each chunk: row by row, each task's
    /// The place of each rank; in the first of several files only.
    std::vector<TaskIndex> places;
};

/// One physical file.
struct File {
    Header head;
    Chunks chunks;
    Tail tail;  ///< empty while the file is not closed

    std::int64_t bytes_in(std::int64_t task, std::int64_t row) const {
        return tail.bytes[static_cast<std::size_t>(row * head.tasks() + task)];
    }
    /// Length of the task's stream.
    std::int64_t bytes_of(std::int64_t task) const;
};

// What a writer decides.

/// Chunks of tasks that write for themselves: each a whole number of blocks.
std::vector<std::int64_t> own_chunks(std::span<const std::int64_t> asked, std::int64_t block);
/// Where tasks have one collector for some `group_tasks` neighbors, which writes for them: the
/// first task behind each group.
std::vector<std::int64_t> collector_groups(std::span<const std::int64_t> asked, std::int64_t block,
                                           std::int64_t group_tasks);
/// Their chunks: without gaps in a group, and each group a whole number of blocks.
std::vector<std::int64_t> collected_chunks(std::span<const std::int64_t> asked, std::int64_t block,
                                           std::int64_t group_tasks);
/// The file of each rank, where only their number is given: equally many each, what is left over
/// in the last.
std::int64_t file_of(std::int64_t rank, std::int64_t ranks, std::int64_t files);
/// Name of the container's file `number`: the first has the container's name.
std::string name_of_file(const std::string& first, std::int64_t number);

// What a file contains.

std::vector<std::byte> encode(const Header& head);
/// Rows and place of the tail, to be written at Header::offset_of_rows().
std::vector<std::byte> encode_end_of_head(const Header& head);
std::vector<std::byte> encode(const Tail& tail, ByteOrder order);

/// Bytes to read from.
class Source {
  public:
    virtual ~Source() = default;
    Source(const Source&) = delete;
    Source& operator=(const Source&) = delete;

    virtual const std::string& path() const = 0;
    virtual std::int64_t size() const = 0;
    /// Bytes of those `length` at `offset` that are stored: holes of a sparse file are not. All of
    /// them where that is not known.
    virtual std::int64_t stored(std::int64_t offset, std::int64_t length) const {
        (void)offset;
        return length;
    }
    /// Fills `data`, which is inside the size.
    virtual Status read(std::int64_t offset, std::span<std::byte> data) = 0;

  protected:
    Source() = default;
};

/// A file's head and tail. What cannot be true is an error with its place
/// (ExitCode::data_errors); what the numbers in it claim costs no more memory than 8 MiB, or than
/// some times what is stored of the file, its holes not counted.
Result<File> read_file(Source& source);

/// An error about what is at `offset` of a file.
Error malformed(const std::string& path, std::int64_t offset, std::string cause);

}  // namespace effio::sion
