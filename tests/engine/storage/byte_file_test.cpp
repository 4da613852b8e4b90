// SPDX-License-Identifier: BSD-3-Clause
// One conformance suite for all backends of bytes: every call form, view and pointer puts data
// where MPI's rules say, or is refused as the capabilities say. Where a backend stores data, each
// test ends with the whole file, read by other means, byte by byte against the one pattern that
// every write took its part of.
#include "storage/byte_file.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <numeric>

#include "../shared_directory.hpp"
#include "../test_session.hpp"
#include "core/buffer.hpp"
#include "core/pattern.hpp"
#include "storage/backends.hpp"

namespace effio {
namespace {

namespace fs = std::filesystem;

constexpr CallForm at_own{Pointer::at, false};
constexpr CallForm at_all{Pointer::at, true};
constexpr CallForm individual{Pointer::individual, false};
constexpr CallForm individual_all{Pointer::individual, true};
constexpr CallForm shared{Pointer::shared, false};
constexpr CallForm ordered{Pointer::shared, true};

const Pattern& pattern() {
    static const Pattern p(17, 4);
    return p;
}

class EveryByteFile : public testing::TestWithParam<std::string> {
  protected:
    EveryByteFile()
        : at_(GetParam() == "sim" ? Clock::Kind::virtual_time : Clock::Kind::real),
          directory_(at_.comm),
          ranks_(at_.comm.size()),
          rank_(at_.comm.rank()) {
        BackendChoice choice;
        choice.name = GetParam();
        choice.direct.unaligned = "buffered";  // O_DIRECT where it can be
        if (at_.clock.is_virtual()) room_ = std::move(*SimRoom::create(at_.comm));
        storage_ = make_storage(at_.session, choice, room_.get());
        can_ = storage_->capabilities();
    }

    void SetUp() override {
        if (GetParam() != "direct") return;
        const auto tried =
            storage_->open(comm(), {path(), OpenMode::creating(), Element::byte, {}});
        if (!tried) GTEST_SKIP() << tried.error().text();
        ASSERT_TRUE((*tried)->close());
        comm().barrier();
        ASSERT_TRUE(storage_->remove(path()));
        comm().barrier();
    }

    const Comm& comm() const { return at_.comm; }
    std::string path(const std::string& name = "data") const { return directory_ / name; }
    /// Where the bytes really lie.
    std::string real_path(const std::string& name = "data") const {
        return room_ ? room_->place_of(path(name)) : path(name);
    }

    std::unique_ptr<ByteFile> open(OpenMode mode, Element element = Element::byte,
                                   const std::string& name = "data") {
        auto file = storage_->open(comm(), {path(name), mode, element, {}});
        EXPECT_TRUE(file) << file.error().text();
        if (!file) return nullptr;
        if (element != Element::byte) {
            EXPECT_TRUE((*file)->set_view(View{}, Hints{}));
        }
        return std::move(*file);
    }

    /// The pattern's bytes at the file offsets `where(0…bytes-1)` of a rank's stream.
    template <class Where>
    Buffer bytes_at(std::int64_t bytes, Where&& where) const {
        Buffer out(static_cast<std::size_t>(bytes));
        for (std::int64_t i = 0; i < bytes; ++i) {
            pattern().fill(out.bytes().subspan(static_cast<std::size_t>(i), 1), where(i));
        }
        return out;
    }
    Buffer bytes_from(std::int64_t offset, std::int64_t bytes) const {
        Buffer out(static_cast<std::size_t>(bytes));
        pattern().fill(out.bytes(), offset);
        return out;
    }
    void expect_read(ByteFile& file, CallForm form, const Buffer& expected,
                     std::int64_t offset = 0) const {
        Buffer found(expected.size());
        const auto done = file.read(form, found.bytes(), offset);
        ASSERT_TRUE(done) << done.error().text();
        if (!can_.stores_data) return;
        const auto wrong = compare(expected.bytes(), found.bytes(), offset);
        EXPECT_FALSE(wrong) << wrong->text();
    }
    /// Collective. Each rank's writes are over and can be seen by the others.
    void settle(ByteFile& file) const {
        ASSERT_TRUE(file.sync());
        comm().barrier();
    }
    /// Collective: closes, and the root compares all of the file.
    void expect_whole(ByteFile& file, std::int64_t bytes, const std::string& name = "data") {
        settle(file);
        const auto size = file.size();
        ASSERT_TRUE(size) << size.error().text();
        EXPECT_EQ(*size, bytes);
        comm().barrier();
        ASSERT_TRUE(file.close());
        comm().barrier();
        if (!comm().is_root() || !can_.stores_data) return;
        std::ifstream in(real_path(name), std::ios::binary);
        std::vector<char> found(static_cast<std::size_t>(bytes) + 1);
        in.read(found.data(), bytes + 1);
        ASSERT_EQ(in.gcount(), bytes);
        found.resize(static_cast<std::size_t>(bytes));
        const auto wrong = pattern().check(std::as_bytes(std::span(found)), 0);
        EXPECT_FALSE(wrong) << wrong->text();
    }

    TestSession at_;
    SharedDirectory directory_;
    std::int64_t ranks_;
    std::int64_t rank_;
    std::unique_ptr<SimRoom> room_;
    std::unique_ptr<Storage> storage_;
    Capabilities can_;
};

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
    // Each rank reads what its neighbour wrote.
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

TEST_P(EveryByteFile, an_individual_pointer_goes_on_behind_the_last_transfer) {
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
    ASSERT_TRUE(file->set_view(View{}, Hints{}));  // back to the begin
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

TEST_P(EveryByteFile, each_rank_can_have_a_file_of_its_own) {
    const Comm self = Comm::self(at_.clock);
    const std::string name = "own." + std::to_string(rank_);
    const auto with = [&](OpenMode mode) {
        auto file = storage_->open(self, {path(name), mode, Element::byte, {}});
        EXPECT_TRUE(file) << file.error().text();
        return std::move(*file);
    };
    const std::int64_t bytes = 500 + 100 * rank_;
    const auto file = with(OpenMode::creating());
    for (const CallForm form : {individual, individual_all}) {
        ASSERT_TRUE(file->seek(0));
        ASSERT_TRUE(file->write(form, bytes_from(0, bytes).bytes()));
    }
    ASSERT_TRUE(file->sync());
    EXPECT_EQ(*file->size(), bytes);
    ASSERT_TRUE(file->close());
    const auto again = with(OpenMode::reading());
    expect_read(*again, individual, bytes_from(0, bytes));
    ASSERT_TRUE(again->close());
}

TEST_P(EveryByteFile, opening_again_for_update_keeps_what_is_there) {
    auto file = open(OpenMode::creating());
    ASSERT_TRUE(file);
    ASSERT_TRUE(file->write(at_all, bytes_from(rank_ * 64, 64).bytes(), rank_ * 64));
    settle(*file);
    ASSERT_TRUE(file->close());
    comm().barrier();
    file = open(OpenMode::updating());
    ASSERT_TRUE(file);
    expect_read(*file, at_all, bytes_from(rank_ * 64, 64), rank_ * 64);
    ASSERT_TRUE(
        file->write(at_all, bytes_from((ranks_ + rank_) * 64, 64).bytes(), (ranks_ + rank_) * 64));
    expect_whole(*file, 2 * ranks_ * 64);
}

TEST_P(EveryByteFile, a_read_past_the_end_is_an_error_that_tells_what_came) {
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
    EXPECT_EQ(read.error().cause, "moved 40 of 64 bytes without reporting an error");
    EXPECT_EQ(read.error().operation, "MPI_File_read_at");
    EXPECT_EQ(read.error().path, path());
    EXPECT_EQ(read.error().offset, 60);
    EXPECT_EQ(read.error().rank, at_.session.world_rank);
    EXPECT_EQ(read.error().exit_code, ExitCode::io_error);
    ASSERT_TRUE(file->close());
}

TEST_P(EveryByteFile, a_missing_file_is_an_error_on_every_rank) {
    if (!can_.stores_data) GTEST_SKIP() << GetParam() << " keeps nothing";
    for (const OpenMode& mode : {OpenMode::reading(), OpenMode::updating()}) {
        const auto file = storage_->open(comm(), {path("none"), mode, Element::byte, {}});
        ASSERT_FALSE(file);
        EXPECT_NE(file.error().text().find("/none: "), std::string::npos) << file.error().text();
        EXPECT_EQ(file.error().rank, at_.session.world_rank);
        EXPECT_EQ(file.error().exit_code, ExitCode::io_error);
    }
}

TEST_P(EveryByteFile, exclusive_creation_makes_a_new_file_and_refuses_an_old_one) {
    if (!can_.stores_data) GTEST_SKIP() << GetParam() << " keeps nothing";
    OpenMode mode = OpenMode::creating();
    mode.exclusive = true;
    const auto file = open(mode);
    ASSERT_TRUE(file);
    ASSERT_TRUE(file->write(at_all, bytes_from(rank_ * 8, 8).bytes(), rank_ * 8));
    expect_whole(*file, 8 * ranks_);
    comm().barrier();
    EXPECT_FALSE(storage_->open(comm(), {path(), mode, Element::byte, {}}));
}

TEST_P(EveryByteFile, writing_a_file_that_was_opened_for_reading_is_refused) {
    if (!can_.stores_data) GTEST_SKIP() << GetParam() << " keeps nothing";
    auto file = open(OpenMode::creating());
    ASSERT_TRUE(file);
    ASSERT_TRUE(file->close());
    comm().barrier();
    file = open(OpenMode::reading());
    ASSERT_TRUE(file);
    const Buffer data(8);
    EXPECT_FALSE(file->write(at_own, data.bytes(), 0));
    ASSERT_TRUE(file->close());
}

TEST_P(EveryByteFile, delete_on_close_leaves_no_file_behind) {
    OpenMode mode = OpenMode::creating();
    mode.delete_on_close = true;
    for (int time = 0; time < 5; ++time) {
        const auto file = open(mode);
        ASSERT_TRUE(file);
        ASSERT_TRUE(file->close());
        comm().barrier();
        EXPECT_FALSE(fs::exists(real_path()));
        comm().barrier();
    }
}

TEST_P(EveryByteFile, removing_is_local_and_needs_no_file) {
    const auto file = open(OpenMode::creating());
    ASSERT_TRUE(file);
    ASSERT_TRUE(file->close());
    comm().barrier();
    const auto first = storage_->remove(path());
    EXPECT_TRUE(first) << first.error().text();
    comm().barrier();
    EXPECT_FALSE(fs::exists(real_path()));
    EXPECT_TRUE(storage_->remove(path()));
}

TEST_P(EveryByteFile, preallocating_gives_the_length_and_keeps_the_data) {
    const auto file = open(OpenMode::creating());
    ASSERT_TRUE(file);
    ASSERT_TRUE(file->write(at_all, bytes_from(rank_ * 16, 16).bytes(), rank_ * 16));
    settle(*file);
    const std::int64_t length = 65536;
    const auto done = file->preallocate(length);
    ASSERT_TRUE(done) << done.error().text();
    comm().barrier();
    EXPECT_EQ(*file->size(), length);
    ASSERT_TRUE(file->preallocate(8));  // never less
    comm().barrier();
    EXPECT_EQ(*file->size(), length);
    expect_read(*file, at_own, bytes_from(0, 16 * ranks_), 0);
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

TEST_P(EveryByteFile, hints_are_taken_and_those_in_force_are_told) {
    Hints asked;
    asked.set("cb_buffer_size", "1048576");
    asked.set("effio_no_such_hint", "switchable");
    asked.set("effio_empty", "");  // an error that some libraries answer with an abort
    auto opened = storage_->open(comm(), {path(), OpenMode::creating(), Element::byte, asked});
    ASSERT_TRUE(opened) << opened.error().text();
    const auto file = std::move(*opened);
    EXPECT_TRUE(file->set_view(View{}, asked));
    EXPECT_TRUE(file->set_hints(asked));
    EXPECT_TRUE(file->set_hints(Hints{}));
    if (!can_.hints) {
        EXPECT_TRUE(file->granted_hints().empty());
    }
    ASSERT_TRUE(file->close());
}

TEST_P(EveryByteFile, transfers_count_as_progress) {
    const auto file = open(OpenMode::creating());
    ASSERT_TRUE(file);
    const std::int64_t before = at_.progress.snapshot().bytes_in_step;
    ASSERT_TRUE(file->write(at_all, bytes_from(rank_ * 100, 100).bytes(), rank_ * 100));
    const auto now = at_.progress.snapshot();
    EXPECT_EQ(now.bytes_in_step - before, 100);
    EXPECT_STREQ(now.call, "MPI_File_write_at_all");
    ASSERT_TRUE(file->close());
}

INSTANTIATE_TEST_SUITE_P(Bytes, EveryByteFile, testing::ValuesIn(present_backends(Serves::bytes)),
                         [](const auto& suite) { return suite.param; });

TEST(CallNames, are_those_of_MPI) {
    EXPECT_STREQ(call_name(at_own, true), "MPI_File_write_at");
    EXPECT_STREQ(call_name(at_all, false), "MPI_File_read_at_all");
    EXPECT_STREQ(call_name(individual, false), "MPI_File_read");
    EXPECT_STREQ(call_name(individual_all, true), "MPI_File_write_all");
    EXPECT_STREQ(call_name(shared, true), "MPI_File_write_shared");
    EXPECT_STREQ(call_name(ordered, false), "MPI_File_read_ordered");
}

}  // namespace
}  // namespace effio
