// SPDX-License-Identifier: BSD-3-Clause
// What loops that measure do with a file whose class they know is what every ByteFile does.
#include "storage/as_itself.hpp"

#include "byte_file_suite.hpp"

namespace effio {
namespace {

/// What `call` says of the file as its own class.
template <class Call>
Status by_class(ByteFile& file, const Call& call) {
    Status done;
    as_itself(file, [&](const auto& itself) { done = call(itself); });
    return done;
}

Status write_at(ByteFile& file, std::span<const std::byte> data, std::int64_t offset) {
    return by_class(file, [&](const auto& itself) { return itself.write_at(data, offset); });
}

Status read_at(ByteFile& file, std::span<std::byte> data, std::int64_t offset) {
    return by_class(file, [&](const auto& itself) { return itself.read_at(data, offset); });
}

TEST_P(EveryByteFile, known_by_its_class_counts_elements_behind_a_displacement) {
    const auto file = open(OpenMode::creating(), Element::real64);
    ASSERT_TRUE(file);
    const std::int64_t begin = rank_ * 160;
    ASSERT_TRUE(file->set_view(View{begin, Contiguous{}}, Hints{}));
    ASSERT_TRUE(write_at(*file, bytes_from(begin + 80, 80).bytes(), 10));
    ASSERT_TRUE(write_at(*file, bytes_from(begin, 80).bytes(), 0));
    settle(*file);
    Buffer found(72);
    ASSERT_TRUE(read_at(*file, found.bytes(), 1));
    if (can_.stores_data) {
        EXPECT_FALSE(pattern().check(found.bytes(), begin + 8));
    }
    // With a call form it is the same file, too.
    ASSERT_TRUE(file->seek(5));
    ASSERT_TRUE(by_class(
        *file, [&](const auto& itself) { return itself.read(individual, found.bytes()); }));
    if (can_.stores_data) {
        EXPECT_FALSE(pattern().check(found.bytes(), begin + 40));
    }
    expect_whole(*file, ranks_ * 160);
}

TEST_P(EveryByteFile, known_by_its_class_goes_through_a_view_with_holes) {
    // A rank's stream is every `ranks`-th chunk.
    constexpr std::int64_t chunk = 24;
    const auto where = [&](std::int64_t stream) {
        return (stream / chunk * ranks_ + rank_) * chunk + stream % chunk;
    };
    const auto file = open(OpenMode::creating());
    ASSERT_TRUE(file);
    ASSERT_TRUE(file->set_view({0, RoundRobin{comm().size(), comm().rank(), chunk}}, Hints{}));
    const auto data = bytes_at(4 * chunk, where);
    // One rank at a time: a library may fill holes by reading and writing back without a lock.
    for (int rank = 0; rank < comm().size(); ++rank) {
        if (rank == comm().rank()) {
            ASSERT_TRUE(write_at(*file, data.bytes(), 0));
        }
        settle(*file);
    }
    Buffer found(data.size());
    ASSERT_TRUE(read_at(*file, found.bytes(), 0));
    if (can_.stores_data) {
        EXPECT_FALSE(compare(data.bytes(), found.bytes(), 0));
    }
    expect_whole(*file, 4 * chunk * ranks_);
}

TEST_P(EveryByteFile, known_by_its_class_times_and_counts_each_transfer_once) {
    const auto file = open(OpenMode::creating());
    ASSERT_TRUE(file);
    Histogram times;
    Buffer data(64);
    ASSERT_TRUE(write_at(*file, data.bytes(), rank_ * 64));
    const std::int64_t before = at_.progress.snapshot().bytes_in_step;
    file->time_calls_into(&times);
    ASSERT_TRUE(write_at(*file, data.bytes(), rank_ * 64));
    EXPECT_STREQ(at_.progress.snapshot().call, file->call_name(at_own, true));
    ASSERT_TRUE(read_at(*file, data.bytes(), rank_ * 64));
    EXPECT_STREQ(at_.progress.snapshot().call, file->call_name(at_own, false));
    file->time_calls_into(nullptr);
    EXPECT_EQ(times.count(), 2U);
    EXPECT_EQ(at_.progress.snapshot().bytes_in_step - before, 128);
    ASSERT_TRUE(file->close());
}

TEST_P(EveryByteFile, known_by_its_class_shows_what_failed_as_any_file_does) {
    if (!can_.stores_data) GTEST_SKIP() << GetParam() << " keeps nothing";
    {
        const auto file = open(OpenMode::creating());
        ASSERT_TRUE(file);
        if (rank_ == 0) {
            ASSERT_TRUE(write_at(*file, bytes_from(0, 100).bytes(), 0));
        }
        settle(*file);
        ASSERT_TRUE(file->close());
    }
    const auto file = open(OpenMode::reading());
    ASSERT_TRUE(file);
    Histogram times;
    file->time_calls_into(&times);
    Buffer buffer(64);
    const auto expected = file->read(at_own, buffer.bytes(), 60);
    const auto found = read_at(*file, buffer.bytes(), 60);
    ASSERT_FALSE(found);
    EXPECT_EQ(found.error().cause, "moved 40 B of 64 B without reporting an error");
    EXPECT_EQ(found.error().text(), expected.error().text());
    EXPECT_EQ(found.error().offset, 60);
    const auto refused = file->write(at_own, buffer.bytes(), 0);
    const auto written = write_at(*file, buffer.bytes(), 0);
    ASSERT_FALSE(written);
    EXPECT_EQ(written.error().text(), refused.error().text());
    EXPECT_EQ(times.count(), 4U);
    ASSERT_TRUE(file->close());
}

}  // namespace
}  // namespace effio
