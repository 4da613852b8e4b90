// SPDX-License-Identifier: BSD-3-Clause
#include "storage/sion/storage.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "core/units.hpp"
#include "storage/posix.hpp"
#include "storage/run_file.hpp"
#include "storage/sion/container.hpp"
#include "storage/sion/shared.hpp"

namespace effio {
namespace {

using sion::Extent;
using sion::SharedContainer;

class SionFile final : public RunFile {
  public:
    SionFile(Session& session, const Comm& comm, const OpenRequest& request,
             std::unique_ptr<SharedContainer> container)
        : RunFile(session, comm, request, posix_calls),
          container_(std::move(container)),
          blocks_(*request.blocks) {
        // There may be more or fewer readers than writers.
        blocks_.parts = container_->tasks();
    }

    /// Length of the bytes that are divided into blocks; while writing, as far as this rank wrote
    /// them.
    Result<std::int64_t> size() override {
        std::int64_t size = 0;
        for (std::int64_t task = 0; task < container_->tasks(); ++task) {
            const std::int64_t last = container_->bytes_of(task) - 1;
            if (last < 0) continue;
            const std::int64_t block = last / blocks_.block * blocks_.parts + task;
            size = std::max(size, block * blocks_.block + last % blocks_.block + 1);
        }
        return size;
    }
    Status confirm() override { return container_->confirm(); }
    std::string name_of(std::int64_t offset) const override {
        const Extent at = extent(offset, 1);
        return fmt::format("byte {} of task {}", at.position, at.task);
    }
    Json describe() const override {
        Json out{{"tasks", container_->tasks()},
                 {"files", container_->files()},
                 {"collectors", container_->collectors()},
                 {"chunk_bytes", container_->file(0).chunks.room(0)},
                 {"block_bytes", container_->file(0).head.block}};
        if (!container_->remark().empty()) out["remark"] = container_->remark();
        return out;
    }

  protected:
    Result<std::int64_t> do_write(CallForm form, std::span<const std::byte> data,
                                  std::int64_t offset) override {
        if (!together(form)) return RunFile::do_write(form, data, offset);
        const auto all = extents_of([&] { return RunFile::do_write(form, data, offset); });
        if (!all) return Error(all.error());
        return container_->write_together(*all, data);
    }
    Result<std::int64_t> do_read(CallForm form, std::span<std::byte> data,
                                 std::int64_t offset) override {
        if (!together(form)) return RunFile::do_read(form, data, offset);
        const auto all = extents_of([&] { return RunFile::do_read(form, data, offset); });
        if (!all) return Error(all.error());
        return container_->read_together(*all, data);
    }
    Result<std::int64_t> write_run(std::int64_t offset, std::span<const std::byte> data) override {
        return move(offset, data, [this](const Extent& at, std::span<const std::byte> part) {
            return container_->write(at.task, at.position, part);
        });
    }
    Result<std::int64_t> read_run(std::int64_t offset, std::span<std::byte> data) override {
        return move(offset, data, [this](const Extent& at, std::span<std::byte> part) {
            return container_->read(at.task, at.position, part);
        });
    }
    Status do_preallocate(std::int64_t /*bytes*/) override {
        return usage_error("containers are sparse and cannot be preallocated");
    }
    Status do_sync() override { return container_->sync(); }
    Status do_close() override { return container_->close(); }

  private:
    bool together(CallForm form) const { return form.collective && container_->has_collectors(); }

    /// The extents behind a call whose runs are noted, not moved.
    template <class Call>
    Result<std::vector<Extent>> extents_of(Call&& call) {
        std::vector<Extent> all;
        noted_ = &all;
        const auto done = call();
        noted_ = nullptr;
        if (!done) return Error(done.error());
        return all;
    }

    /// The consecutive bytes from an offset on, in the stream that they are of.
    Extent extent(std::int64_t offset, std::int64_t bytes) const {
        const std::int64_t block = offset / blocks_.block;
        const std::int64_t inside = offset % blocks_.block;
        return {block % blocks_.parts, block / blocks_.parts * blocks_.block + inside,
                std::min(bytes, blocks_.block - inside)};
    }

    /// Cut where blocks end.
    template <class Span, class Move>
    Result<std::int64_t> move(std::int64_t offset, Span data, Move&& one) {
        std::int64_t done = 0;
        while (!data.empty()) {
            const Extent here = extent(offset + done, std::ssize(data));
            const auto part = data.first(static_cast<std::size_t>(here.bytes));
            Result<std::int64_t> moved = here.bytes;
            if (noted_ != nullptr) {
                noted_->push_back(here);
            } else {
                moved = one(here, part);
            }
            if (!moved) return moved;
            done += *moved;
            if (*moved < here.bytes) break;
            data = data.subspan(part.size());
        }
        return done;
    }

    std::unique_ptr<SharedContainer> container_;
    Blocks blocks_;
    std::vector<Extent>* noted_ = nullptr;
};

class SionStorage : public PosixStorage {
  public:
    SionStorage(Session& session, SionSettings settings)
        : PosixStorage(session), settings_(settings) {}

    std::string_view name() const override { return "sion"; }
    Capabilities capabilities() const override {
        Capabilities can = PosixStorage::capabilities();
        can.threads = false;
        can.preallocate = false;
        can.plain = false;
        return can;
    }
    Json describe() const override {
        Json out{{"format_version", sion::newest_version},
                 {"byte_order", name_of(settings_.byte_order)},
                 {"files", settings_.files},
                 {"collector_tasks", settings_.collector_tasks}};
        if (settings_.chunk) out["chunk_bytes"] = settings_.chunk->count;
        if (settings_.block) out["block_bytes"] = settings_.block->count;
        return out;
    }

    Status check(const Blocks& blocks) const override {
        if (settings_.files > blocks.parts) {
            return usage_error(fmt::format("backend sion: a container of {} cannot be {} (files=…)",
                                           count_of(blocks.parts, "task"),
                                           count_of(settings_.files, "file")));
        }
        const std::int64_t chunk = chunk_of(blocks);
        const std::int64_t each = blocks.part_bytes() / chunk + 1;
        if (each <= most_sion_chunks / blocks.parts) return {};
        return usage_error(
            fmt::format("backend sion: {} in chunks of {} for each of {} are more than {} chunks; "
                        "use larger ones (chunk=…)",
                        shown_size(Bytes{blocks.part_bytes()}), shown_size(Bytes{chunk}),
                        count_of(blocks.parts, "part"), most_sion_chunks));
    }

    std::vector<FileSet> additional_files(const FileSet& set) const override {
        if (settings_.files == 1 || set.indexed) return {};
        FileSet more = set;
        more.stem += '.';
        more.indexed = true;
        more.digits = 6;
        more.first = 1;
        more.count = static_cast<int>(settings_.files) - 1;
        return {more};
    }

    std::vector<std::string> files_of(const std::string& path) const override {
        if (session().containers) {
            if (auto known = session().containers->files_of(path); !known.empty()) return known;
        }
        std::vector<std::string> files{path};
        // A file that is not a container is reported when it is opened.
        if (const auto container = sion::Container::open(path)) {
            for (std::size_t i = 1; i < container->parts().size(); ++i) {
                files.push_back(container->parts()[i].path);
            }
        }
        return files;
    }

    Result<std::unique_ptr<ByteFile>> open(const Comm& comm, const OpenRequest& request) override {
        if (!request.blocks) {
            return session().signed_error(
                usage_error("containers can be opened only with a division into blocks"));
        }
        if (settings_.collector_tasks > 1 && !request.collective) {
            return session().signed_error(
                usage_error("backend sion: collectors apply to collective calls only"));
        }
        if (auto fits = check(*request.blocks); request.mode.create && !fits) {
            return session().signed_error(std::move(fits.error()));
        }
        sion::Making making;
        making.asked.assign(static_cast<std::size_t>(request.blocks->parts),
                            chunk_of(*request.blocks));
        if (settings_.block) making.block = settings_.block->count;
        making.files = settings_.files;
        making.order = settings_.byte_order;
        making.collector_tasks = settings_.collector_tasks;
        auto container = SharedContainer::open(session(), comm, request.path, request.mode, making);
        if (!container) return session().signed_error(std::move(container.error()));
        return std::unique_ptr<ByteFile>(
            std::make_unique<SionFile>(session(), comm, request, std::move(*container)));
    }
    Status remove(const std::string& path) override {
        if (session().containers) session().containers->forget(path);
        return PosixStorage::remove(path);
    }

  private:
    std::int64_t chunk_of(const Blocks& blocks) const {
        return settings_.chunk ? settings_.chunk->count : blocks.part_bytes();
    }

    SionSettings settings_;
};

}  // namespace

void SionSettings::declare(OptionTable& table) {
    table.add("chunk", chunk, "bytes that a task has in a row; then it continues in the next")
        .range(1, 9e15)
        .automatic("all that it writes");
    declare_for_arrays(table);
    table.add("files", files, "files of a container that is made, over which the tasks are dealt")
        .range(1, 999999);
}

void SionSettings::declare_for_arrays(OptionTable& table) {
    table.add("block", block, "of the file system; chunks are multiples of it")
        .range(1, 1 << 30)
        .automatic("the file system's");
    table.choice("byte-order", byte_order,
                 {{name_of(sion::ByteOrder::little), sion::ByteOrder::little},
                  {name_of(sion::ByteOrder::big), sion::ByteOrder::big}},
                 "of the metadata");
    table
        .add("collector-tasks", collector_tasks,
             "number of neighboring tasks of which one writes and reads for all, in collective "
             "calls (1: each for itself)")
        .range(1, 2147483647);
}

std::unique_ptr<Storage> make_sion_storage(Session& session, const SionSettings& settings) {
    return std::make_unique<SionStorage>(session, settings);
}

}  // namespace effio
