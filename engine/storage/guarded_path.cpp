// SPDX-License-Identifier: BSD-3-Clause
#include "storage/guarded_path.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include "parallel/text_file.hpp"

namespace effio {

Status GuardedPath::make() {
    Status made;
    if (comm_.is_root()) {
        auto file = open_file(path_, O_WRONLY | O_CREAT | O_NONBLOCK);
        if (file) {
            made_ = std::move(*file);
        } else {
            made = std::move(file.error());
        }
    }
    return on_all(std::move(made), "the first rank could not create it");
}

Status GuardedPath::on_all(Status of_root, const char* cause) const {
    int good = of_root ? 1 : 0;
    comm_.broadcast(good);
    if (good == 0 && of_root) return io_error("open", path_, cause);
    return of_root;
}

Status GuardedPath::confirm() const {
    Status ours;
    struct stat now{};
    // If the path does not exist on this node, no other user can have put a file there.
    if (comm_.is_root() && ::lstat(path_.c_str(), &now) == 0 &&
        (!S_ISREG(now.st_mode) || now.st_nlink > 1)) {
        ours = io_error("open", path_,
                        fmt::format("it is {}{}: not written to", kind_of(now.st_mode),
                                    now.st_nlink > 1 ? " with a second name (hard link)" : ""));
    }
    return on_all(std::move(ours), "the first rank found another file in its place");
}

Status GuardedPath::check() const {
    if (!comm_.is_root()) return {};
    struct stat own{};
    struct stat now{};
    if (::fstat(made_.get(), &own) != 0 || ::lstat(path_.c_str(), &now) != 0) {
        return system_error("stat", path_, errno);
    }
    // A library may remove the file and make it anew: then it is another one, on the same device.
    if (S_ISREG(now.st_mode) && now.st_dev == own.st_dev && now.st_uid == own.st_uid &&
        now.st_nlink == 1) {
        return {};
    }
    return io_error(
        "open", path_,
        fmt::format("another program replaced the file during its creation: it is {}{}",
                    kind_of(now.st_mode), now.st_nlink > 1 ? " with a second name" : ""));
}

}  // namespace effio
