// SPDX-License-Identifier: BSD-3-Clause
#include "storage/own_tree.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <string_view>

#include "parallel/gluster_client.hpp"
#include "storage/posix_calls.hpp"

namespace effio {
namespace {

constexpr int open_directory = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;

std::string below(const std::string& path, const char* name) {
    return path + "/" + name;
}

Result<std::string> owner_in(int directory, const std::string& path) {
    const auto fd = Descriptor::open_at(directory, owner_file, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
    if (!fd) {
        return io_error("look for the owner of", path,
                        fmt::format("it holds no {}, so no run of effio made it", owner_file));
    }
    std::array<char, 128> text{};
    const ssize_t n = ::read(fd.get(), text.data(), text.size());
    if (n < 0) return system_error("read", below(path, owner_file), errno);
    const std::string_view line(text.data(), static_cast<std::size_t>(n));
    return std::string(line.substr(0, line.find('\n')));
}

Status remove_mark(const Descriptor& tree, const std::string& path) {
    struct stat info{};
    if (::fstatat(tree.get(), owner_file, &info, AT_SYMLINK_NOFOLLOW) != 0 ||
        !S_ISREG(info.st_mode)) {
        return {};
    }
    if (::unlinkat(tree.get(), owner_file, 0) == 0 || errno == ENOENT) return {};
    return system_error("unlink", below(path, owner_file), errno);
}

/// The names, then the mark, then the tree itself.
Status finish(const Descriptor& tree, const std::string& path, std::span<const NameSet> names) {
    const auto left = empty_directory(tree, path, names, owner_file);
    if (!left) return left.error();
    if (!left->nothing()) return left->error(path);
    if (hides_files(path)) {
        return io_error("remove", path, "a server is away, and its files only look removed");
    }
    if (auto removed = remove_mark(tree, path); !removed) return removed;
    if (::rmdir(path.c_str()) != 0 && errno != ENOENT) return system_error("rmdir", path, errno);
    return {};
}

}  // namespace

Status make_own_tree(const std::string& path, const std::string& token) {
    if (::mkdir(path.c_str(), new_directory_mode) != 0) return system_error("mkdir", path, errno);
    const std::string marker = below(path, owner_file);
    const auto give_up = [&](Error error) -> Status {
        ::unlink(marker.c_str());
        ::rmdir(path.c_str());
        return error;
    };
    auto fd = open_file(marker, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW);
    if (!fd) return give_up(std::move(fd.error()));
    const std::string line = token + "\n";
    const auto wrote = pwrite_all(fd->get(), marker, std::as_bytes(std::span(line)), 0);
    if (!wrote) return give_up(wrote.error());
    if (const int code = fd->close(); code != 0) {
        return give_up(system_error("close", marker, code));
    }
    return {};
}

Result<std::string> owner_of_tree(const std::string& path) {
    const auto fd = Descriptor::open(path, open_directory);
    if (!fd) return system_error("open", path, errno);
    return owner_in(fd.get(), path);
}

Status remove_own_tree(const std::string& path, const std::string& token,
                       std::span<const NameSet> names) {
    const auto fd = Descriptor::open(path, open_directory);
    if (!fd) {
        if (errno == ENOENT) return {};
        return system_error("open", path, errno);
    }
    const auto owner = owner_in(fd.get(), path);
    if (!owner) return owner.error();
    if (*owner != token) {
        return io_error("remove", path, fmt::format("another run made it ({})", *owner));
    }
    return finish(fd, path, names);
}

Status remove_adopted_tree(const std::string& path, std::span<const NameSet> names) {
    const auto fd = Descriptor::open(path, open_directory);
    if (fd) return finish(fd, path, names);
    if (errno == ENOENT) return {};
    return system_error("open", path, errno);
}

Result<Left> unaccounted_in_tree(const std::string& path, std::span<const NameSet> names) {
    const auto fd = Descriptor::open(path, open_directory);
    if (!fd) return system_error("open", path, errno);
    return unaccounted_in(fd, path, names, owner_file);
}

Status hand_over_tree(const std::string& path, const std::string& token) {
    const auto fd = Descriptor::open(path, open_directory);
    if (!fd) {
        if (errno == ENOENT) return {};
        return system_error("open", path, errno);
    }
    const auto owner = owner_in(fd.get(), path);
    if (!owner || *owner != token) return {};
    return remove_mark(fd, path);
}

}  // namespace effio
