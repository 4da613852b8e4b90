// SPDX-License-Identifier: BSD-3-Clause
// Transfers that a helper thread makes: all data arrive, failures name their place, nothing is left
// behind, and in virtual time they take what the model says.
#include "storage/threaded_queue.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <vector>

#include "core/buffer.hpp"
#include "core/pattern.hpp"
#include "storage/backends.hpp"
#include "test_session.hpp"

namespace effio {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t length = 4096;

struct ThreadedQueues : testing::Test {
    TestSession at;
    Comm self = Comm::self(at.clock);
    std::string path =
        (fs::temp_directory_path() / ("effio-threaded-" + std::to_string(getpid()))).string();
    Pattern pattern{7, 8};
    std::unique_ptr<Storage> storage = make_posix(at.session);

    static std::unique_ptr<Storage> make_posix(Session& session) {
        BackendChoice choice;
        choice.name = "posix";
        return make_storage(session, choice, nullptr);
    }
    void TearDown() override { fs::remove(path); }
    std::unique_ptr<ByteFile> open(OpenMode mode) {
        return std::move(*storage->open(self, {path, mode, Element::byte, {}}));
    }
};

TEST_F(ThreadedQueues, come_back_in_the_order_of_the_posts_with_their_data) {
    const auto file = open(OpenMode::creating());
    auto queue = std::move(*make_threaded_queue(at.session, *file));
    std::vector<Buffer> memory;
    for (std::size_t i = 0; i < 5; ++i) {
        memory.emplace_back(length);
        const auto offset = static_cast<std::int64_t>((4 - i) * length);
        pattern.fill(memory[i].bytes(), offset);
        queue->post_write(i, memory[i].bytes(), offset);
    }
    for (std::size_t i = 0; i < 5; ++i) {
        const Completion over = queue->wait();
        EXPECT_EQ(over.slot, i);
        EXPECT_TRUE(over.status);
    }
    EXPECT_FALSE(queue->test());
    Buffer found(5 * length);
    queue->post_read(3, found.bytes(), 0);
    EXPECT_EQ(queue->wait().slot, 3U);
    EXPECT_FALSE(pattern.check(found.bytes(), 0));
    queue.reset();
    EXPECT_TRUE(file->close());
}

TEST_F(ThreadedQueues, say_when_one_is_over) {
    const auto file = open(OpenMode::creating());
    const auto queue = std::move(*make_threaded_queue(at.session, *file));
    Buffer buffer(length);
    EXPECT_FALSE(queue->test());
    queue->post_write(0, buffer.bytes(), 0);
    while (!queue->test()) std::this_thread::yield();
    EXPECT_EQ(*file->size(), static_cast<std::int64_t>(length));
    EXPECT_TRUE(queue->wait().status);
    EXPECT_FALSE(queue->test());
}

TEST_F(ThreadedQueues, show_what_failed_with_the_place) {
    const auto file = open(OpenMode::creating());
    Buffer buffer(length);
    ASSERT_TRUE(file->write({}, buffer.bytes().first(1000), 0));
    const auto queue = std::move(*make_threaded_queue(at.session, *file));
    queue->post_read(1, buffer.bytes(), 600);
    const Completion over = queue->wait();
    EXPECT_EQ(over.slot, 1U);
    ASSERT_FALSE(over.status);
    EXPECT_EQ(over.status.error().cause, "moved 400 B of 4 KiB without reporting an error");
    EXPECT_EQ(over.status.error().offset, 600);
    EXPECT_EQ(over.status.error().path, path);
}

TEST_F(ThreadedQueues, carry_out_what_was_posted_before_they_go) {
    const auto file = open(OpenMode::creating());
    std::vector<Buffer> memory;
    {
        const auto queue = std::move(*make_threaded_queue(at.session, *file));
        for (std::size_t i = 0; i < 20; ++i) {
            memory.emplace_back(length);
            queue->post_write(i, memory[i].bytes(), static_cast<std::int64_t>(i * length));
        }
    }
    EXPECT_EQ(*file->size(), static_cast<std::int64_t>(20 * length));
    EXPECT_TRUE(file->close());
}

TEST(VirtualQueues, transfers_pass_in_parallel_to_the_rank_one_after_the_other) {
    TestSession at(Clock::Kind::virtual_time);
    const Comm self = Comm::self(at.clock);
    const auto room = std::move(*SimRoom::create(self));
    BackendChoice choice;
    choice.name = "sim";
    choice.sim_model.latency = {0.5};
    choice.sim_model.rank_rate = {4096};  // a piece: 1.5 s
    const auto storage = make_storage(at.session, choice, room.get());
    const auto file =
        std::move(*storage->open(self, {"file", OpenMode::creating(), Element::byte, {}}));
    const auto queue = std::move(*make_threaded_queue(at.session, *file));
    const Pattern pattern(9, 9);
    Buffer buffer(length);
    Buffer found(length);
    pattern.fill(buffer.bytes(), 0);
    at.clock.wait_until(10);
    queue->post_write(0, buffer.bytes(), 0);
    queue->post_read(1, found.bytes(), 0);
    EXPECT_EQ(at.clock.now(), 10);
    EXPECT_FALSE(queue->test());
    at.clock.advance(1);
    EXPECT_FALSE(queue->test());
    EXPECT_EQ(queue->wait().slot, 0U);
    EXPECT_NEAR(at.clock.now(), 11.5, 1e-12);
    at.clock.advance(4);
    EXPECT_TRUE(queue->test());  // over since 13
    EXPECT_EQ(queue->wait().slot, 1U);
    EXPECT_NEAR(at.clock.now(), 15.5, 1e-12);
    EXPECT_FALSE(pattern.check(found.bytes(), 0));
    // What comes after a rest begins when it is posted.
    queue->post_read(0, found.bytes(), 0);
    EXPECT_TRUE(queue->wait().status);
    EXPECT_NEAR(at.clock.now(), 17, 1e-12);
}

}  // namespace
}  // namespace effio
