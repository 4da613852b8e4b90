// SPDX-License-Identifier: BSD-3-Clause
#include "benchmarks/mdtest/tree_guard.hpp"

#include <sys/stat.h>

#include <cstddef>
#include <cstdint>

namespace effio::mdtest {

Status TreeGuard::look(const Paths& paths, int owner) {
    const Workload& w = paths.workload();
    const std::int64_t each = w.tree.directories() + 1;
    seen_.resize(static_cast<std::size_t>(w.loops * each));
    auto seen = seen_.begin();
    for (std::int64_t loop = 0; loop < w.loops; ++loop) {
        if (auto ours = look_at(paths.test_directory(owner, loop), *seen++); !ours) return ours;
        for (std::int64_t number = 0; number + 1 < each; ++number) {
            const std::string path = paths.directory(owner, loop, number);
            if (auto ours = look_at(path, *seen++); !ours) return ours;
        }
    }
    return {};
}

Status TreeGuard::look_at(const std::string& path, Seen& seen) {
    struct stat info{};
    if (::lstat(path.c_str(), &info) != 0) return {};
    const bool first = seen.inode == 0;
    if (!S_ISDIR(info.st_mode) ||
        (!first && (info.st_dev != seen.device || info.st_ino != seen.inode))) {
        return io_error("check the directory", path,
                        "this is not the directory that the run made: another process replaced it "
                        "during the run");
    }
    seen = {info.st_dev, info.st_ino};
    return {};
}

}  // namespace effio::mdtest
