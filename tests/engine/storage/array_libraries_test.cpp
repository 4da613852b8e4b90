// SPDX-License-Identifier: BSD-3-Clause
// What is special to one array library: collective calls that really are, settings, sizes of files.
// Run with two ranks.
#include "storage/array_libraries.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "../shared_directory.hpp"
#include "../test_session.hpp"
#include "storage/backends.hpp"

namespace effio {
namespace {

/// Two rows of 2 x 3 doubles for each rank.
ArraySchema two_rows_each(int writers) {
    ArraySchema s;
    s.dimensions = {{"rows", std::int64_t{2} * writers}, {"y", 2}, {"x", 3}};
    s.variables = {{"field", ArrayType::real64, {0, 1, 2}}};
    s.shares = {0, writers, [](int rank) { return std::int64_t{2} * rank; }};
    return s;
}

class ArrayLibraries : public testing::Test {
  protected:
    ArrayLibraries() { data_.assign(12, 1.0 + test_.comm.rank()); }

    std::unique_ptr<ArrayLibrary> make(const std::string& name, const std::string& settings = {}) {
        if (!check_present(Serves::arrays, name)) return nullptr;
        BackendChoice choice;
        choice.name = name;
        choice.settings = settings;
        const auto applied = apply_settings(Serves::arrays, choice);
        EXPECT_TRUE(applied) << applied.error().text();
        return make_arrays(test_.session, choice, nullptr);
    }
    ArrayRequest request(const std::string& name) const {
        ArrayRequest r;
        r.path = directory_ / name;
        r.schema = two_rows_each(test_.comm.size());
        return r;
    }
    Slab share(const ArrayFile& file) const { return file.schema().share(0, test_.comm.rank()); }
    std::span<const std::byte> data() const { return std::as_bytes(std::span(data_)); }

    TestSession test_;
    SharedDirectory directory_{test_.comm};
    std::vector<double> data_;
};

TEST_F(ArrayLibraries, hdf5_shows_whether_a_collective_call_was_one) {
    const auto contiguous = make("hdf5");
    if (!contiguous) GTEST_SKIP() << check_present(Serves::arrays, "hdf5").error().text();
    auto file = contiguous->create(test_.comm, request("contiguous"));
    ASSERT_TRUE(file) << file.error().text();
    ASSERT_TRUE((*file)->put(0, share(**file), data()));
    EXPECT_EQ((*file)->totals().done_collectively, 1);
    EXPECT_EQ((*file)->totals().modes.at("contiguous, collective"), 1);
    ASSERT_TRUE((*file)->set_access(ArrayAccess::independent));
    ASSERT_TRUE((*file)->put(0, share(**file), data()));
    EXPECT_EQ((*file)->totals().collective_calls, 1);
    EXPECT_EQ((*file)->totals().done_collectively, 1);
    ASSERT_TRUE((*file)->close());

    const auto chunked = make("hdf5", "chunk-rows=1,fill=alloc,alignment=4KiB");
    file = chunked->create(test_.comm, request("chunked"));
    ASSERT_TRUE(file) << file.error().text();
    ASSERT_TRUE((*file)->put(0, share(**file), data()));
    EXPECT_EQ((*file)->totals().modes.at("chunks, collective"), 1);
    ASSERT_TRUE((*file)->close());
}

TEST_F(ArrayLibraries, hdf5_takes_data_out_of_a_box_in_memory) {
    const auto library = make("hdf5");
    if (!library) GTEST_SKIP() << check_present(Serves::arrays, "hdf5").error().text();
    // One layer of guard cells around each block of 2 x 3, two variables interleaved.
    std::vector<double> memory(std::size_t{2} * 4 * 5 * 2, -1);
    for (std::size_t block = 0; block < 2; ++block) {
        for (std::size_t y = 0; y < 2; ++y) {
            for (std::size_t x = 0; x < 3; ++x) {
                memory[((block * 4 + y + 1) * 5 + x + 1) * 2 + 1] =
                    static_cast<double>(100 * block + 10 * y + x);
            }
        }
    }
    const Box box{{2, 4, 5, 2}, {0, 1, 1, 1}, {2, 2, 3, 1}, 8};
    auto file = library->create(test_.comm, request("box"));
    ASSERT_TRUE(file) << file.error().text();
    const auto put = (*file)->put_from(0, share(**file), std::as_bytes(std::span(memory)), box);
    ASSERT_TRUE(put) << put.error().text();
    ASSERT_TRUE((*file)->close());
    file = library->open(test_.comm, request("box"));
    ASSERT_TRUE(file);
    std::vector<double> found(12);
    ASSERT_TRUE((*file)->get(0, share(**file), std::as_writable_bytes(std::span(found))));
    EXPECT_EQ(found, (std::vector<double>{0, 1, 2, 10, 11, 12, 100, 101, 102, 110, 111, 112}));
    ASSERT_TRUE((*file)->close());
}

TEST_F(ArrayLibraries, what_a_file_holds_in_addition_to_data_is_counted) {
    for (const char* name : {"hdf5", "pnetcdf", "netcdf4", "fortran-fpp", "posix-fpp", "posix"}) {
        const auto library = make(name);
        if (!library) continue;
        const auto r = request(name);
        auto file = library->create(test_.comm, r);
        ASSERT_TRUE(file) << file.error().text();
        ASSERT_TRUE((*file)->put(0, share(**file), data()));
        ASSERT_TRUE((*file)->close());
        test_.comm.barrier();
        const auto overhead = (*file)->overhead_bytes();
        ASSERT_TRUE(overhead) << overhead.error().text();
        const std::int64_t given = (*file)->totals().bytes + *overhead;
        const FileSet files = library->files(r.path, test_.comm.size());
        std::int64_t stored = 0;
        for (int i = 0; i < files.count; ++i) {
            stored += static_cast<std::int64_t>(std::filesystem::file_size(files.name(i)));
        }
        const std::int64_t sum = test_.comm.sum(given);
        if (library->capabilities().self_describing) {
            // The header's extent is rounded up, and HDF5 takes space in blocks: gaps that are
            // never written.
            EXPECT_LE(sum, stored) << name;
            EXPECT_LT(stored - sum, 8192) << name;
            EXPECT_GT(sum, r.schema.bytes()) << name;
        } else {
            EXPECT_EQ(sum, stored) << name;
        }
    }
}

TEST_F(ArrayLibraries, what_alignment_leaves_empty_is_not_counted) {
    const auto overhead_with = [&](const char* settings) -> std::optional<std::int64_t> {
        const auto library = make("hdf5", settings);
        if (!library) return {};
        auto file = library->create(test_.comm, request("aligned"));
        EXPECT_TRUE(file);
        if (!file) return {};
        EXPECT_TRUE((*file)->put(0, share(**file), data()));
        EXPECT_TRUE((*file)->close());
        test_.comm.barrier();
        const auto overhead = (*file)->overhead_bytes();
        EXPECT_TRUE(overhead);
        return overhead ? test_.comm.sum(*overhead) : 0;
    };
    const auto plain = overhead_with("");
    if (!plain) GTEST_SKIP() << "no HDF5";
    EXPECT_EQ(overhead_with("alignment=1MiB,alignment-threshold=0"), plain);
}

TEST_F(ArrayLibraries, attributes_are_read_back) {
    const std::vector<ArrayAttribute> given{
        {"text", std::string("as it is")}, {"whole", 7}, {"real", 0.25}};
    for (const char* name : {"hdf5", "pnetcdf", "netcdf4"}) {
        const auto library = make(name);
        if (!library) continue;
        auto r = request(std::string("attributes_") + name);
        r.schema.attributes = given;
        auto file = library->create(test_.comm, r);
        ASSERT_TRUE(file) << file.error().text();
        ASSERT_TRUE((*file)->put(0, share(**file), data()));
        ASSERT_TRUE((*file)->close());
        file = library->open(test_.comm, r);
        ASSERT_TRUE(file) << file.error().text();
        for (const auto& attribute : given) {
            ArrayAttribute like = attribute;
            std::visit([](auto& value) { value = {}; }, like.value);
            const auto found = (*file)->attribute(like);
            ASSERT_TRUE(found) << found.error().text();
            EXPECT_EQ(found->value, attribute.value) << name;
            EXPECT_FALSE((*file)->attribute({"missing", attribute.value}));
        }
        EXPECT_FALSE((*file)->attribute({"text", 1})) << name;
        EXPECT_FALSE((*file)->attribute({"whole", std::string()})) << name;
        ASSERT_TRUE((*file)->close());
    }
}

TEST_F(ArrayLibraries, fortran_records_are_those_of_gfortran) {
    const auto library = make("fortran-fpp");
    const auto r = request("records");
    auto file = library->create(test_.comm, r);
    ASSERT_TRUE(file);
    ASSERT_TRUE((*file)->put(0, share(**file), data()));
    ASSERT_TRUE((*file)->close());
    std::ifstream in(library->files(r.path, 2).name(test_.comm.rank()), std::ios::binary);
    std::int32_t before = 0;
    std::int32_t after = 0;
    std::vector<double> payload(12);
    in.read(reinterpret_cast<char*>(&before), 4);
    in.read(reinterpret_cast<char*>(payload.data()), 96);
    in.read(reinterpret_cast<char*>(&after), 4);
    EXPECT_TRUE(in);
    EXPECT_EQ(before, 96);
    EXPECT_EQ(after, 96);
    EXPECT_EQ(payload, data_);
    EXPECT_EQ(in.peek(), std::ifstream::traits_type::eof());
}

TEST_F(ArrayLibraries, a_record_with_a_wrong_mark_is_refused) {
    const auto library = make("fortran-fpp");
    const auto r = request("marks");
    auto file = library->create(test_.comm, r);
    ASSERT_TRUE(file);
    ASSERT_TRUE((*file)->put(0, share(**file), data()));
    ASSERT_TRUE((*file)->close());
    std::fstream out(library->files(r.path, 2).name(test_.comm.rank()),
                     std::ios::binary | std::ios::in | std::ios::out);
    out.put('\x5f');
    out.close();
    test_.comm.barrier();
    file = library->open(test_.comm, r);
    ASSERT_TRUE(file);
    std::vector<double> found(12);
    const auto got = (*file)->get(0, share(**file), std::as_writable_bytes(std::span(found)));
    ASSERT_FALSE(got);
    EXPECT_NE(got.error().text().find("record mark is 95, expected 96"), std::string::npos);
}

TEST_F(ArrayLibraries, hints_reach_mpi_io_and_come_back) {
    for (const char* name : {"hdf5", "pnetcdf", "mpiio"}) {
        const auto library = make(name);
        if (!library) continue;
        auto r = request(std::string("hints.") + name);
        r.hints.set("cb_buffer_size", "1048576");
        auto file = library->create(test_.comm, r);
        ASSERT_TRUE(file) << file.error().text();
        EXPECT_EQ((*file)->granted_hints().get("cb_buffer_size"), "1048576") << name;
        ASSERT_TRUE((*file)->close());
    }
}

TEST(Backends, settings_of_libraries_are_judged) {
    BackendChoice choice;
    choice.name = "hdf5";
    for (const char* bad : {"alignment=4m", "chunk=1", "collective-metadata=maybe", "fill="}) {
        choice.settings = bad;
        const auto applied = apply_settings(Serves::arrays, choice);
        ASSERT_FALSE(applied) << bad;
        EXPECT_EQ(applied.error().exit_code, ExitCode::usage);
    }
    choice.settings = "alignment=1MiB,alignment-threshold=64KiB,collective-metadata=on";
    ASSERT_TRUE(apply_settings(Serves::arrays, choice));
    EXPECT_EQ(choice.hdf5.alignment, Bytes{MiB});
    EXPECT_TRUE(choice.hdf5.collective_metadata);
}

TEST(Backends, a_library_that_is_missing_says_so) {
    for (const auto& backend : array_backends()) {
        const auto present = check_present(Serves::arrays, backend.name);
        EXPECT_EQ(static_cast<bool>(present), backend.make != nullptr) << backend.name;
        if (present) continue;
        EXPECT_EQ(present.error().exit_code, ExitCode::environment);
        EXPECT_NE(present.error().text().find("built without it"), std::string::npos);
    }
}

}  // namespace
}  // namespace effio
