// SPDX-License-Identifier: BSD-3-Clause
#include "storage/sion/container.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "storage/removal.hpp"

namespace effio::sion {
namespace {

// Where the head says these, for errors.
constexpr std::int64_t files_field = 28;
constexpr std::int64_t number_field = 32;

}  // namespace

Result<std::unique_ptr<FileSource>> FileSource::open(const std::string& path) {
    // A FIFO would wait for a writer.
    auto fd = open_file(path, O_RDONLY | O_NONBLOCK);
    if (!fd) return std::move(fd.error());
    struct stat info{};
    if (::fstat(fd->get(), &info) != 0) return system_error("fstat", path, errno);
    if (!S_ISREG(info.st_mode)) {
        return io_error("open", path, fmt::format("it is {}, no file", kind_of(info.st_mode)));
    }
    constexpr std::int64_t block = 512;  // of st_blocks
    return std::unique_ptr<FileSource>(
        new FileSource(path, std::move(*fd), info.st_size, info.st_blocks * block));
}

Status FileSource::read(std::int64_t offset, std::span<std::byte> data) {
    const auto moved = pread_all(fd_.get(), path_, data, offset);
    if (!moved) return Error(moved.error());
    if (*moved != std::ssize(data)) {
        Error error = io_error("pread", path_, "the file has become shorter");
        error.offset = offset + *moved;
        return error;
    }
    if (!keeps_) return {};
    const bool follows =
        !kept_.empty() && kept_.back().offset + std::ssize(kept_.back().bytes) == offset;
    if (!follows) kept_.push_back({offset, {}});
    kept_.back().bytes.insert(kept_.back().bytes.end(), data.begin(), data.end());
    return {};
}

std::int64_t FileSource::stored(std::int64_t offset, std::int64_t length) const {
    const std::int64_t end = offset + length;
    std::int64_t sum = 0;
    while (offset < end) {
        const off_t data = ::lseek(fd_.get(), offset, SEEK_DATA);
        if (data < 0) return errno == ENXIO ? sum : length;  // nothing more, or not supported
        const off_t hole = ::lseek(fd_.get(), data, SEEK_HOLE);
        if (hole < 0) return length;
        sum += std::max<std::int64_t>(0, std::min<std::int64_t>(hole, end) - data);
        offset = hole;
    }
    return sum;
}

Result<Container> Container::open(const std::string& path, Metadata metadata) {
    Container container;
    auto source = FileSource::open(path);
    if (!source) return std::move(source.error());
    if (metadata == Metadata::kept) (*source)->keep();
    auto file = read_file(**source);
    if (!file) return std::move(file.error());
    if (file->head.file_number != 0) {
        return malformed(path, number_field,
                         fmt::format("this is file {} of {} of a container; name the first one",
                                     file->head.file_number, file->head.files));
    }
    container.parts_.push_back({path, std::move(*source), std::move(*file), {}});
    // Each has a task at least, which is how many places were found; but a first file that is not
    // closed may claim any number. By value: the first part moves when others join it.
    const bool bounded = container.first().file.head.closed();
    const std::int64_t files = container.first().file.head.files;
    for (std::int64_t number = 1; number < files; ++number) {
        container.add_file(number, metadata);
        const auto& error = container.parts_.back().error;
        if (!bounded && error && error->system_code == ENOENT) break;
    }
    container.compare_parts();
    return container;
}

void Container::add_file(std::int64_t number, Metadata metadata) {
    Part part{name_of_file(first().path, number), nullptr, {}, {}};
    if (auto source = FileSource::open(part.path); !source) {
        part.error = std::move(source.error());
    } else {
        part.source = std::move(*source);
        if (metadata == Metadata::kept) part.source->keep();
        if (auto file = read_file(*part.source); !file) {
            part.error = std::move(file.error());
        } else {
            part.file = std::move(*file);
        }
    }
    parts_.push_back(std::move(part));
}

/// What a part says of itself must fit to the first.
Status Container::compare(std::size_t index) const {
    const Part& part = parts_[index];
    const Header& head = part.file.head;
    const Header& of_all = first().file.head;
    if (head.files != of_all.files) {
        return malformed(part.path, files_field,
                         fmt::format("one of {} files; the container's first says {}", head.files,
                                     of_all.files));
    }
    if (head.file_number != static_cast<std::int64_t>(index)) {
        return malformed(
            part.path, number_field,
            fmt::format("file {} of the container; its name says {}", head.file_number, index));
    }
    return {};
}

void Container::compare_parts() {
    for (std::size_t index = 1; index < parts_.size(); ++index) {
        Part& part = parts_[index];
        if (!part.usable()) continue;
        if (auto fits = compare(index); !fits) part.error = std::move(fits.error());
    }
    for (std::size_t index = 0; index < parts_.size(); ++index) {
        if (!parts_[index].usable()) continue;
        const auto& ranks = parts_[index].file.head.ranks;
        for (std::size_t task = 0; task < ranks.size(); ++task) {
            tasks_.push_back({ranks[task], index, static_cast<std::int64_t>(task)});
        }
    }
    std::sort(tasks_.begin(), tasks_.end(), [](const Task& a, const Task& b) {
        return a.rank != b.rank ? a.rank < b.rank : a.part < b.part;
    });
    for (std::size_t i = 1; i < tasks_.size(); ++i) {
        const Task& task = tasks_[i];
        Part& part = parts_[task.part];
        if (task.rank != tasks_[i - 1].rank || !part.usable()) continue;
        part.error = malformed(
            part.path, lists_offset + 8 * task.task,
            fmt::format("rank {} is a task of file {} too", task.rank, tasks_[i - 1].part));
    }
    if (auto placed = check_places(); !placed && parts_.front().usable()) {
        parts_.front().error = std::move(placed.error());
    }
    std::erase_if(tasks_, [&](const Task& task) { return !parts_[task.part].usable(); });
}

/// The first file's list of places against what the files say.
Status Container::check_places() const {
    const File& file = first().file;
    const auto& places = file.tail.places;
    if (places.empty()) return {};
    const std::int64_t list = file.head.tail + 8 * file.head.tasks() * (file.head.rows + 1) + 4;
    const auto wrong = [&](std::int64_t rank, const std::string& says) {
        return malformed(first().path, list + 8 * rank,
                         fmt::format("the list of places has rank {} {}", rank, says));
    };
    for (const Task& task : tasks_) {
        if (task.rank >= std::ssize(places)) {
            return malformed(first().path, list - 4,
                             fmt::format("the list of places has {} ranks, file {} has rank {}",
                                         places.size(), task.part, task.rank));
        }
    }
    for (std::int64_t rank = 0; rank < std::ssize(places); ++rank) {
        const auto& place = places[static_cast<std::size_t>(rank)];
        const auto part = static_cast<std::size_t>(place.file);
        if (part >= parts_.size() || !parts_[part].usable()) continue;
        const auto& ranks = parts_[part].file.head.ranks;
        if (place.task >= std::ssize(ranks)) {
            return wrong(rank, fmt::format("as task {} of file {}, which has {}", place.task,
                                           place.file, ranks.size()));
        }
        if (ranks[static_cast<std::size_t>(place.task)] != rank) {
            return wrong(
                rank, fmt::format("as task {} of file {}, which is rank {}", place.task, place.file,
                                  ranks[static_cast<std::size_t>(place.task)]));
        }
    }
    return {};
}

const Container::Task* Container::find(std::int64_t rank) const {
    const auto it =
        std::lower_bound(tasks_.begin(), tasks_.end(), rank,
                         [](const Task& task, std::int64_t wanted) { return task.rank < wanted; });
    return it == tasks_.end() || it->rank != rank ? nullptr : &*it;
}

const Error* Container::fault() const {
    for (const Part& part : parts_) {
        if (part.error) return &*part.error;
    }
    return nullptr;
}

std::vector<Container::Piece> Container::pieces(const Task& task) const {
    std::vector<Piece> pieces;
    const File& file = parts_[task.part].file;
    if (!file.head.closed()) return pieces;
    const std::int64_t used = file.tail.used[static_cast<std::size_t>(task.task)];
    for (std::int64_t row = 0; row < used; ++row) {
        pieces.push_back({file.chunks.begin(task.task, row), file.bytes_in(task.task, row)});
    }
    return pieces;
}

Stream::Stream(const Container& container, const Container::Task& task)
    : part_(container.parts()[task.part]), pieces_(container.pieces(task)), begins_{0} {
    for (const auto& piece : pieces_) begins_.push_back(begins_.back() + piece.bytes);
}

std::size_t Stream::piece_of(std::int64_t offset) const {
    const auto after = std::upper_bound(begins_.begin(), begins_.end(), offset);
    return static_cast<std::size_t>(after - begins_.begin()) - 1;
}

std::int64_t Stream::place_of(std::int64_t offset) const {
    const std::size_t piece = piece_of(offset);
    return pieces_[piece].offset + offset - begins_[piece];
}

Status Stream::read(std::int64_t offset, std::span<std::byte> data) const {
    for (std::size_t piece = data.empty() ? 0 : piece_of(offset); !data.empty(); ++piece) {
        const auto now = data.first(
            static_cast<std::size_t>(std::min(std::ssize(data), begins_[piece + 1] - offset)));
        if (now.empty()) continue;
        const std::int64_t place = pieces_[piece].offset + offset - begins_[piece];
        if (auto read = part_.source->read(place, now); !read) return read;
        offset += std::ssize(now);
        data = data.subspan(now.size());
    }
    return {};
}

}  // namespace effio::sion
