// SPDX-License-Identifier: BSD-3-Clause
// Which bytes of a file were written, and which of them a phase is about to read.
#include "storage/data_extents.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <string>

#include "../own_directory.hpp"
#include "../test_session.hpp"
#include "core/units.hpp"
#include "frame/readable.hpp"
#include "storage/posix_calls.hpp"

namespace effio {
namespace {

/// A file of 1 MiB: the 64 KiB at offset 256 KiB are written, the rest is holes.
class Holes : public testing::Test {
  protected:
    void SetUp() override {
        auto fd = open_file(path, O_CREAT | O_WRONLY);
        ASSERT_TRUE(fd);
        const std::string data(64 * KiB, 'x');
        ASSERT_EQ(::ftruncate(fd->get(), MiB), 0);
        ASSERT_EQ(::pwrite(fd->get(), data.data(), data.size(), 256 * KiB),
                  static_cast<ssize_t>(data.size()));
        ASSERT_EQ(::fsync(fd->get()), 0);
    }
    OwnDirectory directory;
    std::string path = directory.path() + "/file";
};

TEST_F(Holes, are_what_was_never_written) {
    const auto extents = DataExtents::of(path);
    ASSERT_TRUE(extents);
    EXPECT_EQ(extents->holes(0, MiB), MiB - 64 * KiB);
    EXPECT_EQ(extents->holes(256 * KiB, 320 * KiB), 0);
    EXPECT_EQ(extents->holes(0, 256 * KiB), 256 * KiB);
    EXPECT_EQ(extents->holes(255 * KiB, 257 * KiB), KiB);
    EXPECT_EQ(extents->holes(319 * KiB, 321 * KiB), KiB);
    EXPECT_EQ(extents->holes(320 * KiB, 2 * MiB), 2 * MiB - 320 * KiB);
    EXPECT_FALSE(DataExtents::of(path + ".none"));
}

TEST_F(Holes, a_read_states_their_share) {
    TestSession at;
    const Comm& self = at.comm;
    Readable readable(true);
    EXPECT_FALSE(readable.hole_fraction(self));
    EXPECT_TRUE(readable.reads_within(path, 256 * KiB, 320 * KiB, 32 * KiB));
    EXPECT_DOUBLE_EQ(*readable.hole_fraction(self), 0);
    EXPECT_FALSE(readable.reads_within(path, 224 * KiB, 320 * KiB, 96 * KiB));
    readable.reads(path, 224 * KiB, 256 * KiB);
    EXPECT_DOUBLE_EQ(*readable.hole_fraction(self), 0.5);
    EXPECT_EQ(holes_remark(0.5), "50 % of it holes, never written");
    EXPECT_EQ(holes_remark(0.0), "");
    // One file whose file system does not report holes makes the share unknown.
    readable.reads(path + ".none", 0, 1);
    EXPECT_FALSE(readable.hole_fraction(self));
    // Files that this run wrote are not checked.
    Readable own(false);
    own.reads(path, 0, MiB);
    EXPECT_FALSE(own.hole_fraction(self));
}

TEST_F(Holes, a_file_that_is_shorter_is_an_error) {
    TestSession here;
    EXPECT_TRUE(Readable::fits(here.session, path, MiB));
    const auto shorter = Readable::fits(here.session, path, MiB + 1);
    ASSERT_FALSE(shorter);
    EXPECT_EQ(shorter.error().cause,
              "the file holds 1 MiB, this phase reads up to 1 MiB (1048577 B)");
    // A missing file is reported by its open.
    EXPECT_TRUE(Readable::fits(here.session, path + ".none", 1));
}

}  // namespace
}  // namespace effio
