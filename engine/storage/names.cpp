// SPDX-License-Identifier: BSD-3-Clause
// Names through POSIX system calls.
#include "storage/names.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "core/buffer.hpp"
#include "core/units.hpp"
#include "storage/posix_calls.hpp"

namespace effio {
namespace {

Status outcome(int code, const char* operation, const std::string& path) {
    if (code == 0) [[likely]] {
        return {};
    }
    return system_error(operation, path, errno);
}

Status closed(Descriptor& fd, const std::string& path) {
    if (const int code = fd.close(); code != 0) return system_error("close", path, code);
    return {};
}

class PosixNames : public Names {
  public:
    explicit PosixNames(bool direct) : direct_(direct ? O_DIRECT : 0) {}

    std::string_view name() const override { return direct_ != 0 ? "direct" : "posix"; }

    Status create(const std::string& path) override {
        auto fd = open_file(path, O_WRONLY | O_CREAT | O_EXCL | direct_);
        if (!fd) return std::move(fd.error());
        return closed(*fd, path);
    }
    Status make_node(const std::string& path) override {
        return outcome(::mknod(path.c_str(), S_IFREG | new_file_mode, 0), "mknod", path);
    }
    Status create_with(const std::string& path, std::span<const std::byte> data,
                       bool sync) override {
        return written(open_file(path, O_WRONLY | O_CREAT | O_EXCL | direct_), path, data, sync);
    }
    Status write(const std::string& path, std::span<const std::byte> data, bool sync) override {
        return written(open_file(path, O_WRONLY | O_CREAT | direct_), path, data, sync);
    }
    Status read(const std::string& path, std::span<std::byte> data) override {
        auto fd = open_file(path, O_RDONLY | direct_);
        if (!fd) return std::move(fd.error());
        if (!data.empty()) {
            auto moved = pread_all(fd->get(), path, data, 0);
            if (!moved) return explained(std::move(moved.error()));
            if (*moved != static_cast<std::int64_t>(data.size())) {
                return io_error("pread", path,
                                fmt::format("the file holds {} of {}", exact_size(*moved),
                                            exact_size(static_cast<std::int64_t>(data.size()))));
            }
        }
        return closed(*fd, path);
    }
    Result<Attributes> stat(const std::string& path) override {
        struct stat info{};
        if (::lstat(path.c_str(), &info) != 0) return system_error("stat", path, errno);
        Attributes a;
        if (S_ISREG(info.st_mode)) a.kind = Attributes::Kind::file;
        if (S_ISDIR(info.st_mode)) a.kind = Attributes::Kind::directory;
        if (S_ISLNK(info.st_mode)) a.kind = Attributes::Kind::link;
        a.bytes = info.st_size;
        a.links = static_cast<std::int64_t>(info.st_nlink);
        a.mode = info.st_mode & 07777;
        return a;
    }
    Status unlink(const std::string& path) override {
        return outcome(::unlink(path.c_str()), "unlink", path);
    }
    Status make_directory(const std::string& path) override {
        return outcome(::mkdir(path.c_str(), new_directory_mode), "mkdir", path);
    }
    Status remove_directory(const std::string& path) override {
        return outcome(::rmdir(path.c_str()), "rmdir", path);
    }
    Status visit(const std::string& path,
                 const std::function<void(std::string_view)>& visit) override {
        DIR* directory = ::opendir(path.c_str());
        if (directory == nullptr) return system_error("opendir", path, errno);
        errno = 0;
        while (const dirent* entry = ::readdir(directory)) {
            const std::string_view name = entry->d_name;
            if (name != "." && name != "..") visit(name);
            errno = 0;
        }
        const int code = errno;
        ::closedir(directory);
        if (code != 0) return system_error("readdir", path, code);
        return {};
    }
    Status rename(const std::string& from, const std::string& to) override {
        return outcome(::rename(from.c_str(), to.c_str()), "rename", from);
    }
    Status hard_link(const std::string& existing, const std::string& path) override {
        return outcome(::link(existing.c_str(), path.c_str()), "link", path);
    }
    Status symbolic_link(const std::string& target, const std::string& path) override {
        return outcome(::symlink(target.c_str(), path.c_str()), "symlink", path);
    }
    Result<std::int64_t> read_link(const std::string& path, std::span<char> into) override {
        const ssize_t n = ::readlink(path.c_str(), into.data(), into.size());
        if (n < 0) return system_error("readlink", path, errno);
        return static_cast<std::int64_t>(n);
    }
    Status change_mode(const std::string& path, unsigned mode) override {
        return outcome(::chmod(path.c_str(), mode), "chmod", path);
    }
    Status truncate(const std::string& path, std::int64_t bytes) override {
        return outcome(::truncate(path.c_str(), bytes), "truncate", path);
    }
    Status set_attribute(const std::string& path, const std::string& key,
                         std::string_view value) override {
        return outcome(::setxattr(path.c_str(), key.c_str(), value.data(), value.size(), 0),
                       "setxattr", path);
    }
    Result<std::int64_t> get_attribute(const std::string& path, const std::string& key,
                                       std::span<char> into) override {
        const ssize_t n = ::getxattr(path.c_str(), key.c_str(), into.data(), into.size());
        if (n < 0) return system_error("getxattr", path, errno);
        return static_cast<std::int64_t>(n);
    }
    Status sync_all(const std::string& path) override {
        auto fd = open_file(path, O_RDONLY | O_DIRECTORY);
        if (!fd) return std::move(fd.error());
        if (::syncfs(fd->get()) != 0) return system_error("syncfs", path, errno);
        return {};
    }

  private:
    Status explained(Error error) const {
        if (direct_ != 0 && error.system_code == EINVAL) {
            error.cause += ": O_DIRECT takes multiples of the device's block only";
        }
        return error;
    }

    Status written(Result<Descriptor> fd, const std::string& path, std::span<const std::byte> data,
                   bool sync) const {
        if (!fd) return std::move(fd.error());
        if (!data.empty()) {
            // O_DIRECT wants aligned memory, too.
            Buffer aligned;
            if (direct_ != 0) {
                aligned = Buffer(data.size());
                std::ranges::copy(data, aligned.bytes().begin());
                data = aligned.bytes();
            }
            auto moved = pwrite_all(fd->get(), path, data, 0);
            if (!moved) return explained(std::move(moved.error()));
            if (*moved != static_cast<std::int64_t>(data.size())) {
                return io_error("pwrite", path,
                                fmt::format("wrote {} of {}", exact_size(*moved),
                                            exact_size(static_cast<std::int64_t>(data.size()))));
            }
        }
        if (sync) {
            if (auto synced = sync_file(fd->get(), path); !synced) return synced;
        }
        return closed(*fd, path);
    }

    int direct_;  ///< a flag of open
};

}  // namespace

Result<std::vector<std::string>> Names::list(const std::string& path) {
    std::vector<std::string> names;
    if (auto done = visit(path, [&](std::string_view name) { names.emplace_back(name); }); !done) {
        return std::move(done.error());
    }
    return names;
}

std::unique_ptr<Names> make_posix_names(bool direct) {
    return std::make_unique<PosixNames>(direct);
}

}  // namespace effio
