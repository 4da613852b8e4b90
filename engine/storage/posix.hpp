// SPDX-License-Identifier: BSD-3-Clause
// Files through POSIX system calls: pwrite, pread, fsync.
#pragma once

#include <memory>

#include "storage/run_file.hpp"

namespace effio {

inline constexpr CallNames posix_calls{CallNames::plain("pwrite", "pread").transfers, "set view",
                                       "set hints", "fsync", "close"};

/// What all files have that POSIX calls reach.
class PosixFile : public RunFile {
  public:
    PosixFile(Session& session, const Comm& comm, const OpenRequest& request, Descriptor fd,
              const CallNames& names = posix_calls)
        : RunFile(session, comm, request, names),
          fd_(std::move(fd)),
          unlink_(request.mode.delete_on_close && comm.is_root()) {}

    Result<std::int64_t> size() override { return size_of(fd_.get(), path()); }

  protected:
    Result<std::int64_t> write_run(std::int64_t offset, std::span<const std::byte> data) override {
        return pwrite_all(fd_.get(), path(), data, offset);
    }
    Result<std::int64_t> read_run(std::int64_t offset, std::span<std::byte> data) override {
        return pread_all(fd_.get(), path(), data, offset);
    }
    Status do_preallocate(std::int64_t bytes) override;
    Status do_sync() override;
    Status do_close() override;

    const Descriptor& descriptor() const { return fd_; }

  private:
    Descriptor fd_;
    bool unlink_;
};

/// Through the page cache, which takes transfers of any size at any place.
class CachedFile final : public PosixFile {
  public:
    using PosixFile::PosixFile;

    /// `write` and `read` with `at` for those who know the class of a file (as_itself.hpp): where
    /// the view has no holes that is one system call, and hardly a line of code besides.
    [[gnu::always_inline]] Status write_at(std::span<const std::byte> data, std::int64_t offset) {
        if (!one_run_at(at)) [[unlikely]]
            return write(at, data, offset);
        const CallStart start = begin_transfer(at, true);
        const auto moved =
            ::pwrite(descriptor().get(), data.data(), data.size(), run_place(offset));
        if (moved != static_cast<ssize_t>(data.size())) [[unlikely]]
            return write_rest(data, offset, start, moved);
        count_transfer(start, moved);
        return {};
    }
    [[gnu::always_inline]] Status read_at(std::span<std::byte> data, std::int64_t offset) {
        if (!one_run_at(at)) [[unlikely]]
            return read(at, data, offset);
        const CallStart start = begin_transfer(at, false);
        const auto moved = ::pread(descriptor().get(), data.data(), data.size(), run_place(offset));
        if (moved != static_cast<ssize_t>(data.size())) [[unlikely]]
            return read_rest(data, offset, start, moved);
        count_transfer(start, moved);
        return {};
    }

  protected:
    Result<std::int64_t> move_pieces(bool write, std::int64_t offset,
                                     std::span<const std::span<std::byte>> pieces) override {
        return move_pieces_all(write, descriptor().get(), path(), pieces, offset);
    }

  private:
    static constexpr CallForm at{Pointer::at, false};

    /// What is left of a transfer that began at `start` and whose first call moved `moved` bytes,
    /// or failed (-1, errno).
    Status write_rest(std::span<const std::byte> data, std::int64_t offset, const CallStart& start,
                      ssize_t moved);
    Status read_rest(std::span<std::byte> data, std::int64_t offset, const CallStart& start,
                     ssize_t moved);
};

class PosixStorage : public Storage {
  public:
    explicit PosixStorage(Session& session) : Storage(session) {}

    std::string_view name() const override { return "posix"; }
    Capabilities capabilities() const override;
    Result<std::unique_ptr<ByteFile>> open(const Comm& comm, const OpenRequest& request) override;
    Status remove(const std::string& path) override;
};

std::unique_ptr<Storage> make_posix_storage(Session& session);

}  // namespace effio
