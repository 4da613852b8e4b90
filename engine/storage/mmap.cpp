// SPDX-License-Identifier: BSD-3-Clause
#include "storage/mmap.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <optional>
#include <utility>

#include "storage/bus_error.hpp"
#include "storage/posix.hpp"

namespace effio {
namespace {

constexpr CallNames mmap_calls{CallNames::plain("write by mmap", "read by mmap").transfers,
                               "set view", "set hints", "msync", "close"};

/// Memory that shows a file from its start.
class Mapping {
  public:
    Mapping() = default;
    Mapping(const Mapping&) = delete;
    Mapping& operator=(const Mapping&) = delete;
    ~Mapping() { drop(); }

    std::byte* data() const { return data_; }
    std::size_t size() const { return size_; }

    /// Shows `bytes` at least; what is behind the end of the file shows when the file is longer.
    /// 0 or errno.
    int reach(int fd, std::size_t bytes, int protection) {
        if (bytes <= size_) return 0;
        constexpr std::size_t least = std::size_t{1} << 26;
        const std::size_t wanted = std::max({bytes, 2 * size_, least});
        void* const got = data_ == nullptr ? ::mmap(nullptr, wanted, protection, MAP_SHARED, fd, 0)
                                           : ::mremap(data_, size_, wanted, MREMAP_MAYMOVE);
        if (got == MAP_FAILED) return errno;
        data_ = static_cast<std::byte*>(got);
        size_ = wanted;
        return 0;
    }
    void drop() {
        if (data_ != nullptr) ::munmap(data_, size_);
        data_ = nullptr;
        size_ = 0;
    }

  private:
    std::byte* data_ = nullptr;
    std::size_t size_ = 0;
};

class MmapFile final : public PosixFile {
  public:
    MmapFile(Session& session, const Comm& comm, const OpenRequest& request, Descriptor fd)
        : PosixFile(session, comm, request, std::move(fd), mmap_calls),
          writes_(request.mode.write) {}

  protected:
    Result<std::int64_t> write_run(std::int64_t offset, std::span<const std::byte> data) override {
        if (!writes_) return failed("write by mmap", EBADF, offset);
        const std::int64_t end = offset + std::ssize(data);
        if (const auto shown = reach(offset, end); !shown) return shown.error();
        // Not where the file is known to be longer: another rank that lengthens it is seen to have
        // done so before the kernel has filled the pages in between with zeros. Who asks waits for
        // that.
        if (end > asked_) {
            if (auto made = make_room(offset, data); !made) return std::move(made.error());
            asked_ = end;
        }
        if (!copy_to(offset, data)) return std::ssize(data);
        // A hole that the file system has no block for says so when it is asked.
        if (auto made = make_room(offset, data); !made) return std::move(made.error());
        const auto fault = copy_to(offset, data);
        if (!fault) return std::ssize(data);
        return not_given("write by mmap", offset + static_cast<std::int64_t>(*fault));
    }

    Result<std::int64_t> read_run(std::int64_t offset, std::span<std::byte> data) override {
        const std::int64_t end = offset + std::ssize(data);
        if (const auto shown = reach(offset, end); !shown) return shown.error();
        if (end > length_) {
            const auto size = PosixFile::size();
            if (!size) return size.error();
            length_ = *size;
        }
        const std::int64_t bytes = std::clamp<std::int64_t>(length_ - offset, 0, std::ssize(data));
        const std::byte* const from = mapping_.data() + offset;
        const auto fault = copy_mapped(data.data(), from, static_cast<std::size_t>(bytes), from);
        if (!fault) return bytes;
        return not_given("read by mmap", offset + static_cast<std::int64_t>(*fault));
    }

    Status do_sync() override {
        if (mapping_.data() == nullptr || !writes_) return PosixFile::do_sync();
        if (::msync(mapping_.data(), mapping_.size(), MS_SYNC) != 0) {
            return system_error("msync", path(), errno);
        }
        return {};
    }
    Status do_close() override {
        mapping_.drop();
        return PosixFile::do_close();
    }

  private:
    /// Maps up to `end`.
    Status reach(std::int64_t offset, std::int64_t end) {
        const int protection = writes_ ? PROT_READ | PROT_WRITE : PROT_READ;
        if (const int code =
                mapping_.reach(descriptor().get(), static_cast<std::size_t>(end), protection);
            code != 0) {
            return failed("mmap", code, offset);
        }
        return {};
    }

    /// The file holds the place of `data`, and the file system the blocks.
    Status make_room(std::int64_t offset, std::span<const std::byte> data) {
        int code = 0;
        do {
            code = ::fallocate(descriptor().get(), 0, offset, std::ssize(data)) == 0 ? 0 : errno;
        } while (code == EINTR);
        if (code == 0) return {};
        if (code != EOPNOTSUPP) return failed("fallocate", code, offset);
        // Not every file system can reserve; the last byte of the data lengthens every file.
        const std::int64_t last = offset + std::ssize(data) - 1;
        if (auto wrote = pwrite_all(descriptor().get(), path(), data.last(1), last); !wrote) {
            return std::move(wrote.error());
        }
        return {};
    }

    std::optional<std::size_t> copy_to(std::int64_t offset, std::span<const std::byte> data) {
        std::byte* const to = mapping_.data() + offset;
        return copy_mapped(to, data.data(), data.size(), to);
    }

    Error failed(const char* call, int code, std::int64_t offset) const {
        return system_error(call, path(), code, offset);
    }
    Error not_given(const char* call, std::int64_t offset) const {
        Error error = system_error(call, path(), EIO, offset);
        error.cause +=
            ": the mapping has no page there (SIGBUS): the device failed, the space ran out, or "
            "the file got shorter";
        return error;
    }

    Mapping mapping_;
    std::int64_t length_ = 0;  ///< bytes that the file was long when it was last read
    std::int64_t asked_ = 0;   ///< up to where this rank has requested space
    bool writes_;
};

class MmapStorage : public PosixStorage {
  public:
    using PosixStorage::PosixStorage;

    std::string_view name() const override { return "mmap"; }
    Result<std::unique_ptr<ByteFile>> open(const Comm& comm, const OpenRequest& request) override {
        session().progress.call("open");
        OpenMode mode = request.mode;
        mode.read = true;  // pages are read before a part of them is written
        auto fd = open_together(session(), comm, request.path, mode);
        session().progress.beat();
        if (!fd) return session().signed_error(fd.error());
        return std::unique_ptr<ByteFile>(
            std::make_unique<MmapFile>(session(), comm, request, std::move(*fd)));
    }
};

}  // namespace

std::unique_ptr<Storage> make_mmap_storage(Session& session) {
    return std::make_unique<MmapStorage>(session);
}

}  // namespace effio
