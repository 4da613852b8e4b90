// SPDX-License-Identifier: BSD-3-Clause
// What only mapped files do: they grow under their mapping, and pages that cannot be had are errors
// with a place. The conformance suite tests the rest.
#include "storage/mmap.hpp"

#include <gtest/gtest.h>

#include <cerrno>
#include <csignal>
#include <filesystem>

#include "../test_session.hpp"
#include "core/buffer.hpp"
#include "core/pattern.hpp"
#include "storage/bus_error.hpp"

namespace effio {
namespace {

namespace fs = std::filesystem;

constexpr std::int64_t page = 4096;

struct MappedFiles : testing::Test {
    TestSession at;
    Comm self = Comm::self(at.clock);
    std::unique_ptr<Storage> storage = make_mmap_storage(at.session);
    std::string path =
        (fs::temp_directory_path() / ("effio-mmap-" + std::to_string(getpid()))).string();
    Pattern pattern{7, 8};

    void TearDown() override { fs::remove(path); }

    std::unique_ptr<ByteFile> open(OpenMode mode) {
        auto file = storage->open(self, {path, mode, Element::byte, {}});
        EXPECT_TRUE(file) << file.error().text();
        return file ? std::move(*file) : nullptr;
    }
    Buffer bytes_from(std::int64_t offset, std::int64_t bytes) const {
        Buffer out(static_cast<std::size_t>(bytes));
        pattern.fill(out.bytes(), offset);
        return out;
    }
};

TEST_F(MappedFiles, grow_as_they_are_written_and_are_no_longer_than_that) {
    const auto file = open(OpenMode::creating());
    ASSERT_TRUE(file);
    // The second place is behind the first mapping, the third before all of it; between are holes.
    for (const std::int64_t offset :
         {std::int64_t{100}, std::int64_t{200} << 20, std::int64_t{0}}) {
        const auto wrote = file->write({}, bytes_from(offset, 100).bytes(), offset);
        ASSERT_TRUE(wrote) << wrote.error().text();
    }
    ASSERT_TRUE(file->sync());
    EXPECT_EQ(*file->size(), (std::int64_t{200} << 20) + 100);
    for (const std::int64_t offset : {std::int64_t{0}, std::int64_t{200} << 20}) {
        Buffer found(offset == 0 ? 200 : 100);
        ASSERT_TRUE(file->read({}, found.bytes(), offset));
        EXPECT_FALSE(pattern.check(found.bytes(), offset));
    }
    ASSERT_TRUE(file->close());
    EXPECT_LT(fs::file_size(path), (std::uintmax_t{200} << 20) + 101);
}

TEST_F(MappedFiles, show_the_place_of_a_page_that_is_gone) {
    auto file = open(OpenMode::creating());
    ASSERT_TRUE(file);
    ASSERT_TRUE(file->write({}, bytes_from(0, 16 * page).bytes(), 0));
    ASSERT_TRUE(file->close());
    file = open(OpenMode::reading());
    ASSERT_TRUE(file);
    Buffer found(16 * page);
    ASSERT_TRUE(file->read({}, found.bytes(), 0));
    fs::resize_file(path, 3 * page);
    // The file was longer when it was last asked.
    const auto read = file->read({}, found.bytes().first(4 * page), page);
    ASSERT_FALSE(read);
    EXPECT_EQ(read.error().system_code, EIO);
    EXPECT_NE(read.error().cause.find("SIGBUS"), std::string::npos) << read.error().cause;
    ASSERT_TRUE(read.error().offset);
    // A copy need not begin at its start.
    EXPECT_GE(*read.error().offset, 3 * page);
    EXPECT_LT(*read.error().offset, 5 * page);
    EXPECT_TRUE(file->read({}, found.bytes().first(page), 2 * page));
    EXPECT_TRUE(file->close());
}

TEST_F(MappedFiles, are_lengthened_again_where_somebody_shortened_them) {
    const auto file = open(OpenMode::creating());
    ASSERT_TRUE(file);
    ASSERT_TRUE(file->write({}, bytes_from(0, 4 * page).bytes(), 0));
    fs::resize_file(path, 0);
    ASSERT_TRUE(file->write({}, bytes_from(2 * page, page).bytes(), 2 * page));
    EXPECT_EQ(fs::file_size(path), 3U * page);
    Buffer found(page);
    ASSERT_TRUE(file->read({}, found.bytes(), 2 * page));
    EXPECT_FALSE(pattern.check(found.bytes(), 2 * page));
    ASSERT_TRUE(file->close());
}

TEST_F(MappedFiles, that_are_read_only_or_empty_are_so) {
    auto file = open(OpenMode::creating());
    ASSERT_TRUE(file);
    ASSERT_TRUE(file->close());
    file = open(OpenMode::reading());
    ASSERT_TRUE(file);
    Buffer data(page);
    const auto read = file->read({}, data.bytes(), 0);
    ASSERT_FALSE(read);
    EXPECT_EQ(read.error().cause, "moved 0 B of 4 KiB without reporting an error");
    const auto written = file->write({}, data.bytes(), 8 * page);
    ASSERT_FALSE(written);
    EXPECT_EQ(written.error().system_code, EBADF);
    EXPECT_EQ(written.error().offset, 8 * page);
    EXPECT_TRUE(file->close());
}

/// Any process else's SIGBUS is what it was.
TEST(BusErrorsDeathTest, of_other_memory_end_the_process) {
    const auto elsewhere = [] {
        Buffer from(page);
        Buffer to(page);
        copy_mapped(to.bytes().data(), from.bytes().data(), page, from.bytes().data());
        raise(SIGBUS);
        _exit(0);
    };
    EXPECT_EXIT(elsewhere(), testing::KilledBySignal(SIGBUS), "");
}

}  // namespace
}  // namespace effio
