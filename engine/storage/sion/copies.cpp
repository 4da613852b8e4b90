// SPDX-License-Identifier: BSD-3-Clause
#include "storage/sion/copies.hpp"

#include <fcntl.h>
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <vector>

#include "core/units.hpp"
#include "storage/removal.hpp"
#include "storage/sion/key_values.hpp"

namespace effio::sion {
namespace {

/// The bytes of a stream from `offset` on.
Status copy_bytes(const Stream& stream, std::int64_t offset, std::int64_t bytes, const Sink& sink) {
    std::vector<std::byte> buffer(static_cast<std::size_t>(std::min(bytes, MiB)));
    while (bytes > 0) {
        const auto now = std::span(buffer).first(
            static_cast<std::size_t>(std::min(bytes, std::int64_t{std::ssize(buffer)})));
        if (auto read = stream.read(offset, now); !read) return read;
        if (auto sunk = sink(now); !sunk) return sunk;
        offset += std::ssize(now);
        bytes -= std::ssize(now);
    }
    return {};
}

Status check_closed(const Container& container, const Container::Task& task) {
    const auto& part = container.parts()[task.part];
    if (part.file.head.closed()) return {};
    return malformed(part.path, part.file.head.offset_of_rows(),
                     "the file was not closed: nothing says how long its streams are");
}

/// A new file that holds what is copied into it, or is removed again: half a stream must not pass
/// for one.
class NewFile {
  public:
    static Result<NewFile> make(const std::string& path, bool overwrite) {
        auto fd = open_file(path, O_WRONLY | O_CREAT | (overwrite ? O_TRUNC : O_EXCL));
        if (!fd) return std::move(fd.error());
        return NewFile(path, std::move(*fd));
    }
    Status append(std::span<const std::byte> data) {
        const auto moved = pwrite_all(fd_.get(), path_, data, bytes_);
        if (!moved) return Error(moved.error());
        bytes_ += *moved;
        return {};
    }
    Status close(Status done) {
        if (const int code = fd_.close(); done && code != 0) {
            done = system_error("close", path_, code);
        }
        if (!done) {
            if (auto removed = remove_file(path_); !removed) return removed;
        }
        return done;
    }

  private:
    NewFile(std::string path, Descriptor fd) : path_(std::move(path)), fd_(std::move(fd)) {}

    std::string path_;
    Descriptor fd_;
    std::int64_t bytes_ = 0;
};

Status split_off(const std::string& path, bool overwrite,
                 const std::function<Status(const Sink&)>& copy_into) {
    auto file = NewFile::make(path, overwrite);
    if (!file) return std::move(file.error());
    return file->close(
        copy_into([&](std::span<const std::byte> data) { return file->append(data); }));
}

}  // namespace

Status copy(const Container& container, const Container::Task& task,
            std::optional<std::int64_t> chunk, const Sink& sink) {
    if (auto closed = check_closed(container, task); !closed) return closed;
    const Stream stream(container, task);
    if (!chunk) return copy_bytes(stream, 0, stream.bytes(), sink);
    const auto pieces = container.pieces(task);
    if (*chunk < 0 || *chunk >= std::ssize(pieces)) {
        return usage_error(fmt::format("--chunk: rank {} uses {}, from 0 on", task.rank,
                                       count_of(std::ssize(pieces), "chunk")));
    }
    std::int64_t begin = 0;
    for (std::int64_t k = 0; k < *chunk; ++k) begin += pieces[static_cast<std::size_t>(k)].bytes;
    return copy_bytes(stream, begin, pieces[static_cast<std::size_t>(*chunk)].bytes, sink);
}

Status copy_value(const Container& container, const Container::Task& task, std::int64_t key,
                  const Sink& sink) {
    if (auto closed = check_closed(container, task); !closed) return closed;
    const Stream stream(container, task);
    bool found = false;
    auto copied = each_record(container, task, [&](const KeyRecord& record) -> Status {
        if (record.key != key) return {};
        found = true;
        return copy_bytes(stream, record.offset, record.bytes, sink);
    });
    if (copied && !found) {
        return usage_error(fmt::format("--key: rank {} has no key {}", task.rank, key));
    }
    return copied;
}

Status split_stream(const Container& container, const Container::Task& task,
                    const std::string& path, bool overwrite) {
    return split_off(path, overwrite,
                     [&](const Sink& sink) { return copy(container, task, {}, sink); });
}

Status split_keys(const Container& container, const Container::Task& task, const std::string& path,
                  bool overwrite) {
    if (auto closed = check_closed(container, task); !closed) return closed;
    const Stream stream(container, task);
    // A hole reads as records without bytes, which cost no memory here.
    std::map<std::int64_t, std::vector<KeyRecord>> records;
    auto whole = each_record(container, task, [&](const KeyRecord& record) -> Status {
        auto& of_key = records[record.key];
        if (record.bytes > 0) of_key.push_back(record);
        return {};
    });
    if (!whole) return whole;
    for (const auto& [key, of_key] : records) {
        auto done = split_off(
            fmt::format("{}.{}", path, key), overwrite, [&, &list = of_key](const Sink& sink) {
                Status copied;
                for (const auto& record : list) {
                    if (!copied) break;
                    copied = copy_bytes(stream, record.offset, record.bytes, sink);
                }
                return copied;
            });
        if (!done) return done;
    }
    return {};
}

}  // namespace effio::sion
