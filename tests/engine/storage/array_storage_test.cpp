// SPDX-License-Identifier: BSD-3-Clause
// Bytes in files of array libraries: what the conformance suite of bytes demands, as far as a file
// of fixed extents can have it, and the structure that the original gives such files.
#include "storage/array_storage.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>

#include "../shared_directory.hpp"
#include "../test_session.hpp"
#include "call_forms.hpp"
#include "core/buffer.hpp"
#include "core/pattern.hpp"
#include "storage/backends.hpp"

namespace effio {
namespace {

namespace fs = std::filesystem;

constexpr CallForm individual{Pointer::individual, false};

constexpr std::int64_t transfer = 24;
constexpr std::int64_t block = 3 * transfer;  // an odd number of transfers
constexpr std::int64_t segments = 3;

TEST(BlocksInArrays, words_have_a_dataset_for_each_segment) {
    const ArraySchema s = schema_of_blocks(ArrayDivision::words_by_segment, {16, 48, 3, 2});
    ASSERT_EQ(s.variables.size(), 3U);
    EXPECT_EQ(s.variables[0].name, "Dataset-0000.0000");
    EXPECT_EQ(s.variables[2].name, "Dataset-0000.0002");
    EXPECT_EQ(s.variables[2].type, ArrayType::int64);
    EXPECT_EQ(s.shape(2), (std::vector<std::int64_t>{12}));  // two blocks of six words
    EXPECT_TRUE(s.shared_out(2));                            // may be chunked
}

TEST(BlocksInArrays, words_can_have_a_dataset_for_each_block) {
    const ArraySchema s = schema_of_blocks(ArrayDivision::words_by_block, {16, 48, 3, 2});
    ASSERT_EQ(s.variables.size(), 6U);
    EXPECT_EQ(s.variables[1].name, "Dataset-0001.0000");
    EXPECT_EQ(s.variables[4].name, "Dataset-0000.0002");
    EXPECT_EQ(s.shape(4), (std::vector<std::int64_t>{6}));
}

TEST(BlocksInArrays, bytes_have_one_variable_of_blocks_transfers_and_bytes) {
    const ArraySchema s = schema_of_blocks(ArrayDivision::bytes, {15, 45, 4, 2});
    ASSERT_EQ(s.variables.size(), 1U);
    EXPECT_EQ(s.variables[0].name, "data_var");
    EXPECT_EQ(s.variables[0].type, ArrayType::byte);
    EXPECT_EQ(s.shape(0), (std::vector<std::int64_t>{8, 3, 15}));
}

/// A backend and one way of its calls.
struct Way {
    const char* name;
    const char* backend;
    const char* settings;
    bool collective;
};

class BytesInArrays : public testing::TestWithParam<Way> {
  protected:
    BytesInArrays() : directory_(at_.comm), ranks_(at_.comm.size()), rank_(at_.comm.rank()) {}

    void SetUp() override {
        const Way& way = GetParam();
        if (const auto present = check_present(Serves::blocks, way.backend); !present) {
            GTEST_SKIP() << present.error().text();
        }
        BackendChoice choice;
        choice.name = way.backend;
        choice.settings = way.settings;
        ASSERT_TRUE(apply_settings(Serves::blocks, choice));
        storage_ = make_storage(at_.session, choice, nullptr);
    }

    const Comm& comm() const { return at_.comm; }
    CallForm form() const { return GetParam().collective ? together : alone; }
    Blocks blocks() const { return {transfer, block, segments, ranks_}; }
    std::string path(const std::string& name = "data") const { return directory_ / name; }
    OpenRequest request(OpenMode mode) const {
        return {path(), mode, Element::byte, {}, blocks(), GetParam().collective};
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
    /// Collective: this rank's transfers [begin, end).
    void write(ByteFile& file, std::int64_t begin, std::int64_t end) {
        for (std::int64_t i = begin; i < end; ++i) {
            const std::int64_t offset = blocks().offset(rank_, i);
            const auto done = file.write(form(), bytes_of_file(offset, transfer).bytes(), offset);
            ASSERT_TRUE(done) << done.error().text();
        }
    }
    /// Collective: the transfers of the next rank.
    void expect_read(ByteFile& file, std::int64_t begin, std::int64_t end) {
        for (std::int64_t i = begin; i < end; ++i) {
            const std::int64_t offset = blocks().offset((rank_ + 1) % ranks_, i);
            Buffer found(transfer);
            const auto done = file.read(form(), found.bytes(), offset);
            ASSERT_TRUE(done) << done.error().text();
            const auto wrong =
                compare(bytes_of_file(offset, transfer).bytes(), found.bytes(), offset);
            EXPECT_FALSE(wrong) << wrong->text();
        }
    }
    void close(ByteFile& file) {
        const auto closed = file.close();
        ASSERT_TRUE(closed) << closed.error().text();
        comm().barrier();
    }

    TestSession at_;
    SharedDirectory directory_;
    std::int64_t ranks_;
    std::int64_t rank_;
    std::unique_ptr<Storage> storage_;
};

TEST_P(BytesInArrays, hold_what_each_rank_wrote_at_its_offsets) {
    auto file = open(OpenMode::creating());
    ASSERT_TRUE(file);
    write(*file, 0, blocks().transfers());
    const auto synced = file->sync();
    ASSERT_TRUE(synced) << synced.error().text();
    EXPECT_EQ(*file->size(), blocks().file_bytes());
    close(*file);
    file = open(OpenMode::reading());
    ASSERT_TRUE(file);
    expect_read(*file, 0, blocks().transfers());
    close(*file);
}

TEST_P(BytesInArrays, opened_again_for_writing_keep_what_is_there) {
    const std::int64_t half = blocks().transfers() / 2;
    auto file = open(OpenMode::creating());
    ASSERT_TRUE(file);
    write(*file, 0, half);
    close(*file);
    file = open(OpenMode::creating());
    ASSERT_TRUE(file);
    write(*file, half, blocks().transfers());
    close(*file);
    file = open(OpenMode::updating());
    ASSERT_TRUE(file);
    expect_read(*file, 0, blocks().transfers());
    close(*file);
}

TEST_P(BytesInArrays, divided_otherwise_are_refused) {
    auto file = open(OpenMode::creating());
    ASSERT_TRUE(file);
    close(*file);
    for (const OpenMode& mode : {OpenMode::reading(), OpenMode::creating()}) {
        auto other = request(mode);
        other.blocks->block = 2 * block;
        const auto refused = storage_->open(comm(), other);
        ASSERT_FALSE(refused);
        EXPECT_NE(refused.error().text().find(" has extents ("), std::string::npos)
            << refused.error().text();
        EXPECT_EQ(refused.error().exit_code, ExitCode::io_error);
    }
    auto unknown = request(OpenMode::reading());
    unknown.blocks.reset();
    EXPECT_FALSE(storage_->open(comm(), unknown));
}

TEST_P(BytesInArrays, missing_and_exclusive_files_are_as_with_plain_bytes) {
    for (const OpenMode& mode : {OpenMode::reading(), OpenMode::updating()}) {
        const auto file = storage_->open(comm(), request(mode));
        ASSERT_FALSE(file);
        EXPECT_NE(file.error().text().find("/data: "), std::string::npos) << file.error().text();
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
    EXPECT_FALSE(fs::exists(path()));
    // The first rank creates the file before the others reach the creation.
    comm().barrier();
    mode.exclusive = false;
    mode.delete_on_close = true;
    const auto passing = open(mode);
    ASSERT_TRUE(passing);
    close(*passing);
    EXPECT_FALSE(fs::exists(path()));
}

TEST_P(BytesInArrays, refuse_what_no_slab_can_be) {
    const auto file = open(OpenMode::creating());
    ASSERT_TRUE(file);
    const Buffer data(2 * transfer);
    // From the last transfer of a block into the next block but one, and behind the end.
    const std::int64_t crossing = ranks_ * block - transfer / 2;
    for (const std::int64_t offset : {crossing, blocks().file_bytes()}) {
        const auto refused = file->write(form(), data.bytes().first(transfer), offset);
        ASSERT_FALSE(refused);
        EXPECT_EQ(refused.error().offset, offset);
        EXPECT_NE(refused.error().cause.find("not a slab"), std::string::npos);
    }
    const CallForm other{Pointer::at, !GetParam().collective};
    EXPECT_FALSE(file->write(other, data.bytes().first(transfer), 0));
    EXPECT_FALSE(file->write({Pointer::shared, true}, data.bytes().first(transfer)));
    EXPECT_FALSE(file->set_view({8, Contiguous{}}, {}));
    EXPECT_FALSE(file->preallocate(1));
    close(*file);
}

TEST_P(BytesInArrays, name_each_byte_as_the_format_does) {
    const auto file = open(OpenMode::creating());
    ASSERT_TRUE(file);
    const std::int64_t segment = ranks_ * block;
    // Byte 9 of the second transfer of the last block of segment 1.
    const std::int64_t offset = 2 * segment - block + transfer + 9;
    const std::string name = GetParam().backend;
    std::string expected = fmt::format("data_var[{},1,9]", 2 * ranks_ - 1);
    if (name == "hdf5") {
        expected = storage_->capabilities().collective
                       ? fmt::format("Dataset-0000.0001[{}]", (segment - block + transfer + 9) / 8)
                       : fmt::format("Dataset-{:04d}.0001[{}]", ranks_ - 1, (transfer + 9) / 8);
    }
    EXPECT_EQ(file->name_of(offset), expected);
    EXPECT_EQ(file->name_of(blocks().file_bytes()), "");
    close(*file);
}

TEST_P(BytesInArrays, calls_are_timed_and_counted_once) {
    const auto file = open(OpenMode::creating());
    ASSERT_TRUE(file);
    Histogram times;
    file->time_calls_into(&times);
    const std::int64_t before = at_.progress.snapshot().bytes_in_step;
    write(*file, 0, 2);
    file->time_calls_into(nullptr);
    EXPECT_EQ(times.count(), 2U);
    EXPECT_EQ(at_.progress.snapshot().bytes_in_step - before, 2 * transfer);
    const Json described = file->describe();
    EXPECT_EQ(described["calls"], 2);
    EXPECT_EQ(described["collective_calls"], GetParam().collective ? 2 : 0);
    close(*file);
}

TEST_P(BytesInArrays, pointers_continue_behind_the_last_transfer) {
    if (GetParam().collective) GTEST_SKIP() << "the same, with all ranks";
    const auto file = open(OpenMode::creating());
    ASSERT_TRUE(file);
    const std::int64_t begin = blocks().offset(rank_, 0);
    ASSERT_TRUE(file->seek(begin));
    for (std::int64_t i = 0; i < 3; ++i) {
        const auto data = bytes_of_file(begin + i * transfer, transfer);
        ASSERT_TRUE(file->write(individual, data.bytes()));
    }
    ASSERT_TRUE(file->sync());
    comm().barrier();
    expect_read(*file, 0, 3);
    close(*file);
}

TEST_P(BytesInArrays, each_rank_can_have_its_own_file) {
    const Comm self = Comm::self(at_.clock);
    auto own = request(OpenMode::creating());
    own.path += std::to_string(rank_);
    own.blocks->parts = 1;
    auto file = storage_->open(self, own);
    ASSERT_TRUE(file) << file.error().text();
    const auto data = bytes_of_file(rank_, transfer);
    ASSERT_TRUE((*file)->write(form(), data.bytes(), block + transfer));
    ASSERT_TRUE((*file)->close());
    own.mode = OpenMode::reading();
    file = storage_->open(self, own);
    ASSERT_TRUE(file) << file.error().text();
    Buffer found(transfer);
    ASSERT_TRUE((*file)->read(form(), found.bytes(), block + transfer));
    EXPECT_TRUE(std::ranges::equal(found.bytes(), data.bytes()));
    ASSERT_TRUE((*file)->close());
}

INSTANTIATE_TEST_SUITE_P(
    Blocks, BytesInArrays,
    testing::Values(Way{"hdf5", "hdf5", "", false}, Way{"hdf5_collective", "hdf5", "", true},
                    Way{"hdf5_chunked", "hdf5", "chunk-rows=5,collective-metadata=on", true},
                    Way{"hdf5_blocks", "hdf5", "datasets=block,alignment=512", false},
                    Way{"pnetcdf", "pnetcdf", "", false},
                    Way{"pnetcdf_collective", "pnetcdf", "", true},
                    Way{"pnetcdf_cdf2", "pnetcdf", "format=cdf2", false}),
    [](const auto& suite) { return suite.param.name; });

class ArrayStorage : public testing::Test {
  protected:
    std::unique_ptr<Storage> make(const std::string& name, const std::string& settings = {}) {
        if (!check_present(Serves::blocks, name)) return nullptr;
        BackendChoice choice;
        choice.name = name;
        choice.settings = settings;
        EXPECT_TRUE(apply_settings(Serves::blocks, choice));
        return make_storage(at_.session, choice, nullptr);
    }
    TestSession at_;
};

TEST_F(ArrayStorage, of_hdf5_takes_whole_words_and_a_bounded_number_of_datasets) {
    const auto segment = make("hdf5");
    if (!segment) GTEST_SKIP() << check_present(Serves::blocks, "hdf5").error().text();
    EXPECT_TRUE(segment->check({8, 8, most_datasets, 1000}));
    EXPECT_FALSE(segment->check({8, 8, most_datasets + 1, 1}));
    const auto odd = segment->check({12, 24, 1, 1});
    ASSERT_FALSE(odd);
    EXPECT_EQ(odd.error().exit_code, ExitCode::usage);
    EXPECT_NE(odd.error().cause.find("words of 8 B,"), std::string::npos);
    const auto own = make("hdf5", "datasets=block");
    EXPECT_TRUE(own->check({8, 8, most_datasets / 4, 4}));
    EXPECT_FALSE(own->check({8, 8, most_datasets / 4 + 1, 4}));
    EXPECT_FALSE(own->capabilities().collective);
    EXPECT_TRUE(segment->capabilities().collective);
    EXPECT_FALSE(segment->capabilities().scattered);
    EXPECT_EQ(segment->version().substr(0, 5), "HDF5 ");
}

TEST_F(ArrayStorage, of_pnetcdf_reads_the_part_of_a_file_that_was_written) {
    const auto storage = make("pnetcdf");
    if (!storage) GTEST_SKIP() << check_present(Serves::blocks, "pnetcdf").error().text();
    const SharedDirectory directory(at_.comm);
    const int ranks = at_.comm.size();
    OpenRequest request{
        directory / "f", OpenMode::creating(), Element::byte, {}, Blocks{15, 45, 2, ranks}};
    const std::int64_t offset = std::int64_t{45} * at_.comm.rank();  // of segment 0 alone
    auto file = storage->open(at_.comm, request);
    ASSERT_TRUE(file) << file.error().text();
    const Buffer data(15);
    ASSERT_TRUE((*file)->write(alone, data.bytes(), offset));
    ASSERT_TRUE((*file)->close());
    at_.comm.barrier();
    request.mode = OpenMode::reading();
    file = storage->open(at_.comm, request);
    ASSERT_TRUE(file) << file.error().text();
    Buffer found(15);
    EXPECT_TRUE((*file)->read(alone, found.bytes(), offset));
    const auto behind = (*file)->read(alone, found.bytes(), std::int64_t{45} * ranks);
    ASSERT_FALSE(behind);
    EXPECT_NE(behind.error().cause.find("too short"), std::string::npos);
    ASSERT_TRUE((*file)->close());
}

TEST_F(ArrayStorage, of_hdf5_shows_that_a_chunked_call_was_collective) {
    const auto storage = make("hdf5");
    if (!storage) GTEST_SKIP() << check_present(Serves::blocks, "hdf5").error().text();
    const SharedDirectory directory(at_.comm);
    OpenRequest request{directory / "f",
                        OpenMode::creating(),
                        Element::byte,
                        {},
                        Blocks{16, 16, 1, at_.comm.size()},
                        true};
    request.hints.set("cb_buffer_size", "1048576");
    auto file = storage->open(at_.comm, request);
    ASSERT_TRUE(file) << file.error().text();
    ASSERT_TRUE((*file)->write(together, Buffer(16).bytes(), std::int64_t{16} * at_.comm.rank()));
    const Json described = (*file)->describe();
    EXPECT_EQ(described["done_collectively"], 1);
    EXPECT_EQ(described["modes"]["contiguous, collective"], 1);
    EXPECT_FALSE((*file)->granted_hints().empty());
    ASSERT_TRUE((*file)->close());
}

}  // namespace
}  // namespace effio
