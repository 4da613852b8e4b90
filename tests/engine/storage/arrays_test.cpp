// SPDX-License-Identifier: BSD-3-Clause
// One conformance suite for all array backends: written by P ranks, read by other numbers of ranks,
// every value checked; then what readers must refuse.
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cctype>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "../shared_directory.hpp"
#include "../test_session.hpp"
#include "core/pattern.hpp"
#include "storage/backends.hpp"

namespace effio {
namespace {

/// Rows of each writer: 3, 0, 2, 3, 0, 2, …
std::int64_t first_row(int rank) {
    return rank / 3 * 5 + (rank % 3 == 0 ? 0 : 3);
}

ArraySchema schema_of(int writers, bool with_text) {
    ArraySchema s;
    s.dimensions = {{"rows", first_row(writers)}, {"y", 3}, {"x", 4}, {"few", 5}};
    s.variables = {{"field", ArrayType::real64, {0, 1, 2}},
                   {"weight", ArrayType::real32, {0}},
                   {"ids", ArrayType::int32, {0, 2}},
                   {"table", ArrayType::int64, {3}}};
    if (with_text) s.variables.push_back({"name", ArrayType::text, {3}});
    s.attributes = {{"title", std::string("conformance")}, {"rows", 5}, {"time", 0.25}};
    s.shares = {0, writers, first_row};
    return s;
}

/// The bytes of element `index` of a variable: nothing that stands elsewhere looks like it.
std::uint64_t word_of(std::size_t variable, std::int64_t index) {
    return mix64((variable << 32) + static_cast<std::uint64_t>(index));
}

/// The elements of a slab as they should be. Reals are small whole numbers, so that no library
/// meets a NaN.
std::vector<std::byte> expected(const ArraySchema& s, std::size_t v, const Slab& slab) {
    const Box box = s.box(v, slab);
    std::vector<std::byte> out(static_cast<std::size_t>(box.bytes()));
    const auto size = static_cast<std::size_t>(box.element);
    for (std::size_t at = 0; at < out.size(); at += size) {
        const std::uint64_t word =
            word_of(v, box.place(static_cast<std::int64_t>(at)) / box.element);
        switch (s.variables[v].type) {
            case ArrayType::real64: {
                const auto x = static_cast<double>(word >> 12);
                std::memcpy(&out[at], &x, size);
                break;
            }
            case ArrayType::real32: {
                const auto x = static_cast<float>(word >> 40);
                std::memcpy(&out[at], &x, size);
                break;
            }
            case ArrayType::text: {
                const char c = static_cast<char>('a' + word % 26);
                std::memcpy(&out[at], &c, size);
                break;
            }
            default:
                std::memcpy(&out[at], &word, size);
        }
    }
    return out;
}

class EveryArrays : public testing::TestWithParam<std::string> {
  protected:
    EveryArrays() : test_(GetParam() == "sim" ? Clock::Kind::virtual_time : Clock::Kind::real) {
        BackendChoice choice;
        const auto colon = GetParam().find(':');
        choice.name = GetParam().substr(0, colon);
        if (colon != std::string::npos) choice.settings = GetParam().substr(colon + 1);
        EXPECT_TRUE(apply_settings(Serves::arrays, choice));
        if (GetParam() == "sim") room_ = std::move(*SimRoom::create(test_.comm));
        library_ = make_arrays(test_.session, choice, room_.get());
        can_ = library_->capabilities();
    }

    const Comm& comm() const { return test_.comm; }
    ArrayRequest request(const std::string& name) const {
        ArrayRequest r;
        r.path = directory_ / name;
        r.schema = schema_of(comm().size(), can_.attributes);
        return r;
    }

    void write_shares(ArrayFile& file) {
        const auto& s = file.schema();
        for (std::size_t v = 0; v < s.variables.size(); ++v) {
            const Slab slab = s.share(v, comm().rank());
            const auto done = file.put(v, slab, expected(s, v, slab));
            EXPECT_TRUE(done) << done.error().text();
        }
    }
    /// The first `ranks` ranks.
    std::optional<Comm> first(int ranks) const {
        return comm().split(comm().rank() < ranks ? std::optional<int>(0) : std::nullopt);
    }
    /// Each writer of the schema puts its share.
    void write(const ArrayRequest& r) {
        const auto group = first(r.schema.shares.writers);
        if (group) {
            auto file = library_->create(*group, r);
            ASSERT_TRUE(file) << file.error().text();
            write_shares(**file);
            ASSERT_TRUE((*file)->sync());
            const auto closed = (*file)->close();
            ASSERT_TRUE(closed) << closed.error().text();
        }
        comm().barrier();
    }
    /// Reads everything with the first `readers` ranks, each an even part of the rows.
    void read(const ArrayRequest& r, int readers) {
        const auto group = first(readers);
        if (!group) return;
        auto file = library_->open(*group, r);
        ASSERT_TRUE(file) << file.error().text();
        const auto& s = r.schema;
        for (std::size_t v = 0; v < s.variables.size(); ++v) {
            const std::int64_t rows = s.shape(v).front();
            const std::int64_t begin = rows * group->rank() / readers;
            const Slab slab = s.rows(v, begin, rows * (group->rank() + 1) / readers - begin);
            std::vector<std::byte> found(static_cast<std::size_t>(s.bytes(v, slab)));
            const auto done = (*file)->get(v, slab, found);
            ASSERT_TRUE(done) << done.error().text();
            EXPECT_EQ(found, expected(s, v, slab)) << s.variables[v].name;
        }
        const auto closed = (*file)->close();
        EXPECT_TRUE(closed);
    }

    TestSession test_;
    SharedDirectory directory_{test_.comm};
    std::unique_ptr<SimRoom> room_;
    std::unique_ptr<ArrayLibrary> library_;
    ArrayCapabilities can_;
};

TEST_P(EveryArrays, what_p_ranks_wrote_any_number_of_ranks_reads) {
    for (const auto access : {ArrayAccess::collective, ArrayAccess::independent}) {
        auto r = request(std::string(name(access)));
        r.access = access;
        write(r);
        for (const int readers : {comm().size(), std::max(1, comm().size() - 1), 1}) {
            read(r, readers);
        }
        // Fewer writers than readers.
        r.schema = schema_of((comm().size() + 1) / 2, can_.attributes);
        write(r);
        read(r, comm().size());
    }
}

TEST_P(EveryArrays, access_may_change_while_the_file_is_open) {
    const auto r = request("both");
    auto file = library_->create(comm(), r);
    ASSERT_TRUE(file) << file.error().text();
    const auto& s = r.schema;
    const int me = comm().rank();
    ASSERT_TRUE((*file)->put(0, s.share(0, me), expected(s, 0, s.share(0, me))));
    ASSERT_TRUE((*file)->set_access(ArrayAccess::independent));
    for (std::size_t v = 1; v < s.variables.size(); ++v) {
        // Independent calls, rank by rank: a rank does not wait for the others.
        const Slab slab = s.share(v, me);
        if (s.bytes(v, slab) > 0) {
            ASSERT_TRUE((*file)->put(v, slab, expected(s, v, slab)));
        }
    }
    ASSERT_TRUE((*file)->set_access(ArrayAccess::collective));
    ASSERT_TRUE((*file)->close());
    read(r, comm().size());
    EXPECT_EQ((*file)->totals().bytes, s.share_bytes(me));
    EXPECT_EQ((*file)->totals().collective_calls, 1);
}

TEST_P(EveryArrays, boxes_of_every_shape_come_back) {
    if (!can_.any_slab) GTEST_SKIP() << GetParam() << " takes shares of the first dimension only";
    for (const auto access : {ArrayAccess::collective, ArrayAccess::independent}) {
        auto r = request("boxes." + std::string(name(access)));
        r.boxes = true;
        r.access = access;
        auto file = library_->create(comm(), r);
        ASSERT_TRUE(file) << file.error().text();
        const auto& s = r.schema;
        // Each rank has its columns x of all rows and planes; the last x goes to the last rank.
        const int ranks = comm().size();
        const int me = comm().rank();
        const std::int64_t rows = s.dimensions[0].length;
        const Slab mine{{0, 0, 4 * me / ranks}, {rows, 3, 4 * (me + 1) / ranks - 4 * me / ranks}};
        const auto put = (*file)->put(0, mine, expected(s, 0, mine));
        ASSERT_TRUE(put) << put.error().text();
        for (std::size_t v = 1; v < s.variables.size(); ++v) {
            const Slab slab = s.share(v, me);
            ASSERT_TRUE((*file)->put(v, slab, expected(s, v, slab)));
        }
        ASSERT_TRUE((*file)->close());
        read(r, ranks);
        // Read back in boxes, too.
        auto again = library_->open(comm(), r);
        ASSERT_TRUE(again) << again.error().text();
        const Slab inner{{1, 1, 1}, {rows - 1, 2, 2}};
        std::vector<std::byte> found(static_cast<std::size_t>(s.bytes(0, inner)));
        ASSERT_TRUE((*again)->get(0, inner, found));
        EXPECT_EQ(found, expected(s, 0, inner));
        ASSERT_TRUE((*again)->close());
    }
}

TEST_P(EveryArrays, posted_calls_are_done_by_wait) {
    const auto r = request("posted");
    auto file = library_->create(comm(), r);
    ASSERT_TRUE(file) << file.error().text();
    const auto& s = r.schema;
    const int me = comm().rank();
    if (!can_.nonblocking) {
        const auto refused =
            (*file)->post_put(0, s.share(0, me), expected(s, 0, s.share(0, me)), Posted::borrowed);
        ASSERT_FALSE(refused);
        EXPECT_EQ(refused.error().exit_code, ExitCode::usage);
        ASSERT_TRUE((*file)->close());
        return;
    }
    std::vector<std::vector<std::byte>> data;
    for (std::size_t v = 0; v < s.variables.size(); ++v) {
        data.push_back(expected(s, v, s.share(v, me)));
    }
    ASSERT_TRUE((*file)->post_put(0, s.share(0, me), data[0], Posted::borrowed));
    ASSERT_TRUE((*file)->attach_buffer(s.share_bytes(me) + 1));
    for (std::size_t v = 1; v < s.variables.size(); ++v) {
        ASSERT_TRUE((*file)->post_put(v, s.share(v, me), data[v], Posted::buffered));
        std::fill(data[v].begin(), data[v].end(), std::byte{0xee});  // ours again at once
    }
    const auto waited = (*file)->wait();
    ASSERT_TRUE(waited) << waited.error().text();
    ASSERT_TRUE((*file)->detach_buffer());
    ASSERT_TRUE((*file)->close());
    read(r, comm().size());

    auto again = library_->open(comm(), r);
    ASSERT_TRUE(again);
    std::vector<std::vector<std::byte>> found;
    for (std::size_t v = 0; v < s.variables.size(); ++v) {
        found.emplace_back(static_cast<std::size_t>(s.bytes(v)));
        ASSERT_TRUE((*again)->post_get(v, s.whole(v), found[v]));
    }
    ASSERT_TRUE((*again)->wait());
    for (std::size_t v = 0; v < s.variables.size(); ++v) {
        EXPECT_EQ(found[v], expected(s, v, s.whole(v)));
    }
    ASSERT_TRUE((*again)->close());
}

TEST_P(EveryArrays, slabs_outside_and_short_memory_are_refused) {
    const auto r = request("refused");
    auto file = library_->create(comm(), r);
    ASSERT_TRUE(file) << file.error().text();
    const auto& s = r.schema;
    Slab outside = s.whole(0);
    ++outside.count[1];
    const std::vector<std::byte> little(7);
    const std::vector<std::byte> much(static_cast<std::size_t>(2 * s.bytes(0)));
    EXPECT_EQ((*file)->put(0, outside, much).error().exit_code, ExitCode::usage);
    EXPECT_EQ((*file)->put(0, s.share(0, 0), little).error().exit_code, ExitCode::usage);
    ASSERT_TRUE((*file)->close());
}

TEST_P(EveryArrays, readers_refuse_what_is_not_what_they_expect) {
    if (!can_.self_describing) GTEST_SKIP() << GetParam() << " keeps no description of its data";
    const auto r = request("described");
    write(r);
    const auto refusal = [&](auto&& change) {
        ArrayRequest other = r;
        change(other.schema);
        auto file = library_->open(comm(), other);
        EXPECT_FALSE(file);
        return file ? std::string() : file.error().text();
    };
    EXPECT_NE(refusal([](ArraySchema& s) {
                  s.variables[1].name = "mass";
              }).find("there is no variable 'mass'"),
              std::string::npos);
    EXPECT_NE(refusal([](ArraySchema& s) { s.dimensions[1].length = 7; }).find("has extents ("),
              std::string::npos);
    EXPECT_NE(refusal([](ArraySchema& s) {
                  s.variables[2].type = ArrayType::real32;
              }).find("another type"),
              std::string::npos);
}

TEST_P(EveryArrays, files_that_were_cut_short_are_refused) {
    if (!can_.real_files) GTEST_SKIP() << "no real files";
    const auto r = request("cut");
    write(r);
    const FileSet files = library_->files(r.path, comm().size());
    comm().barrier();
    if (comm().is_root()) {
        for (int i = 0; i < files.count; ++i) {
            const auto size = std::filesystem::file_size(files.name(i));
            if (size > 0) std::filesystem::resize_file(files.name(i), size - 1);
        }
    }
    comm().barrier();
    auto file = library_->open(comm(), r);
    // The file of a writer without a share is empty and cannot be cut.
    if (!can_.shared_file && r.schema.share_bytes(comm().rank()) == 0) return;
    ASSERT_FALSE(file);
    EXPECT_EQ(file.error().exit_code, ExitCode::io_error);
    EXPECT_NE(file.error().text().find("cut"), std::string::npos) << file.error().text();
}

TEST_P(EveryArrays, what_cannot_be_replaced_is_reported_on_every_rank) {
    if (!can_.real_files || !can_.shared_file || can_.self_describing) {
        GTEST_SKIP() << GetParam() << " replaces by itself";
    }
    const auto r = request("held");
    if (comm().is_root()) std::filesystem::create_directories(r.path + "/by-others");
    comm().barrier();
    const auto file = library_->create(comm(), r);
    ASSERT_FALSE(file);
    EXPECT_EQ(file.error().rank, 0);
    EXPECT_NE(file.error().text().find("held"), std::string::npos) << file.error().text();
}

TEST_P(EveryArrays, files_of_another_kind_are_refused) {
    if (!can_.self_describing) GTEST_SKIP() << GetParam() << " keeps no description of its data";
    const auto r = request("other");
    if (comm().is_root()) std::ofstream(r.path) << std::string(100000, 'x');
    comm().barrier();
    const auto file = library_->open(comm(), r);
    ASSERT_FALSE(file);
    EXPECT_EQ(file.error().exit_code, ExitCode::io_error);
    const auto nothing = library_->open(comm(), request("is-not-there"));
    ASSERT_FALSE(nothing);
    EXPECT_NE(nothing.error().text().find("is-not-there"), std::string::npos);
}

INSTANTIATE_TEST_SUITE_P(Arrays, EveryArrays, testing::ValuesIn([] {
                             auto names = present_backends(Serves::arrays);
                             std::erase(names, "null");  // keeps nothing
                             names.push_back("sion:collector-tasks=2");
                             return names;
                         }()),
                         [](const auto& backend) {
                             std::string name = backend.param;
                             std::replace_if(
                                 name.begin(), name.end(),
                                 [](unsigned char c) { return std::isalnum(c) == 0; }, '_');
                             return name;
                         });

}  // namespace
}  // namespace effio
