// SPDX-License-Identifier: BSD-3-Clause
#include "parallel/text_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>

namespace effio {
namespace {

/// Mode of new text files, before the umask.
constexpr mode_t text_mode = 0666;
constexpr int adding = O_RDWR | O_APPEND | O_CLOEXEC | O_NOFOLLOW;

Error refused(const std::string& operation, const std::string& path, const std::string& cause) {
    return io_error(operation, path, cause);
}

Error refused_kind(const std::string& operation, const std::string& path, mode_t mode) {
    return refused(
        operation, path,
        fmt::format("it is {}: not written to; remove it, or use another name", kind_of(mode)));
}

/// A new file in the directory of the file that it will replace; `name` is its temporary name.
Descriptor made_new(int directory, std::string& name) {
    static std::atomic<unsigned> count{0};
    constexpr int most_names = 1000;
    for (int attempt = 0; attempt < most_names; ++attempt) {
        name = fmt::format(".effio-{}-{}", ::getpid(), count.fetch_add(1));
        auto file = Descriptor::open_at(directory, name, adding | O_CREAT | O_EXCL, text_mode);
        if (file || errno != EEXIST) return file;
    }
    return {};
}

/// Returns an error unless the open file is a regular file with one name.
Status known(const Descriptor& file, const std::string& operation, const std::string& path) {
    struct stat info{};
    if (::fstat(file.get(), &info) != 0) return system_error(operation, path, errno);
    if (!S_ISREG(info.st_mode)) return refused_kind(operation, path, info.st_mode);
    if (info.st_nlink > 1) {
        return refused(operation, path,
                       "the file has a second name (hard link): it is not changed");
    }
    return {};
}

}  // namespace

const char* kind_of(mode_t mode) {
    if (S_ISREG(mode)) return "a regular file";
    if (S_ISDIR(mode)) return "a directory";
    if (S_ISLNK(mode)) return "a symbolic link";
    if (S_ISFIFO(mode)) return "a FIFO";
    if (S_ISCHR(mode)) return "a character device";
    return S_ISBLK(mode) ? "a block device" : "a socket";
}

std::string parent_of(const std::string& path) {
    const auto slash = path.rfind('/');
    if (slash == std::string::npos) return ".";
    return slash == 0 ? "/" : path.substr(0, slash);
}

bool write_all(int descriptor, std::string_view text) {
    while (!text.empty()) {
        const ssize_t n = ::write(descriptor, text.data(), text.size());
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) return false;
        text.remove_prefix(static_cast<std::size_t>(n));
    }
    return true;
}

Result<TextFile> TextFile::create(const std::string& operation, const std::string& path) {
    auto file = Descriptor::open(path, adding | O_CREAT | O_EXCL, text_mode);
    if (!file) return system_error(operation, path, errno);
    return TextFile(std::move(file), operation, path);
}

Result<TextFile> TextFile::replace(const std::string& operation, const std::string& path) {
    const std::string parent = parent_of(path);
    const std::string name = path.substr(path.rfind('/') + 1);  // npos + 1 is 0
    const auto directory = Descriptor::open(parent, O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (!directory) return system_error(operation, path, errno);
    const int in = directory.get();
    auto file = Descriptor::open_at(in, name, adding | O_CREAT | O_EXCL, text_mode);
    if (file) return TextFile(std::move(file), operation, path);
    if (errno != EEXIST) return system_error(operation, path, errno);
    struct stat old{};
    if (::fstatat(in, name.c_str(), &old, AT_SYMLINK_NOFOLLOW) != 0) {
        return system_error(operation, path, errno);
    }
    if (S_ISCHR(old.st_mode) && parent == "/dev") {
        file = Descriptor::open_at(in, name, O_WRONLY | O_NOFOLLOW | O_CLOEXEC);
        if (!file) return system_error(operation, path, errno);
        return TextFile(std::move(file), operation, path);
    }
    if (!S_ISREG(old.st_mode)) return refused_kind(operation, path, old.st_mode);
    std::string temporary;
    file = made_new(in, temporary);
    if (!file) return system_error(operation, path, errno);
    constexpr mode_t permissions = 0777;
    if (::fchmod(file.get(), old.st_mode & permissions) == 0 &&
        ::renameat(in, temporary.c_str(), in, name.c_str()) == 0) {
        return TextFile(std::move(file), operation, path);
    }
    const int code = errno;
    ::unlinkat(in, temporary.c_str(), 0);
    return system_error(operation, path, code);
}

Result<TextFile> TextFile::extend(const std::string& operation, const std::string& path) {
    auto file = Descriptor::open(path, adding | O_NONBLOCK);
    if (!file) return system_error(operation, path, errno);
    if (auto fine = known(file, operation, path); !fine) return std::move(fine.error());
    return TextFile(std::move(file), operation, path);
}

Result<TextFile> TextFile::share(const std::string& operation, const std::string& path) {
    constexpr int flags = O_RDWR | O_CREAT | O_NONBLOCK | O_NOFOLLOW | O_CLOEXEC;
    auto file = Descriptor::open(path, flags, text_mode);
    if (!file) return system_error(operation, path, errno);
    if (auto fine = known(file, operation, path); !fine) return std::move(fine.error());
    return TextFile(std::move(file), operation, path);
}

Status TextFile::write(std::string_view text) {
    if (!write_all(file_.get(), text)) return system_error(operation_, path_, errno);
    return {};
}

Status TextFile::close() {
    if (const int code = file_.close(); code != 0) return system_error(operation_, path_, code);
    return {};
}

Status write_text(const std::string& operation, const std::string& path, std::string_view text) {
    auto file = TextFile::replace(operation, path);
    if (!file) return std::move(file.error());
    if (auto written = file->write(text); !written) return written;
    return file->close();
}

}  // namespace effio
