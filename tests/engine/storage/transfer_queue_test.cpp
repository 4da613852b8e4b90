// SPDX-License-Identifier: BSD-3-Clause
// Transfers that are under way together: all data arrive, every slot comes back once, and failures
// name their place.
#include "storage/transfer_queue.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <filesystem>
#include <set>
#include <thread>

#include "../test_session.hpp"
#include "core/buffer.hpp"
#include "core/pattern.hpp"
#include "storage/backends.hpp"

namespace effio {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t piece = 4096;

struct OneQueue : testing::Test {
    TestSession at;
    Comm self = Comm::self(at.clock);
    std::string path =
        (fs::temp_directory_path() / ("effio-queue-" + std::to_string(getpid()))).string();
    Pattern pattern{5, 6};
    std::string reason;

    void TearDown() override { fs::remove(path); }

    std::unique_ptr<ByteFile> open(const std::string& backend, OpenMode mode) {
        BackendChoice choice;
        choice.name = backend;
        if (auto present = check_present(Serves::bytes, backend); !present) {
            reason = present.error().text();
            return nullptr;
        }
        storage = make_storage(at.session, choice, nullptr);
        auto file = storage->open(self, {path, mode, Element::byte, {}});
        if (!file) {
            reason = file.error().text();
            return nullptr;
        }
        return std::move(*file);
    }
    std::unique_ptr<Storage> storage;
};

/// For each way to storage that has queues.
struct Queues : OneQueue, testing::WithParamInterface<const char*> {};
INSTANTIATE_TEST_SUITE_P(Ways, Queues, testing::Values("uring", "mpiio"),
                         [](const auto& way) { return std::string(way.param); });

TEST_P(Queues, hold_every_depth_and_hand_back_each_slot_once) {
    for (const std::size_t depth : {1U, 2U, 7U, 128U}) {
        const auto file = open(GetParam(), OpenMode::creating());
        if (!file) GTEST_SKIP() << reason;
        auto queue = std::move(*file->queue({.depth = depth}));
        std::vector<Buffer> memory;
        std::set<std::size_t> over;
        for (std::size_t i = 0; i < depth; ++i) {
            memory.emplace_back(piece);
            const auto offset = static_cast<std::int64_t>((depth - 1 - i) * piece);
            pattern.fill(memory[i].bytes(), offset);
            queue->post_write(i, memory[i].bytes(), offset);
        }
        for (std::size_t i = 0; i < depth; ++i) {
            const Completion one = queue->wait();
            EXPECT_TRUE(one.status);
            EXPECT_TRUE(over.insert(one.slot).second);
        }
        EXPECT_FALSE(queue->test());
        EXPECT_EQ(*file->size(), static_cast<std::int64_t>(depth * piece));
        // Slots are used again, one at a time.
        for (std::size_t i = 0; i < depth; ++i) {
            const auto offset = static_cast<std::int64_t>(i * piece);
            queue->post_read(depth - 1, memory[0].bytes(), offset);
            EXPECT_EQ(queue->wait().slot, depth - 1);
            EXPECT_FALSE(pattern.check(memory[0].bytes(), offset)) << depth << " " << i;
        }
        queue.reset();
        EXPECT_TRUE(file->close());
        fs::remove(path);
    }
}

TEST_P(Queues, show_what_came_short_and_what_failed_with_the_place) {
    const auto file = open(GetParam(), OpenMode::creating());
    if (!file) GTEST_SKIP() << reason;
    Buffer buffer(piece);
    ASSERT_TRUE(file->write({}, buffer.bytes().first(1000), 0));
    ASSERT_TRUE(file->close());
    const auto reader = open(GetParam(), OpenMode::reading());
    ASSERT_TRUE(reader) << reason;
    auto queue = std::move(*reader->queue({.depth = 2}));
    queue->post_read(0, buffer.bytes(), 600);
    Completion over = queue->wait();
    ASSERT_FALSE(over.status);
    EXPECT_EQ(over.status.error().offset, 600);
    const bool mpi = std::string(GetParam()) == "mpiio";
    EXPECT_EQ(over.status.error().operation, mpi ? "MPI_File_iread_at" : "io_uring read");
    EXPECT_EQ(over.status.error().cause, mpi ? "4 KiB cannot be read: the file ends at byte 1000"
                                             : "moved 400 B of 4 KiB without reporting an error");
    EXPECT_EQ(over.status.error().path, path);
    // The file is open for reading.
    queue->post_write(1, buffer.bytes(), 8192);
    over = queue->wait();
    EXPECT_EQ(over.slot, 1U);
    ASSERT_FALSE(over.status);
    EXPECT_EQ(over.status.error().operation, mpi ? "MPI_File_iwrite_at" : "io_uring write");
    if (!mpi) {
        EXPECT_EQ(over.status.error().system_code, EBADF);
    }
    EXPECT_EQ(over.status.error().offset, 8192);
    EXPECT_EQ(over.status.error().rank, at.session.world_rank);
    queue.reset();
    EXPECT_TRUE(reader->close());
}

/// Slots are free again in whatever order; whatever is over is handed out, the rest waited for.
TEST_P(Queues, continue_while_others_are_under_way) {
    const auto file = open(GetParam(), OpenMode::creating());
    if (!file) GTEST_SKIP() << reason;
    constexpr std::size_t depth = 5;
    constexpr std::int64_t transfers = 200;
    auto queue = std::move(*file->queue({.depth = depth}));
    std::vector<Buffer> memory;
    for (std::size_t i = 0; i < depth; ++i) memory.emplace_back(piece);
    std::vector<std::size_t> free{4, 3, 2, 1, 0};
    const auto beats = at.session.progress.snapshot().beats;
    std::int64_t over = 0;
    for (std::int64_t next = 0; over < transfers;) {
        if (!free.empty() && next < transfers) {
            const auto offset = next++ * static_cast<std::int64_t>(piece);
            pattern.fill(memory[free.back()].bytes(), offset);
            queue->post_write(free.back(), memory[free.back()].bytes(), offset);
            free.pop_back();
            continue;
        }
        const Completion one = queue->wait();
        ASSERT_TRUE(one.status) << one.status.error().text();
        free.push_back(one.slot);
        ++over;
    }
    // Each is a sign of life for the watchdog.
    EXPECT_GE(at.session.progress.snapshot().beats, beats + transfers);
    EXPECT_EQ(at.session.progress.snapshot().bytes_in_step,
              transfers * static_cast<std::int64_t>(piece));
    queue.reset();
    Buffer whole(transfers * piece);
    ASSERT_TRUE(file->read({}, whole.bytes(), 0));
    EXPECT_FALSE(pattern.check(whole.bytes(), 0));
    EXPECT_TRUE(file->close());
}

/// What was written meanwhile can be read; nothing of such a length is touched.
TEST_F(OneQueue, of_MPI_reads_up_to_the_end_and_counts_with_int) {
    const auto file = open("mpiio", OpenMode::creating());
    ASSERT_TRUE(file) << reason;
    auto queue = std::move(*file->queue({.depth = 2}));
    Buffer buffer(piece);
    pattern.fill(buffer.bytes(), 0);
    queue->post_read(0, buffer.bytes(), 0);
    EXPECT_FALSE(queue->wait().status);
    queue->post_write(1, buffer.bytes(), 0);
    EXPECT_TRUE(queue->wait().status);
    Buffer back(piece);
    queue->post_read(0, back.bytes(), 0);
    EXPECT_TRUE(queue->wait().status);
    EXPECT_FALSE(pattern.check(back.bytes(), 0));
    queue->post_write(1, {buffer.bytes().data(), std::size_t{1} << 31}, 4096);
    const Completion over = queue->wait();
    ASSERT_FALSE(over.status);
    EXPECT_EQ(over.status.error().cause, "2 GiB is more than one nonblocking call can count");
    EXPECT_EQ(over.status.error().offset, 4096);
    queue.reset();
    EXPECT_TRUE(file->close());
}

/// In MPI-IO a view changes what offsets mean, also those of nonblocking calls.
TEST_F(OneQueue, is_refused_where_a_view_is_set) {
    auto file = open("mpiio", OpenMode::creating());
    ASSERT_TRUE(file) << reason;
    ASSERT_TRUE(file->set_view(View{4096, Contiguous{}}, Hints{}));
    const auto queue = file->queue({.depth = 2});
    ASSERT_FALSE(queue);
    EXPECT_NE(queue.error().cause.find("a view"), std::string::npos) << queue.error().cause;
    ASSERT_TRUE(file->set_view(View{}, Hints{}));
    EXPECT_TRUE(file->queue({.depth = 2}));
    EXPECT_TRUE(file->close());
}

/// Pieces that the kernel knows, such as it does not, and such as go beyond one: all arrive.
TEST_F(OneQueue, of_io_uring_moves_registered_memory_and_other) {
    const auto file = open("uring", OpenMode::creating());
    if (!file) GTEST_SKIP() << reason;
    Buffer arena(8 * piece);
    Buffer other(piece);
    const auto at_piece = [&](std::size_t i) { return arena.bytes().subspan(i * piece, piece); };
    // Out of order, and with a gap between.
    const std::array memory{arena.bytes().subspan(4 * piece, 2 * piece), at_piece(0), at_piece(2)};
    auto queue = std::move(*file->queue({.depth = 4, .memory = memory}));
    const Json described = file->describe();
    if (described.contains("remark")) GTEST_SKIP() << described["remark"];
    EXPECT_EQ(described["registered_bytes"], 4 * piece);
    const std::array pieces{at_piece(5), at_piece(0), at_piece(1), other.bytes(),
                            // From one that is known into one that is not.
                            arena.bytes().subspan(2 * piece + 512, piece)};
    const auto check = [&](bool write) {
        for (std::size_t i = 0; i < pieces.size(); ++i) {
            const auto offset = static_cast<std::int64_t>(i * piece);
            if (write) {
                pattern.fill(pieces.at(i), offset);
                queue->post_write(i % 4, pieces.at(i), offset);
            } else {
                std::fill(pieces.at(i).begin(), pieces.at(i).end(), std::byte{0});
                queue->post_read(i % 4, pieces.at(i), offset);
            }
            const Completion over = queue->wait();
            EXPECT_TRUE(over.status) << over.status.error().text();
            EXPECT_FALSE(pattern.check(pieces.at(i), offset)) << i;
        }
    };
    check(true);
    check(false);
    queue.reset();
    EXPECT_TRUE(file->close());
}

TEST_F(OneQueue, of_io_uring_begins_when_it_is_posted) {
    const auto file = open("uring", OpenMode::creating());
    if (!file) GTEST_SKIP() << reason;
    auto queue = std::move(*file->queue({.depth = 1}));
    Buffer memory(piece);
    pattern.fill(memory.bytes(), 0);
    queue->post_write(0, memory.bytes(), 0);
    // Meanwhile the rank neither waits nor polls.
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(60);
    while (fs::file_size(path) < piece && std::chrono::steady_clock::now() < deadline) {
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    EXPECT_EQ(fs::file_size(path), piece);
    EXPECT_TRUE(queue->wait().status);
    queue.reset();
    EXPECT_TRUE(file->close());
}

TEST_F(OneQueue, is_refused_by_who_has_none) {
    const auto file = open("posix", OpenMode::creating());
    ASSERT_TRUE(file) << reason;
    EXPECT_FALSE(storage->capabilities().queues);
    const auto queue = file->queue({.depth = 2});
    ASSERT_FALSE(queue);
    EXPECT_EQ(queue.error().path, path);
    EXPECT_TRUE(file->close());
}

}  // namespace
}  // namespace effio
