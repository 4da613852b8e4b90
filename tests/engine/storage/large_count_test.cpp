// SPDX-License-Identifier: BSD-3-Clause
// One MPI-IO call that moves more than an int can count: as bytes it needs a derived type, as
// doubles the count fits and the number of bytes does not.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <array>
#include <cstring>
#include <optional>

#include "../shared_directory.hpp"
#include "../test_session.hpp"
#include "core/buffer.hpp"
#include "parallel/system.hpp"
#include "storage/backends.hpp"
#include "storage/posix_calls.hpp"

namespace effio {
namespace {

constexpr std::int64_t int_limit = std::int64_t{1} << 31;
/// No multiple of the blocks that the derived type is made of.
constexpr std::int64_t bytes = int_limit + (3 << 20) + 40;

/// Words at the ends, on both sides of the limit, and at the last whole block; the rest is zero.
constexpr std::array<std::int64_t, 5> marks{0, int_limit - 8, int_limit, int_limit + (3 << 20),
                                            bytes - 8};

std::uint64_t mark(std::int64_t offset) {
    return 0x9e3779b97f4a7c15U ^ static_cast<std::uint64_t>(offset);
}

void expect_marks(const Buffer& data) {
    for (const auto offset : marks) {
        std::uint64_t found = 0;
        std::memcpy(&found, data.bytes().data() + offset, sizeof found);
        EXPECT_EQ(found, mark(offset)) << "at byte " << offset;
    }
}

/// What is looked at, so that only a read can make it right.
void spoil(Buffer& data) {
    for (const auto offset : marks) std::memset(data.bytes().data() + offset, 0xff, 8);
    data.bytes()[static_cast<std::size_t>(int_limit) + 4096] = std::byte{0xff};
}

class LargeCount : public testing::Test {
  protected:
    /// Two GiB of memory take a second to get: one for all tests.
    static Buffer& memory() {
        if (!memory_) memory_.emplace(static_cast<std::size_t>(bytes));
        return *memory_;
    }
    static void TearDownTestSuite() { memory_.reset(); }

    void SetUp() override {
        // The buffer and the file's pages.
        if (find_memory().available_bytes < 3 * bytes) GTEST_SKIP() << "less than 6 GiB of memory";
        struct statvfs disk{};
        ASSERT_EQ(statvfs(directory_.path().c_str(), &disk), 0);
        if (disk.f_bavail * disk.f_frsize < 3 * static_cast<std::uint64_t>(bytes) / 2) {
            GTEST_SKIP() << "less than 3 GiB of space";
        }
        BackendChoice choice;
        choice.name = "mpiio";
        storage_ = make_storage(at_.session, choice, nullptr);
    }

    std::unique_ptr<ByteFile> open(OpenMode mode, Element element) {
        auto file = storage_->open(at_.comm, {path_, mode, element, {}});
        EXPECT_TRUE(file) << file.error().text();
        if (!file) return nullptr;
        EXPECT_TRUE((*file)->set_view(View{}, Hints{}));
        return std::move(*file);
    }

    static std::optional<Buffer> memory_;
    TestSession at_;
    SharedDirectory directory_{at_.comm};
    std::string path_ = directory_ / "data";
    std::unique_ptr<Storage> storage_;
};

std::optional<Buffer> LargeCount::memory_;

TEST_F(LargeCount, arrives_whole_as_bytes_and_as_doubles) {
    Buffer& data = memory();
    data.bytes()[static_cast<std::size_t>(int_limit) + 4096] = std::byte{0};
    for (const auto offset : marks) {
        const std::uint64_t word = mark(offset);
        std::memcpy(data.bytes().data() + offset, &word, sizeof word);
    }
    auto file = open(OpenMode::creating(), Element::byte);
    ASSERT_TRUE(file);
    const auto written = file->write({Pointer::at, true}, data.bytes(), 0);
    ASSERT_TRUE(written) << written.error().text();
    EXPECT_EQ(*file->size(), bytes);

    spoil(data);
    const auto read = file->read({Pointer::at, false}, data.bytes(), 0);
    ASSERT_TRUE(read) << read.error().text();
    expect_marks(data);
    EXPECT_EQ(data.bytes()[static_cast<std::size_t>(int_limit) + 4096], std::byte{0});
    ASSERT_TRUE(file->close());

    file = open(OpenMode::reading(), Element::real64);
    ASSERT_TRUE(file);
    spoil(data);
    const auto doubles = file->read({Pointer::individual, false}, data.bytes());
    ASSERT_TRUE(doubles) << doubles.error().text();
    expect_marks(data);
    ASSERT_TRUE(file->close());
}

TEST_F(LargeCount, a_shorter_file_is_an_error) {
    auto file = open(OpenMode::creating(), Element::byte);
    ASSERT_TRUE(file);
    const std::int64_t there = int_limit + 17;
    ASSERT_EQ(::truncate(path_.c_str(), there), 0);  // a hole: takes no space
    Buffer& data = memory();
    const auto read = file->read({Pointer::at, false}, data.bytes(), 0);
    ASSERT_FALSE(read);
    // MPI libraries count the parts of a derived type that is not whole in different ways.
    EXPECT_TRUE(read.error().cause.starts_with("moved ")) << read.error().cause;
    EXPECT_TRUE(read.error().cause.ends_with(
        fmt::format(" of {} without reporting an error", exact_size(bytes))))
        << read.error().cause;
    ASSERT_TRUE(file->close());
}

/// The kernel moves less than 2 GiB by one request: the rest is posted when that is over.
TEST_F(LargeCount, arrives_whole_by_io_uring_too) {
    if (auto present = check_present(Serves::bytes, "uring"); !present) {
        GTEST_SKIP() << present.error().text();
    }
    BackendChoice choice;
    choice.name = "uring";
    const auto uring = make_storage(at_.session, choice, nullptr);
    auto file = uring->open(at_.comm, {path_, OpenMode::creating(), Element::byte, {}});
    if (!file) GTEST_SKIP() << file.error().text();
    for (const auto offset : marks) {  // between them are holes
        const std::uint64_t word = mark(offset);
        ASSERT_TRUE((*file)->write({}, std::as_bytes(std::span(&word, 1)), offset));
    }
    Buffer& data = memory();
    spoil(data);
    const auto read = (*file)->read({}, data.bytes(), 0);
    ASSERT_TRUE(read) << read.error().text();
    expect_marks(data);
    EXPECT_EQ(data.bytes()[static_cast<std::size_t>(int_limit) + 4096], std::byte{0});
    ASSERT_TRUE((*file)->close());
}

TEST_F(LargeCount, a_chunk_that_MPI_cannot_count_is_refused) {
    auto file = open(OpenMode::creating(), Element::byte);
    ASSERT_TRUE(file);
    const auto dealt = file->set_view(View{0, RoundRobin{2, 0, int_limit}}, Hints{});
    ASSERT_FALSE(dealt);
    EXPECT_NE(dealt.error().cause.find("2147483648"), std::string::npos) << dealt.error().cause;
    EXPECT_FALSE(file->set_view(View{0, Box{{4}, {0}, {2}, int_limit}}, Hints{}));
    ASSERT_TRUE(file->close());
}

}  // namespace
}  // namespace effio
