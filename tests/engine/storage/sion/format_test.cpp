// SPDX-License-Identifier: BSD-3-Clause
// The container format against its byte tables, and against files with false numbers.
#include "storage/sion/format.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <new>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include "core/units.hpp"
#include "image.hpp"

// NOLINTBEGIN: what replaces the allocator is made of what it is made of.
namespace {

std::atomic<std::size_t> largest_allocation = 0;  // other tests of the program have threads

}  // namespace

// What a file says must not decide how much memory is requested.
[[gnu::noinline]] void* operator new(std::size_t bytes) {
    if (bytes > largest_allocation) largest_allocation = bytes;
    if (void* memory = std::malloc(std::max<std::size_t>(bytes, 1))) return memory;
    throw std::bad_alloc();
}
[[gnu::noinline]] void operator delete(void* memory) noexcept {
    std::free(memory);
}
[[gnu::noinline]] void operator delete(void* memory, std::size_t) noexcept {
    std::free(memory);
}
// NOLINTEND

namespace effio::sion {
namespace {

class Memory final : public Source {
  public:
    explicit Memory(std::vector<std::byte> bytes) : bytes_(std::move(bytes)) {}
    const std::string& path() const override { return path_; }
    std::int64_t size() const override { return std::ssize(bytes_); }
    Status read(std::int64_t offset, std::span<std::byte> data) override {
        // Outside would be a fault of the reader.
        EXPECT_GE(offset, 0);
        EXPECT_LE(offset + std::ssize(data), size());
        if (offset < 0 || offset + std::ssize(data) > size()) return io_error("read", path_, "out");
        if (!data.empty())
            std::memcpy(data.data(), &bytes_[static_cast<std::size_t>(offset)], data.size());
        return {};
    }

  private:
    std::string path_ = "memory";
    std::vector<std::byte> bytes_;
};

/// The second of two files, ranks 2, 3 and 4 of five, chunks of 4096, 8192 and 4096 bytes, three
/// rows. The head has 1088 + 16 * 3 = 1136 bytes, so that the first chunk begins at 4096, a row has
/// 16384 bytes and the tail begins at 4096 + 3 * 16384 = 53248.
Image second_of_two(bool big) {
    Image image;
    image.big = big;
    image.text(0, "sion");
    image.put32(4, big ? 0x01010101 : 0);
    image.put32(8, 1007);
    image.put32(12, 6);
    image.put32(16, 5);
    image.put32(20, 4096);
    image.put32(24, 3);
    image.put32(28, 2);
    image.put32(32, 1);
    image.put64(36, 50ULL << 32U);
    image.put64(44, 0);
    image.text(52, "out.sion");
    for (std::size_t i = 0; i < 3; ++i) image.put64(1076 + 8 * i, 2 + i);
    image.put64(1100, 4096);
    image.put64(1108, 8192);
    image.put64(1116, 4096);
    image.put32(1124, 3);
    image.put64(1128, 53248);
    return image;
}

/// Chunks used: 1, 3, 2.
void put_tail(Image& image, std::size_t at) {
    const std::uint64_t numbers[]{1, 3, 2, 17, 8192, 4096, 0, 8000, 5, 0, 1, 0};
    for (std::size_t i = 0; i < std::size(numbers); ++i) image.put64(at + 8 * i, numbers[i]);
}

Header head_of_second(ByteOrder order) {
    Header head;
    head.metadata = head.data = order;
    head.block = 4096;
    head.files = 2;
    head.file_number = 1;
    head.prefix = "out.sion";
    head.ranks = {2, 3, 4};
    head.chunks = {4096, 8192, 4096};
    head.rows = 3;
    head.tail = 53248;
    return head;
}

Tail tail_of_second() {
    return {{1, 3, 2}, {17, 8192, 4096, 0, 8000, 5, 0, 1, 0}, {}};
}

TEST(SionFormat, head_and_tail_are_those_of_the_table_byte_for_byte) {
    for (const bool big : {false, true}) {
        const ByteOrder order = big ? ByteOrder::big : ByteOrder::little;
        EXPECT_EQ(encode(head_of_second(order)), second_of_two(big).bytes);
        EXPECT_EQ(head_of_second(order).offset_of_rows(), 1124);
        Image end;
        end.big = big;
        end.put32(0, 3);
        end.put64(4, 53248);
        EXPECT_EQ(encode_end_of_head(head_of_second(order)), end.bytes);
        Image tail;
        tail.big = big;
        put_tail(tail, 0);
        EXPECT_EQ(encode(tail_of_second(), order), tail.bytes);
        // A first file has the places of all ranks behind that.
        Tail with_places{{1}, {3}, {{0, 0}, {1, 0}, {1, 1}}};
        Image places;
        places.big = big;
        places.put64(0, 1);
        places.put64(8, 3);
        places.put32(16, 3);
        const std::uint64_t words[]{0, 0, 1, 0, 1, 1};
        for (std::size_t i = 0; i < 6; ++i) places.put32(20 + 4 * i, words[i]);
        EXPECT_EQ(encode(with_places, order), places.bytes);
    }
}

TEST(SionFormat, metadata_and_data_can_have_different_byte_orders) {
    Header head = head_of_second(ByteOrder::little);
    head.data = ByteOrder::big;
    const auto bytes = encode(head);
    EXPECT_EQ(bytes[4], std::byte{0});
    EXPECT_EQ(bytes[5], std::byte{1});
    EXPECT_EQ(bytes[6], std::byte{1});
    EXPECT_EQ(bytes[7], std::byte{0});
    EXPECT_EQ(bytes[8], std::byte{0xef});  // 1007, low byte first
}

TEST(SionFormat, what_is_in_a_file_is_read_in_both_orders) {
    for (const bool big : {false, true}) {
        Image image = second_of_two(big);
        put_tail(image, 53248);
        Memory memory(image.bytes);
        const auto file = read_file(memory);
        ASSERT_TRUE(file) << file.error().text();
        EXPECT_EQ(file->head.metadata, big ? ByteOrder::big : ByteOrder::little);
        EXPECT_EQ(file->head.data, file->head.metadata);
        EXPECT_EQ(file->head.version, 5);
        EXPECT_EQ(file->head.prefix, "out.sion");
        EXPECT_EQ(file->head.files, 2);
        EXPECT_EQ(file->head.file_number, 1);
        EXPECT_EQ(file->head.key_values, KeyValues::none);
        EXPECT_EQ(file->head.ranks, (std::vector<std::int64_t>{2, 3, 4}));
        EXPECT_EQ(file->tail.used, (std::vector<std::int64_t>{1, 3, 2}));
        EXPECT_EQ(file->bytes_of(0), 17);
        EXPECT_EQ(file->bytes_of(1), 8192 + 8000 + 1);
        EXPECT_EQ(file->bytes_of(2), 4096 + 5);
        EXPECT_EQ(file->chunks.begin(0, 0), 4096);
        EXPECT_EQ(file->chunks.begin(1, 0), 8192);
        EXPECT_EQ(file->chunks.begin(2, 2), 16384 + 2 * 16384);
        EXPECT_EQ(file->chunks.room(1), 8192);
    }
}

TEST(SionFormat, the_first_of_several_files_has_the_places_of_all_ranks) {
    for (const bool big : {false, true}) {
        Image image = second_of_two(big);
        image.put32(32, 0);
        put_tail(image, 53248);
        const std::size_t at = 53248 + 12 * 8;
        image.put32(at, 5);
        const std::uint64_t words[]{1, 0, 1, 1, 0, 0, 0, 1, 0, 2};
        for (std::size_t i = 0; i < 10; ++i) image.put32(at + 4 + 4 * i, words[i]);
        Memory memory(image.bytes);
        const auto file = read_file(memory);
        ASSERT_TRUE(file) << file.error().text();
        EXPECT_EQ(file->tail.places,
                  (std::vector<Tail::TaskIndex>{{1, 0}, {1, 1}, {0, 0}, {0, 1}, {0, 2}}));
    }
}

TEST(SionFormat, four_ranks_with_3_MiB_in_chunks_of_2_MiB) {
    // The example of the format's description: metadata at 16842752, 16842848 bytes in all.
    Header head;
    head.block = 65536;
    head.ranks = {0, 1, 2, 3};
    const std::vector<std::int64_t> asked(4, 2 * MiB);
    head.chunks = own_chunks(asked, head.block);
    const auto chunks = Chunks::of(head);
    ASSERT_TRUE(chunks);
    EXPECT_EQ(chunks->begin(0, 0), 65536);
    EXPECT_EQ(chunks->row_bytes(), 8388608);
    ASSERT_TRUE(chunks->tail(2));
    EXPECT_EQ(*chunks->tail(2), 16842752);
    const Tail tail{{2, 2, 2, 2}, std::vector<std::int64_t>(8, MiB), {}};
    EXPECT_EQ(*chunks->tail(2) + std::ssize(encode(tail, ByteOrder::little)), 16842848);
}

TEST(SionFormat, chunks_are_whole_blocks_and_in_groups_of_collectors_only_the_groups_are) {
    const std::vector<std::int64_t> asked(5, 10240);
    EXPECT_EQ(own_chunks(asked, 4096), (std::vector<std::int64_t>(5, 12288)));
    // min(ceil(5/3), ceil(51200/4096)) = 2 collectors of at most 25600 bytes, up to 28672: two
    // tasks each, whose 20480 bytes are 5 blocks, and the last alone.
    EXPECT_EQ(collected_chunks(asked, 4096, 3),
              (std::vector<std::int64_t>{10240, 10240, 10240, 10240, 12288}));
    // One group for all: 51200 bytes are 12.5 blocks.
    EXPECT_EQ(collected_chunks(asked, 4096, 5),
              (std::vector<std::int64_t>{10240, 10240, 10240, 10240, 12288}));
    // No more groups than blocks: 5 x 1000 bytes are two blocks, so of 2500, up to 4096, bytes.
    EXPECT_EQ(collected_chunks(std::vector<std::int64_t>(5, 1000), 4096, 1),
              (std::vector<std::int64_t>{1000, 1000, 1000, 1096, 4096}));
}

TEST(SionFormat, ranks_are_shared_out_with_the_rest_in_the_last_file) {
    const auto files_of_five = [](std::int64_t files) {
        std::vector<std::int64_t> all;
        for (std::int64_t rank = 0; rank < 5; ++rank) all.push_back(file_of(rank, 5, files));
        return all;
    };
    EXPECT_EQ(files_of_five(1), (std::vector<std::int64_t>{0, 0, 0, 0, 0}));
    EXPECT_EQ(files_of_five(2), (std::vector<std::int64_t>{0, 0, 1, 1, 1}));
    EXPECT_EQ(files_of_five(3), (std::vector<std::int64_t>{0, 1, 2, 2, 2}));
    EXPECT_EQ(name_of_file("a.sion", 0), "a.sion");
    EXPECT_EQ(name_of_file("a.sion", 2), "a.sion.000002");
}

TEST(SionFormat, before_version_4_the_reader_rounds_chunks_up) {
    Image image = second_of_two(false);
    put_tail(image, 53248);
    image.put32(16, 3);
    image.put64(36, 0);
    image.put64(1100, 4000);
    image.put64(1108, 8000);
    Memory memory(image.bytes);
    const auto file = read_file(memory);
    ASSERT_TRUE(file) << file.error().text();
    EXPECT_EQ(file->head.chunks[1], 8000);
    EXPECT_EQ(file->chunks.room(1), 8192);
    EXPECT_EQ(file->chunks.begin(1, 1), 8192 + 16384);
    // With version 4 the sizes are what they are: rows of 16096 bytes, and the tail elsewhere.
    image.put32(16, 4);
    Memory newer(image.bytes);
    EXPECT_FALSE(read_file(newer));
}

TEST(SionFormat, unused_chunks_may_be_marked_by_minus_one) {
    Image image = second_of_two(false);
    put_tail(image, 53248);
    image.put64(53248 + 24 + 24, ~0ULL);  // row 1, task 0
    Memory memory(image.bytes);
    const auto file = read_file(memory);
    ASSERT_TRUE(file) << file.error().text();
    EXPECT_EQ(file->bytes_of(0), 17);
}

TEST(SionFormat, a_file_that_was_not_closed_has_no_tail) {
    Image image = second_of_two(false);
    image.put32(1124, 0);
    image.put64(1128, 0);
    Memory memory(image.bytes);
    const auto file = read_file(memory);
    ASSERT_TRUE(file) << file.error().text();
    EXPECT_FALSE(file->head.closed());
    EXPECT_EQ(file->bytes_of(1), 0);
}

/// What is put where, and what the reader says of it, and of which place.
struct Lie {
    std::size_t offset;
    std::size_t bytes;
    std::uint64_t value;
    std::int64_t blamed;
    const char* cause;
};

TEST(SionFormat, what_cannot_be_is_refused_with_its_place) {
    const std::vector<Lie> lies{
        {0, 1, 'S', 0, "does not begin with"},
        {4, 4, 0x01000000, 4, "byte order"},
        {4, 4, 0x02020202, 4, "byte order"},
        {16, 4, 2, 16, "format version 2"},
        {16, 4, 6, 16, "format version 6"},
        {20, 4, 0, 20, "block size 0"},
        {20, 4, 0x80000000, 20, "block size -2147483648"},
        {24, 4, 0, 24, "number of tasks 0"},
        {24, 4, 0xffffffff, 24, "number of tasks -1"},
        {24, 4, 0x7fffffff, 1076, "2147483647 numbers"},
        {28, 4, 0, 28, "number of files 0"},
        {32, 4, 2, 32, "number of the file 2"},
        {36, 8, 49ULL << 32U, 36, "key-value mode 49"},
        {1084, 8, 2, 1084, "two tasks of the file have rank 2"},
        {1084, 8, ~0ULL, 1084, "negative"},
        {1108, 8, ~0ULL, 1108, "have -1 B"},
        {1108, 8, 0x7fffffffffffffff, 1108, "more than 2^63"},
        {1124, 4, 0x7fffffff, 1128, "is said to begin at 53248"},
        {1124, 4, 2, 1128, "end at 36864"},
        {1128, 8, 53249, 1128, "is said to begin at 53249"},
        {53248, 8, 4, 53248, "task 0 uses 4 chunks of 3"},
        {53248, 8, ~0ULL, 53248, "task 0 uses -1"},
        {53272, 8, 4097, 53272, "chunk 0 of task 0 holds 4.001 KiB (4097 B) of 4 KiB"},
        {53272, 8, ~0ULL, 53272, "holds -1 B of 4 KiB"},
        {53296, 8, 1, 53296, "chunk 1 of task 0 holds 1 B and is not used"},
    };
    for (const Lie& lie : lies) {
        Image image = second_of_two(false);
        put_tail(image, 53248);
        image.put(lie.offset, lie.value, lie.bytes);
        Memory memory(image.bytes);
        const auto file = read_file(memory);
        ASSERT_FALSE(file) << lie.cause;
        EXPECT_EQ(file.error().exit_code, ExitCode::data_errors);
        EXPECT_EQ(file.error().path, "memory");
        EXPECT_EQ(file.error().offset, lie.blamed) << lie.cause;
        EXPECT_NE(file.error().cause.find(lie.cause), std::string::npos) << file.error().cause;
    }
}

TEST(SionFormat, a_name_without_end_is_refused) {
    Image image = second_of_two(false);
    image.text(52, std::string(1024, 'x'));
    Memory memory(image.bytes);
    const auto file = read_file(memory);
    ASSERT_FALSE(file);
    EXPECT_EQ(file.error().offset, 52);
}

TEST(SionFormat, places_outside_of_the_container_are_refused) {
    const std::size_t at = 53248 + 12 * 8;
    for (const auto& [count, file, blamed] :
         {std::tuple(std::uint64_t{0x7fffffff}, 0U, at + 4), std::tuple(std::uint64_t{1}, 0U, at),
          std::tuple(std::uint64_t{2}, 2U, at + 4)}) {
        Image image = second_of_two(false);
        image.put32(32, 0);
        put_tail(image, 53248);
        image.put32(at, count);
        image.put32(at + 4, file);
        image.put32(at + 16, 0);
        Memory memory(image.bytes);
        const auto read = read_file(memory);
        ASSERT_FALSE(read);
        EXPECT_EQ(read.error().offset, static_cast<std::int64_t>(blamed));
    }
}

TEST(SionFormat, a_file_cut_anywhere_in_its_metadata_is_refused) {
    Image image = second_of_two(true);
    put_tail(image, 53248);
    const auto whole = image.bytes.size();
    for (std::size_t length = 0; length < whole;
         length += length < 1140 || length >= 53240 ? 1 : 4096) {
        Memory memory(
            {image.bytes.begin(), image.bytes.begin() + static_cast<std::ptrdiff_t>(length)});
        const auto file = read_file(memory);
        ASSERT_FALSE(file) << length;
        EXPECT_TRUE(file.error().offset);
    }
}

/// A source of which one read leaves the memory unchanged and reports success.
class Stale final : public Source {
  public:
    Stale(Source& whole, int number) : whole_(whole), left_(number) {}
    const std::string& path() const override { return whole_.path(); }
    std::int64_t size() const override { return whole_.size(); }
    Status read(std::int64_t offset, std::span<std::byte> data) override {
        if (--left_ == 0) return {};
        return whole_.read(offset, data);
    }
    bool happened() const { return left_ <= 0; }

  private:
    Source& whole_;
    int left_;
};

TEST(SionFormat, a_stale_read_of_metadata_is_found_or_changes_nothing) {
    for (const bool big : {false, true}) {
        Image image = second_of_two(big);
        put_tail(image, 53248);
        Memory memory(image.bytes);
        const auto right = read_file(memory);
        ASSERT_TRUE(right);
        int found = 0;
        int number = 1;
        for (;; ++number) {
            Stale stale(memory, number);
            const auto file = read_file(stale);
            if (!stale.happened()) break;
            if (!file) {
                ++found;
                continue;
            }
            EXPECT_EQ(encode(file->head), encode(right->head)) << number;
            EXPECT_EQ(file->tail.used, right->tail.used) << number;
            EXPECT_EQ(file->tail.bytes, right->tail.bytes) << number;
        }
        // All reads except that of the flags, which are not used.
        EXPECT_EQ(found, number - 2);
        EXPECT_GE(found, 15);
    }
}

/// Mutations of a good file: refused or read, without reading outside of it (Memory sees to that)
/// and without more memory than it and a constant. EFFIO_MUTATIONS says how many.
TEST(SionFormat, mutated_files_do_no_harm) {
    const char* given = std::getenv("EFFIO_MUTATIONS");
    const long count = given != nullptr ? std::strtol(given, nullptr, 10) : 20'000;
    Image small;
    // The same file with blocks of 8 bytes: all metadata is near.
    small = second_of_two(false);
    small.put32(20, 8);
    small.put32(32, 0);
    for (std::size_t i = 0; i < 3; ++i) small.put64(1100 + 8 * i, 8 * (i + 1));
    small.put64(1128, 1136 + 3 * 48);
    const std::uint64_t numbers[]{1, 3, 2, 7, 16, 24, 0, 8, 5, 0, 1, 0};
    for (std::size_t i = 0; i < std::size(numbers); ++i) small.put64(1280 + 8 * i, numbers[i]);
    small.put32(1376, 2);
    small.put64(1380, 0);
    small.put64(1388, 1);
    {
        Memory memory(small.bytes);
        const auto file = read_file(memory);
        ASSERT_TRUE(file) << file.error().text();
    }
    const std::uint64_t extremes[]{0,
                                   1,
                                   2,
                                   0x7f,
                                   0x80,
                                   0xff,
                                   0x7fffffff,
                                   0x80000000,
                                   0xffffffff,
                                   0x7fffffffffffffff,
                                   0x8000000000000000,
                                   ~0ULL,
                                   1ULL << 61U};
    // Where names do not stand.
    std::vector<std::size_t> places;
    for (std::size_t i = 0; i < small.bytes.size(); ++i) {
        if (i < 60 || i >= 1070) places.push_back(i);
    }
    std::mt19937_64 random(16);  // NOLINT: a failure must come again
    long good = 0;
    for (long i = 0; i < count; ++i) {
        Image image = small;
        image.big = random() % 4 == 0;
        for (std::uint64_t changes = 1 + random() % 3; changes > 0; --changes) {
            const std::size_t place = places[random() % places.size()];
            const std::size_t width = std::size_t{1} << random() % 4;
            if (place + width > image.bytes.size()) continue;
            const std::uint64_t value =
                random() % 2 == 0 ? random() : extremes[random() % std::size(extremes)];
            image.put(place, value, width);
        }
        if (random() % 8 == 0) image.bytes.resize(random() % (image.bytes.size() + 1));
        const std::size_t length = image.bytes.size();
        Memory memory(std::move(image.bytes));
        largest_allocation = 0;
        const auto file = read_file(memory);
        EXPECT_LE(largest_allocation, 4 * length + 4096);
        if (file) {
            ++good;
            for (std::int64_t task = 0; task < file->head.tasks(); ++task) {
                EXPECT_GE(file->bytes_of(task), 0);
            }
        } else {
            EXPECT_EQ(file.error().exit_code, ExitCode::data_errors) << file.error().text();
            EXPECT_TRUE(file.error().offset) << file.error().text();
        }
        if (testing::Test::HasFailure()) FAIL() << "mutation " << i;
    }
    EXPECT_GT(good, 0);
    EXPECT_LT(good, count);
}

}  // namespace
}  // namespace effio::sion
