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
    PosixFile(Session& session, const Comm& comm, const OpenRequest& request, Descriptor fd)
        : RunFile(session, comm, request, posix_calls),
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

  protected:
    friend class ByteFile;
    [[gnu::always_inline]] Result<std::int64_t> do_write(CallForm form,
                                                         std::span<const std::byte> data,
                                                         std::int64_t offset) override {
        if (!one_run_at(form)) [[unlikely]]
            return PosixFile::do_write(form, data, offset);
        return pwrite_all(descriptor().get(), path(), data, run_place(offset));
    }
    [[gnu::always_inline]] Result<std::int64_t> do_read(CallForm form, std::span<std::byte> data,
                                                        std::int64_t offset) override {
        if (!one_run_at(form)) [[unlikely]]
            return PosixFile::do_read(form, data, offset);
        return pread_all(descriptor().get(), path(), data, run_place(offset));
    }
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
