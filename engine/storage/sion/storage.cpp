// SPDX-License-Identifier: BSD-3-Clause
#include "storage/sion/storage.hpp"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <numeric>
#include <utility>
#include <vector>

#include "storage/posix.hpp"
#include "storage/removal.hpp"
#include "storage/run_file.hpp"
#include "storage/sion/container.hpp"

namespace effio {
namespace {

using sion::ByteOrder;
using sion::Chunks;
using sion::Head;
using sion::Tail;

/// What all ranks must know of an open container.
struct Metadata {
    Head head;
    Tail tail;

    /// Collective: of the root to all.
    void share(const Comm& comm) {
        std::int64_t tasks = head.tasks();
        for (std::int64_t* number : {&head.block, &head.rows, &head.tail, &tasks}) {
            comm.broadcast(*number);
        }
        int version = head.version;
        comm.broadcast(version);
        head.version = version;
        head.ranks.resize(static_cast<std::size_t>(tasks));
        head.chunks.resize(static_cast<std::size_t>(tasks));
        tail.used.resize(static_cast<std::size_t>(tasks));
        tail.bytes.resize(static_cast<std::size_t>(tasks * head.rows));
        for (auto* list : {&head.ranks, &head.chunks, &tail.used, &tail.bytes}) {
            comm.broadcast(std::span<std::int64_t>(*list));
        }
    }
};

/// A task that went on in its next chunk before one was full, or has none that anything fits into.
std::optional<std::int64_t> first_unfilled(const sion::File& file) {
    for (std::int64_t task = 0; task < file.head.tasks(); ++task) {
        const std::int64_t room = file.chunks.room(task);
        if (room == 0) return task;
        const std::int64_t used = file.tail.used[static_cast<std::size_t>(task)];
        for (std::int64_t row = 0; row + 1 < used; ++row) {
            if (file.bytes_in(task, row) != room) return task;
        }
    }
    return {};
}

class SionFile final : public RunFile {
  public:
    /// `metadata` is good.
    SionFile(Session& session, const Comm& comm, const OpenRequest& request, Descriptor fd,
             Metadata metadata, ByteOrder order)
        : RunFile(session, comm, request, posix_calls),
          fd_(std::move(fd)),
          writes_(request.mode.write),
          unlink_(request.mode.delete_on_close && comm.is_root()),
          blocks_(*request.blocks),
          order_(order),
          unfilled_(false) {
        file_.head = std::move(metadata.head);
        file_.tail = std::move(metadata.tail);
        file_.chunks = std::move(*Chunks::of(file_.head));
        unfilled_ = first_unfilled(file_).has_value();
        for (std::int64_t task = 0; task < file_.head.tasks(); ++task) {
            ends_.push_back(file_.bytes_of(task));
        }
    }

    /// Of the bytes that are divided into blocks; while writing, as far as this rank wrote them.
    Result<std::int64_t> size() override {
        std::int64_t size = 0;
        for (std::int64_t task = 0; task < std::ssize(ends_); ++task) {
            const std::int64_t last = ends_[static_cast<std::size_t>(task)] - 1;
            if (last < 0) continue;
            const std::int64_t block = last / blocks_.block * blocks_.parts + task;
            size = std::max(size, block * blocks_.block + last % blocks_.block + 1);
        }
        return size;
    }
    std::string name_of(std::int64_t offset) const override {
        const Place at = place(offset);
        return fmt::format("byte {} of task {}", at.position, at.task);
    }
    Json describe() const override {
        return Json{{"tasks", file_.head.tasks()},
                    {"chunk_bytes", file_.chunks.room(0)},
                    {"block_bytes", file_.head.block}};
    }

  protected:
    Result<std::int64_t> write_run(std::int64_t offset, std::span<const std::byte> data) override {
        return move(offset, data, [this](const Piece& piece, std::span<const std::byte> part) {
            auto moved = pwrite_all(fd_.get(), path(), part, piece.offset);
            if (moved) {
                auto& end = ends_[static_cast<std::size_t>(piece.task)];
                end = std::max(end, piece.position + *moved);
            }
            return moved;
        });
    }
    Result<std::int64_t> read_run(std::int64_t offset, std::span<std::byte> data) override {
        return move(offset, data, [this](const Piece& piece, std::span<std::byte> part) {
            return pread_all(fd_.get(), path(), part, piece.offset);
        });
    }
    Status do_preallocate(std::int64_t /*bytes*/) override {
        return usage_error("containers are sparse and cannot be preallocated");
    }
    Status do_sync() override {
        if (::fsync(fd_.get()) != 0) return system_error("fsync", path(), errno);
        return {};
    }
    Status do_close() override {
        Status done;
        if (writes_) {
            comm().max(std::span<std::int64_t>(ends_));
            if (comm().is_root()) done = write_tail();
        }
        if (const int code = fd_.close(); done && code != 0) {
            done = system_error("close", path(), code);
        }
        if (done && unlink_) done = remove_file(path());
        return done;
    }

  private:
    /// A byte's place in the streams.
    struct Place {
        std::int64_t task = 0;
        std::int64_t position = 0;
    };
    /// Bytes of a stream that stand together in the file.
    struct Piece {
        std::int64_t task = 0;
        std::int64_t position = 0;
        std::int64_t offset = 0;
        std::int64_t bytes = 0;
    };

    Place place(std::int64_t offset) const {
        const std::int64_t block = offset / blocks_.block;
        return {block % blocks_.parts,
                block / blocks_.parts * blocks_.block + offset % blocks_.block};
    }

    /// From a place on; no bytes behind the end of a stream that is read.
    Piece piece(Place at) const {
        std::int64_t row = 0;
        std::int64_t inside = at.position;
        if (!unfilled_) {
            const std::int64_t room = file_.chunks.room(at.task);
            row = at.position / room;
            inside = at.position % room;
            if (writes_) return piece_of(at, row, inside, room);
        }
        const std::int64_t used = file_.tail.used[static_cast<std::size_t>(at.task)];
        while (unfilled_ && row < used && inside >= file_.bytes_in(at.task, row)) {
            inside -= file_.bytes_in(at.task, row++);
        }
        const std::int64_t filled = row < used ? file_.bytes_in(at.task, row) : 0;
        return piece_of(at, row, inside, std::max(filled, inside));
    }
    Piece piece_of(Place at, std::int64_t row, std::int64_t inside, std::int64_t filled) const {
        return {at.task, at.position, file_.chunks.begin(at.task, row) + inside, filled - inside};
    }

    /// Consecutive bytes are cut where blocks and chunks end.
    template <class Span, class Move>
    Result<std::int64_t> move(std::int64_t offset, Span data, Move&& move_piece) {
        std::int64_t done = 0;
        while (!data.empty()) {
            const Piece here = piece(place(offset));
            const std::int64_t bytes =
                std::min({std::ssize(data), here.bytes, blocks_.block - offset % blocks_.block});
            if (bytes == 0) break;
            const auto moved = move_piece(here, data.first(static_cast<std::size_t>(bytes)));
            if (!moved) return Error(moved.error());
            done += *moved;
            if (*moved < bytes) break;
            offset += bytes;
            data = data.subspan(static_cast<std::size_t>(bytes));
        }
        return done;
    }

    /// On the root. The tail first: a head that points to it makes the container closed.
    Status write_tail() {
        const auto tasks = file_.head.tasks();
        Tail tail;
        for (std::int64_t task = 0; task < tasks; ++task) {
            const std::int64_t room = file_.chunks.room(task);
            const std::int64_t end = ends_[static_cast<std::size_t>(task)];
            tail.used.push_back(std::max<std::int64_t>(1, (end + room - 1) / room));
        }
        Head head = file_.head;
        head.metadata = head.data = order_;
        head.rows = *std::max_element(tail.used.begin(), tail.used.end());
        for (std::int64_t row = 0; row < head.rows; ++row) {
            for (std::int64_t task = 0; task < tasks; ++task) {
                const std::int64_t room = file_.chunks.room(task);
                const std::int64_t rest = ends_[static_cast<std::size_t>(task)] - row * room;
                tail.bytes.push_back(std::clamp<std::int64_t>(rest, 0, room));
            }
        }
        auto begin = file_.chunks.tail(head.rows);
        if (!begin) return std::move(begin.error());
        head.tail = *begin;
        const auto wrote = pwrite_all(fd_.get(), path(), encode(tail, order_), head.tail);
        if (!wrote) return Error(wrote.error());
        const auto closed =
            pwrite_all(fd_.get(), path(), encode_end_of_head(head), head.offset_of_rows());
        if (!closed) return Error(closed.error());
        return {};
    }

    Descriptor fd_;
    bool writes_;
    bool unlink_;
    Blocks blocks_;
    ByteOrder order_;
    sion::File file_;
    bool unfilled_;                   ///< some writer left a chunk before it was full
    std::vector<std::int64_t> ends_;  ///< of each task's stream
};

class SionStorage : public PosixStorage {
  public:
    SionStorage(Session& session, SionSettings settings)
        : PosixStorage(session), settings_(std::move(settings)) {}

    std::string_view name() const override { return "sion"; }
    Capabilities capabilities() const override {
        Capabilities can = PosixStorage::capabilities();
        can.threads = false;
        can.preallocate = false;
        can.plain = false;
        return can;
    }
    Json describe() const override {
        Json out{{"format_version", sion::newest_version}, {"byte_order", settings_.byte_order}};
        if (settings_.chunk) out["chunk_bytes"] = settings_.chunk->count;
        if (settings_.block) out["block_bytes"] = settings_.block->count;
        return out;
    }

    Status check(const Blocks& blocks) const override {
        const std::int64_t chunk = chunk_of(blocks);
        const std::int64_t each = blocks.part_bytes() / chunk + 1;
        if (each <= most_sion_chunks / blocks.parts) return {};
        return usage_error(
            fmt::format("backend sion: {} in chunks of {} for each of {} are more than {} chunks; "
                        "use larger ones (chunk=…)",
                        format_exact(Bytes{blocks.part_bytes()}), format_exact(Bytes{chunk}),
                        count_of(blocks.parts, "part"), most_sion_chunks));
    }

    Result<std::unique_ptr<ByteFile>> open(const Comm& comm, const OpenRequest& request) override {
        if (!request.blocks) {
            return session().signed_error(
                usage_error("containers can be opened only with a division into blocks"));
        }
        session().progress.call("open");
        auto fd = open_together(comm, request.path, request.mode);
        session().progress.beat();
        auto metadata = find_metadata(comm, request, fd);
        if (!metadata) return session().signed_error(std::move(metadata.error()));
        const ByteOrder order = metadata->head.metadata;
        return std::unique_ptr<ByteFile>(std::make_unique<SionFile>(
            session(), comm, request, std::move(*fd), std::move(*metadata), order));
    }

  private:
    std::int64_t chunk_of(const Blocks& blocks) const {
        return settings_.chunk ? settings_.chunk->count : blocks.part_bytes();
    }

    /// Collective: what the root read or made, if all ranks have the file open.
    Result<Metadata> find_metadata(const Comm& comm, const OpenRequest& request,
                                   Result<Descriptor>& fd) const {
        Result<Metadata> found = Metadata{};
        if (!fd) {
            found = std::move(fd.error());
        } else if (comm.is_root()) {
            found = begin_on_root(request, *fd);
        }
        const int all = comm.min(found ? 1 : 0);
        if (!found) return found;
        if (all == 0) return io_error("open", request.path, "another rank could not open it");
        found->share(comm);
        int order = found->head.metadata == ByteOrder::big ? 1 : 0;
        comm.broadcast(order);
        found->head.metadata = order == 1 ? ByteOrder::big : ByteOrder::little;
        return found;
    }

    Result<Metadata> begin_on_root(const OpenRequest& request, const Descriptor& fd) const {
        struct stat info{};
        if (::fstat(fd.get(), &info) != 0) return system_error("fstat", request.path, errno);
        if (info.st_size == 0 && request.mode.create) return make(request, fd, info.st_blksize);
        auto found = read(request);
        if (!found || !request.mode.write) return found;
        // What will be written may stand where the tail is now.
        Head open = found->head;
        open.rows = open.tail = 0;
        const auto wrote =
            pwrite_all(fd.get(), request.path, encode_end_of_head(open), open.offset_of_rows());
        if (!wrote) return Error(wrote.error());
        return found;
    }

    /// A new container without streams.
    Result<Metadata> make(const OpenRequest& request, const Descriptor& fd,
                          std::int64_t preferred) const {
        if (auto fits = check(*request.blocks); !fits) return std::move(fits.error());
        Metadata made;
        Head& head = made.head;
        head.metadata = head.data =
            settings_.byte_order == "big" ? ByteOrder::big : ByteOrder::little;
        head.block =
            settings_.block ? settings_.block->count : std::max<std::int64_t>(1, preferred);
        const auto slash = request.path.rfind('/');
        head.prefix = slash == std::string::npos ? request.path : request.path.substr(slash + 1);
        const auto tasks = static_cast<std::size_t>(request.blocks->parts);
        head.ranks.resize(tasks);
        std::iota(head.ranks.begin(), head.ranks.end(), 0);
        const std::vector<std::int64_t> asked(tasks, chunk_of(*request.blocks));
        head.chunks = sion::own_chunks(asked, head.block);
        if (const auto places = Chunks::of(head); !places) return Error(places.error());
        const auto wrote = pwrite_all(fd.get(), request.path, encode(head), 0);
        if (!wrote) return Error(wrote.error());
        made.tail.used.assign(tasks, 0);
        return made;
    }

    static Result<Metadata> read(const OpenRequest& request) {
        const auto refused = [&](std::string cause) {
            return io_error("open", request.path, std::move(cause));
        };
        auto container = sion::Container::open(request.path);
        if (!container || container->fault() != nullptr) {
            // Of a run it is no wrong datum: nothing can be read.
            Error error = container ? *container->fault() : container.error();
            error.exit_code = ExitCode::io_error;
            return error;
        }
        const sion::File& file = container->first().file;
        const Head& head = file.head;
        if (head.files > 1) return refused("a container of several files: this backend takes one");
        if (head.tasks() != request.blocks->parts) {
            return refused(fmt::format("the container has {}, the file has {}",
                                       count_of(head.tasks(), "task"),
                                       count_of(request.blocks->parts, "part")));
        }
        if (!head.closed()) {
            return refused("the container was not closed: nothing says how long its streams are");
        }
        // Ranks may stand in any order; ours are those of the parts.
        for (std::int64_t task = 0; task < head.tasks(); ++task) {
            if (head.ranks[static_cast<std::size_t>(task)] != task) {
                return refused("the container's tasks are not in the order of their ranks");
            }
        }
        if (const auto task = first_unfilled(file); task && request.mode.write) {
            return refused(fmt::format(
                "task {} left a chunk that is not full: its stream cannot be written into", *task));
        }
        return Metadata{head, file.tail};
    }

    SionSettings settings_;
};

}  // namespace

void SionSettings::declare(OptionTable& table) {
    table.add("chunk", chunk, "bytes that a task has in a row; then it goes on in the next")
        .range(1, 9e15)
        .automatic("all that it writes");
    table.add("block", block, "of the file system; chunks are multiples of it")
        .range(1, 1 << 30)
        .automatic("the file system's");
    table.add("byte-order", byte_order, "of the metadata").choices({"little", "big"});
}

std::unique_ptr<Storage> make_sion_storage(Session& session, const SionSettings& settings) {
    return std::make_unique<SionStorage>(session, settings);
}

}  // namespace effio
