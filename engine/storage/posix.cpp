// SPDX-License-Identifier: BSD-3-Clause
#include "storage/posix.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>

#include "storage/posix_calls.hpp"
#include "storage/removal.hpp"

namespace effio {

Status PosixFile::do_preallocate(std::int64_t bytes) {
    // It reports its errors by value and leaves errno alone.
    const int code = comm().is_root() ? posix_fallocate(fd_.get(), 0, bytes) : 0;
    if (comm().size() > 1) comm().barrier();
    if (code != 0) return system_error("posix_fallocate", path(), code);
    return {};
}

Status PosixFile::do_sync() {
    return sync_file(fd_.get(), path());
}

Status PosixFile::do_close() {
    if (const int code = fd_.close(); code != 0) return system_error("close", path(), code);
    return unlink_ ? remove_file(path()) : Status();
}

Status CachedFile::write_rest(std::span<const std::byte> data, std::int64_t offset,
                              const CallStart& start, ssize_t moved) {
    auto all = pwrite_rest(descriptor().get(), path(), data, run_place(offset), moved);
    return end_transfer(at, true, start, std::ssize(data), offset, all);
}

Status CachedFile::read_rest(std::span<std::byte> data, std::int64_t offset, const CallStart& start,
                             ssize_t moved) {
    auto all = pread_rest(descriptor().get(), path(), data, run_place(offset), moved);
    return end_transfer(at, false, start, std::ssize(data), offset, all);
}

Capabilities PosixStorage::capabilities() const {
    Capabilities c;
    c.shared_pointer = false;
    c.hints = false;
    c.threads = true;
    c.spaced = true;
    return c;
}

Result<std::unique_ptr<ByteFile>> PosixStorage::open(const Comm& comm, const OpenRequest& request) {
    session().progress.call("open");
    auto fd = open_together(session(), comm, request.path, request.mode);
    session().progress.beat();
    if (!fd) return session().signed_error(fd.error());
    return std::unique_ptr<ByteFile>(
        std::make_unique<CachedFile>(session(), comm, request, std::move(*fd)));
}

Status PosixStorage::remove(const std::string& path) {
    if (auto done = remove_file(path); !done) return session().signed_error(done.error());
    return {};
}

std::unique_ptr<Storage> make_posix_storage(Session& session) {
    return std::make_unique<PosixStorage>(session);
}

}  // namespace effio
