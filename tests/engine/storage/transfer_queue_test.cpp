// SPDX-License-Identifier: BSD-3-Clause
// Transfers that are under way together: all data arrive, every slot comes back once, and failures
// name their place.
#include "storage/transfer_queue.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <set>

#include "../test_session.hpp"
#include "core/buffer.hpp"
#include "core/pattern.hpp"
#include "storage/backends.hpp"

namespace effio {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t piece = 4096;

struct Queues : testing::Test {
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

TEST_F(Queues, hold_every_depth_and_hand_back_each_slot_once) {
    for (const std::size_t depth : {1U, 2U, 7U, 128U}) {
        const auto file = open("uring", OpenMode::creating());
        if (!file) GTEST_SKIP() << reason;
        auto queue = std::move(*file->queue(depth));
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

TEST_F(Queues, tell_what_came_short_and_what_failed_with_the_place) {
    const auto file = open("uring", OpenMode::creating());
    if (!file) GTEST_SKIP() << reason;
    Buffer buffer(piece);
    ASSERT_TRUE(file->write({}, buffer.bytes().first(1000), 0));
    ASSERT_TRUE(file->close());
    const auto reader = open("uring", OpenMode::reading());
    ASSERT_TRUE(reader) << reason;
    auto queue = std::move(*reader->queue(2));
    queue->post_read(0, buffer.bytes(), 600);
    Completion over = queue->wait();
    ASSERT_FALSE(over.status);
    EXPECT_EQ(over.status.error().cause, "moved 400 of 4096 bytes without reporting an error");
    EXPECT_EQ(over.status.error().offset, 600);
    EXPECT_EQ(over.status.error().operation, "io_uring read");
    EXPECT_EQ(over.status.error().path, path);
    // The file is open for reading.
    queue->post_write(1, buffer.bytes(), 8192);
    over = queue->wait();
    EXPECT_EQ(over.slot, 1U);
    ASSERT_FALSE(over.status);
    EXPECT_EQ(over.status.error().system_code, EBADF);
    EXPECT_EQ(over.status.error().offset, 8192);
    EXPECT_EQ(over.status.error().rank, at.session.world_rank);
    queue.reset();
    EXPECT_TRUE(reader->close());
}

TEST_F(Queues, are_refused_by_who_has_none) {
    const auto file = open("posix", OpenMode::creating());
    ASSERT_TRUE(file) << reason;
    EXPECT_FALSE(storage->capabilities().queues);
    const auto queue = file->queue(2);
    ASSERT_FALSE(queue);
    EXPECT_EQ(queue.error().path, path);
    EXPECT_TRUE(file->close());
}

}  // namespace
}  // namespace effio
