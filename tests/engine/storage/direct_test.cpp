// SPDX-License-Identifier: BSD-3-Clause
// O_DIRECT: aligned transfers pass, others are refused or counted.
#include "storage/direct.hpp"

#include <gtest/gtest.h>

#include <filesystem>

#include "../test_session.hpp"
#include "core/pattern.hpp"

namespace effio {
namespace {

namespace fs = std::filesystem;

struct Direct : testing::Test {
    TestSession at;
    Comm self = Comm::self(at.clock);
    std::string path =
        (fs::temp_directory_path() / ("effio-direct-" + std::to_string(getpid()))).string();
    Buffer buffer{12288};

    void TearDown() override { fs::remove(path); }

    std::unique_ptr<ByteFile> open(const DirectSettings& settings) {
        const auto storage = make_direct_storage(at.session, settings);
        auto file = storage->open(self, {path, OpenMode::creating(), Element::byte, {}});
        if (!file) {
            reason = file.error().text();
            return nullptr;
        }
        return std::move(*file);
    }
    std::string reason;
};

TEST_F(Direct, aligned_transfers_come_back_as_written_up_to_an_odd_end) {
    const auto file = open({});
    if (!file) GTEST_SKIP() << reason;
    const Pattern pattern(1, 2);
    pattern.fill(buffer.bytes(), 0);
    ASSERT_TRUE(file->write({}, buffer.bytes().first(8192), 0));
    EXPECT_EQ(*file->size(), 8192);
    fs::resize_file(path, 8100);
    std::fill(buffer.bytes().begin(), buffer.bytes().end(), std::byte{0});
    const auto read = file->read({}, buffer.bytes().first(8192), 0);
    ASSERT_FALSE(read);
    EXPECT_NE(read.error().cause.find("(8100 B) of 8 KiB"), std::string::npos)
        << read.error().text();
    EXPECT_FALSE(pattern.check(buffer.bytes().first(8100), 0));
    EXPECT_EQ(file->detours(), 0);
    EXPECT_TRUE(file->close());
}

TEST_F(Direct, odd_places_lengths_and_memory_are_refused_with_the_place) {
    const auto file = open({});
    if (!file) GTEST_SKIP() << reason;
    const auto memory = buffer.bytes();
    for (const auto& [data, offset] : {std::pair(memory.first(1000), std::int64_t{0}),
                                       {memory.first(4096), 100},
                                       {memory.subspan(8, 4096), 0}}) {
        const auto written = file->write({}, data, offset);
        ASSERT_FALSE(written);
        EXPECT_EQ(written.error().offset, offset);
        EXPECT_FALSE(file->read({}, data, offset));
    }
    EXPECT_EQ(*file->size(), 0);
    EXPECT_TRUE(file->close());
}

TEST_F(Direct, an_open_fallback_is_counted) {
    DirectSettings settings;
    settings.buffers_unaligned = true;
    const auto file = open(settings);
    if (!file) GTEST_SKIP() << reason;
    const auto odd = buffer.bytes().first(1000);
    ASSERT_TRUE(file->write({}, odd, 0));
    ASSERT_TRUE(file->read({}, odd, 0));
    ASSERT_TRUE(file->write({}, buffer.bytes().first(4096), 4096));
    EXPECT_EQ(file->detours(), 2);
    EXPECT_TRUE(file->close());
}

TEST_F(Direct, preallocating_gives_the_file_its_length) {
    const auto file = open({});
    if (!file) GTEST_SKIP() << reason;
    ASSERT_TRUE(file->preallocate(12288));
    EXPECT_EQ(*file->size(), 12288);
    EXPECT_TRUE(file->close());
}

}  // namespace
}  // namespace effio
