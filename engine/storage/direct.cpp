// SPDX-License-Identifier: BSD-3-Clause
#include "storage/direct.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>

#include "core/units.hpp"
#include "storage/posix.hpp"

namespace effio {
namespace {

class DirectFile : public PosixFile {
  public:
    /// `buffered` has no descriptor where unaligned transfers are refused.
    DirectFile(Session& session, const Comm& comm, const OpenRequest& request, Descriptor direct,
               Descriptor buffered, std::int64_t align)
        : PosixFile(session, comm, request, std::move(direct)),
          buffered_(std::move(buffered)),
          align_(align) {}

    std::int64_t detours() const override { return detours_; }

  protected:
    Result<std::int64_t> write_run(std::int64_t offset, std::span<const std::byte> data) override {
        if (aligned(offset, data.data(), data.size())) return PosixFile::write_run(offset, data);
        if (!buffered_) return refused("pwrite with O_DIRECT", offset, data.size());
        ++detours_;
        return pwrite_all(buffered_.get(), path(), data, offset);
    }

    Result<std::int64_t> read_run(std::int64_t offset, std::span<std::byte> data) override {
        if (!aligned(offset, data.data(), data.size())) {
            if (!buffered_) return refused("pread with O_DIRECT", offset, data.size());
            ++detours_;
            return pread_all(buffered_.get(), path(), data, offset);
        }
        std::int64_t moved = 0;
        while (!data.empty()) {
            const ssize_t n = ::pread(descriptor().get(), data.data(), data.size(), offset + moved);
            if (n < 0 && errno == EINTR) continue;
            if (n < 0) return system_error("pread with O_DIRECT", path(), errno, offset + moved);
            moved += n;
            data = data.subspan(static_cast<std::size_t>(n));
            // Only the end of the file can be in the middle of a block.
            if (n == 0 || n % align_ != 0) break;
        }
        return moved;
    }

    Status do_close() override {
        if (const int code = buffered_.close(); code != 0) {
            return system_error("close", path(), code);
        }
        return PosixFile::do_close();
    }

  private:
    bool aligned(std::int64_t offset, const std::byte* memory, std::size_t bytes) const {
        const auto a = static_cast<std::uintptr_t>(align_);
        return (static_cast<std::uintptr_t>(offset) | reinterpret_cast<std::uintptr_t>(memory) |
                bytes) %
                   a ==
               0;
    }
    Error refused(const char* call, std::int64_t offset, std::size_t bytes) const {
        Error error =
            io_error(call, path(),
                     fmt::format("{}: place, length and memory must be multiples of {}",
                                 exact_size(static_cast<std::int64_t>(bytes)), exact_size(align_)));
        error.offset = offset;
        return error;
    }

    Descriptor buffered_;
    std::int64_t align_;
    std::int64_t detours_ = 0;
};

class DirectStorage : public PosixStorage {
  public:
    DirectStorage(Session& session, DirectSettings settings)
        : PosixStorage(session), settings_(settings) {}

    std::string_view name() const override { return "direct"; }
    Capabilities capabilities() const override {
        Capabilities c = PosixStorage::capabilities();
        c.spaced = false;
        c.cached = settings_.buffers_unaligned;
        return c;
    }

    Result<std::unique_ptr<ByteFile>> open(const Comm& comm, const OpenRequest& request) override {
        session().progress.call("open");
        auto direct = open_together(session(), comm, request.path, request.mode, O_DIRECT);
        session().progress.beat();
        if (!direct) {
            if (direct.error().system_code == EINVAL) {
                direct.error().cause += ": this file system takes no O_DIRECT";
            }
            return session().signed_error(direct.error());
        }
        Descriptor buffered;
        if (settings_.buffers_unaligned) {
            OpenMode again = request.mode;
            again.create = again.exclusive = false;
            auto second = open_together(session(), comm, request.path, again);
            if (!second) return session().signed_error(second.error());
            buffered = std::move(*second);
        }
        return std::unique_ptr<ByteFile>(
            std::make_unique<DirectFile>(session(), comm, request, std::move(*direct),
                                         std::move(buffered), settings_.align.count));
    }
    Json describe() const override {
        return Json{{"align_bytes", settings_.align.count},
                    {"unaligned", settings_.buffers_unaligned ? "buffered" : "refuse"}};
    }

  private:
    DirectSettings settings_;
};

}  // namespace

void DirectSettings::declare(OptionTable& table) {
    table.add("align", align, "block of the device: places, lengths and memory are multiples of it")
        .range(1, 1 << 20);
    table.choice("unaligned", buffers_unaligned, {{"refuse", false}, {"buffered", true}},
                 "what becomes of other transfers; buffered ones are counted");
}

std::unique_ptr<Storage> make_direct_storage(Session& session, const DirectSettings& settings) {
    return std::make_unique<DirectStorage>(session, settings);
}

}  // namespace effio
