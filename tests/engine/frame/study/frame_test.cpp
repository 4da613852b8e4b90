// SPDX-License-Identifier: BSD-3-Clause
// The conformance suite of the frame for studies: for every pattern of addresses and every way to
// carry it out, the bytes of the files are exactly those of the definition, and whatever is wrong
// in them is found.
#include <algorithm>
#include <tuple>

#include "benchmarks/pio/patterns.hpp"
#include "core/pattern.hpp"
#include "frame_suite.hpp"

namespace effio::study {
namespace {

constexpr std::int64_t page = 4096;

/// Tiles side by side, each overlapping the next by one element, and two columns that belong to no
/// tile.
Addresses tile(int rank, int ranks) {
    return {100, Box{{4, std::int64_t{4} * ranks + 3}, {0, std::int64_t{4} * rank}, {4, 5}, 3}};
}
std::int64_t tiles_bytes(int ranks) {
    return 100 + std::int64_t{3} * (4 * (4 * ranks + 3) - 2);
}

/// A pattern of pio in one of the ways to carry it out; with holes in memory where one call moves
/// all pieces.
Case pio_case(const std::string& backend, pio::Spatial spatial, Through through, bool collective) {
    pio::Shape shape;
    shape.piece = 24;
    shape.count = 6;
    shape.inner = 2;
    shape.spacing = 16;
    shape.levels = {{24, {{3, 200}, {2, 1000}}}, 48};
    const bool by_view = through == Through::view;
    Case c;
    c.name = fmt::format("{}_pio_{}{}{}", backend, word_of(pio::spatial_words(), spatial),
                         by_view ? "_view" : "", collective ? "_all" : "");
    std::replace(c.name.begin(), c.name.end(), '-', '_');
    c.backend = backend;
    c.through = through;
    c.collective = collective;
    c.memory_spacing = by_view ? 8 : 0;
    c.overlaps = spatial == pio::Spatial::sequential;
    c.addresses = [=](int rank, int ranks) {
        return pio::addresses_of(spatial, shape, rank, ranks);
    };
    c.file_bytes = [=](int ranks) { return pio::file_bytes(spatial, shape, ranks); };
    return c;
}

/// Each pattern once by MPI-IO, each way with several of them.
void add_pio(std::vector<Case>& all) {
    using enum pio::Spatial;
    for (const auto& [spatial, through, collective] :
         {std::tuple(sequential, Through::offsets, false),
          std::tuple(segmented, Through::offsets, true),
          std::tuple(simple_strided, Through::view, false),
          std::tuple(nested_strided, Through::view, true),
          std::tuple(random_strided, Through::offsets, true),
          std::tuple(tiled, Through::view, false),
          std::tuple(unstructured_mesh, Through::view, true),
          // Ranks have different numbers of calls.
          std::tuple(flash_io, Through::offsets, true), std::tuple(own, Through::view, false)}) {
        all.push_back(pio_case("mpiio", spatial, through, collective));
    }
    all.push_back(pio_case("posix", nested_strided, Through::view, false));
    all.push_back(pio_case("posix", flash_io, Through::offsets, true));
}

std::vector<Case> cases() {
    const auto strided = [](int rank, int ranks) {
        return Addresses(std::int64_t{40} * rank, Strides{40, {{6, std::int64_t{40} * ranks}}});
    };
    const auto strided_bytes = [](int ranks) { return std::int64_t{240} * ranks; };
    const auto nested = [](int rank, int ranks) {
        return Addresses(
            std::int64_t{16} * rank,
            Strides{16, {{2, std::int64_t{16} * ranks}, {3, std::int64_t{32} * ranks}}});
    };
    const auto nested_bytes = [](int ranks) { return std::int64_t{96} * ranks; };
    const auto listed = [](int rank, int ranks) {
        std::vector<std::int64_t> places;
        for (std::int64_t i = 0; i < 5; ++i) places.push_back((i * ranks + rank) * 24);
        return Addresses(0, Listed{24, std::make_shared<const std::vector<std::int64_t>>(places)});
    };
    const auto listed_bytes = [](int ranks) { return std::int64_t{120} * ranks; };
    const auto pages = [](int /*rank*/, int /*ranks*/) {
        return Addresses(0, Strides{page, {{8, page}}});
    };
    const auto pages_bytes = [](int /*ranks*/) { return 8 * page; };
    std::vector<Case> all;
    add_pio(all);
    for (const char* backend : {"posix", "mpiio"}) {
        const std::string by = backend;
        const auto add = [&](Case c) {
            c.backend = by;
            c.name = by + "_" + c.name;
            all.push_back(std::move(c));
        };
        add({"strided", "", Through::offsets, false, Content::words, strided, strided_bytes});
        add({"strided_view_all", "", Through::view, true, Content::words, strided, strided_bytes});
        add({"nested_all", "", Through::offsets, true, Content::words, nested, nested_bytes});
        add({"nested_view", "", Through::view, false, Content::words, nested, nested_bytes});
        add({"list", "", Through::offsets, false, Content::words, listed, listed_bytes});
        add({"list_view_all", "", Through::view, true, Content::words, listed, listed_bytes});
        add({"tile_view", "", Through::view, false, Content::words, tile, tiles_bytes, false, 0,
             true});
        add({"tile_view_all", "", Through::view, true, Content::words, tile, tiles_bytes, false, 0,
             true});
        add({"tile_rows", "", Through::offsets, false, Content::words, tile, tiles_bytes, false, 0,
             true});
        for (const auto& [name, order] :
             {std::pair("forward", Order::sequential), std::pair("backward", Order::backward),
              std::pair("shuffled", Order::shuffled)}) {
            const auto ordered = [pages, order](int rank, int ranks) {
                return pages(rank, ranks).in(order, static_cast<std::uint64_t>(rank));
            };
            add({std::string("own_pages_") + name, "", Through::offsets, false, Content::stamped,
                 ordered, pages_bytes, true});
        }
    }
    return all;
}

TEST_P(StudyFrame, files_hold_exactly_the_bytes_of_the_definition) {
    Notes notes;
    const Ending ending = run(definition({write_pass(), read_pass()}), notes);
    ASSERT_EQ(ending.status, ExitCode::done) << ending.reason;
    at_.comm.barrier();
    if (!at_.comm.is_root()) return;
    const Case& c = GetParam();
    const int files = c.own_files ? ranks_ : 1;
    std::int64_t all = 0;
    for (int r = 0; r < ranks_; ++r) all += c.addresses(r, ranks_).bytes();
    ASSERT_EQ(notes.results.size(), 2U);
    EXPECT_EQ(notes.results[0].bytes, all);
    EXPECT_EQ(notes.results[1].bytes, all);
    EXPECT_EQ(notes.results[1].verified_bytes, all);
    for (int file = 0; file < files; ++file) {
        const std::string found = read_file(file);
        ASSERT_EQ(found.size(), static_cast<std::size_t>(c.file_bytes(ranks_)));
        // Bytes outside all tiles are not compared: ROMIO's data sieving may write anything there.
        std::string expected = found;
        for (int r = 0; r < ranks_; ++r) {
            if (c.own_files && r != file) continue;
            const Addresses a = c.addresses(r, ranks_);
            for (std::int64_t n = 0; n < a.calls(); ++n) {
                const auto piece = static_cast<std::size_t>(a.piece());
                expected.replace(static_cast<std::size_t>(a.place(n)), piece,
                                 of_first_pass(file, a.place(n), piece));
            }
        }
        EXPECT_TRUE(found == expected) << path(file);
    }
}

TEST_P(StudyFrame, whatever_is_wrong_in_a_file_is_found) {
    Notes notes;
    ASSERT_EQ(run(definition({write_pass()}), notes).status, ExitCode::done);
    at_.comm.barrier();
    const Case& c = GetParam();
    const int victim = ranks_ - 1;  // the rank whose data are hurt
    const int file = c.own_files ? victim : 0;
    const Addresses a = c.addresses(victim, ranks_);
    const auto first = static_cast<std::size_t>(a.place(1));
    const auto last = static_cast<std::size_t>(a.place(a.calls() - 1));
    const auto piece = static_cast<std::size_t>(a.piece());
    const std::string right = at_.comm.is_root() ? read_file(file) : std::string();
    const auto try_with = [&](const char* what, auto&& hurt) {
        if (at_.comm.is_root()) {
            std::string wrong = right;
            hurt(wrong);
            write_file(file, wrong);
        }
        at_.comm.barrier();
        Notes seen;
        const Ending ending = run(definition({read_pass()}), seen);
        EXPECT_EQ(ending.status, ExitCode::data_errors) << what;
        if (at_.comm.is_root()) {
            ASSERT_EQ(seen.results.size(), 1U);
            EXPECT_GE(seen.results[0].error_count, 1) << what;
            EXPECT_TRUE(seen.results[0].valid) << what;
            ASSERT_FALSE(seen.results[0].errors.empty());
            ASSERT_TRUE(seen.results[0].errors[0].offset);
            const auto at = static_cast<std::size_t>(*seen.results[0].errors[0].offset);
            EXPECT_TRUE((at >= first && at < first + piece) || (at >= last && at < last + piece))
                << what << " at " << at;
        }
        at_.comm.barrier();
    };
    try_with("a flipped bit", [&](std::string& bytes) {
        bytes[last + piece - 1] = static_cast<char>(bytes[last + piece - 1] ^ 1);
    });
    try_with("two pieces that changed places", [&](std::string& bytes) {
        std::swap_ranges(bytes.begin() + static_cast<std::ptrdiff_t>(first),
                         bytes.begin() + static_cast<std::ptrdiff_t>(first + piece),
                         bytes.begin() + static_cast<std::ptrdiff_t>(last));
    });
    try_with("a piece that was never written", [&](std::string& bytes) {
        std::fill_n(bytes.begin() + static_cast<std::ptrdiff_t>(first), piece, '\0');
    });
    // And what is right is not found wrong.
    if (at_.comm.is_root()) write_file(file, right);
    at_.comm.barrier();
    Notes seen;
    EXPECT_EQ(run(definition({read_pass()}), seen).status, ExitCode::done);
}

TEST_P(StudyFrame, a_pass_that_writes_again_leaves_other_bytes) {
    // A block of the first pass that the second one lost would otherwise pass for written.
    Definition twice = definition({write_pass()});
    twice.cells.front().sync = Sync::separate;
    twice.cells.front().passes = {write_pass(), write_pass("re-write"), read_pass()};
    Notes more;
    ASSERT_EQ(run(twice, more).status, ExitCode::done);
    at_.comm.barrier();
    if (!at_.comm.is_root()) return;
    const Addresses a = GetParam().addresses(0, ranks_);
    const auto piece = static_cast<std::size_t>(a.piece());
    EXPECT_NE(of_first_pass(0, a.place(1), piece),
              read_file(0).substr(static_cast<std::size_t>(a.place(1)), piece));
    ASSERT_EQ(more.results.size(), 3U);
    // The visit's open belongs to the first pass, its close to the last.
    const auto has = [](const PassResult& r, const char* part) {
        return std::any_of(r.seconds.begin(), r.seconds.end(),
                           [part](const auto& s) { return s.name == part; });
    };
    EXPECT_TRUE(has(more.results[0], "open") && !has(more.results[0], "close"));
    EXPECT_TRUE(!has(more.results[1], "open") && has(more.results[1], "sync"));
    EXPECT_TRUE(!has(more.results[2], "open") && has(more.results[2], "close"));
    EXPECT_EQ(more.results[2].verified_bytes, more.results[2].bytes);
    // What the second pass overwrites is read and compared before.
    EXPECT_EQ(more.results[0].verified_bytes, more.results[0].bytes);
}

TEST_P(StudyFrame, a_pass_that_modifies_reads_what_was_and_leaves_other_bytes) {
    if (GetParam().content != Content::words) return;  // which it takes
    Notes notes;
    const auto study = definition({write_pass(), modify_pass(), read_pass()});
    const Ending ending = run(study, notes);
    ASSERT_EQ(ending.status, ExitCode::done) << ending.reason;
    at_.comm.barrier();
    if (!at_.comm.is_root()) return;
    ASSERT_EQ(notes.results.size(), 3U);
    const PassResult& once = notes.results[0];
    const PassResult& both = notes.results[1];
    EXPECT_EQ(both.bytes, 2 * once.bytes);
    EXPECT_EQ(both.calls, 2 * once.calls);
    // What was read, and what was written when it is read again.
    EXPECT_EQ(both.verified_bytes, both.bytes);
    const Addresses a = GetParam().addresses(0, ranks_);
    const std::string found = read_file(0);
    const auto piece =
        std::as_bytes(std::span(found))
            .subspan(static_cast<std::size_t>(a.place(1)), static_cast<std::size_t>(a.piece()));
    EXPECT_FALSE(Pattern(of_first_generation() + 1, 0).check(piece, a.place(1)));
}

class StudyFrameOnce : public StudyFrame {};

TEST_P(StudyFrameOnce, files_are_removed_unless_they_are_to_be_kept) {
    Notes notes;
    ASSERT_EQ(run(definition({write_pass(), read_pass()}), notes, false).status, ExitCode::done);
    at_.comm.barrier();
    EXPECT_FALSE(std::ifstream(path(0)).good());
}

INSTANTIATE_TEST_SUITE_P(Patterns, StudyFrame, testing::ValuesIn(cases()),
                         [](const auto& param) { return param.param.name; });
// What addresses make no difference to.
INSTANTIATE_TEST_SUITE_P(
    Backends, StudyFrameOnce,
    testing::Values(pio_case("mpiio", pio::Spatial::sequential, Through::offsets, false),
                    pio_case("posix", pio::Spatial::sequential, Through::offsets, false)),
    [](const auto& param) { return param.param.name; });

}  // namespace
}  // namespace effio::study
