// SPDX-License-Identifier: BSD-3-Clause
// Containers that ranks write together: their files byte for byte, by the format's tables, and
// ranks that write for others.
#include "storage/sion/shared.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "../../shared_directory.hpp"
#include "../../test_session.hpp"
#include "core/units.hpp"
#include "image.hpp"
#include "storage/sion/container.hpp"

namespace effio::sion {
namespace {

namespace fs = std::filesystem;

using Numbers = std::vector<std::int64_t>;

/// What a task writes; two tasks' bytes differ at every place.
std::byte byte_of(std::int64_t task, std::int64_t i) {
    return static_cast<std::byte>((i * 7 + i / 251 + task * 31) % 256);
}

std::vector<std::byte> stream_of(std::int64_t task, std::int64_t bytes) {
    std::vector<std::byte> stream;
    for (std::int64_t i = 0; i < bytes; ++i) stream.push_back(byte_of(task, i));
    return stream;
}

std::vector<std::byte> content_of(const std::string& path) {
    std::ifstream in(path, std::ios::binary);
    const std::string text((std::istreambuf_iterator<char>(in)), std::istreambuf_iterator<char>());
    std::vector<std::byte> bytes;
    for (const char c : text) bytes.push_back(static_cast<std::byte>(c));
    return bytes;
}

/// A file of a container named "out.sion", handwritten: its tasks' ranks, chunks, how many bytes
/// each wrote; in the first of several files, where each rank is.
struct Sheet {
    std::int64_t files = 1;
    std::int64_t number = 0;
    std::int64_t block = 0;
    Numbers ranks;
    Numbers chunks;
    Numbers sizes;
    Numbers used;
    std::vector<std::pair<int, int>> places;

    std::vector<std::byte> bytes(bool big) const {
        Image image;
        image.big = big;
        const std::size_t n = ranks.size();
        image.text(0, "sion");
        image.put32(4, big ? 0x01010101 : 0);
        image.put32(8, 1007);
        image.put32(12, 6);
        image.put32(16, 5);
        image.put32(20, static_cast<std::uint64_t>(block));
        image.put32(24, n);
        image.put32(28, static_cast<std::uint64_t>(files));
        image.put32(32, static_cast<std::uint64_t>(number));
        image.put64(36, 50ULL << 32U);
        image.put64(44, 0);
        image.text(52, "out.sion");
        const std::size_t head = 1088 + 16 * n;
        std::size_t begin = head;
        while (begin % static_cast<std::size_t>(block) != 0) ++begin;
        std::size_t row = 0;
        for (std::size_t i = 0; i < n; ++i) {
            image.put64(1076 + 8 * i, static_cast<std::uint64_t>(ranks[i]));
            image.put64(1076 + 8 * (n + i), static_cast<std::uint64_t>(chunks[i]));
            row += static_cast<std::size_t>(chunks[i]);
        }
        const auto rows = static_cast<std::size_t>(*std::max_element(used.begin(), used.end()));
        const std::size_t tail = begin + rows * row;
        image.put32(head - 12, rows);
        image.put64(head - 8, tail);
        image.bytes.resize(tail);
        std::size_t first = begin;
        for (std::size_t i = 0; i < n; ++i) {
            image.put64(tail + 8 * i, static_cast<std::uint64_t>(used[i]));
            std::int64_t written = 0;
            for (std::size_t k = 0; k < rows; ++k) {
                const std::int64_t here = std::min(sizes[i] - written, chunks[i]);
                image.put64(tail + 8 * (n + k * n + i), static_cast<std::uint64_t>(here));
                for (std::int64_t b = 0; b < here; ++b, ++written) {
                    image.bytes[first + k * row + static_cast<std::size_t>(b)] =
                        byte_of(ranks[i], written);
                }
            }
            first += static_cast<std::size_t>(chunks[i]);
        }
        if (places.empty()) return image.bytes;
        std::size_t at = tail + 8 * n * (1 + rows);
        image.put32(at, places.size());
        for (const auto& [file, task] : places) {
            image.put32(at + 4, static_cast<std::uint64_t>(file));
            image.put32(at + 8, static_cast<std::uint64_t>(task));
            at += 8;
        }
        return image.bytes;
    }
};

class Shared : public testing::Test {
  protected:
    Shared() : directory_(at_.comm) {}

    const Comm& comm() const { return at_.comm; }
    std::string path() const { return directory_ / "out.sion"; }
    std::unique_ptr<SharedContainer> open(const OpenMode& mode, const Making& making) {
        auto made = SharedContainer::open(at_.session, comm(), path(), mode, making);
        EXPECT_TRUE(made) << made.error().text();
        return made ? std::move(*made) : nullptr;
    }
    bool writes(std::int64_t task) const { return task % comm().size() == comm().rank(); }
    /// Each rank its tasks, in calls that do not end where chunks do.
    void write(SharedContainer& container, const Numbers& sizes) {
        constexpr std::int64_t call = 333;
        for (std::int64_t task = 0; task < std::ssize(sizes); ++task) {
            if (!writes(task)) continue;
            const auto stream = stream_of(task, sizes[static_cast<std::size_t>(task)]);
            for (std::int64_t at = 0; at < std::ssize(stream); at += call) {
                const auto part = std::span(stream).subspan(
                    static_cast<std::size_t>(at),
                    static_cast<std::size_t>(std::min(call, std::ssize(stream) - at)));
                const auto moved = container.write(task, at, part);
                ASSERT_TRUE(moved) << moved.error().text();
                ASSERT_EQ(*moved, std::ssize(part));
            }
        }
    }
    /// Collective.
    void close(SharedContainer& container) {
        const auto closed = container.close();
        ASSERT_TRUE(closed) << closed.error().text();
        comm().barrier();
    }

    TestSession at_;
    SharedDirectory directory_;
};

// 1, 2, 3, 1 and 6 chunks of 512 bytes; task 2 requested less, task 3 writes nothing.
Numbers five_asked() {
    return {512, 512, 500, 512, 512};
}
Numbers five_sizes() {
    return {500, 1024, 1500, 0, 3000};
}
Numbers five_chunks() {
    return Numbers(5, 512);
}
Numbers five_used() {
    return {1, 2, 3, 1, 6};
}

std::vector<Sheet> sheets_of_five(std::int64_t files) {
    if (files == 1)
        return {{1, 0, 512, {0, 1, 2, 3, 4}, five_chunks(), five_sizes(), five_used(), {}}};
    return {{3, 0, 512, {0}, {512}, {500}, {1}, {{0, 0}, {1, 0}, {2, 0}, {2, 1}, {2, 2}}},
            {3, 1, 512, {1}, {512}, {1024}, {2}, {}},
            {3, 2, 512, {2, 3, 4}, {512, 512, 512}, {1500, 0, 3000}, {3, 1, 6}, {}}};
}

TEST_F(Shared, files_are_those_of_the_tables_byte_for_byte) {
    for (const bool big : {false, true}) {
        for (const std::int64_t files : {1, 3}) {
            Making making{five_asked(), 512, files, big ? ByteOrder::big : ByteOrder::little, 1};
            auto container = open(OpenMode::creating(), making);
            ASSERT_TRUE(container);
            write(*container, five_sizes());
            close(*container);
            for (const Sheet& sheet : sheets_of_five(files)) {
                EXPECT_EQ(content_of(name_of_file(path(), sheet.number)), sheet.bytes(big))
                    << files << " files, number " << sheet.number;
            }
            EXPECT_FALSE(fs::exists(name_of_file(path(), files)));
            comm().barrier();
            for (std::int64_t n = 0; comm().is_root() && n < files; ++n) {
                fs::remove(name_of_file(path(), n));
            }
            comm().barrier();
        }
    }
}

TEST_F(Shared, four_tasks_with_3_MiB_in_chunks_of_2_MiB) {
    auto container = open(OpenMode::creating(), {Numbers(4, 2 * MiB), 64 * KiB});
    ASSERT_TRUE(container);
    for (std::int64_t task = 0; task < 4; ++task) {
        const auto stream = stream_of(task, 3 * MiB);
        if (writes(task)) {
            ASSERT_TRUE(container->write(task, 0, stream));
        }
    }
    close(*container);
    // Chunks from 65536 on, rows of 8388608, two of them; 4 × 8 + 2 × 4 × 8 bytes of tail.
    EXPECT_EQ(fs::file_size(path()), 16842848U);
    const auto found = Container::open(path());
    ASSERT_TRUE(found) << found.error().text();
    EXPECT_EQ(found->first().file.head.tail, 16842752);
    comm().barrier();
}

TEST_F(Shared, any_number_of_ranks_reads_what_others_wrote) {
    // Of no rank of ours, as if another program had written it; with gaps in chunks.
    if (comm().is_root()) {
        for (const Sheet& sheet : sheets_of_five(3)) {
            const auto bytes = sheet.bytes(true);
            std::ofstream out(name_of_file(path(), sheet.number), std::ios::binary);
            for (const auto byte : bytes) out.put(static_cast<char>(byte));
        }
    }
    comm().barrier();
    auto container = open(OpenMode::reading(), {});
    ASSERT_TRUE(container);
    ASSERT_EQ(container->tasks(), 5);
    for (std::int64_t task = 0; task < 5; ++task) {
        const auto expected = stream_of(task, five_sizes().at(static_cast<std::size_t>(task)));
        EXPECT_EQ(container->bytes_of(task), std::ssize(expected));
        std::vector<std::byte> found(expected.size() + 10);
        const auto moved = container->read(task, 0, found);
        ASSERT_TRUE(moved) << moved.error().text();
        EXPECT_EQ(*moved, std::ssize(expected));
        found.resize(expected.size());
        EXPECT_EQ(found, expected) << task;
    }
    close(*container);
}

TEST_F(Shared, metadata_that_changed_since_they_were_written_are_found) {
    const Making making{five_asked(), 512, 3};
    auto container = open(OpenMode::creating(), making);
    ASSERT_TRUE(container);
    write(*container, five_sizes());
    close(*container);
    const auto flip = [&](std::int64_t file, std::int64_t offset) {
        if (comm().is_root()) {
            std::fstream out(name_of_file(path(), file),
                             std::ios::binary | std::ios::in | std::ios::out);
            out.seekg(offset);
            const int byte = out.get();
            out.seekp(offset);
            out.put(static_cast<char>(byte ^ 1));
        }
        comm().barrier();
    };
    // None of these changes where data are, so that the container can be opened and read: library
    // version, patch level, flags, name (of each file, and behind its end), and how much of the
    // last chunk of rank 0 is used (its tail: 1 chunk, of 500 bytes).
    const std::int64_t tail = 1536 + 512;
    for (const auto& [file, offset] : std::vector<std::pair<std::int64_t, std::int64_t>>{
             {0, 8}, {0, 12}, {0, 44}, {0, 52}, {2, 53}, {0, 1000}, {0, tail + 8}}) {
        flip(file, offset);
        container = open(OpenMode::reading(), {});
        ASSERT_TRUE(container);
        const auto confirmed = container->confirm();
        ASSERT_FALSE(confirmed) << file << " " << offset;
        if (comm().is_root()) {
            EXPECT_EQ(confirmed.error().path, name_of_file(path(), file));
            EXPECT_EQ(confirmed.error().offset, offset);
        }
        close(*container);
        flip(file, offset);
    }
    container = open(OpenMode::updating(), making);
    ASSERT_TRUE(container);
    EXPECT_TRUE(container->confirm());
    close(*container);
    // A container that this run did not write can be anything.
    at_.session.containers.reset();
    flip(0, 52);
    container = open(OpenMode::reading(), {});
    ASSERT_TRUE(container);
    EXPECT_TRUE(container->confirm());
    close(*container);
}

TEST_F(Shared, several_files_that_are_opened_for_writing_are_not_closed_until_they_are) {
    const Making making{five_asked(), 512, 3};
    auto container = open(OpenMode::creating(), making);
    ASSERT_TRUE(container);
    write(*container, five_sizes());
    close(*container);
    container = open(OpenMode::updating(), making);
    ASSERT_TRUE(container);
    comm().barrier();
    // As a killed writer leaves them.
    container.reset();
    const auto left = Container::open(path());
    ASSERT_TRUE(left) << left.error().text();
    EXPECT_EQ(left->fault(), nullptr);
    for (const auto& part : left->parts()) EXPECT_FALSE(part.file.head.closed()) << part.path;
    EXPECT_TRUE(left->pieces(left->tasks().front()).empty());
    comm().barrier();
    const auto refused =
        SharedContainer::open(at_.session, comm(), path(), OpenMode::reading(), making);
    ASSERT_FALSE(refused);
}

TEST_F(Shared, files_that_vanish_with_the_close_vanish_all) {
    OpenMode mode = OpenMode::creating();
    mode.delete_on_close = true;
    auto container = open(mode, {five_asked(), 512, 3});
    ASSERT_TRUE(container);
    close(*container);
    EXPECT_TRUE(fs::is_empty(directory_.path()));
}

TEST_F(Shared, small_chunks_are_remarked) {
    auto container = open(OpenMode::creating(), {Numbers{4096, 100}, 4096});
    ASSERT_TRUE(container);
    EXPECT_NE(container->remark().find("of 100 B are smaller"), std::string::npos)
        << container->remark();
    close(*container);
    container = open(OpenMode::reading(), {});
    ASSERT_TRUE(container);
    EXPECT_EQ(container->remark(), "");
    close(*container);
}

TEST_F(Shared, collectors_write_groups_without_gaps) {
    if (comm().size() != 5) GTEST_SKIP() << "the example has five ranks";
    constexpr std::int64_t each = 10240;
    for (const std::int64_t files : {1, 2}) {
        const Making making{Numbers(5, each), 4096, files, ByteOrder::little, 3};
        auto container = open(OpenMode::creating(), making);
        ASSERT_TRUE(container);
        EXPECT_EQ(container->collectors(), files == 1 ? 3 : 2);
        const auto stream = stream_of(comm().rank(), each);
        const std::vector<Extent> extents{{comm().rank(), 0, 1000}, {comm().rank(), 1000, 9240}};
        const auto moved = container->write_together(extents, stream);
        ASSERT_TRUE(moved) << moved.error().text();
        EXPECT_EQ(*moved, each);
        EXPECT_EQ(container->bytes_of(comm().rank()), each);
        close(*container);
        // One file: groups of tasks 0-1, 2-3 and 4. Two: 0-1, and of three tasks with 30720 bytes
        // one group, up to 32768.
        std::vector<Sheet> sheets{{1, 0, 4096, {0, 1, 2, 3, 4}, {}, {}, Numbers(5, 1), {}}};
        sheets[0].chunks = {10240, 10240, 10240, 10240, 12288};
        sheets[0].sizes = Numbers(5, each);
        if (files == 2) {
            sheets = {
                {2, 0, 4096, {0, 1}, {10240, 10240}, Numbers(2, each), {1, 1}, {}},
                {2, 1, 4096, {2, 3, 4}, {10240, 10240, 12288}, Numbers(3, each), {1, 1, 1}, {}}};
            sheets[0].places = {{0, 0}, {0, 1}, {1, 0}, {1, 1}, {1, 2}};
        }
        for (const Sheet& sheet : sheets) {
            EXPECT_EQ(content_of(name_of_file(path(), sheet.number)), sheet.bytes(false));
        }
        comm().barrier();
        container = open(OpenMode::reading(), making);
        ASSERT_TRUE(container);
        // The next rank's, in another group for some, and beyond its end.
        const std::int64_t other = (comm().rank() + 1) % 5;
        std::vector<std::byte> found(each + 7);
        const std::vector<Extent> whole{{other, 0, each + 7}};
        const auto read = container->read_together(whole, found);
        ASSERT_TRUE(read) << read.error().text();
        EXPECT_EQ(*read, each);
        found.resize(each);
        EXPECT_EQ(found, stream_of(other, each));
        close(*container);
        for (std::int64_t n = 0; comm().is_root() && n < files; ++n) {
            fs::remove(name_of_file(path(), n));
        }
        comm().barrier();
    }
}

class Collectors : public testing::Test {
  protected:
    /// All ranks are one group.
    Collectors()
        : collector_(at_.session, *at_.comm.split(0),
                     [](std::int64_t file) { return "file " + std::to_string(file); }),
          rank_(at_.comm.rank()) {}

    TestSession at_;
    Collector collector_;
    std::int64_t rank_;
};

TEST_F(Collectors, move_the_bytes_of_all_and_the_others_touch_no_file) {
    // More than one message's worth, and nothing from rank 1.
    const std::int64_t bytes = rank_ == 1 ? 0 : 5 * MiB + rank_;
    std::vector<FileRange> places{{0, rank_ * 8 * MiB, bytes / 2}};
    places.push_back({1, rank_ * 8 * MiB, bytes - bytes / 2});
    if (bytes == 0) places.clear();
    const auto stream = stream_of(rank_, bytes);
    std::vector<std::vector<std::byte>> files(2);
    for (auto& file : files) {
        if (rank_ == 0) file.resize(static_cast<std::size_t>(8 * MiB * at_.comm.size()));
    }
    int calls = 0;
    const auto memory_of = [&](const FileRange& place, std::size_t size) {
        ++calls;
        EXPECT_EQ(rank_, 0);
        return std::span(files[static_cast<std::size_t>(place.file)])
            .subspan(static_cast<std::size_t>(place.offset), size);
    };
    const auto wrote = collector_.write(
        places, stream, [&](const FileRange& place, std::span<const std::byte> data) {
            std::copy(data.begin(), data.end(), memory_of(place, data.size()).begin());
            return Result<std::int64_t>(std::ssize(data));
        });
    ASSERT_TRUE(wrote) << wrote.error().text();
    EXPECT_EQ(*wrote, bytes);
    std::vector<std::byte> found(static_cast<std::size_t>(bytes));
    const auto read =
        collector_.read(places, found, [&](const FileRange& place, std::span<std::byte> data) {
            const auto from = memory_of(place, data.size());
            std::copy(from.begin(), from.end(), data.begin());
            return Result<std::int64_t>(std::ssize(data));
        });
    ASSERT_TRUE(read) << read.error().text();
    EXPECT_EQ(*read, bytes);
    EXPECT_EQ(found, stream);
    EXPECT_EQ(calls > 0, rank_ == 0);
}

TEST_F(Collectors, failures_are_those_of_the_rank_whose_bytes_they_are) {
    const std::vector<FileRange> places{{0, rank_ * 100, 10}, {3, rank_ * 100 + 50, 10}};
    const std::vector<std::byte> data(20);
    const auto fails = at_.comm.size() - 1;
    const auto wrote = collector_.write(
        places, data, [&](const FileRange& place, std::span<const std::byte> part) {
            if (place.offset == 100 * fails + 50) {
                return Result<std::int64_t>(system_error("pwrite", "file", ENOSPC, place.offset));
            }
            return Result<std::int64_t>(std::ssize(part));
        });
    ASSERT_EQ(static_cast<bool>(wrote), rank_ != fails);
    if (wrote) {
        EXPECT_EQ(*wrote, 20);
    } else if (rank_ > 0) {
        EXPECT_EQ(wrote.error().operation, "pwrite");
        EXPECT_EQ(wrote.error().system_code, ENOSPC);
        EXPECT_EQ(wrote.error().path, "file 3");
        EXPECT_EQ(wrote.error().offset, 100 * fails + 50);
        EXPECT_NE(wrote.error().text().find("on rank 0, the collector"), std::string::npos);
    }
    // A short move is not a failure, and nothing after it counts.
    std::vector<std::byte> memory(20);
    const auto read =
        collector_.read(places, memory, [&](const FileRange& place, std::span<std::byte> part) {
            return Result<std::int64_t>(place.file == 0 ? 4 : std::ssize(part));
        });
    ASSERT_TRUE(read);
    EXPECT_EQ(*read, 4);
}

}  // namespace
}  // namespace effio::sion
