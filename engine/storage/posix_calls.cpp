// SPDX-License-Identifier: BSD-3-Clause
#include "storage/posix_calls.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <fstream>
#include <utility>
#include <vector>

namespace effio {
namespace {

template <class Call, class Span>
Result<std::int64_t> move_rest(const char* name, Call call, int fd, const std::string& path,
                               Span data, std::int64_t offset, ssize_t moved) {
    std::int64_t done = 0;
    while (true) {
        if (moved < 0 && errno != EINTR) return system_error(name, path, errno, offset + done);
        if (moved == 0) return done;
        if (moved > 0) done += moved;
        const auto rest = data.subspan(static_cast<std::size_t>(done));
        if (rest.empty()) return done;
        moved = call(fd, rest.data(), rest.size(), offset + done);
    }
}

}  // namespace

Result<Descriptor> open_file(const std::string& path, int flags, unsigned mode) {
    if ((flags & O_ACCMODE) == O_RDONLY) {
        Descriptor file(
            uninterrupted([&] { return ::open(path.c_str(), flags | O_CLOEXEC, mode); }));
        if (!file) return system_error("open", path, errno);
        return file;
    }
    const bool truncates = (flags & O_TRUNC) != 0;
    // Emptied when it is known to be ours.
    const int safely = (flags & ~O_TRUNC) | O_NOFOLLOW | O_CLOEXEC;
    Descriptor file(uninterrupted([&] { return ::open(path.c_str(), safely, mode); }));
    if (!file) {
        const int code = errno;
        Error error = system_error("open", path, code);
        if (code == ELOOP) error.cause = "it is a symbolic link, which is not followed";
        return error;
    }
    if ((flags & O_EXCL) != 0) return file;
    // The client knows type and link count without asking servers, unlike the size.
    struct statx info{};
    if (::statx(file.get(), "", AT_EMPTY_PATH | AT_STATX_DONT_SYNC, STATX_TYPE | STATX_NLINK,
                &info) != 0) {
        return system_error("stat", path, errno);
    }
    if (S_ISREG(info.stx_mode) && info.stx_nlink > 1) {
        return io_error("open", path, "the file has a second name (hard link): it is not changed");
    }
    if (!truncates) return file;
    const auto size = size_of(file.get(), path);
    if (!size) return Error(size.error());
    const auto empty = [&] { return ::ftruncate(file.get(), 0); };
    if (*size > 0 && uninterrupted(empty) != 0) return system_error("truncate", path, errno);
    return file;
}

Result<std::int64_t> pwrite_rest(int fd, const std::string& path, std::span<const std::byte> data,
                                 std::int64_t offset, ssize_t moved) {
    return move_rest("pwrite", ::pwrite, fd, path, data, offset, moved);
}

Result<std::int64_t> pread_rest(int fd, const std::string& path, std::span<std::byte> data,
                                std::int64_t offset, ssize_t moved) {
    return move_rest("pread", ::pread, fd, path, data, offset, moved);
}

Result<std::int64_t> pwritev_all(int fd, const std::string& path,
                                 std::initializer_list<std::span<const std::byte>> pieces,
                                 std::int64_t offset) {
    std::array<iovec, 8> vectors{};
    int count = 0;
    for (const auto piece : pieces) {
        // The system call takes memory that it only reads as if it could write it.
        vectors.at(static_cast<std::size_t>(count++)) = {const_cast<std::byte*>(piece.data()),
                                                         piece.size()};
    }
    ssize_t n = 0;
    do {
        n = ::pwritev(fd, vectors.data(), count, offset);
    } while (n < 0 && errno == EINTR);
    if (n < 0) return system_error("pwritev", path, errno, offset);
    // What a short call left behind goes piece by piece.
    std::int64_t moved = 0;
    for (const auto piece : pieces) {
        const auto size = static_cast<std::int64_t>(piece.size());
        const std::int64_t done = std::clamp<std::int64_t>(n - moved, 0, size);
        auto rest = pwrite_all(fd, path, piece.subspan(static_cast<std::size_t>(done)),
                               offset + moved + done);
        if (!rest) return rest;
        moved += size;
    }
    return moved;
}

Result<std::int64_t> move_pieces_all(bool write, int fd, const std::string& path,
                                     std::span<const std::span<std::byte>> pieces,
                                     std::int64_t offset) {
    constexpr std::size_t most = 1024;  // IOV_MAX of Linux
    std::vector<iovec> vectors;
    vectors.reserve(std::min(pieces.size(), most));
    std::int64_t moved = 0;
    while (!pieces.empty()) {
        const auto some = pieces.first(std::min(pieces.size(), most));
        vectors.clear();
        for (const auto piece : some) vectors.push_back({piece.data(), piece.size()});
        const auto count = static_cast<int>(vectors.size());
        ssize_t n = 0;
        do {
            n = write ? ::pwritev(fd, vectors.data(), count, offset + moved)
                      : ::preadv(fd, vectors.data(), count, offset + moved);
        } while (n < 0 && errno == EINTR);
        if (n < 0) return system_error(write ? "pwritev" : "preadv", path, errno, offset + moved);
        // What a short call left behind goes piece by piece.
        for (const auto piece : some) {
            const std::int64_t size = std::ssize(piece);
            const std::int64_t done = std::min<std::int64_t>(n, size);
            n -= done;
            moved += done;
            if (done == size) continue;
            const auto rest = piece.subspan(static_cast<std::size_t>(done));
            auto more = write ? pwrite_all(fd, path, rest, offset + moved)
                              : pread_all(fd, path, rest, offset + moved);
            if (!more) return more;
            moved += *more;
            if (*more < std::ssize(rest)) return moved;
        }
        pieces = pieces.subspan(some.size());
    }
    return moved;
}

Status sync_file(int fd, const std::string& path) {
    if (uninterrupted([fd] { return ::fsync(fd); }) != 0) {
        return system_error("fsync", path, errno);
    }
    return {};
}

Result<std::int64_t> size_of(int fd, const std::string& path) {
    struct stat info{};
    if (fstat(fd, &info) != 0) return system_error("fstat", path, errno);
    return static_cast<std::int64_t>(info.st_size);
}

Result<std::int64_t> size_of(const std::string& path) {
    struct stat info{};
    if (stat(path.c_str(), &info) != 0) return system_error("stat", path, errno);
    return static_cast<std::int64_t>(info.st_size);
}

Status make_directories(const std::string& path) {
    if (::mkdir(path.c_str(), new_directory_mode) == 0 || errno == EEXIST) return {};
    if (errno != ENOENT) return system_error("mkdir", path, errno);
    if (auto above = make_directories(parent_of(path)); !above) return above;
    if (::mkdir(path.c_str(), new_directory_mode) == 0 || errno == EEXIST) return {};
    return system_error("mkdir", path, errno);
}

Result<std::string> read_text(const std::string& operation, const std::string& path) {
    constexpr std::size_t most = std::size_t{1} << 20;
    errno = 0;
    std::ifstream file(path);
    std::string text;
    std::array<char, 4096> block{};
    do {
        file.read(block.data(), block.size());
        text.append(block.data(), static_cast<std::size_t>(file.gcount()));
    } while (file && text.size() <= most);
    Error error = io_error(operation, path, "more than 1 MiB of text");
    if (text.size() <= most) {
        // A read that stops before the end: no such file, or a directory.
        if (file.eof()) return text;
        error = system_error(operation, path, errno == 0 ? EIO : errno);
    }
    error.exit_code = ExitCode::usage;
    return error;
}

}  // namespace effio
