// SPDX-License-Identifier: BSD-3-Clause
#include "storage/sion/shared.hpp"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <cerrno>

#include "core/units.hpp"
#include "storage/late_views.hpp"
#include "storage/removal.hpp"
#include "storage/sion/container.hpp"

namespace effio::sion {
namespace {

/// Such a file cannot be written into: a task went on in its next chunk before one was full, or has
/// none that anything fits into.
std::optional<std::int64_t> first_unfilled(const File& file) {
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

Error refused(const std::string& path, std::string cause, std::int64_t offset = -1) {
    Error error = io_error("open", path, std::move(cause));
    if (offset >= 0) error.offset = offset;
    return error;
}

int flags_of(const OpenMode& mode) {
    return mode.write ? O_RDWR : O_RDONLY;
}

Status write_bytes(int fd, const std::string& path, std::span<const std::byte> bytes,
                   std::int64_t offset) {
    const auto wrote = pwrite_all(fd, path, bytes, offset);
    if (!wrote) return Error(wrote.error());
    return {};
}

/// Later writes may replace the tail: until the file is closed again, it has none.
Status reopen(const std::string& path, Header head) {
    auto fd = open_file(path, O_RDWR);
    if (!fd) return std::move(fd.error());
    head.rows = head.tail = 0;
    return write_bytes(fd->get(), path, encode_end_of_head(head), head.offset_of_rows());
}

Status make_file(const std::string& path, const Header& head, const OpenMode& mode) {
    // The first one is there by now.
    const bool exclusive = mode.exclusive && head.file_number > 0;
    auto fd = open_file(path, O_RDWR | O_CREAT | (exclusive ? O_EXCL : O_TRUNC));
    if (!fd) return std::move(fd.error());
    return write_bytes(fd->get(), path, encode(head), 0);
}

std::vector<std::int64_t> chunks_of(std::span<const std::int64_t> asked, std::int64_t block,
                                    std::int64_t collector_tasks) {
    return collector_tasks > 1 ? collected_chunks(asked, block, collector_tasks)
                               : own_chunks(asked, block);
}

}  // namespace

void SharedContainer::Known::share(const Comm& comm) {
    std::int64_t count = std::ssize(files);
    int is_own = own ? 1 : 0;
    comm.broadcast(is_own);
    own = is_own != 0;
    comm.broadcast(count);
    comm.broadcast(remark);
    files.resize(static_cast<std::size_t>(count));
    for (std::size_t number = 0; number < files.size(); ++number) {
        Header& head = files[number].head;
        Tail& tail = files[number].tail;
        std::int64_t tasks = head.tasks();
        std::int64_t version = head.version;
        std::int64_t order = head.metadata == ByteOrder::big ? 1 : 0;
        for (std::int64_t* word : {&head.block, &head.rows, &head.tail, &tasks, &version, &order}) {
            comm.broadcast(*word);
        }
        head.version = static_cast<std::int32_t>(version);
        head.metadata = head.data = order == 1 ? ByteOrder::big : ByteOrder::little;
        head.files = count;
        head.file_number = static_cast<std::int64_t>(number);
        head.ranks.resize(static_cast<std::size_t>(tasks));
        head.chunks.resize(static_cast<std::size_t>(tasks));
        tail.used.resize(static_cast<std::size_t>(tasks));
        tail.bytes.resize(static_cast<std::size_t>(tasks * head.rows));
        for (auto* list : {&head.ranks, &head.chunks, &tail.used, &tail.bytes}) {
            comm.broadcast(std::span<std::int64_t>(*list));
        }
    }
}

/// Returns on the root what is there, or what it made.
Result<SharedContainer::Known> SharedContainer::begin(const std::string& path, const OpenMode& mode,
                                                      const Making& making, Metadata metadata) {
    const int flags = flags_of(mode) | (mode.create ? O_CREAT : 0) | (mode.exclusive ? O_EXCL : 0);
    auto fd = open_file(path, flags);
    if (!fd) return std::move(fd.error());
    struct stat info{};
    if (::fstat(fd->get(), &info) != 0) return system_error("fstat", path, errno);
    if (info.st_size == 0 && mode.create) return make(path, mode, making, info.st_blksize);
    return read_known(path, mode, making, metadata);
}

Result<SharedContainer::Known> SharedContainer::make(const std::string& path, const OpenMode& mode,
                                                     const Making& making,
                                                     std::int64_t preferred_block) {
    Known made;
    made.own = true;
    const std::int64_t block =
        making.block > 0 ? making.block : std::max<std::int64_t>(1, preferred_block);
    const auto tasks = std::ssize(making.asked);
    made.files.resize(static_cast<std::size_t>(making.files));
    for (std::int64_t rank = 0; rank < tasks; ++rank) {
        Header& head =
            made.files[static_cast<std::size_t>(file_of(rank, tasks, making.files))].head;
        head.ranks.push_back(rank);
        head.chunks.push_back(making.asked[static_cast<std::size_t>(rank)]);
    }
    for (std::size_t number = 0; number < made.files.size(); ++number) {
        Header& head = made.files[number].head;
        head.metadata = head.data = making.order;
        head.block = block;
        head.files = making.files;
        head.file_number = static_cast<std::int64_t>(number);
        head.prefix = path.substr(path.rfind('/') + 1);
        head.chunks = chunks_of(head.chunks, block, making.collector_tasks);
        if (const auto places = Chunks::of(head); !places) return Error(places.error());
        made.files[number].tail.used.assign(head.ranks.size(), 0);
    }
    for (const File& file : made.files) {
        const auto wrote = make_file(name_of_file(path, file.head.file_number), file.head, mode);
        if (!wrote) return Error(wrote.error());
    }
    const auto least = *std::min_element(making.asked.begin(), making.asked.end());
    if (making.collector_tasks <= 1 && least < block) {
        made.remark = fmt::format(
            "chunks of {} are smaller than a block of the file system, {}: "
            "each takes a whole one",
            shown_size(Bytes{least}), shown_size(Bytes{block}));
    }
    return made;
}

Result<SharedContainer::Known> SharedContainer::read_known(const std::string& path,
                                                           const OpenMode& mode,
                                                           const Making& making,
                                                           Metadata metadata) {
    auto container = Container::open(path, metadata);
    if (!container || container->fault() != nullptr) {
        // Of a run it is not a wrong datum: nothing can be read.
        Error error = container ? *container->fault() : container.error();
        error.exit_code = ExitCode::io_error;
        return error;
    }
    const auto& tasks = container->tasks();
    const auto asked = std::ssize(making.asked);
    if (mode.write && std::ssize(tasks) != asked) {
        return refused(path,
                       fmt::format("the container has {}, the file has {}",
                                   count_of(std::ssize(tasks), "task"), count_of(asked, "part")));
    }
    for (std::size_t rank = 0; rank < tasks.size(); ++rank) {
        if (tasks[rank].rank != static_cast<std::int64_t>(rank)) {
            return refused(path, fmt::format("the container has no task of rank {}", rank),
                           lists_offset);
        }
    }
    Known known;
    known.own = metadata == Metadata::kept;
    for (const auto& part : container->parts()) {
        if (!part.file.head.closed()) {
            return refused(part.path,
                           "the container was not closed: nothing says how long its streams are",
                           part.file.head.offset_of_rows());
        }
        const auto task = first_unfilled(part.file);
        if (task && mode.write) {
            return refused(part.path, fmt::format("task {} left a chunk that is not full: its "
                                                  "stream cannot be written into",
                                                  *task));
        }
        known.files.push_back(part.file);
        if (known.own) known.read.push_back(part.source->take_kept());
    }
    for (const auto& part : container->parts()) {
        if (!mode.write) break;
        if (auto open = reopen(part.path, part.file.head); !open) return std::move(open.error());
    }
    return known;
}

Result<std::unique_ptr<SharedContainer>> SharedContainer::open(Session& session, const Comm& comm,
                                                               const std::string& path,
                                                               const OpenMode& mode,
                                                               const Making& making) {
    session.progress.call("open");
    Result<Known> known = Known{};
    for (std::int64_t file = 0; mode.create && file < making.files; ++file) {
        wait_until_gone(session, comm, name_of_file(path, file));
    }
    if (!session.containers) session.containers = std::make_shared<OwnContainers>();
    if (comm.is_root()) {
        const bool own = session.containers->layout(path) != nullptr;
        known = begin(path, mode, making, own ? Metadata::kept : Metadata::parsed);
    }
    session.progress.beat();
    std::array<int, 2> failed{known ? 0 : 1, known ? 0 : known.error().system_code};
    comm.broadcast(std::span<int>(failed));
    if (!known) return std::move(known.error());
    if (failed[1] != 0) return system_error("open", path, failed[1]);
    if (failed[0] != 0) return refused(path, "another rank could not open it");
    known->share(comm);
    std::unique_ptr<SharedContainer> made(
        new SharedContainer(session, comm, path, mode, std::move(*known)));
    if (making.collector_tasks > 1) made->join_collector(making);
    // Who will touch a file opens it now, and all have theirs or none.
    Status own;
    const std::int64_t task = comm.rank() % made->tasks();
    const auto file = made->places_[static_cast<std::size_t>(task)].file;
    if (auto fd = made->descriptor(file); !fd) own = std::move(fd.error());
    const int all = comm.min(own ? 1 : 0);
    if (!own) return std::move(own.error());
    if (all == 0) return refused(path, "another rank could not open it");
    session.containers->opened(path, made->files());
    return made;
}

SharedContainer::SharedContainer(Session& session, const Comm& comm, const std::string& path,
                                 const OpenMode& mode, Known known)
    : session_(session),
      comm_(comm),
      writes_(mode.write),
      unlinks_(mode.delete_on_close),
      own_(known.own),
      layout_(std::make_shared<Layout>()),
      files_(layout_->files),
      ends_(layout_->ends),
      wrote_(session.containers->layout(path)),
      read_(std::move(known.read)),
      remark_(std::move(known.remark)),
      collectors_(comm.size()) {
    files_ = std::move(known.files);
    open_.resize(files_.size());
    std::size_t count = 0;
    for (const File& file : files_) count += file.head.ranks.size();
    places_.resize(count);
    ends_.resize(count);
    for (std::size_t number = 0; number < files_.size(); ++number) {
        paths_.push_back(name_of_file(path, static_cast<std::int64_t>(number)));
        File& file = files_[number];
        file.chunks = std::move(*Chunks::of(file.head));
        unfilled_.push_back(first_unfilled(file).has_value());
        for (std::int64_t task = 0; task < file.head.tasks(); ++task) {
            const auto rank =
                static_cast<std::size_t>(file.head.ranks[static_cast<std::size_t>(task)]);
            places_[rank] = {static_cast<std::int32_t>(number), static_cast<std::int32_t>(task)};
            ends_[rank] = file.bytes_of(task);
        }
    }
}

/// Ranks whose chunks are in one group have one collector; those of them that only read, and are
/// others than the tasks, some neighbors.
void SharedContainer::join_collector(const Making& making) {
    const std::int64_t rank = comm_.rank();
    std::int64_t color = rank / making.collector_tasks;
    if (std::ssize(making.asked) == comm_.size() && tasks() == comm_.size()) {
        const std::int64_t file = places_[static_cast<std::size_t>(rank)].file;
        const Header& head = files_[static_cast<std::size_t>(file)].head;
        std::vector<std::int64_t> asked;
        for (const auto task : head.ranks) {
            asked.push_back(making.asked[static_cast<std::size_t>(task)]);
        }
        const auto ends = collector_groups(asked, head.block, making.collector_tasks);
        const auto task = places_[static_cast<std::size_t>(rank)].task;
        // The rank of the group's last task belongs to no other group.
        const auto end = *std::upper_bound(ends.begin(), ends.end(), task);
        color = head.ranks[static_cast<std::size_t>(end) - 1];
    }
    auto group = comm_.split(static_cast<int>(color));
    collectors_ = comm_.sum(group->is_root() ? std::int64_t{1} : std::int64_t{0});
    collector_.emplace(session_, std::move(*group), [this](std::int64_t file) {
        return paths_[static_cast<std::size_t>(file)];
    });
}

Result<int> SharedContainer::descriptor(std::int64_t file) {
    Descriptor& open = open_[static_cast<std::size_t>(file)];
    if (!open) [[unlikely]] {
        auto fd = open_file(paths_[static_cast<std::size_t>(file)], writes_ ? O_RDWR : O_RDONLY);
        if (!fd) return std::move(fd.error());
        open = std::move(*fd);
    }
    return open.get();
}

FileRange SharedContainer::place(std::int64_t task, std::int64_t position) const {
    const auto [number, local] = places_[static_cast<std::size_t>(task)];
    const File& file = files_[static_cast<std::size_t>(number)];
    std::int64_t row = 0;
    std::int64_t inside = position;
    std::int64_t filled = 0;
    if (!unfilled_[static_cast<std::size_t>(number)]) {
        filled = file.chunks.room(local);
        row = position / filled;
        inside = position % filled;
    }
    if (!writes_) {
        const std::int64_t used = file.tail.used[static_cast<std::size_t>(local)];
        while (row < used && inside >= file.bytes_in(local, row)) {
            inside -= file.bytes_in(local, row++);
        }
        filled = std::max(row < used ? file.bytes_in(local, row) : 0, inside);
    }
    return {number, file.chunks.begin(local, row) + inside, filled - inside};
}

std::vector<FileRange> SharedContainer::places_of(std::span<const Extent> extents) const {
    std::vector<FileRange> all;
    for (Extent extent : extents) {
        while (extent.bytes > 0) {
            FileRange here = place(extent.task, extent.position);
            here.bytes = std::min(here.bytes, extent.bytes);
            if (here.bytes == 0) return all;
            all.push_back(here);
            extent.position += here.bytes;
            extent.bytes -= here.bytes;
        }
    }
    return all;
}

Result<std::int64_t> SharedContainer::write_at(const FileRange& place,
                                               std::span<const std::byte> data) {
    const auto fd = descriptor(place.file);
    if (!fd) return Error(fd.error());
    return pwrite_all(*fd, paths_[static_cast<std::size_t>(place.file)], data, place.offset);
}

Result<std::int64_t> SharedContainer::read_at(const FileRange& place, std::span<std::byte> data) {
    const auto fd = descriptor(place.file);
    if (!fd) return Error(fd.error());
    return pread_all(*fd, paths_[static_cast<std::size_t>(place.file)], data, place.offset);
}

/// Cut where chunks end.
template <class Span, class Move>
Result<std::int64_t> SharedContainer::move(std::int64_t task, std::int64_t position, Span data,
                                           Move&& one) {
    std::int64_t done = 0;
    while (!data.empty()) {
        FileRange here = place(task, position + done);
        here.bytes = std::min(here.bytes, static_cast<std::int64_t>(data.size()));
        if (here.bytes == 0) break;
        auto moved = one(here, data.first(static_cast<std::size_t>(here.bytes)));
        if (!moved) return moved;
        done += *moved;
        if (*moved < here.bytes) break;
        data = data.subspan(static_cast<std::size_t>(here.bytes));
    }
    return done;
}

Result<std::int64_t> SharedContainer::write(std::int64_t task, std::int64_t position,
                                            std::span<const std::byte> data) {
    auto& end = ends_[static_cast<std::size_t>(task)];
    std::int64_t at = position;
    return move(task, position, data, [&](const FileRange& here, std::span<const std::byte> part) {
        auto moved = write_at(here, part);
        if (moved) end = std::max(end, at += *moved);
        return moved;
    });
}

Result<std::int64_t> SharedContainer::read(std::int64_t task, std::int64_t position,
                                           std::span<std::byte> data) {
    return move(task, position, data, [&](const FileRange& here, std::span<std::byte> part) {
        return read_at(here, part);
    });
}

Result<std::int64_t> SharedContainer::write_together(std::span<const Extent> extents,
                                                     std::span<const std::byte> data) {
    auto moved = collector_->write(places_of(extents), data,
                                   [this](const FileRange& here, std::span<const std::byte> part) {
                                       return write_at(here, part);
                                   });
    std::int64_t rest = moved ? *moved : 0;
    for (const Extent& extent : extents) {
        const std::int64_t bytes = std::min(rest, extent.bytes);
        auto& end = ends_[static_cast<std::size_t>(extent.task)];
        if (bytes > 0) end = std::max(end, extent.position + bytes);
        rest -= bytes;
    }
    return moved;
}

Result<std::int64_t> SharedContainer::read_together(std::span<const Extent> extents,
                                                    std::span<std::byte> data) {
    return collector_->read(
        places_of(extents), data,
        [this](const FileRange& here, std::span<std::byte> part) { return read_at(here, part); });
}

Status SharedContainer::confirm() {
    Status same;
    for (std::size_t file = 0; same && wrote_ != nullptr && file < read_.size(); ++file) {
        if (file < wrote_->files.size()) {
            same = compare_metadata(paths_.front(), *wrote_, file, read_[file]);
        }
    }
    read_.clear();
    int good = same ? 1 : 0;
    comm_.broadcast(good);
    if (good == 0 && same) {
        return refused(paths_.front(), "the first rank read other metadata than this run wrote");
    }
    return same;
}

Status SharedContainer::sync() {
    for (std::size_t file = 0; file < open_.size(); ++file) {
        if (!open_[file]) continue;
        if (auto synced = sync_file(open_[file].get(), paths_[file]); !synced) return synced;
    }
    return {};
}

Status SharedContainer::close() {
    Status done;
    const auto keep_first = [&done](Status more) {
        if (done && !more) done = std::move(more);
    };
    if (writes_) {
        comm_.max(std::span<std::int64_t>(ends_));
        for (std::int64_t file = comm_.rank(); file < files(); file += comm_.size()) {
            keep_first(write_tail(file));
        }
    }
    for (std::size_t file = 0; file < open_.size(); ++file) {
        if (const int code = open_[file].close(); code != 0) {
            keep_first(system_error("close", paths_[file], code));
        }
    }
    if (writes_ && own_) session_.containers->closed(paths_.front(), layout_);
    if (unlinks_) {
        // Another rank may have its tail to write.
        comm_.barrier();
        for (const auto& path : paths_) {
            if (comm_.is_root()) keep_first(remove_file(path));
        }
    }
    return done;
}

/// The tail first: a head that points to it makes the file closed.
Status SharedContainer::write_tail(std::int64_t number) {
    const File& file = files_[static_cast<std::size_t>(number)];
    const Tail tail = tail_of(*layout_, static_cast<std::size_t>(number));
    Header head = file.head;
    head.rows = *std::max_element(tail.used.begin(), tail.used.end());
    auto begin = file.chunks.tail(head.rows);
    if (!begin) return std::move(begin.error());
    head.tail = *begin;
    const auto fd = descriptor(number);
    if (!fd) return Error(fd.error());
    const std::string& path = paths_[static_cast<std::size_t>(number)];
    auto wrote = write_bytes(*fd, path, encode(tail, head.metadata), head.tail);
    if (!wrote) return wrote;
    return write_bytes(*fd, path, encode_end_of_head(head), head.offset_of_rows());
}

}  // namespace effio::sion
