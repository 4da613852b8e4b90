// SPDX-License-Identifier: BSD-3-Clause
#include "storage/late_views.hpp"

#include <fcntl.h>
#include <sys/stat.h>

#include <cerrno>
#include <chrono>
#include <optional>
#include <thread>
#include <utility>

#include "storage/posix_calls.hpp"

namespace effio {

bool pause_for_late_view(Session& session, double& waited) {
    constexpr double pause = 0.02;
    if (!session.late_views || waited >= longest_late_view) return false;
    std::this_thread::sleep_for(std::chrono::duration<double>(pause));
    waited += pause;
    session.progress.beat();
    return true;
}

void wait_until_gone(Session& session, const Comm& comm, const std::string& path) {
    if (!session.late_views || comm.size() == 1) return;
    const auto gone = [&path] {
        struct stat info{};
        return lstat(path.c_str(), &info) != 0;
    };
    // A name that one rank does not find is not there: no client keeps the absence of a name.
    if (comm.max(gone() ? 1 : 0) == 0) return;
    look_until(session, gone);
    comm.barrier();
}

Result<std::int64_t> size_of_late(Session& session, const std::string& path, std::int64_t needed) {
    if (!session.late_views) return size_of(path);
    std::optional<Result<std::int64_t>> size;
    look_until(session, [&] {
        struct statx info{};
        // Asks the file system's process instead of the kernel's copy.
        const int code =
            statx(AT_FDCWD, path.c_str(), AT_STATX_FORCE_SYNC, STATX_SIZE, &info) == 0 ? 0 : errno;
        if (code != 0) {
            size = Result<std::int64_t>(system_error("stat", path, code));
            return code != ENOENT && code != ESTALE;
        }
        size = static_cast<std::int64_t>(info.stx_size);
        return static_cast<std::int64_t>(info.stx_size) >= needed;
    });
    return std::move(*size);
}

}  // namespace effio
