// SPDX-License-Identifier: BSD-3-Clause
// Bytes in containers: what the conformance suite of bytes demands, as far as a container can have
// it, and what then is in the file.
#include "storage/sion/storage.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string>

#include "../../shared_directory.hpp"
#include "../../test_session.hpp"
#include "../call_forms.hpp"
#include "core/buffer.hpp"
#include "core/pattern.hpp"
#include "storage/backends.hpp"
#include "storage/sion/container.hpp"

namespace effio::sion {
namespace {

namespace fs = std::filesystem;

constexpr CallForm individual{Pointer::individual, false};
constexpr CallForm ordered{Pointer::shared, true};

constexpr std::int64_t transfer = 24;
constexpr std::int64_t block = 3 * transfer;
constexpr std::int64_t segments = 3;
constexpr std::int64_t part = segments * block;  // 216 bytes

/// How containers are made.
struct Way {
    const char* name;
    const char* settings;
    std::int64_t chunk;  ///< as it is stored
    std::int64_t rows;
    sion::ByteOrder order;
};

class Containers : public testing::TestWithParam<Way> {
  protected:
    Containers() : directory_(at_.comm), ranks_(at_.comm.size()), rank_(at_.comm.rank()) {}

    void SetUp() override {
        BackendChoice choice;
        choice.name = "sion";
        choice.settings = GetParam().settings;
        ASSERT_TRUE(apply_settings(Serves::blocks, choice));
        storage_ = make_storage(at_.session, choice, nullptr);
    }

    const Comm& comm() const { return at_.comm; }
    Blocks blocks() const { return {transfer, block, segments, ranks_}; }
    std::string path() const { return directory_ / "data"; }
    OpenRequest request(OpenMode mode) const {
        return {path(), mode, Element::byte, {}, blocks(), false};
    }
    std::unique_ptr<ByteFile> open(OpenMode mode) {
        auto file = storage_->open(comm(), request(mode));
        EXPECT_TRUE(file) << file.error().text();
        return file ? std::move(*file) : nullptr;
    }
    static Buffer bytes_of_file(std::int64_t offset, std::int64_t bytes) {
        Buffer out(static_cast<std::size_t>(bytes));
        Pattern(17, 4).fill(out.bytes(), offset);
        return out;
    }
    /// This rank's transfers [begin, end).
    void write(ByteFile& file, std::int64_t begin, std::int64_t end, CallForm form = alone) {
        for (std::int64_t i = begin; i < end; ++i) {
            const std::int64_t offset = blocks().offset(rank_, i);
            const auto done = file.write(form, bytes_of_file(offset, transfer).bytes(), offset);
            ASSERT_TRUE(done) << done.error().text();
        }
    }
    static void expect_bytes(ByteFile& file, std::int64_t offset, std::int64_t bytes) {
        Buffer found(static_cast<std::size_t>(bytes));
        const auto done = file.read(alone, found.bytes(), offset);
        ASSERT_TRUE(done) << done.error().text();
        const auto wrong = compare(bytes_of_file(offset, bytes).bytes(), found.bytes(), offset);
        EXPECT_FALSE(wrong) << wrong->text();
    }
    /// Collective; then the root's tail can be seen by all.
    void close(ByteFile& file) {
        const auto closed = file.close();
        ASSERT_TRUE(closed) << closed.error().text();
        comm().barrier();
    }
    /// Collective: a file of this content, by the root.
    void put(const std::vector<std::byte>& bytes, std::int64_t offset) {
        if (comm().is_root()) {
            auto fd = open_file(path(), O_RDWR | O_CREAT);
            ASSERT_TRUE(fd);
            ASSERT_TRUE(pwrite_all(fd->get(), path(), bytes, offset));
        }
        comm().barrier();
    }

    TestSession at_;
    SharedDirectory directory_;
    std::int64_t ranks_;
    std::int64_t rank_;
    std::unique_ptr<Storage> storage_;
};

TEST_P(Containers, hold_what_each_rank_wrote_at_its_offsets) {
    auto file = open(OpenMode::creating());
    ASSERT_TRUE(file);
    write(*file, 0, blocks().transfers());
    ASSERT_TRUE(file->sync());
    comm().barrier();
    // The next rank's, before and after closing.
    const std::int64_t other = (rank_ + 1) % ranks_;
    expect_bytes(*file, blocks().offset(other, 4), transfer);
    close(*file);
    file = open(OpenMode::reading());
    ASSERT_TRUE(file);
    EXPECT_EQ(*file->size(), blocks().file_bytes());
    for (std::int64_t i = 0; i < blocks().transfers(); ++i) {
        expect_bytes(*file, blocks().offset(other, i), transfer);
    }
    // Across blocks of several tasks, and chunks.
    expect_bytes(*file, 5, blocks().file_bytes() - 5);
    close(*file);
}

TEST_P(Containers, have_a_stream_of_each_task) {
    auto file = open(OpenMode::creating());
    ASSERT_TRUE(file);
    write(*file, 0, blocks().transfers(), together);
    close(*file);
    const auto container = sion::Container::open(path());
    ASSERT_TRUE(container) << container.error().text();
    EXPECT_EQ(container->fault(), nullptr);
    const sion::File& found = container->first().file;
    EXPECT_EQ(found.head.metadata, GetParam().order);
    EXPECT_EQ(found.head.prefix, "data");
    EXPECT_EQ(found.head.rows, GetParam().rows);
    ASSERT_EQ(std::ssize(container->tasks()), ranks_);
    for (std::int64_t task = 0; task < ranks_; ++task) {
        EXPECT_EQ(found.head.ranks[static_cast<std::size_t>(task)], task);
        EXPECT_EQ(found.head.chunks[static_cast<std::size_t>(task)], GetParam().chunk);
        EXPECT_EQ(found.bytes_of(task), part);
        std::int64_t position = 0;
        for (const auto& piece :
             container->pieces(container->tasks()[static_cast<std::size_t>(task)])) {
            for (std::int64_t i = 0; i < piece.bytes; ++i, ++position) {
                std::byte byte{};
                ASSERT_TRUE(container->first().source->read(piece.offset + i, {&byte, 1}));
                const std::int64_t offset =
                    (position / block * ranks_ + task) * block + position % block;
                ASSERT_EQ(byte, bytes_of_file(offset, 1).bytes()[0]) << task << " " << position;
            }
        }
        EXPECT_EQ(position, part);
    }
    comm().barrier();
}

TEST_P(Containers, opened_again_for_writing_keep_what_is_there) {
    const std::int64_t half = blocks().transfers() / 2;
    auto file = open(OpenMode::creating());
    ASSERT_TRUE(file);
    write(*file, 0, half);
    close(*file);
    file = open(OpenMode::creating());
    ASSERT_TRUE(file);
    comm().barrier();
    // While it is written it is not closed: its tail may be overwritten.
    const auto open_now = sion::Container::open(path());
    ASSERT_TRUE(open_now);
    EXPECT_FALSE(open_now->first().file.head.closed());
    comm().barrier();
    write(*file, half, blocks().transfers());
    close(*file);
    file = open(OpenMode::updating());
    ASSERT_TRUE(file);
    expect_bytes(*file, 0, blocks().file_bytes());
    close(*file);
}

TEST_P(Containers, end_where_each_task_ended) {
    auto file = open(OpenMode::creating());
    ASSERT_TRUE(file);
    if (rank_ == 0) write(*file, 0, 4);
    close(*file);
    file = open(OpenMode::reading());
    ASSERT_TRUE(file);
    expect_bytes(*file, blocks().offset(0, 3), transfer);
    Buffer found(transfer);
    const auto behind = file->read(alone, found.bytes(), blocks().offset(0, 4));
    ASSERT_FALSE(behind);
    EXPECT_EQ(behind.error().offset, blocks().offset(0, 4));
    // The fourth transfer is the first of segment 1.
    EXPECT_EQ(*file->size(), blocks().offset(0, 3) + transfer);
    close(*file);
}

TEST_P(Containers, pointers_and_views_go_over_the_divided_bytes) {
    auto file = open(OpenMode::creating());
    ASSERT_TRUE(file);
    ASSERT_TRUE(file->seek(blocks().offset(rank_, 0)));
    for (std::int64_t i = 0; i < 3; ++i) {
        const auto data = bytes_of_file(blocks().offset(rank_, i), transfer);
        ASSERT_TRUE(file->write(individual, data.bytes()));
    }
    // In rank order behind segment 0.
    ASSERT_TRUE(file->set_view({ranks_ * block, Contiguous{}}, {}));
    ASSERT_TRUE(file->write(ordered, bytes_of_file((ranks_ + rank_) * block, block).bytes()));
    close(*file);
    file = open(OpenMode::reading());
    ASSERT_TRUE(file);
    expect_bytes(*file, 0, 2 * ranks_ * block);
    close(*file);
}

TEST_P(Containers, missing_and_exclusive_files_are_as_with_plain_bytes) {
    for (const OpenMode& mode : {OpenMode::reading(), OpenMode::updating()}) {
        const auto file = storage_->open(comm(), request(mode));
        ASSERT_FALSE(file);
        EXPECT_EQ(file.error().system_code, ENOENT);
        EXPECT_EQ(file.error().rank, at_.session.world_rank);
    }
    OpenMode mode = OpenMode::creating();
    mode.exclusive = true;
    const auto file = open(mode);
    ASSERT_TRUE(file);
    close(*file);
    const auto again = storage_->open(comm(), request(mode));
    ASSERT_FALSE(again);
    EXPECT_EQ(again.error().system_code, EEXIST);
    comm().barrier();
    ASSERT_TRUE(storage_->remove(path()));
    comm().barrier();
    mode.exclusive = false;
    mode.delete_on_close = true;
    const auto passing = open(mode);
    ASSERT_TRUE(passing);
    close(*passing);
    EXPECT_FALSE(fs::exists(path()));
}

TEST_P(Containers, that_do_not_fit_are_refused) {
    const auto refused = [&](const OpenRequest& wanted, const char* cause) {
        comm().barrier();
        const auto file = storage_->open(comm(), wanted);
        ASSERT_FALSE(file) << cause;
        EXPECT_NE(file.error().exit_code, ExitCode::data_errors);
        if (comm().is_root()) {
            EXPECT_NE(file.error().text().find(cause), std::string::npos) << file.error().text();
        }
        comm().barrier();
    };
    auto whole = request(OpenMode::reading());
    whole.blocks.reset();
    refused(whole, "division into blocks");
    put({std::byte{'x'}}, 0);
    refused(request(OpenMode::creating()), "in the middle of its metadata");
    put(std::vector<std::byte>(4096), 0);
    refused(request(OpenMode::reading()), "does not begin with");
    if (comm().is_root()) fs::remove(path());
    comm().barrier();
    auto file = open(OpenMode::creating());
    ASSERT_TRUE(file);
    write(*file, 0, 1);
    close(*file);
    auto other = request(OpenMode::updating());
    other.blocks->parts = ranks_ + 1;
    refused(other, "the container has");
    // A writer that was killed.
    file = open(OpenMode::updating());
    ASSERT_TRUE(file);
    comm().barrier();
    file.reset();
    refused(request(OpenMode::reading()), "was not closed");
}

TEST_P(Containers, of_writers_that_left_chunks_early_can_be_read_but_not_written) {
    auto file = open(OpenMode::creating());
    ASSERT_TRUE(file);
    close(*file);
    // Two rows of a chunk each; of the first each task used the first 72 bytes, one block.
    const auto made = sion::Container::open(path());
    ASSERT_TRUE(made);
    sion::Header head = made->first().file.head;
    const sion::Chunks& chunks = made->first().file.chunks;
    sion::Tail tail;
    tail.used.assign(static_cast<std::size_t>(ranks_), 2);
    tail.bytes.assign(static_cast<std::size_t>(2 * ranks_), block);
    if (GetParam().chunk < block) GTEST_SKIP() << "a block is more than a chunk";
    head.rows = 2;
    head.tail = *chunks.tail(2);
    comm().barrier();
    for (std::int64_t row = 0; row < 2; ++row) {
        for (std::int64_t task = 0; task < ranks_; ++task) {
            const auto data = bytes_of_file((row * ranks_ + task) * block, block);
            put({data.bytes().begin(), data.bytes().end()}, chunks.begin(task, row));
        }
    }
    put(encode(tail, head.metadata), head.tail);
    put(encode_end_of_head(head), head.offset_of_rows());
    file = open(OpenMode::reading());
    ASSERT_TRUE(file);
    expect_bytes(*file, 0, 2 * ranks_ * block);
    Buffer found(1);
    const auto behind = file->read(alone, found.bytes(), 2 * ranks_ * block);
    ASSERT_FALSE(behind);
    EXPECT_NE(behind.error().cause.find(
                  "(the offset counts the data in the format, not the bytes of the file: byte "),
              std::string::npos)
        << behind.error().cause;
    close(*file);
    if (GetParam().chunk == block) return;
    const auto refused = storage_->open(comm(), request(OpenMode::updating()));
    ASSERT_FALSE(refused);
    comm().barrier();
}

TEST_P(Containers, name_each_byte_by_its_stream) {
    const auto file = open(OpenMode::creating());
    ASSERT_TRUE(file);
    // Byte 5 of the block of the last task in segment 2.
    EXPECT_EQ(file->name_of((3 * ranks_ - 1) * block + 5),
              "byte 149 of task " + std::to_string(ranks_ - 1));
    close(*file);
}

TEST_P(Containers, each_rank_can_have_its_own_file) {
    const Comm self = Comm::self(at_.clock);
    auto own = request(OpenMode::creating());
    own.path += std::to_string(rank_);
    own.blocks->parts = 1;
    auto file = storage_->open(self, own);
    ASSERT_TRUE(file) << file.error().text();
    const auto data = bytes_of_file(rank_, part);
    ASSERT_TRUE((*file)->write(alone, data.bytes(), 0));
    ASSERT_TRUE((*file)->close());
    own.mode = OpenMode::reading();
    file = storage_->open(self, own);
    ASSERT_TRUE(file) << file.error().text();
    Buffer found(part);
    ASSERT_TRUE((*file)->read(alone, found.bytes(), 0));
    EXPECT_TRUE(std::ranges::equal(found.bytes(), data.bytes()));
    ASSERT_TRUE((*file)->close());
}

INSTANTIATE_TEST_SUITE_P(
    Settings, Containers,
    testing::Values(Way{"one_chunk", "block=4096", 4096, 1, sion::ByteOrder::little},
                    Way{"small_chunks", "block=8,chunk=50,byte-order=big", 56, 4,
                        sion::ByteOrder::big},
                    Way{"a_block_a_chunk", "block=8,chunk=72", 72, 3, sion::ByteOrder::little}),
    [](const auto& suite) { return suite.param.name; });

/// Whose settings these are.
std::unique_ptr<Storage> storage_with(TestSession& at, const char* settings) {
    BackendChoice choice;
    choice.name = "sion";
    choice.settings = settings;
    EXPECT_TRUE(apply_settings(Serves::blocks, choice));
    return make_storage(at.session, choice, nullptr);
}

TEST(SionStorage, shows_the_files_in_addition_to_the_first) {
    TestSession at;
    EXPECT_TRUE(storage_with(at, "")->additional_files({.stem = "a"}).empty());
    const auto storage = storage_with(at, "files=3");
    const auto additional = storage->additional_files({.stem = "a", .directory = "d"});
    ASSERT_EQ(additional.size(), 1U);
    EXPECT_EQ(additional[0].count, 2);
    EXPECT_EQ(additional[0].name(0), "a.000001");
    EXPECT_EQ(additional[0].name(1), "a.000002");
    EXPECT_EQ(additional[0].directory, "d");
    // Each has a task at least.
    EXPECT_TRUE(storage->check({1, 1, 1, 3}));
    EXPECT_FALSE(storage->check({1, 1, 1, 2}));
}

TEST(SionStorage, several_files_and_collectors_hold_the_same_bytes) {
    TestSession at;
    const SharedDirectory directory(at.comm);
    const int ranks = at.comm.size();
    const Blocks blocks{transfer, block, segments, ranks};
    const std::string settings =
        "block=64,chunk=100,collector-tasks=2,files=" + std::to_string((ranks + 1) / 2);
    const auto storage = storage_with(at, settings.c_str());
    OpenRequest request{directory / "data", OpenMode::creating(), Element::byte, {}, blocks, true};
    const auto pattern = [](std::int64_t offset) {
        Buffer bytes(transfer);
        Pattern(17, 4).fill(bytes.bytes(), offset);
        return bytes;
    };
    auto file = storage->open(at.comm, request);
    ASSERT_TRUE(file) << file.error().text();
    for (std::int64_t i = 0; i < blocks.transfers(); ++i) {
        const auto offset = blocks.offset(at.comm.rank(), i);
        const auto done = (*file)->write(together, pattern(offset).bytes(), offset);
        ASSERT_TRUE(done) << done.error().text();
    }
    ASSERT_TRUE((*file)->close());
    at.comm.barrier();
    EXPECT_EQ(std::ssize(storage->files_of(request.path)), (ranks + 1) / 2);
    // The names are known to all of the run, whose storage may have other settings.
    EXPECT_EQ(storage_with(at, "")->files_of(request.path), storage->files_of(request.path));
    request.mode = OpenMode::reading();
    file = storage->open(at.comm, request);
    ASSERT_TRUE(file) << file.error().text();
    for (std::int64_t i = 0; i < blocks.transfers(); ++i) {
        const auto offset = blocks.offset((at.comm.rank() + 1) % ranks, i);
        Buffer found(transfer);
        const auto done = (*file)->read(together, found.bytes(), offset);
        ASSERT_TRUE(done) << done.error().text();
        EXPECT_TRUE(std::ranges::equal(found.bytes(), pattern(offset).bytes())) << offset;
    }
    // Behind the end of all streams.
    Buffer found(transfer);
    const auto behind = (*file)->read(together, found.bytes(), blocks.file_bytes());
    EXPECT_FALSE(behind);
    ASSERT_TRUE((*file)->close());
    // A single rank may read all of them in any order; none writes them this way.
    const Comm self = Comm::self(at.clock);
    const auto plain = storage_with(at, "");
    request.collective = false;
    auto alone_file = plain->open(self, request);
    ASSERT_TRUE(alone_file) << alone_file.error().text();
    Buffer all(static_cast<std::size_t>(blocks.file_bytes()));
    Buffer expected(all.size());
    Pattern(17, 4).fill(expected.bytes(), 0);
    ASSERT_TRUE((*alone_file)->read(alone, all.bytes(), 0));
    EXPECT_TRUE(std::ranges::equal(all.bytes(), expected.bytes()));
    ASSERT_TRUE((*alone_file)->close());
    const auto apart = storage->open(at.comm, request);
    ASSERT_FALSE(apart);
    EXPECT_EQ(apart.error().exit_code, ExitCode::usage);
}

TEST(SionStorage, needs_a_bounded_number_of_chunks) {
    TestSession at;
    BackendChoice choice;
    choice.name = "sion";
    choice.settings = "chunk=1";
    ASSERT_TRUE(apply_settings(Serves::blocks, choice));
    const auto storage = make_storage(at.session, choice, nullptr);
    EXPECT_TRUE(storage->check({1, 1, 1000, 4}));
    EXPECT_FALSE(storage->check({1, 1, most_sion_chunks, 4}));
}

}  // namespace
}  // namespace effio::sion
