// SPDX-License-Identifier: BSD-3-Clause
// One conformance suite for all backends of bytes: every call form, view and pointer puts data
// where MPI's rules say, or is refused as the capabilities say. Where a backend stores data, each
// test ends with the whole file, read by other means, byte by byte against the one pattern that
// every write took its part of.
#include "byte_file_suite.hpp"

namespace effio {
namespace {

TEST_P(EveryByteFile, offsets_place_each_rank_where_it_says) {
    const auto file = open(OpenMode::creating());
    ASSERT_TRUE(file);
    constexpr std::int64_t block = 4096;
    // Two blocks a rank, the ranks in reverse, first alone, then all together.
    for (int part = 0; part < 2; ++part) {
        const std::int64_t offset = (part * ranks_ + (ranks_ - 1 - rank_)) * block;
        const auto done =
            file->write(part == 0 ? at_own : at_all, bytes_from(offset, block).bytes(), offset);
        ASSERT_TRUE(done) << done.error().text();
    }
    settle(*file);
    // Each rank reads what its neighbor wrote.
    const std::int64_t theirs = (rank_ + 1) % ranks_ * block;
    expect_read(*file, at_own, bytes_from(theirs, block), theirs);
    expect_read(*file, at_all, bytes_from(theirs, block), theirs);
    expect_whole(*file, 2 * ranks_ * block);
}

TEST_P(EveryByteFile, offsets_and_pointers_count_elements) {
    const auto file = open(OpenMode::creating(), Element::real64);
    ASSERT_TRUE(file);
    ASSERT_TRUE(file->write(at_own, bytes_from(rank_ * 80, 80).bytes(), rank_ * 10));
    settle(*file);
    ASSERT_TRUE(file->seek(5));
    expect_read(*file, individual, bytes_from(40, 40));
    expect_read(*file, at_own, bytes_from(8, 72), 1);
    expect_whole(*file, ranks_ * 80);
}

TEST_P(EveryByteFile, an_individual_pointer_continues_behind_the_last_transfer) {
    const auto file = open(OpenMode::creating());
    ASSERT_TRUE(file);
    const std::int64_t begin = rank_ * 600;
    ASSERT_TRUE(file->seek(begin));
    ASSERT_TRUE(file->write(individual, bytes_from(begin, 100).bytes()));
    // The collective write leaves holes, which OMPIO (Open MPI 4.1.4) fills by reading and writing
    // back without a lock: it loses what another rank writes there at the same time.
    comm().barrier();
    ASSERT_TRUE(file->write(individual_all, bytes_from(begin + 100, 200).bytes()));
    comm().barrier();
    // Offsets of other calls leave the pointer alone.
    ASSERT_TRUE(file->write(at_own, bytes_from(begin + 500, 100).bytes(), begin + 500));
    ASSERT_TRUE(file->write(individual, bytes_from(begin + 300, 200).bytes()));
    ASSERT_TRUE(file->seek(begin + 50));
    expect_read(*file, individual, bytes_from(begin + 50, 50));
    expect_read(*file, individual_all, bytes_from(begin + 100, 100));
    expect_whole(*file, ranks_ * 600);
}

// 14 bytes in pieces of 4, 3 bytes apart: memory 0-3, 7-10, 14-17 and 21-22, 23 bytes in all.
TEST_P(EveryByteFile, pieces_apart_in_memory_follow_each_other_in_the_file) {
    if (!can_.spaced) GTEST_SKIP() << "no such calls";
    const auto file = open(OpenMode::creating());
    ASSERT_TRUE(file);
    SpacedMemory memory({4, 3}, 14);
    const Spaced pieces = memory.first(14);
    ASSERT_EQ(pieces.memory.size(), 23U);
    // In the file the rank's bytes are in two chunks of 7, so that a piece is cut.
    const View dealt{0, RoundRobin{comm().size(), comm().rank(), 7}};
    const auto place = [this](std::int64_t i) { return (i / 7 * ranks_ + rank_) * 7 + i % 7; };
    memory.spread(bytes_at(14, place).bytes());
    const auto byte = [&](std::int64_t i) { return bytes_at(1, [&](auto) { return place(i); }); };
    EXPECT_EQ(pieces.memory[7], byte(4).bytes()[0]);
    EXPECT_EQ(pieces.memory[22], byte(13).bytes()[0]);
    for (const std::size_t gap : {4U, 6U, 11U, 13U, 18U, 20U}) {
        EXPECT_EQ(pieces.memory[gap], SpacedMemory::unused);
    }
    ASSERT_TRUE(file->set_view(dealt, {}));
    ASSERT_TRUE(file->write_spaced(individual_all, pieces));
    settle(*file);
    if (can_.stores_data) {
        for (const CallForm form : {at_own, at_all, individual}) {
            SpacedMemory back({5, 2}, 14);
            ASSERT_TRUE(file->read_spaced(form, back.first(14)));
            Buffer found(14);
            back.gather(found.bytes());
            EXPECT_FALSE(compare(bytes_at(14, place).bytes(), found.bytes(), 0));
            EXPECT_TRUE(back.gaps_are_intact(14));
            back.first(14).memory[6] = std::byte{0};
            EXPECT_FALSE(back.gaps_are_intact(14));
            ASSERT_TRUE(file->seek(0));
        }
    }
    expect_whole(*file, 14 * ranks_);
}

TEST_P(EveryByteFile, a_view_deals_the_file_out_in_chunks) {
    ASSERT_TRUE(can_.views);
    // Chunks of 3 doubles, a rank's stream is every `ranks`-th of them; calls of 5 chunks, one of
    // half a chunk more and one that completes it. Behind a displacement that another view fills.
    constexpr std::int64_t chunk = 24;
    const std::int64_t displacement = 16;
    const auto where = [&](std::int64_t stream) {
        return displacement + (stream / chunk * ranks_ + rank_) * chunk + stream % chunk;
    };
    const auto file = open(OpenMode::creating(), Element::real64);
    ASSERT_TRUE(file);
    if (rank_ == 0) {
        ASSERT_TRUE(file->write(at_own, bytes_from(0, displacement).bytes(), 0));
    }
    const View view{displacement, RoundRobin{comm().size(), comm().rank(), chunk}};
    ASSERT_TRUE(file->set_view(view, Hints{}));
    std::int64_t stream = 0;
    for (const std::int64_t bytes : {5 * chunk, 5 * chunk + 8, chunk - 8}) {
        const auto data = bytes_at(bytes, [&](std::int64_t i) { return where(stream + i); });
        const auto done = file->write(individual_all, data.bytes());
        ASSERT_TRUE(done) << done.error().text();
        stream += bytes;
    }
    settle(*file);
    // Setting a view sets the pointer back; offsets count elements of the view.
    ASSERT_TRUE(file->set_view(view, Hints{}));
    expect_read(*file, individual_all, bytes_at(7 * chunk, where));
    expect_read(*file, at_own,
                bytes_at(4 * chunk, [&](std::int64_t i) { return where(2 * chunk + i); }),
                2 * chunk / 8);
    expect_whole(*file, displacement + ranks_ * stream);
}

TEST_P(EveryByteFile, a_view_of_a_box_is_that_part_of_the_array) {
    ASSERT_TRUE(can_.views);
    // An array of 6 rows and 4 columns a rank, 4 bytes each; a rank's box is its columns.
    const std::int64_t row = 16 * ranks_;
    const auto where = [&](std::int64_t stream) {
        return stream / 16 * row + rank_ * 16 + stream % 16;
    };
    const auto file = open(OpenMode::creating());
    ASSERT_TRUE(file);
    const View view{0, Box{{6, 4 * ranks_}, {0, 4 * rank_}, {6, 4}, 4}};
    ASSERT_TRUE(file->set_view(view, Hints{}));
    const auto done = file->write(individual_all, bytes_at(96, where).bytes());
    ASSERT_TRUE(done) << done.error().text();
    settle(*file);
    ASSERT_TRUE(file->set_view(view, Hints{}));
    expect_read(*file, individual_all, bytes_at(96, where));
    expect_whole(*file, 6 * row);
}

TEST_P(EveryByteFile, nested_strides_are_a_view) {
    // Pieces of 12 bytes, two alternating with other ranks', three such groups after 100 bytes.
    const std::int64_t group = std::int64_t{24} * ranks_;
    const Strides strides{12, {{2, 12 * ranks_}, {3, group}}};
    const auto where = [&](std::int64_t i) { return 100 + rank_ * 12 + strides.place(i); };
    const auto file = open(OpenMode::creating());
    ASSERT_TRUE(file);
    if (comm().is_root()) {
        ASSERT_TRUE(file->write(at_own, bytes_from(0, 100).bytes(), 0));
    }
    settle(*file);
    const View view{100 + rank_ * 12, strides};
    ASSERT_TRUE(file->set_view(view, Hints{}));
    const auto done = file->write(at_all, bytes_at(72, where).bytes(), 0);
    ASSERT_TRUE(done) << done.error().text();
    settle(*file);
    expect_read(*file, at_all, bytes_at(72, where));
    expect_whole(*file, 100 + 3 * group);
}

TEST_P(EveryByteFile, a_list_of_places_is_a_view) {
    // Rank r has the pieces r, r + P, …; in the last group the order of the ranks is turned round.
    std::vector<std::int64_t> places;
    for (std::int64_t i = 0; i < 4; ++i) {
        const std::int64_t swapped = i == 3 ? ranks_ - 1 - rank_ : rank_;
        places.push_back((i * ranks_ + swapped) * 24);
    }
    const Listed list{24, std::make_shared<const std::vector<std::int64_t>>(places)};
    const auto where = [&](std::int64_t i) { return list.place(i); };
    const auto file = open(OpenMode::creating());
    ASSERT_TRUE(file);
    ASSERT_TRUE(file->set_view(View{0, list}, Hints{}));
    const auto done = file->write(at_all, bytes_at(96, where).bytes(), 0);
    ASSERT_TRUE(done) << done.error().text();
    settle(*file);
    expect_read(*file, at_all, bytes_at(96, where));
    expect_whole(*file, 96 * ranks_);
}

TEST_P(EveryByteFile, segments_are_views_with_a_displacement_for_each_rank) {
    constexpr std::int64_t segment = 1000;
    const auto file = open(OpenMode::creating());
    ASSERT_TRUE(file);
    const View view{rank_ * segment, Contiguous{}};
    ASSERT_TRUE(file->set_view(view, Hints{}));
    ASSERT_TRUE(file->write(individual, bytes_from(rank_ * segment, 400).bytes()));
    ASSERT_TRUE(file->write(individual_all, bytes_from(rank_ * segment + 400, 600).bytes()));
    settle(*file);
    ASSERT_TRUE(file->set_view(view, Hints{}));
    expect_read(*file, individual, bytes_from(rank_ * segment, segment));
    expect_whole(*file, ranks_ * segment);
}

TEST_P(EveryByteFile, ordered_calls_follow_each_other_by_rank) {
    if (!can_.ordered_pointer) GTEST_SKIP() << GetParam() << " states that it has none";
    // Rank r moves r + 1 pieces of 40 bytes, thrice: unequal amounts show a pointer per rank.
    const auto piece = [](std::int64_t rank) { return 40 * (rank + 1); };
    std::int64_t all = 0;
    std::int64_t below = 0;
    for (std::int64_t r = 0; r < ranks_; ++r) {
        if (r < rank_) below += piece(r);
        all += piece(r);
    }
    const auto file = open(OpenMode::creating(), Element::real64);
    ASSERT_TRUE(file);
    for (int call = 0; call < 3; ++call) {
        const auto data = bytes_from(call * all + below, piece(rank_));
        const auto done = file->write(ordered, data.bytes());
        ASSERT_TRUE(done) << done.error().text();
    }
    settle(*file);
    ASSERT_TRUE(file->set_view(View{}, Hints{}));  // back to the start
    for (int call = 0; call < 3; ++call) {
        expect_read(*file, ordered, bytes_from(call * all + below, piece(rank_)));
    }
    expect_whole(*file, 3 * all);
}

TEST_P(EveryByteFile, shared_calls_come_in_any_order_but_never_overlap) {
    const auto file = open(OpenMode::creating(), Element::real64);
    ASSERT_TRUE(file);
    constexpr int calls = 5;
    Buffer record(64);
    std::fill(record.bytes().begin(), record.bytes().end(), static_cast<std::byte>(rank_ + 1));
    if (!can_.shared_pointer) {
        const auto refused = file->write(shared, record.bytes());
        ASSERT_FALSE(refused);
        EXPECT_NE(refused.error().cause.find("no shared file pointer"), std::string::npos);
        EXPECT_FALSE(file->read(shared, record.bytes()));
        ASSERT_TRUE(file->close());
        return;
    }
    for (int call = 0; call < calls; ++call) {
        ASSERT_TRUE(file->write(shared, record.bytes()));
    }
    settle(*file);
    // Every record is whole, and each rank has its five.
    std::vector<int> count(static_cast<std::size_t>(ranks_) + 1);
    for (std::int64_t i = 0; i < calls * ranks_; ++i) {
        ASSERT_TRUE(file->read(at_own, record.bytes(), i * 8));
        const auto owner = std::to_integer<std::size_t>(record.bytes()[0]);
        ASSERT_TRUE(owner >= 1 && owner < count.size()) << "record " << i;
        ++count[owner];
        EXPECT_TRUE(std::all_of(record.bytes().begin(), record.bytes().end(),
                                [&](std::byte b) { return b == record.bytes()[0]; }));
    }
    for (std::size_t r = 1; r < count.size(); ++r) EXPECT_EQ(count[r], calls);
    ASSERT_TRUE(file->close());
}

TEST_P(EveryByteFile, ranks_with_nothing_to_move_take_part_all_the_same) {
    const auto file = open(OpenMode::creating());
    ASSERT_TRUE(file);
    const std::int64_t mine = rank_ == 0 ? 100 : 0;
    EXPECT_TRUE(file->write(at_all, bytes_from(0, mine).bytes(), rank_ == 0 ? 0 : 17));
    EXPECT_TRUE(file->seek(100));
    EXPECT_TRUE(file->write(individual_all, bytes_from(100, mine).bytes()));
    EXPECT_TRUE(file->write(at_own, {}, 3));
    settle(*file);
    expect_read(*file, at_all, bytes_from(0, mine), 0);
    expect_whole(*file, 200);
}

TEST_P(EveryByteFile, a_read_past_the_end_is_an_error_that_shows_what_came) {
    if (!can_.stores_data) GTEST_SKIP() << GetParam() << " keeps nothing";
    const auto file = open(OpenMode::creating());
    ASSERT_TRUE(file);
    if (rank_ == 0) {
        ASSERT_TRUE(file->write(at_own, bytes_from(0, 100).bytes(), 0));
    }
    settle(*file);
    Buffer buffer(64);
    const auto read = file->read(at_own, buffer.bytes(), 60);
    ASSERT_FALSE(read);
    EXPECT_EQ(read.error().cause, "moved 40 B of 64 B without reporting an error");
    const bool posix = GetParam() == "posix" || GetParam() == "direct";
    const char* const other = GetParam() == "uring"  ? "io_uring read"
                              : GetParam() == "mmap" ? "read by mmap"
                                                     : "MPI_File_read_at";
    EXPECT_EQ(read.error().operation, posix ? "pread" : other);
    EXPECT_EQ(read.error().path, path());
    EXPECT_EQ(read.error().offset, 60);
    EXPECT_EQ(read.error().rank, at_.session.world_rank);
    EXPECT_EQ(read.error().exit_code, ExitCode::io_error);
    ASSERT_TRUE(file->close());
}

TEST_P(EveryByteFile, each_transfer_is_timed_once_while_a_histogram_is_set) {
    const auto file = open(OpenMode::creating());
    ASSERT_TRUE(file);
    Histogram times;
    const Buffer data(64);
    Buffer back(64);
    ASSERT_TRUE(file->write(at_own, data.bytes(), rank_ * 64));
    file->time_calls_into(&times);
    ASSERT_TRUE(file->write(at_own, data.bytes(), rank_ * 64));
    ASSERT_TRUE(file->write(at_all, data.bytes(), rank_ * 64));
    settle(*file);  // not a transfer
    ASSERT_TRUE(file->read(at_own, back.bytes(), rank_ * 64));
    file->time_calls_into(nullptr);
    ASSERT_TRUE(file->read(at_own, back.bytes(), rank_ * 64));
    EXPECT_EQ(times.count(), 3U);
    ASSERT_TRUE(file->close());
}

TEST_P(EveryByteFile, transfers_count_as_progress) {
    const auto file = open(OpenMode::creating());
    ASSERT_TRUE(file);
    const std::int64_t before = at_.progress.snapshot().bytes_in_step;
    ASSERT_TRUE(file->write(at_all, bytes_from(rank_ * 100, 100).bytes(), rank_ * 100));
    const auto now = at_.progress.snapshot();
    EXPECT_EQ(now.bytes_in_step - before, 100);
    EXPECT_STREQ(now.call, file->call_name(at_all, true));
    ASSERT_TRUE(file->close());
}

// Also those of byte_file_opening_test.cpp and as_itself_test.cpp.
INSTANTIATE_TEST_SUITE_P(Bytes, EveryByteFile, testing::ValuesIn(byte_files()),
                         [](const auto& suite) { return suite.param; });

TEST(CallNames, are_those_of_MPI) {
    EXPECT_STREQ(mpi_calls.transfer(at_own, true), "MPI_File_write_at");
    EXPECT_STREQ(mpi_calls.transfer(at_all, false), "MPI_File_read_at_all");
    EXPECT_STREQ(mpi_calls.transfer(individual, false), "MPI_File_read");
    EXPECT_STREQ(mpi_calls.transfer(individual_all, true), "MPI_File_write_all");
    EXPECT_STREQ(mpi_calls.transfer(shared, true), "MPI_File_write_shared");
    EXPECT_STREQ(mpi_calls.transfer(ordered, false), "MPI_File_read_ordered");
    EXPECT_STREQ(mpi_split_calls.transfer(at_own, true), "MPI_File_write_at");
    EXPECT_STREQ(mpi_split_calls.transfer(at_all, false), "MPI_File_read_at_all_begin");
    EXPECT_STREQ(mpi_split_calls.transfer(ordered, true), "MPI_File_write_ordered_begin");
}

TEST(CallNames, of_other_ways_show_reading_from_writing) {
    constexpr CallNames names = CallNames::plain("pwrite", "pread");
    for (const CallForm form : {at_own, at_all, individual, individual_all, shared, ordered}) {
        EXPECT_STREQ(names.transfer(form, true), "pwrite");
        EXPECT_STREQ(names.transfer(form, false), "pread");
    }
}

}  // namespace
}  // namespace effio
