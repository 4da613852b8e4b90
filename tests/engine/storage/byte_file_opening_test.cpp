// SPDX-License-Identifier: BSD-3-Clause
// The conformance suite for all backends of bytes, second part: how files are opened, made, found,
// given a length and removed.
#include "byte_file_suite.hpp"

#include <filesystem>
#include <fstream>

namespace effio {
namespace {

namespace fs = std::filesystem;

TEST_P(EveryByteFile, each_rank_can_have_its_own_file) {
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

TEST_P(EveryByteFile, what_is_confirmed_later_is_not_written_through_a_link) {
    if (!can_.real_files || !can_.plain) GTEST_SKIP() << GetParam() << " has no plain files";
    if (comm().is_root()) {
        std::ofstream(path("victim")) << "precious";
        fs::create_symlink(path("victim"), path("link"));
    }
    comm().barrier();
    for (const bool preallocates : {false, true}) {
        OpenRequest request{path("link"), OpenMode::creating(), Element::byte, {}};
        request.confirms_later = true;
        auto file = storage_->open(comm(), request);
        if (!file) continue;  // refused at the open
        EXPECT_FALSE(preallocates ? (*file)->preallocate(4096) : (*file)->confirm());
        EXPECT_TRUE((*file)->close());
    }
    EXPECT_FALSE(storage_->open(comm(), {path("link"), OpenMode::creating(), Element::byte, {}}));
    comm().barrier();
    EXPECT_EQ(fs::file_size(path("victim")), 8);
    auto own = OpenRequest{path("own"), OpenMode::creating(), Element::byte, {}};
    own.confirms_later = true;
    auto file = storage_->open(comm(), own);
    ASSERT_TRUE(file);
    EXPECT_TRUE((*file)->confirm());
    EXPECT_TRUE((*file)->close());
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

TEST_P(EveryByteFile, hints_are_taken_and_effective_ones_are_reported) {
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

}  // namespace
}  // namespace effio
