// SPDX-License-Identifier: BSD-3-Clause
// System calls with RAII and errors as values; shared by the backends that are based on POSIX. What
// benchmarks call in their loops is here, for the reason that byte_file.hpp gives.
#pragma once

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>
#include <utility>

#include "core/error.hpp"
#include "parallel/descriptor.hpp"
#include "parallel/text_file.hpp"

namespace effio {

/// Modes of what benchmarks make, before the umask: only owner and group may write, as with the
/// originals.
inline constexpr unsigned new_file_mode = 0664;
inline constexpr unsigned new_directory_mode = 0775;

/// Opens a file of a benchmark; all of them are opened here. A file that is opened for writing is
/// never reached through a symbolic link and has no second name. So nothing of another user is
/// changed, whatever is put in its place during a run.
Result<Descriptor> open_file(const std::string& path, int flags, unsigned mode = new_file_mode);

/// The rest of a transfer of which the first call moved `moved` bytes, or failed (-1, errno).
Result<std::int64_t> pwrite_rest(int fd, const std::string& path, std::span<const std::byte> data,
                                 std::int64_t offset, ssize_t moved);
Result<std::int64_t> pread_rest(int fd, const std::string& path, std::span<std::byte> data,
                                std::int64_t offset, ssize_t moved);

/// Moves everything, repeating after short transfers and interruptions; fewer bytes only at the end
/// of the file (reading). Errors carry path and offset. Nearly always the first call is the only
/// one.
inline Result<std::int64_t> pwrite_all(int fd, const std::string& path,
                                       std::span<const std::byte> data, std::int64_t offset) {
    if (data.empty()) [[unlikely]]
        return 0;
    const ssize_t moved = ::pwrite(fd, data.data(), data.size(), offset);
    if (moved == static_cast<ssize_t>(data.size())) [[likely]]
        return moved;
    return pwrite_rest(fd, path, data, offset, moved);
}
inline Result<std::int64_t> pread_all(int fd, const std::string& path, std::span<std::byte> data,
                                      std::int64_t offset) {
    if (data.empty()) [[unlikely]]
        return 0;
    const ssize_t moved = ::pread(fd, data.data(), data.size(), offset);
    if (moved == static_cast<ssize_t>(data.size())) [[likely]]
        return moved;
    return pread_rest(fd, path, data, offset, moved);
}

/// Writes at most eight pieces of memory to consecutive places, in one call where the system takes
/// all.
Result<std::int64_t> pwritev_all(int fd, const std::string& path,
                                 std::initializer_list<std::span<const std::byte>> pieces,
                                 std::int64_t offset);

/// Any number of pieces, by as few calls (pwritev or preadv) as the system allows.
Result<std::int64_t> move_pieces_all(bool write, int fd, const std::string& path,
                                     std::span<const std::span<std::byte>> pieces,
                                     std::int64_t offset);

/// Returns when all that was written is on storage; `path` is for the error.
Status sync_file(int fd, const std::string& path);

/// Bytes of the open file; `path` is for the error.
Result<std::int64_t> size_of(int fd, const std::string& path);
Result<std::int64_t> size_of(const std::string& path);

Status make_directories(const std::string& path);

/// A file that a user wrote, 1 MiB at most; `operation` is what a failure, a usage error, says was
/// tried.
Result<std::string> read_text(const std::string& operation, const std::string& path);

}  // namespace effio
