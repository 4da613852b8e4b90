// SPDX-License-Identifier: BSD-3-Clause
#include "storage/own_tree.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <memory>
#include <string_view>

#include "storage/posix_calls.hpp"

namespace effio {
namespace {

constexpr int open_directory = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;

struct CloseDirectory {
    void operator()(DIR* directory) const { ::closedir(directory); }
};
using Directory = std::unique_ptr<DIR, CloseDirectory>;

std::string below(const std::string& path, const char* name) {
    return path + "/" + name;
}

/// Removes what is in a directory, entries named `spare` excepted. `path` is for errors only: all
/// work is done through descriptors, so nobody can lead it elsewhere by exchanging a directory.
class Emptier {
  public:
    explicit Emptier(dev_t device) : device_(device) {}

    Status empty(const Descriptor& fd, const std::string& path, std::string_view spare) {
        // On a second descriptor, because closing the list closes the one it was made from.
        const Directory list(::fdopendir(::fcntl(fd.get(), F_DUPFD_CLOEXEC, 0)));
        if (!list) return system_error("opendir", path, errno);
        // File systems may skip entries of a directory that changes: repeat until nothing is left.
        for (bool removed = true; removed;) {
            removed = false;
            ::rewinddir(list.get());
            errno = 0;
            while (const dirent* entry = ::readdir(list.get())) {
                const std::string_view name = entry->d_name;
                if (name == "." || name == ".." || name == spare) continue;
                if (auto done = remove(fd.get(), path, *entry); !done) return done;
                removed = true;
                errno = 0;
            }
            if (errno != 0) return system_error("readdir", path, errno);
        }
        return {};
    }

  private:
    Status remove(int parent, const std::string& path, const dirent& entry) {
        const char* name = static_cast<const char*>(entry.d_name);
        if (entry.d_type != DT_DIR) {
            if (::unlinkat(parent, name, 0) == 0 || errno == ENOENT) return {};
            if (errno != EISDIR && (errno != EPERM || entry.d_type != DT_UNKNOWN)) {
                return system_error("unlink", below(path, name), errno);
            }
        }
        // Most directories of a tree are empty by now.
        if (::unlinkat(parent, name, AT_REMOVEDIR) == 0 || errno == ENOENT) return {};
        if (errno != ENOTEMPTY && errno != EEXIST) {
            return system_error("rmdir", below(path, name), errno);
        }
        const Descriptor child(::openat(parent, name, open_directory));
        if (!child) return system_error("open", below(path, name), errno);
        struct stat info{};
        if (::fstat(child.get(), &info) != 0) {
            return system_error("stat", below(path, name), errno);
        }
        if (info.st_dev != device_) {
            return io_error("remove", below(path, name), "another file system is mounted there");
        }
        if (auto done = empty(child, below(path, name), {}); !done) return done;
        if (::unlinkat(parent, name, AT_REMOVEDIR) == 0 || errno == ENOENT) return {};
        return system_error("rmdir", below(path, name), errno);
    }

    dev_t device_;
};

Result<std::string> owner_in(int directory, const std::string& path) {
    const Descriptor fd(::openat(directory, owner_file, O_RDONLY | O_NOFOLLOW | O_CLOEXEC));
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

}  // namespace

Status make_own_tree(const std::string& path, const std::string& token) {
    if (::mkdir(path.c_str(), 0777) != 0) return system_error("mkdir", path, errno);
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
    const Descriptor fd(::open(path.c_str(), open_directory));
    if (!fd) return system_error("open", path, errno);
    return owner_in(fd.get(), path);
}

Status remove_own_tree(const std::string& path, const std::string& token) {
    const Descriptor fd(::open(path.c_str(), open_directory));
    if (!fd) {
        if (errno == ENOENT) return {};
        return system_error("open", path, errno);
    }
    const auto owner = owner_in(fd.get(), path);
    if (!owner) return owner.error();
    if (*owner != token) {
        return io_error("remove", path, fmt::format("another run made it ({})", *owner));
    }
    struct stat info{};
    if (::fstat(fd.get(), &info) != 0) return system_error("stat", path, errno);
    if (auto done = Emptier(info.st_dev).empty(fd, path, owner_file); !done) return done;
    if (::unlinkat(fd.get(), owner_file, 0) != 0 && errno != ENOENT) {
        return system_error("unlink", below(path, owner_file), errno);
    }
    if (::rmdir(path.c_str()) != 0 && errno != ENOENT) return system_error("rmdir", path, errno);
    return {};
}

}  // namespace effio
