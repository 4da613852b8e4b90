// SPDX-License-Identifier: BSD-3-Clause
// pio's patterns against docs/definitions/pio.md, by enumeration for few ranks, and its
// configuration file.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <map>
#include <set>
#include <vector>

#include "benchmarks/pio/pio.hpp"

namespace effio::pio {
namespace {

constexpr std::int64_t piece = 16;
constexpr std::int64_t count = 6;

Shape small_shape(std::int64_t spacing = 0) {
    Shape shape;
    shape.piece = piece;
    shape.count = count;
    shape.spacing = spacing;
    shape.inner = 3;
    shape.seed = 7;
    return shape;
}

/// The places of a rank's calls, in their order.
std::vector<std::int64_t> places(Spatial spatial, const Shape& shape, int rank, int ranks) {
    const Addresses a = addresses_of(spatial, shape, rank, ranks);
    std::vector<std::int64_t> all;
    for (std::int64_t i = 0; i < a.calls(); ++i) all.push_back(a.place(a.number(i)));
    return all;
}

/// How often each slot of the file is moved by all ranks; an offset that is not a slot's start
/// fails.
std::map<std::int64_t, int> slots(Spatial spatial, const Shape& shape, int ranks) {
    std::map<std::int64_t, int> times;
    for (int rank = 0; rank < ranks; ++rank) {
        for (const auto place : places(spatial, shape, rank, ranks)) {
            EXPECT_EQ(place % shape.slot(), 0) << word_of(spatial_words(), spatial);
            ++times[place / shape.slot()];
        }
    }
    return times;
}

TEST(PioPatterns, each_but_the_first_covers_its_slots_once) {
    for (const std::int64_t spacing : {0, 5}) {
        const Shape shape = small_shape(spacing);
        for (const int ranks : {1, 2, 3, 4, 7}) {
            for (const auto& [name, spatial] : spatial_words()) {
                if (spatial == Spatial::own) continue;
                const auto found = slots(spatial, shape, ranks);
                std::int64_t moved = 0;
                for (const auto& [slot, times] : found) {
                    EXPECT_EQ(times, spatial == Spatial::sequential ? ranks : 1) << name;
                    moved += times;
                }
                EXPECT_EQ(moved, pieces_in_all(spatial, shape, ranks)) << name;
                const std::int64_t last = found.rbegin()->first;
                EXPECT_EQ(file_bytes(spatial, shape, ranks), last * shape.slot() + piece) << name;
                // Dense but for the holes between groups of nested-strided.
                const auto dense = static_cast<std::int64_t>(found.size());
                EXPECT_EQ(last + 1, spatial == Spatial::nested_strided ? dense + ranks : dense)
                    << name;
            }
        }
    }
}

TEST(PioPatterns, places_are_those_of_the_formulas) {
    const Shape shape = small_shape();
    const int ranks = 4;
    for (int r = 0; r < ranks; ++r) {
        for (std::int64_t i = 0; i < count; ++i) {
            const auto at = static_cast<std::size_t>(i);
            const auto place = [&](Spatial s) { return places(s, shape, r, ranks)[at]; };
            EXPECT_EQ(place(Spatial::sequential), i * piece);
            EXPECT_EQ(place(Spatial::segmented), (r * count + i) * piece);
            EXPECT_EQ(place(Spatial::simple_strided), (i * ranks + r) * piece);
            // Groups of 3, and a gap of 4 pieces.
            EXPECT_EQ(place(Spatial::nested_strided), (i / 3 * 16 + i % 3 * 4 + r) * piece);
            // Tiles of 6 rows in a grid of 2 x 2.
            EXPECT_EQ(place(Spatial::tiled), ((r / 2 * count + i) * 2 + r % 2) * piece);
        }
    }
    Shape wide = shape;
    wide.gap = 100;
    EXPECT_EQ(places(Spatial::nested_strided, wide, 1, 2)[3], (2 * 3 + 1) * piece + 100);
    // Ranks have 6, 7, 8, 6 blocks.
    const std::vector<std::int64_t> begins{0, 6, 13, 21};
    for (int r = 0; r < ranks; ++r) {
        const auto found = places(Spatial::flash_io, shape, r, ranks);
        EXPECT_EQ(found.front(), begins[static_cast<std::size_t>(r)] * piece);
        EXPECT_EQ(found.size(), static_cast<std::size_t>(count + r % 3));
    }
}

TEST(PioPatterns, random_ones_follow_their_seed) {
    Shape shape = small_shape();
    shape.count = 64;
    const auto random = places(Spatial::random_strided, shape, 0, 3);
    // The ranks stay side by side.
    const auto next = places(Spatial::random_strided, shape, 2, 3);
    for (std::size_t i = 0; i < random.size(); ++i) EXPECT_EQ(next[i], random[i] + 2 * piece);
    EXPECT_FALSE(std::is_sorted(random.begin(), random.end()));
    // A view cannot fall.
    const auto mesh = places(Spatial::unstructured_mesh, shape, 1, 3);
    EXPECT_TRUE(std::is_sorted(mesh.begin(), mesh.end()));
    shape.seed = 8;
    EXPECT_NE(places(Spatial::random_strided, shape, 0, 3), random);
    EXPECT_NE(places(Spatial::unstructured_mesh, shape, 1, 3), mesh);
}

TEST(PioLevels, are_nested_strides) {
    const auto strides = parse_levels("64KiB*16/1MiB,8/32MiB");
    ASSERT_TRUE(strides) << strides.error().text();
    EXPECT_EQ(*strides, (Strides{64 * KiB, {{16, 1 * MiB}, {8, 32 * MiB}}}));
    EXPECT_EQ(strides->begin(17), 32 * MiB + 1 * MiB);
    EXPECT_EQ(*parse_levels("100B"), (Strides{100, {{1, 100}}}));
}

TEST(PioLevels, say_what_is_wrong_with_them) {
    for (const auto& [text, why] : std::vector<std::pair<const char*, const char*>>{
             {"", "start with the size"},
             {"big*2/4KiB", "start with the size"},
             {"4KiB*", "a level is empty"},
             {"4KiB*2/8KiB,", "a level is empty"},
             {"4KiB*2", "not a COUNT/STRIDE"},
             {"4KiB*0/8KiB", "not a COUNT/STRIDE"},
             {"4KiB*2/x", "'x' is not a size"},
             {"4KiB*2/1KiB", "a stride of 1KiB is less than the 4KiB inside"},
             {"4KiB*4/8KiB,2/16KiB", "less than the 28KiB"},
             {"4KiB*1000000000/1TiB,2/1PiB", "further than a file can"},
             {"4KiB*9000000000000/1TiB", "further than a file can"}}) {
        const auto strides = parse_levels(text);
        ASSERT_FALSE(strides) << text;
        EXPECT_NE(strides.error().cause.find(why), std::string::npos) << strides.error().cause;
    }
}

Parameters parameters() {
    Parameters p;
    p.size = {64};
    p.buffers = {{16}};
    return p;
}

/// "pattern: passes | passes" of the visits.
std::vector<std::string> visits(const study::Definition& study) {
    std::vector<std::string> all;
    for (const auto& cell : study.cells) {
        std::string text = cell.pattern + ":";
        for (const auto& pass : cell.passes) text += " " + pass.name;
        all.push_back(text);
    }
    return all;
}

TEST(PioDefinition, all_patterns_are_visited_for_writing_reading_and_both) {
    Parameters p = parameters();
    ASSERT_TRUE(p.check());
    const auto study = define(p, 3);
    ASSERT_TRUE(study) << study.error().text();
    std::vector<std::string> expected;
    for (const auto& [name, spatial] : spatial_words()) {
        const std::string begin = std::string(name) + ": ";
        if (spatial == Spatial::own) continue;
        const bool mesh = spatial == Spatial::unstructured_mesh;
        expected.push_back(begin + (mesh ? "write" : "write re-write"));
        expected.push_back(begin + (mesh ? "read" : "read re-read"));
        if (!mesh) expected.push_back(begin + "read-modify-write");
    }
    EXPECT_EQ(visits(*study), expected);
    std::set<std::string> files;
    for (const auto& cell : study->cells) files.insert(cell.file);
    EXPECT_EQ(files.size(), 8U);
}

TEST(PioDefinition, what_an_access_needs_comes_with_it) {
    Parameters p = parameters();
    p.spatial = {Spatial::segmented};
    for (const auto& [asked, expected] : std::vector<std::pair<Temporal, std::vector<std::string>>>{
             {Temporal::write, {"segmented: write"}},
             {Temporal::re_write, {"segmented: write re-write"}},
             {Temporal::read, {"segmented: write", "segmented: read"}},
             {Temporal::re_read, {"segmented: write", "segmented: read re-read"}},
             {Temporal::read_modify_write, {"segmented: write", "segmented: read-modify-write"}}}) {
        p.temporal = {asked};
        ASSERT_TRUE(p.check());
        EXPECT_EQ(visits(*define(p, 2)), expected);
    }
}

TEST(PioDefinition, variants_are_axes_where_there_are_several) {
    Parameters p = parameters();
    p.spatial = {Spatial::segmented};
    p.temporal = {Temporal::write};
    p.layouts = {{}, {.memory = true, .file = true}};
    p.sieving = {true, false};
    p.two_phase = {false};
    p.calls = {study::Calls::collective};
    p.by = {study::Through::view};
    p.spacing = {32};
    p.settle = {1.5};
    ASSERT_TRUE(p.check());
    const auto study = define(p, 2);
    ASSERT_EQ(study->cells.size(), 4U);
    const study::Cell& cell = study->cells[3];
    std::vector<std::string> axes;
    for (const auto& axis : cell.axes) axes.push_back(axis.name + " " + axis.text);
    EXPECT_EQ(axes, (std::vector<std::string>{"buffer_bytes 16 B", "layout nc-nc", "sieving off"}));
    EXPECT_EQ(cell.memory_spacing(), 32);
    EXPECT_EQ(cell.addresses(1).place(1), 4 * 48 + 48);
    EXPECT_EQ(cell.file_bytes, 8 * 48 - 32);
    EXPECT_EQ(cell.hints.get("romio_ds_write"), "disable");
    EXPECT_EQ(study->cells[0].hints.get("romio_ds_read"), "enable");
    EXPECT_EQ(cell.hints.get("romio_cb_read"), "disable");
    EXPECT_TRUE(cell.collective);
    EXPECT_EQ(std::get<study::Pieces>(cell.data).through, study::Through::view);
    EXPECT_EQ(cell.manner.settle, 1.5);
    EXPECT_EQ(study->cells[0].memory_spacing(), 0);
}

TEST(PioDefinition, an_own_pattern_is_alone_and_has_its_own_sizes) {
    Parameters p = parameters();
    p.levels_text = "8B*3/24B,2/100B";
    ASSERT_TRUE(p.check());
    auto study = define(p, 3);
    ASSERT_EQ(visits(*study).front(), "own: write re-write");
    ASSERT_EQ(study->cells.size(), 3U);
    const study::Cell& cell = study->cells.front();
    EXPECT_EQ(cell.addresses(2).place(4), 16 + 100 + 24);
    EXPECT_EQ(std::get<study::Pieces>(cell.data).in_all, 18);
    EXPECT_EQ(cell.file_bytes, 16 + 100 + 48 + 8);
    p.rank_stride = Bytes{1000};
    p.spatial = {Spatial::own, Spatial::tiled};
    ASSERT_TRUE(p.check());
    study = define(p, 3);
    EXPECT_EQ(study->cells.size(), 6U);
    EXPECT_EQ(study->cells.back().addresses(2).place(0), 2000);
}

TEST(PioDefinition, a_plan_for_many_ranks_looks_at_the_first_and_the_last) {
    Parameters p = parameters();
    ASSERT_TRUE(p.check());
    constexpr int ranks = 1'000'000;
    auto study = define(p, ranks);
    ASSERT_TRUE(study) << study.error().text();
    int asked = 0;
    for (auto& cell : study->cells) {
        auto& pieces = std::get<study::Pieces>(cell.data);
        pieces.of_rank = [&asked, addresses = pieces.of_rank](int rank) {
            EXPECT_TRUE(rank == 0 || rank == ranks - 1) << rank;
            ++asked;
            return addresses(rank);
        };
    }
    const Plan plan = study::make_plan(*study, p, {ranks, 1, 1e9});
    // For each assumption of the estimate, too.
    EXPECT_LE(asked, 10 * static_cast<int>(study->cells.size()));
    EXPECT_EQ(plan["cells"][0]["bytes"], 64.0 * ranks);
    // A rank's share does not grow; the one that is modified is there twice.
    EXPECT_EQ(plan["memory_per_rank_bytes"], 2 * 64);
}

/// What a configuration file makes of the options.
Status read_config(Parameters& p, const std::string& text) {
    p.config = "pio.conf";
    return p.set_modules(text);
}

TEST(PioConfig, modules_have_what_they_say_and_what_stands_above_them) {
    Parameters p = parameters();
    const Status read = read_config(p,
                                    "# survey\n"
                                    "BufferSize 8B 16B   # of all modules\n"
                                    "ModuleSettleTime 2\n"
                                    "\n"
                                    "<ap_module>\n"
                                    "   ModuleName \"Simple Strided (re-read)\"\n"
                                    "   ModuleReps 3\n"
                                    "</ap_module>\n"
                                    "<AP_Module>\n"
                                    "   modulename \"FLASH I/O\"\n"
                                    "   DataSize 128B\n"
                                    "   BufferSize 32B\n"
                                    "   ModuleSettleTime 0\n"
                                    "</AP_Module>\n"
                                    "<ap_module>\n"
                                    "   ModuleName \"Unstructured mesh\"\n"
                                    "</ap_module>\n");
    ASSERT_TRUE(read) << read.error().text();
    EXPECT_EQ(p.repetitions, 3);
    ASSERT_EQ(p.modules.size(), 3U);
    EXPECT_EQ(p.modules[0].spatial, Spatial::simple_strided);
    EXPECT_EQ(p.modules[0].temporal, std::vector{Temporal::re_read});
    EXPECT_EQ(p.modules[0].buffers, (std::vector<Bytes>{{8}, {16}}));
    EXPECT_EQ(p.modules[0].size, (Bytes{64}));
    EXPECT_EQ(p.modules[0].settle, (Seconds{2}));
    EXPECT_EQ(p.modules[1].spatial, Spatial::flash_io);
    EXPECT_EQ(p.modules[1].temporal.size(), 5U);
    EXPECT_EQ(p.modules[1].buffers, (std::vector<Bytes>{{32}}));
    EXPECT_EQ(p.modules[1].size, (Bytes{128}));
    EXPECT_EQ(p.modules[1].settle, (Seconds{0}));
    EXPECT_EQ(p.modules[2].temporal, (std::vector{Temporal::write, Temporal::read}));
    const auto study = define(p, 2);
    EXPECT_EQ(visits(*study).front(), "simple-strided: write");
    EXPECT_EQ(study->cells.front().manner.settle, 2);
}

TEST(PioConfig, faults_have_file_and_line) {
    const std::string begin = "<ap_module>\n";
    const std::string end = "ModuleName Tiled\n</ap_module>\n";
    for (const auto& [text, said] : std::vector<std::pair<std::string, std::string>>{
             {"", "pio.conf:0: the file has no <ap_module>"},
             {begin, "pio.conf:1: <ap_module> is not closed"},
             {begin + begin, "pio.conf:2: <ap_module> inside"},
             {"</ap_module>", "pio.conf:1: </ap_module> without"},
             {begin + "</ap_module>\n", "pio.conf:2: the module has no ModuleName"},
             {"ModuleName Tiled", "pio.conf:1: ModuleName outside"},
             {begin + "ModuleName \"Spiral (read)\"", "pio.conf:2: no pattern 'Spiral (read)'"},
             {begin + "ModuleName own", "pio.conf:2: no pattern 'own'"},
             {begin + "ModuleName \"Tiled (append)\"", "pio.conf:2: no access 'append'"},
             {begin + "ModuleName \"Tiled (read\"", "pio.conf:2: 'Tiled (read' has no ')'"},
             {begin + "ModuleName \"Tiled", "pio.conf:2: a quote is not closed"},
             {begin + "ModuleName", "pio.conf:2: ModuleName has no value"},
             // Of two damaged lines the second would hide the first.
             {begin + "ModuleName Tiled\nModuleName Segmented\n",
              "pio.conf:3: a second ModuleName in one <ap_module>"},
             // Of two faults in two modules the first is named.
             {begin + "ModuleName Tild\n</ap_module>\n" + begin + "ModuleName own\n</ap_module>\n",
              "pio.conf:2: no pattern 'Tild'"},
             // Two damaged lines in between join two modules.
             {begin + "ModuleName Tiled\n#</ap_module>\n#" + begin + end,
              "pio.conf:5: a second ModuleName in one <ap_module>"},
             {begin + "ModuleName \"Tiled (read)x\"", "'Tiled (read)x' has text after the ')'"},
             {begin + "ModuleName \"Til/ed\"", "pio.conf:2: no pattern 'Til/ed'"},
             {begin + "ModuleName Simple Strided", "pio.conf:2: ModuleName has more than one"},
             {begin + "ModuleReps 0\n", "pio.conf:2: ModuleReps is a number"},
             {begin + "ModuleReps 2\n" + end + begin + "ModuleReps 3\n",
              "pio.conf:6: ModuleReps 3 after 2"},
             {begin + "ModuleSettleTime -1\n", "pio.conf:2: "},
             {begin + "BufferSize 4KiBx\n", "pio.conf:2: "},
             {begin + "BufferSize 16B 0B\n", "pio.conf:2: 0B is not a size of data"},
             {begin + "BufferSize 2GiB\n", "pio.conf:2: a buffer of 2GiB is more than 1GiB"},
             {begin + "BufferSize 48B\n" + end, "pio.conf:4: a buffer of 48 B: the share"},
             {"Testfile /tmp/x\n", "pio.conf:1: Testfile: --dir"},
             {"Speed 11\n", "pio.conf:1: no directive Speed; known are"}}) {
        Parameters p = parameters();
        const Status read = read_config(p, text);
        ASSERT_FALSE(read) << text;
        EXPECT_EQ(read.error().exit_code, ExitCode::usage);
        EXPECT_NE(read.error().cause.find(said), std::string::npos) << read.error().cause;
    }
}

}  // namespace
}  // namespace effio::pio
