// SPDX-License-Identifier: BSD-3-Clause
#include "parallel/file_system.hpp"

#include <fmt/format.h>
#include <sys/quota.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/sysmacros.h>
#include <sys/vfs.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <sstream>
#include <vector>

namespace effio {
namespace {

/// A field of /proc/self/mountinfo as it was: blanks, tabs, newlines and backslashes are written
/// there as a backslash and three octal digits.
std::string unescaped(const std::string& field) {
    std::string out;
    for (std::size_t i = 0; i < field.size(); ++i) {
        if (field[i] == '\\' && i + 3 < field.size()) {
            out += static_cast<char>(std::stoi(field.substr(i + 1, 3), nullptr, 8));
            i += 3;
        } else {
            out += field[i];
        }
    }
    return out;
}

/// True if `directory` is `point` or is below it.
bool lies_below(const std::string& directory, const std::string& point) {
    return point == "/" || (directory.starts_with(point) &&
                            (directory.size() == point.size() || directory[point.size()] == '/'));
}

/// One line of /proc/self/mountinfo.
struct Mount {
    std::string device;  ///< "major:minor"
    std::string root;    ///< the folder of the file system that is mounted; "/" is all of it
    std::string point;
    std::string options;  ///< of the mount and of the superblock
    std::string type;
    std::string source;
};

Mount mount_of_line(const std::string& line) {
    // id parent major:minor root mount-point options [optional fields] - type source options
    std::istringstream words(line);
    Mount mount;
    std::string word;
    words >> word >> word >> mount.device >> mount.root >> mount.point >> mount.options;
    while (words >> word && word != "-") {
    }
    words >> mount.type >> mount.source >> word;
    mount.options += ";" + word;
    mount.point = unescaped(mount.point);
    mount.source = unescaped(mount.source);
    return mount;
}

/// Fills in what /proc/self/mountinfo knows of the mount that `directory` is on: the one with the
/// longest mount point above it, of several of those the last. One that names the directory's
/// device `dev` is preferred, but not all do (subvolumes of btrfs have device numbers of their
/// own).
void find_mount(FileSystem& fs, const std::string& directory, dev_t dev) {
    const std::string wanted = fmt::format("{}:{}", major(dev), minor(dev));
    std::ifstream mounts("/proc/self/mountinfo");
    std::pair<bool, std::size_t> best{false, 0};
    for (std::string line; std::getline(mounts, line);) {
        const Mount mount = mount_of_line(line);
        const std::pair<bool, std::size_t> fit{mount.device == wanted, mount.point.size()};
        if (!lies_below(directory, mount.point) || fit < best) continue;
        best = fit;
        fs.type = mount.type;
        fs.source = mount.source;
        fs.mount_point = mount.point;
        fs.options = mount.options;
    }
    mounts.clear();
    mounts.seekg(0);
    fs.whole_mount_point = find_whole_mount(mounts, fs.mount_point);
    if (access(fmt::format("/sys/dev/block/{}/stat", wanted).c_str(), R_OK) == 0) {
        fs.device = wanted;
    }
}

/// The type by the kernel's magic number (statfs(2)), where no mount is listed: below a chroot the
/// mount that holds its root is not.
std::string type_by_magic(const std::string& directory) {
    struct statfs info{};
    if (statfs(directory.c_str(), &info) != 0) return "unknown";
    switch (static_cast<std::uint32_t>(info.f_type)) {
        case 0x01021994:
            return "tmpfs";
        case 0x858458f6:
            return "ramfs";
        case 0x0000ef53:
            return "ext4";
        case 0x58465342:
            return "xfs";
        case 0x9123683e:
            return "btrfs";
        case 0x794c7630:
            return "overlay";
        case 0x00006969:
            return "nfs";
        case 0x0bd00bd0:
            return "lustre";
        case 0x47504653:
            return "gpfs";
        case 0x19830326:
            return "beegfs";
        case 0x00c36400:
            return "ceph";
        case 0x65735546:
            return "fuse";
        default:
            return "unknown";
    }
}

/// Lustre answers with its layout in a binary attribute (lustre_user.h, struct lov_user_md): magic,
/// pattern, object id and sequence (8+8), stripe size at byte 24, stripe count at byte 28.
Json lustre_striping(const std::string& directory) {
    std::array<char, 4096> value{};
    if (getxattr(directory.c_str(), "lustre.lov", value.data(), value.size()) < 32) return nullptr;
    std::uint32_t size = 0;
    std::uint16_t count = 0;
    std::memcpy(&size, value.data() + 24, sizeof size);
    std::memcpy(&count, value.data() + 28, sizeof count);
    return Json{{"count", count == 0xffff ? -1 : static_cast<int>(count)}, {"unit_bytes", size}};
}

std::optional<std::int64_t> quota_left(const FileSystem& fs) {
    if (!fs.device) return {};
    dqblk quota{};
    if (quotactl(QCMD(Q_GETQUOTA, USRQUOTA), fs.source.c_str(), static_cast<int>(getuid()),
                 reinterpret_cast<caddr_t>(&quota)) != 0) {
        return {};
    }
    const std::uint64_t limit =
        quota.dqb_bsoftlimit != 0 ? quota.dqb_bsoftlimit : quota.dqb_bhardlimit;
    if (limit == 0) return {};
    const auto left =
        static_cast<std::int64_t>(limit * 1024) - static_cast<std::int64_t>(quota.dqb_curspace);
    return std::max<std::int64_t>(left, 0);
}

}  // namespace

Result<FileSystem> find_file_system(const std::string& directory) {
    FileSystem fs;
    fs.path = directory;
    struct stat info{};
    if (stat(directory.c_str(), &info) != 0) return system_error("stat", directory, errno);
    struct statvfs space{};
    if (statvfs(directory.c_str(), &space) != 0) return system_error("statvfs", directory, errno);
    const auto block = static_cast<std::int64_t>(space.f_frsize);
    fs.block_bytes = static_cast<std::int64_t>(info.st_blksize);
    fs.total_bytes = static_cast<std::int64_t>(space.f_blocks) * block;
    fs.free_bytes = static_cast<std::int64_t>(space.f_bavail) * block;
    fs.used_bytes = static_cast<std::int64_t>(space.f_blocks - space.f_bfree) * block;
    // CephFS does not limit them: it reports the largest number as free.
    constexpr auto unlimited = ~fsfilcnt_t{0};
    if (space.f_favail != unlimited && space.f_ffree != unlimited) {
        fs.total_inodes = static_cast<std::int64_t>(space.f_files);
        fs.free_inodes = static_cast<std::int64_t>(space.f_favail);
        fs.used_inodes = static_cast<std::int64_t>(space.f_files - space.f_ffree);
    }
    std::array<char, PATH_MAX> real{};
    const char* canonical = realpath(directory.c_str(), real.data());
    find_mount(fs, canonical == nullptr ? directory : canonical, info.st_dev);
    if (fs.type.empty()) fs.type = type_by_magic(directory);
    fs.memory_backed = fs.type == "tmpfs" || fs.type == "ramfs";
    fs.quota_free_bytes = quota_left(fs);
    fs.striping = lustre_striping(directory);
    return fs;
}

std::string find_whole_mount(std::istream& mountinfo, const std::string& mount_point) {
    std::vector<Mount> mounts;
    std::string device;
    for (std::string line; std::getline(mountinfo, line);) {
        mounts.push_back(mount_of_line(line));
        // A later mount at the same place hides an earlier one.
        if (mounts.back().point == mount_point) device = mounts.back().device;
    }
    std::string whole;
    for (const Mount& mount : mounts) {
        if (mount.device != device || mount.root != "/") continue;
        if (whole.empty() || mount.point == mount_point) whole = mount.point;
    }
    return whole;
}

Json FileSystem::to_json() const {
    return Json{{"path", path},
                {"type", type},
                {"source", source},
                {"mount_point", mount_point},
                {"options", options},
                {"memory_backed", memory_backed},
                {"block_bytes", block_bytes},
                {"total_bytes", total_bytes},
                {"free_bytes", free_bytes},
                {"total_inodes", total_inodes},
                {"free_inodes", free_inodes},
                {"quota_free_bytes", quota_free_bytes ? Json(*quota_free_bytes) : Json(nullptr)},
                {"device", device ? Json(*device) : Json(nullptr)},
                {"striping", striping},
                {"close_to_open", close_to_open ? Json(*close_to_open) : Json(nullptr)}};
}

std::optional<DeviceCounters> device_counters(const std::string& device) {
    // Documentation/block/stat.rst: field 3 = sectors read, field 7 = sectors written, 512 B each.
    std::ifstream file(fmt::format("/sys/dev/block/{}/stat", device));
    std::array<std::int64_t, 7> fields{};
    for (auto& field : fields) {
        if (!(file >> field)) return {};
    }
    return DeviceCounters{fields[2] * 512, fields[6] * 512};
}

}  // namespace effio
