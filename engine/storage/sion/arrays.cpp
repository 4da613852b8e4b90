// SPDX-License-Identifier: BSD-3-Clause
// Arrays in a container: the bytes of one file for each writer, as the streams of one file. The
// chunk of each is as large as what it writes. With collectors collective calls go through them.
#include <fmt/format.h>

#include <algorithm>

#include "core/units.hpp"
#include "storage/array_libraries.hpp"
#include "storage/own_shares.hpp"
#include "storage/posix.hpp"
#include "storage/sion/shared.hpp"

namespace effio {
namespace {

class SionArrayFile final : public OwnSharesFile {
  public:
    SionArrayFile(Session& session, const ArrayRequest& request, int rank,
                  std::unique_ptr<sion::SharedContainer> container)
        : OwnSharesFile(session, request, rank), container_(std::move(container)) {}

    /// Every stream is as long as its writer's shares.
    Status check_streams() const {
        const int writers = schema().shares.writers;
        if (container_->tasks() != writers) {
            return io_error("open", path(),
                            fmt::format("the container has {}, {} are expected",
                                        count_of(container_->tasks(), "task"), writers));
        }
        for (int writer = 0; writer < writers; ++writer) {
            const std::int64_t bytes = container_->bytes_of(writer);
            const std::int64_t needed = schema().share_bytes(writer);
            if (bytes >= needed) continue;
            return io_error("open", path(),
                            fmt::format("the stream of task {} is too short: {} of {}", writer,
                                        exact_size(bytes), exact_size(needed)));
        }
        return {};
    }

    Status confirm() override { return container_->confirm(); }

    Result<std::int64_t> overhead_bytes() override {
        if (rank() != 0) return std::int64_t{0};
        const auto& head = container_->file(0).head;
        // Each has one chunk: how many it used, and how much of it.
        return head.bytes() + 16 * head.tasks();
    }
    Json describe() override {
        return Json{{"tasks", container_->tasks()},
                    {"collectors", container_->collectors()},
                    {"block_bytes", container_->file(0).head.block}};
    }

  protected:
    Status do_put(std::size_t variable, const Slab& slab,
                  std::span<const std::byte> data) override {
        if (!together()) return OwnSharesFile::do_put(variable, slab, data);
        const auto extents =
            extents_of([&] { return OwnSharesFile::do_put(variable, slab, data); });
        // A rank without data takes part for the others.
        const auto moved = container_->write_together(extents.list, data);
        if (!extents.status) return extents.status.error();
        if (!moved) return moved.error();
        return {};
    }
    Status do_get(std::size_t variable, const Slab& slab, std::span<std::byte> data) override {
        if (!together()) return OwnSharesFile::do_get(variable, slab, data);
        const auto extents =
            extents_of([&] { return OwnSharesFile::do_get(variable, slab, data); });
        const auto moved = container_->read_together(extents.list, data);
        if (!extents.status) return extents.status.error();
        if (!moved) return moved.error();
        const std::int64_t wanted = schema().bytes(variable, slab);
        if (*moved < wanted) return too_short(path(), *moved, wanted);
        return {};
    }
    Status put_part(std::size_t variable, std::int64_t offset,
                    std::span<const std::byte> data) override {
        const std::int64_t at = begin_of(rank(), variable) + offset;
        if (note(rank(), at, std::ssize(data))) return {};
        session().progress.call("pwrite");
        const auto moved = container_->write(rank(), at, data);
        if (!moved) return moved.error();
        return {};
    }
    Status get_part(int writer, std::size_t variable, std::int64_t offset,
                    std::span<std::byte> data) override {
        const std::int64_t at = begin_of(writer, variable) + offset;
        if (note(writer, at, std::ssize(data))) return {};
        session().progress.call("pread");
        const auto moved = container_->read(writer, at, data);
        if (!moved) return moved.error();
        const auto wanted = static_cast<std::int64_t>(data.size());
        if (*moved < wanted) return too_short(path(), at + *moved, at + wanted);
        return {};
    }
    Status do_sync() override {
        session().progress.call("fsync");
        return container_->sync();
    }
    Status do_close() override {
        session().progress.call("close");
        return container_->close();
    }

  private:
    bool together() const {
        return container_->has_collectors() && access() == ArrayAccess::collective;
    }
    /// What a call would move, which is noted only.
    struct Extents {
        std::vector<sion::Extent> list;
        Status status;
    };
    template <class Call>
    Extents extents_of(Call&& call) {
        Extents extents;
        noted_ = &extents.list;
        extents.status = call();
        noted_ = nullptr;
        return extents;
    }
    bool note(int writer, std::int64_t position, std::int64_t bytes) {
        if (noted_ != nullptr) noted_->push_back({writer, position, bytes});
        return noted_ != nullptr;
    }

    /// Start of the writer's share of a variable, in its stream.
    std::int64_t begin_of(int writer, std::size_t variable) const {
        std::int64_t begin = 0;
        for (std::size_t v = 0; v < variable; ++v) {
            begin += schema().bytes(v, schema().share(v, writer));
        }
        return begin;
    }

    std::unique_ptr<sion::SharedContainer> container_;
    std::vector<sion::Extent>* noted_ = nullptr;
};

class SionArrayLibrary final : public ArrayLibrary {
  public:
    SionArrayLibrary(Session& session, SionSettings settings)
        : ArrayLibrary(session), settings_(settings), storage_(make_posix_storage(session)) {}

    std::string_view name() const override { return "sion"; }
    ArrayCapabilities capabilities() const override {
        ArrayCapabilities can = own_shares_capabilities();
        can.shared_file = true;
        can.collective = settings_.collector_tasks > 1;
        return can;
    }
    Json describe() const override {
        Json out{{"format_version", sion::newest_version},
                 {"byte_order", name_of(settings_.byte_order)},
                 {"collector_tasks", settings_.collector_tasks}};
        if (settings_.block) out["block_bytes"] = settings_.block->count;
        return out;
    }
    Storage& storage() override { return *storage_; }

  protected:
    Result<std::unique_ptr<ArrayFile>> do_create(const Comm& comm,
                                                 const ArrayRequest& request) override {
        if (auto can = make_room(session(), comm, *storage_, request.path); !can) {
            return can.error();
        }
        return open_as(OpenMode::creating(), comm, request);
    }
    Result<std::unique_ptr<ArrayFile>> do_open(const Comm& comm,
                                               const ArrayRequest& request) override {
        return open_as(OpenMode::reading(), comm, request);
    }

  private:
    Result<std::unique_ptr<ArrayFile>> open_as(const OpenMode& mode, const Comm& comm,
                                               const ArrayRequest& request) {
        sion::Making making;
        const auto& schema = request.schema;
        for (int writer = 0; mode.create && writer < schema.shares.writers; ++writer) {
            making.asked.push_back(std::max<std::int64_t>(1, schema.share_bytes(writer)));
        }
        if (settings_.block) making.block = settings_.block->count;
        making.collector_tasks = settings_.collector_tasks;
        making.order = settings_.byte_order;
        auto container = sion::SharedContainer::open(session(), comm, request.path, mode, making);
        if (!container) return std::move(container.error());
        auto file =
            std::make_unique<SionArrayFile>(session(), request, comm.rank(), std::move(*container));
        if (!mode.write && !request.partial) {
            if (auto long_enough = file->check_streams(); !long_enough) return long_enough.error();
        }
        return std::unique_ptr<ArrayFile>(std::move(file));
    }

    SionSettings settings_;
    std::unique_ptr<Storage> storage_;
};

}  // namespace

std::unique_ptr<ArrayLibrary> make_sion_array_library(Session& session,
                                                      const SionSettings& settings) {
    return std::make_unique<SionArrayLibrary>(session, settings);
}

}  // namespace effio
