// SPDX-License-Identifier: BSD-3-Clause
#include "storage/removal.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <charconv>
#include <memory>
#include <optional>

namespace effio {
namespace {

struct CloseDirectory {
    void operator()(DIR* directory) const { ::closedir(directory); }
};
using Directory = std::unique_ptr<DIR, CloseDirectory>;

std::string entry_of(const std::string& path, std::string_view name) {
    return fmt::format("{}{}{}", path, path.ends_with('/') ? "" : "/", name);
}

/// The digits that `text` begins with, as a number; nothing if there are none or too many.
std::optional<std::int64_t> leading_number(std::string_view& text) {
    const auto end = std::find_if_not(text.begin(), text.end(),
                                      [](unsigned char c) { return std::isdigit(c) != 0; });
    std::int64_t number = 0;
    const auto digits = text.substr(0, static_cast<std::size_t>(end - text.begin()));
    const auto [read, error] =
        std::from_chars(digits.data(), digits.data() + digits.size(), number);
    if (error != std::errc() || read != digits.data() + digits.size()) return {};
    text.remove_prefix(digits.size());
    return number;
}

/// When a file or directory was created.
struct Birth {
    std::int64_t seconds = 0;
    std::uint32_t nanoseconds = 0;
    friend auto operator<=>(const Birth&, const Birth&) = default;
};

/// Nothing if the file system does not record it. An empty name means the directory itself.
std::optional<Birth> birth_of(const Descriptor& directory, const std::string& name) {
    struct statx info{};
    const int flags = AT_SYMLINK_NOFOLLOW | (name.empty() ? AT_EMPTY_PATH : 0);
    if (::statx(directory.get(), name.c_str(), flags, STATX_BTIME, &info) != 0 ||
        (info.stx_mask & STATX_BTIME) == 0) {
        return {};
    }
    return Birth{info.stx_btime.tv_sec, info.stx_btime.tv_nsec};
}

/// Walks a tree of accounted directories; with `removes` it takes away what it may.
class TreeWalk {
  public:
    TreeWalk(std::span<const NameSet> names, dev_t device, std::optional<Birth> birth, bool removes)
        : names_(names), device_(device), birth_(birth), removes_(removes) {}

    /// What stays in this directory.
    Result<Left> through(const Descriptor& fd, const std::string& path, std::string_view spare) {
        // On a second descriptor, because closing the list closes the one it was made from.
        const Directory list(::fdopendir(::fcntl(fd.get(), F_DUPFD_CLOEXEC, 0)));
        if (!list) return system_error("opendir", path, errno);
        Left left;
        // File systems may skip entries of a directory that changes: repeat until nothing is left
        // to remove.
        for (bool removed = true; removed;) {
            removed = false;
            left = {};
            ::rewinddir(list.get());
            errno = 0;
            while (const dirent* entry = ::readdir(list.get())) {
                const std::string name = static_cast<const char*>(entry->d_name);
                if (name == "." || name == ".." || name == spare) continue;
                auto gone = one(fd, path, name, left);
                if (!gone) return gone.error();
                removed = removed || *gone;
                errno = 0;
            }
            if (errno != 0) return system_error("readdir", path, errno);
        }
        return left;
    }

  private:
    bool accounted(NameSet::Kind kind, std::string_view name) const {
        return std::any_of(names_.begin(), names_.end(),
                           [&](const NameSet& set) { return set.kind == kind && set.holds(name); });
    }

    /// Whether the entry was removed. What stays of it is added to `left`.
    Result<bool> one(const Descriptor& parent, const std::string& path, const std::string& name,
                     Left& left) {
        struct stat info{};
        if (::fstatat(parent.get(), name.c_str(), &info, AT_SYMLINK_NOFOLLOW) != 0) {
            if (errno == ENOENT) return false;
            return system_error("stat", entry_of(path, name), errno);
        }
        if (S_ISDIR(info.st_mode) && accounted(NameSet::Kind::directory, name) &&
            info.st_dev == device_ && !is_older(parent, name)) {
            return directory(parent, path, name, left);
        }
        const bool ours = (S_ISREG(info.st_mode) && accounted(NameSet::Kind::file, name)) ||
                          (S_ISLNK(info.st_mode) && accounted(NameSet::Kind::link, name));
        if (!ours) {
            left.add(entry_of(path, name));
            return false;
        }
        if (!removes_) return false;
        if (::unlinkat(parent.get(), name.c_str(), 0) != 0 && errno != ENOENT) {
            return system_error("unlink", entry_of(path, name), errno);
        }
        return true;
    }

    /// A directory that was created before the tree was moved into it.
    bool is_older(const Descriptor& parent, const std::string& name) const {
        const auto birth = birth_ ? birth_of(parent, name) : std::nullopt;
        return birth && *birth < *birth_;
    }

    Result<bool> directory(const Descriptor& parent, const std::string& path,
                           const std::string& name, Left& left) {
        const auto gone = [&] {
            return removes_ &&
                   (::unlinkat(parent.get(), name.c_str(), AT_REMOVEDIR) == 0 || errno == ENOENT);
        };
        if (gone()) return true;  // most directories of a tree are empty by now
        const std::string here = entry_of(path, name);
        if (removes_ && errno != ENOTEMPTY && errno != EEXIST) {
            return system_error("rmdir", here, errno);
        }
        const auto child = Descriptor::open_at(parent.get(), name,
                                               O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        if (!child) return system_error("open", here, errno);
        auto inside = through(child, here, {});
        if (!inside) return inside.error();
        if (inside->nothing()) {
            if (!removes_ || gone()) return removes_;
            return system_error("rmdir", here, errno);
        }
        for (auto& one : inside->paths) left.add(std::move(one));
        left.count += inside->count - std::ssize(inside->paths);
        return false;
    }

    std::span<const NameSet> names_;
    dev_t device_;
    std::optional<Birth> birth_;  ///< of the tree
    bool removes_;
};

Result<Left> walk_tree(const Descriptor& directory, const std::string& path,
                       std::span<const NameSet> names, std::string_view spare, bool removes) {
    struct stat info{};
    if (::fstat(directory.get(), &info) != 0) return system_error("stat", path, errno);
    return TreeWalk(names, info.st_dev, birth_of(directory, {}), removes)
        .through(directory, path, spare);
}

}  // namespace

bool NameSet::holds(std::string_view name) const {
    std::string_view form = pattern;
    for (const auto count : counts) {
        const auto at = form.find("%d");
        if (at == std::string_view::npos || !name.starts_with(form.substr(0, at))) return false;
        name.remove_prefix(at);
        form.remove_prefix(at + 2);
        const auto number = leading_number(name);
        if (!number || *number >= count) return false;
    }
    return name == form;
}

Json NameSet::to_json() const {
    const char* word = kind == Kind::file ? "file" : kind == Kind::link ? "link" : "directory";
    return Json{{"kind", word}, {"name", pattern}, {"counts", counts}};
}

Status remove_file(const std::string& path) {
    const std::string parent = parent_of(path);
    const std::string name = path.substr(path.rfind('/') + 1);  // npos + 1 is 0
    const auto directory = Descriptor::open(parent, O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (!directory) {
        if (errno == ENOENT) return {};
        return system_error("open", parent, errno);
    }
    struct stat info{};
    if (::fstatat(directory.get(), name.c_str(), &info, AT_SYMLINK_NOFOLLOW) != 0) {
        if (errno == ENOENT) return {};
        return system_error("stat", path, errno);
    }
    if (!S_ISREG(info.st_mode)) {
        return io_error("remove", path,
                        fmt::format("is {}, not a regular file: it stays", kind_of(info.st_mode)));
    }
    if (::unlinkat(directory.get(), name.c_str(), 0) != 0 && errno != ENOENT) {
        return system_error("unlink", path, errno);
    }
    return {};
}

void Left::add(std::string path) {
    ++count;
    if (paths.size() < most_paths) paths.push_back(std::move(path));
}

std::string Left::text() const {
    std::string text = fmt::format("{}", fmt::join(paths, ", "));
    const std::int64_t more = count - std::ssize(paths);
    if (more > 0) text += fmt::format(" and {} more", more);
    return text;
}

Error Left::error(const std::string& tree) const {
    Error error =
        io_error("remove", tree,
                 fmt::format("it holds what this run did not make, which stays: {}", text()));
    error.system_code = ENOTEMPTY;
    return error;
}

Result<Left> empty_directory(const Descriptor& directory, const std::string& path,
                             std::span<const NameSet> names, std::string_view spare) {
    return walk_tree(directory, path, names, spare, true);
}

Result<Left> unaccounted_in(const Descriptor& directory, const std::string& path,
                            std::span<const NameSet> names, std::string_view spare) {
    return walk_tree(directory, path, names, spare, false);
}

}  // namespace effio
