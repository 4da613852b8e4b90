// SPDX-License-Identifier: BSD-3-Clause
// Sizes, hint sets and conclusions of the library comparison; numbers derived manually and from
// docs/definitions/libraries.md.
#include "benchmarks/libraries/definition.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "benchmarks/libraries/parameters.hpp"
#include "benchmarks/libraries/result.hpp"
#include "frame/study/groups.hpp"
#include "storage/record_layout.hpp"

namespace effio::libraries {
namespace {

const study::Arrays& arrays_of(const study::Cell& cell) {
    return std::get<study::Arrays>(cell.data);
}

TEST(Libraries, sizes_are_those_of_the_study) {
    EXPECT_EQ((Volume{96, 1, 1, 9}.bytes()), 63700992);
    EXPECT_EQ((Volume{200, 1, 1, 9}.bytes()), 576000000);
    // One file per process of Fortran records: nine of them.
    const Volume v{96, 1, 1, 9};
    EXPECT_EQ(9 * RecordLayout(v.cells() * 8).bytes(), 63701064);
    const ArraySchema s = schema_of({96, 4, 4, 9});
    EXPECT_EQ(s.shape(0), (std::vector<std::int64_t>{4, 96, 96, 96}));
    EXPECT_EQ(s.share(8, 2), (Slab{{2, 0, 0, 0}, {1, 96, 96, 96}}));
}

TEST(Libraries, strong_scaling_shares_out_the_same_cubes) {
    Parameters p;
    p.scaling = Scaling::strong;
    p.processes = {2, 3, 8};
    EXPECT_EQ(p.volume(10, 2, 8).bytes(), p.volume(10, 8, 8).bytes());
    const Volume v = p.volume(10, 3, 8);
    EXPECT_EQ(v.cubes, 8);
    EXPECT_EQ(v.first_cube(0), 0);
    EXPECT_EQ(v.first_cube(1), 2);
    EXPECT_EQ(v.first_cube(2), 5);
    EXPECT_EQ(v.first_cube(3), 8);
    EXPECT_EQ(schema_of(v).share_bytes(1), 3 * 1000 * 8 * 9);
    p.scaling = Scaling::weak;
    EXPECT_EQ(p.volume(10, 3, 8).cubes, 3);
}

TEST(Libraries, a_share_of_a_variable_is_a_piece_of_a_file_of_nothing_else) {
    // The definition: variable v of process r at byte (v P + r) 8 n^3.
    const Addresses of_third = addresses_of({10, 4, 4, 9}, 2);
    EXPECT_EQ(of_third.calls(), 9);
    EXPECT_EQ(of_third.piece(), 8000);
    EXPECT_EQ(of_third.place(0), 2 * 8000);
    EXPECT_EQ(of_third.place(8), (8 * 4 + 2) * 8000);
    // Eight cubes of three processes: 2, 3 and 3.
    EXPECT_EQ(addresses_of({10, 8, 3, 9}, 0).bytes(), 9 * 2 * 8000);
    EXPECT_EQ(addresses_of({10, 8, 3, 9}, 1).place(1), (8 + 2) * 8000);
    EXPECT_EQ(addresses_of({10, 8, 3, 9}, 2).end(), 9 * 8 * 8000);
}

TEST(Libraries, cells_of_a_place_are_all_methods_and_warm_up_is_small) {
    Parameters p;
    p.libraries = {"posix", "posix-fpp"};
    p.hint_sets = {"none", "independent"};
    p.edges = {8, 40};
    p.storage.keep = true;
    ASSERT_TRUE(p.check());
    const auto study = define(p, select(p, nullptr), 3);
    ASSERT_TRUE(study);
    // Two sizes, 1, 2 and 3 processes, two libraries with two sets, written and read.
    ASSERT_EQ(study->cells.size(), 2U * 3 * 4 * 2);
    EXPECT_EQ(study->compared, 4U);
    const study::Cell& first = study->cells[0];
    EXPECT_EQ(first.file, "libraries_posix_none");
    EXPECT_TRUE(first.collective);
    EXPECT_FALSE(study->cells[2].collective);
    EXPECT_EQ(study->cells[1].keeper(), first.keeper());
    EXPECT_NE(study->cells[2].keeper(), first.keeper());
    EXPECT_EQ(study->cells[8].file, first.file);
    EXPECT_NE(study->cells[8].keeper(), first.keeper());
    EXPECT_NE(arrays_of(study->cells[8]).set, arrays_of(first).set);
    EXPECT_EQ(arrays_of(study->cells.back()).schema.bytes(), 3 * 9 * 40 * 40 * 40 * 8);
    ASSERT_EQ(study->warm_up.size(), study->cells.size());
    EXPECT_EQ(arrays_of(study->warm_up.back()).schema.bytes(), 3 * 9 * 32 * 32 * 32 * 8);
    // What is kept of a method is one file, the largest at most.
    const auto largest = static_cast<double>(arrays_of(study->cells.back()).schema.bytes());
    EXPECT_EQ(study::on_storage(*study, p.storage).bytes, 4 * largest);
    StorageOptions removing = p.storage;
    removing.keep = false;
    EXPECT_EQ(study::on_storage(*study, removing).bytes, largest);
    p.processes = {4};
    EXPECT_FALSE(define(p, select(p, nullptr), 3));
}

TEST(Libraries, hint_sets_are_read_and_faulty_ones_refused) {
    const auto set =
        HintSet::parse("mine:cb_nodes=2,hdf5.alignment=1MiB,hdf5.fill=alloc,access=independent");
    ASSERT_TRUE(set);
    EXPECT_EQ(set->name, "mine");
    EXPECT_EQ(set->hints.get("cb_nodes"), "2");
    EXPECT_EQ(set->settings_of("hdf5"), "alignment=1MiB,fill=alloc");
    EXPECT_EQ(set->settings_of("pnetcdf"), "");
    EXPECT_EQ(set->access, ArrayAccess::independent);
    for (const char* bad : {"", "mine", ":a=b", "mine:a", "mine:=b", "mine:access=maybe",
                            "x/../../esc:a=b", ".hidden:a=b", "a b:a=b"}) {
        EXPECT_FALSE(HintSet::parse(bad)) << bad;
    }
    EXPECT_EQ(known_hint_sets()[1].hints.get("IBM_largeblock_io"), "true");
}

TEST(Libraries, sets_that_reach_nothing_of_a_library_are_left_out) {
    ArrayCapabilities own_files;
    own_files.hints = false;
    own_files.collective = false;
    const ArrayCapabilities shared;
    const auto set = [](const char* text) { return *HintSet::parse(text); };
    EXPECT_EQ(set("none:").idle_for("posix-fpp", own_files), "");
    EXPECT_NE(set("a:cb_nodes=2").idle_for("posix-fpp", own_files), "");
    EXPECT_EQ(set("a:cb_nodes=2").idle_for("mpiio", shared), "");
    EXPECT_NE(set("a:nc_var_align_size=1").idle_for("hdf5", shared), "");
    EXPECT_EQ(set("a:nc_var_align_size=1").idle_for("pnetcdf", shared), "");
    EXPECT_EQ(set("a:hdf5.alignment=1").idle_for("hdf5", shared), "");
    EXPECT_NE(set("a:hdf5.alignment=1").idle_for("mpiio", shared), "");
    EXPECT_NE(set("a:access=independent").idle_for("fortran-fpp", own_files), "");
}

/// The means of all measured points.
class Measured {
  public:
    void add(const std::string& library, const std::string& hints, std::int64_t processes,
             double seconds, std::int64_t repetition = 0, bool valid = true) {
        results_.push_back({library, hints, processes, seconds, repetition, valid});
    }

    Comparison all() {
        study_ = {};
        for (const auto& r : results_) {
            if (find(r) != nullptr) continue;
            study::Cell& cell = study_.cells.emplace_back();
            cell.axes = {study::word_axis("library", r.library), study::word_axis("hints", r.hints),
                         study::count_axis("edge", 96),
                         study::count_axis("processes", r.processes)};
            cell.passes = {study::write_pass()};
        }
        study::Means means(study_);
        for (const auto& r : results_) {
            study::PassResult result;
            result.cell = find(r);
            result.pass = study::write_pass();
            result.repetition = r.repetition;
            result.bytes = 1000;
            result.counted_seconds = r.seconds;
            // The flush takes as long again.
            result.seconds = {{"total", {0, 0, 2 * r.seconds}}, {"sync", {0, 0, r.seconds}}};
            result.valid = r.valid;
            means.add(result);
        }
        means_ = means.list();
        return Comparison(means_);
    }

  private:
    struct Point {
        std::string library;
        std::string hints;
        std::int64_t processes;
        double seconds;
        std::int64_t repetition;
        bool valid;
    };
    const study::Cell* find(const Point& r) const {
        for (const auto& cell : study_.cells) {
            if (cell.axes[0].text == r.library && cell.axes[1].text == r.hints &&
                cell.axes[3].value == r.processes) {
                return &cell;
            }
        }
        return nullptr;
    }
    std::vector<Point> results_;
    study::Definition study_;
    std::vector<study::Mean> means_;
};

TEST(Libraries, overhead_follows_from_the_rates_and_layers_from_the_times) {
    Measured measured;
    EXPECT_EQ(measured.all().base(), "");
    measured.add("posix-fpp", "none", 4, 1);
    EXPECT_EQ(measured.all().base(), "posix-fpp");
    measured.add("fortran-fpp", "none", 4, 2);
    measured.add("posix", "none", 4, 1);
    measured.add("mpiio", "none", 4, 3);
    measured.add("hdf5", "none", 4, 4);
    measured.add("hdf5", "none", 4, 6, 1);  // a second repetition: 5 s on average
    measured.add("hdf5", "largeblock", 4, 2.5);
    measured.add("hdf5", "none", 8, 4);
    measured.add("pnetcdf", "none", 4, 1, 0, false);
    const Comparison all = measured.all();
    const PointMean& hdf5 = *all.find({"hdf5", "none", 96, 4}, true);
    EXPECT_DOUBLE_EQ(hdf5.seconds(), 5);
    // 250 and 166.7 B/s against 500 B/s. The mean times, 5 s against 2 s, would say 1.5.
    EXPECT_DOUBLE_EQ(all.overhead(hdf5)->value, 500 / ((250 + 1000. / 6) / 2) - 1);
    // One baseline for all: the study's, which has no overhead, and no other in its place.
    EXPECT_EQ(all.base(), "fortran-fpp");
    EXPECT_FALSE(all.overhead(*all.find({"fortran-fpp", "none", 96, 4}, true)));
    EXPECT_DOUBLE_EQ(all.overhead(*all.find({"posix-fpp", "none", 96, 4}, true))->value, -0.5);
    EXPECT_FALSE(all.overhead(*all.find({"hdf5", "none", 96, 8}, true)));
    EXPECT_DOUBLE_EQ(all.layer(hdf5)->own.value, 2);
    EXPECT_EQ(all.layer(hdf5)->below, "mpiio");
    EXPECT_DOUBLE_EQ(all.layer(*all.find({"mpiio", "none", 96, 4}, true))->own.value, 2);
    EXPECT_DOUBLE_EQ(all.layer(*all.find({"posix", "none", 96, 4}, true))->own.value, 1);
    EXPECT_FALSE(all.layer(*all.find({"hdf5", "largeblock", 96, 4}, true)));
    // On eight processes nothing lies below.
    EXPECT_FALSE(all.layer(*all.find({"hdf5", "none", 96, 8}, true)));
    EXPECT_EQ(all.find({"pnetcdf", "none", 96, 4}, true), nullptr);
    // By the rate with the flush, here half of the other.
    EXPECT_EQ(all.fastest_write()->point.library, "posix-fpp");
    EXPECT_DOUBLE_EQ(all.fastest_write()->mean->synced_rates.mean(), 500);
    EXPECT_TRUE(all.fastest_write()->mean->flushed);
}

// 1000 bytes in 4, 5, 8 s and in 2, 2, 5 s: 250, 200, 125 and 500, 500, 200 B/s.
TEST(Libraries, an_overhead_has_a_value_without_each_repetition) {
    Measured measured;
    for (const auto& [repetition, own, base] : {std::tuple(0, 4., 2.), {1, 5., 2.}, {2, 8., 5.}}) {
        measured.add("hdf5", "none", 4, own, repetition);
        measured.add("posix-fpp", "none", 4, base, repetition);
        measured.add("mpiio", "none", 4, base, repetition);
    }
    const Comparison all = measured.all();
    const PointMean& hdf5 = *all.find({"hdf5", "none", 96, 4}, true);
    const auto over = all.overhead(hdf5);
    EXPECT_DOUBLE_EQ(over->value, 1200. / 575 - 1);
    ASSERT_EQ(over->without.size(), 3U);
    EXPECT_DOUBLE_EQ(over->without[0].value, 700. / 325 - 1);
    EXPECT_DOUBLE_EQ(over->without[1].value, 700. / 375 - 1);
    EXPECT_DOUBLE_EQ(over->without[2].value, 1000. / 450 - 1);
    EXPECT_EQ(over->without[2].rounds, 3);
    const auto own = all.layer(hdf5)->own;
    EXPECT_DOUBLE_EQ(own.value, 17. / 3 - 3);
    EXPECT_DOUBLE_EQ(own.without[2].value, 4.5 - 2);
}

// The slower one by its mean rate, which is shown, has the shorter mean time.
TEST(Libraries, an_overhead_does_not_contradict_the_rates_next_to_it) {
    Measured measured;
    for (const auto& [repetition, own, base] : {std::tuple(0, 1., 2.), {1, 4., 2.}}) {
        measured.add("hdf5", "none", 4, own, repetition);
        measured.add("posix-fpp", "none", 4, base, repetition);
    }
    const Comparison all = measured.all();
    const PointMean& hdf5 = *all.find({"hdf5", "none", 96, 4}, true);
    EXPECT_DOUBLE_EQ(hdf5.mean->rates.mean(), 625);  // of 1000 and 250; the other has 500
    EXPECT_DOUBLE_EQ(all.overhead(hdf5)->value, 500. / 625 - 1);
}

TEST(Libraries, the_fastest_write_is_one_whose_bytes_reached_storage_if_there_is_one) {
    study::Cell cells[2];
    std::vector<study::Mean> means(2);
    for (const std::size_t i : {0U, 1U}) {
        cells[i].axes = {study::word_axis("library", i == 0 ? "posix" : "hdf5"),
                         study::word_axis("hints", "none"), study::count_axis("edge", 96),
                         study::count_axis("processes", 4)};
        means[i].cell = &cells[i];
        means[i].pass = study::write_pass();
        for (Samples* rates : {&means[i].rates, &means[i].synced_rates}) {
            rates->add(i == 0 ? 900 : 100);
        }
    }
    EXPECT_EQ(Comparison(means).fastest_write()->point.library, "posix");
    CacheEvidence all_on_storage;
    all_on_storage.storage_fraction = 1;
    means[1].storage_share.add(all_on_storage, 1000);
    EXPECT_EQ(Comparison(means).fastest_write()->point.library, "hdf5");
    means[0].flushed = true;
    EXPECT_EQ(Comparison(means).fastest_write()->point.library, "posix");
}

TEST(Libraries, a_gain_compares_within_repetitions_and_has_an_interval) {
    Measured measured;
    const Point hinted{"hdf5", "largeblock", 96, 4};
    const auto gain_of = [&](const Point& point) {
        const Comparison all = measured.all();
        return all.hint_gain(*all.find(point, true));
    };
    measured.add("hdf5", "none", 4, 4, 0);
    measured.add("hdf5", "largeblock", 4, 2, 0);
    EXPECT_FALSE(gain_of(hinted));  // one has no interval
    for (const int repetition : {1, 2, 3, 4}) {
        measured.add("hdf5", "largeblock", 4, 1, repetition);
        if (repetition > 1) measured.add("hdf5", "none", 4, 4, repetition);
    }
    EXPECT_FALSE(gain_of(hinted));  // the second has nothing next to it, and four are too few
    // Twice as fast, then eight times, then four times: four times by the geometric mean.
    measured.add("hdf5", "none", 4, 8, 1);
    const auto gain = gain_of(hinted);
    ASSERT_TRUE(gain);
    EXPECT_EQ(gain->repetitions, 5);
    EXPECT_NEAR(gain->mean, 3, 1e-12);
    // Logarithms ln 4 + {-1, 1, 0, 0, 0} ln 2: deviation ln 2 / sqrt(2), t(4) = 2.776445.
    const double half = 2.776445 * std::log(2.0) / std::sqrt(10.0);
    EXPECT_NEAR(gain->low95, 4 * std::exp(-half) - 1, 1e-6);
    EXPECT_NEAR(gain->high95, 4 * std::exp(half) - 1, 1e-6);
    EXPECT_TRUE(gain->found());
    EXPECT_FALSE(gain_of({"hdf5", "none", 96, 4}));

    // On eight processes no gain: the mean over both numbers is the root of each ratio.
    for (const int repetition : {0, 1, 2, 3, 4}) {
        measured.add("hdf5", "none", 8, 4, repetition);
        measured.add("hdf5", "largeblock", 8, 4, repetition);
    }
    EXPECT_NEAR(measured.all().mean_hint_gain(hinted, true)->mean, 1, 1e-12);
    const auto none = gain_of({"hdf5", "largeblock", 96, 8});
    EXPECT_EQ(none->mean, 0);
    EXPECT_FALSE(none->found());
}

TEST(Libraries, a_steady_gain_is_found) {
    Measured measured;
    for (const int repetition : {0, 1, 2, 3, 4}) {
        measured.add("hdf5", "none", 4, 4 + 0.01 * repetition, repetition);
        measured.add("hdf5", "aligned", 4, 2, repetition);
    }
    const Comparison all = measured.all();
    const auto gain = all.hint_gain(*all.find({"hdf5", "aligned", 96, 4}, true));
    ASSERT_TRUE(gain);
    EXPECT_TRUE(gain->found());
    EXPECT_GT(gain->low95, 0.9);
}

TEST(Libraries, faulty_options_are_refused) {
    const auto refusal = [](auto&& change) {
        Parameters p;
        change(p);
        const auto checked = p.check();
        return checked ? std::string() : checked.error().text();
    };
    EXPECT_EQ(refusal([](auto&) {}), "");
    EXPECT_NE(refusal([](auto& p) { p.hint_sets = {"nonsense"}; }), "");
    EXPECT_NE(refusal([](auto& p) { p.own_sets = {"a:hdf5.alignment=-1"}; }), "");
    EXPECT_NE(refusal([](auto& p) { p.own_sets = {"a:hdf6.alignment=1"}; }), "");
    EXPECT_NE(refusal([](auto& p) { p.libraries = {"sim", "posix"}; }), "");
    EXPECT_NE(refusal([](auto& p) { p.libraries = {"null"}; }), "");
    EXPECT_NE(refusal([](auto& p) { p.prefix = "a/b"; }), "");
    EXPECT_NE(refusal([](auto& p) { p.own_sets = {"a:b=1", "a:b=2"}; }).find("two sets"),
              std::string::npos);
    EXPECT_NE(refusal([](auto& p) { p.own_sets = {"none:b=1"}; }).find("means no hints"),
              std::string::npos);
    EXPECT_NE(refusal([](auto& p) { p.hint_sets = {"none", "cb-on", "cb-on"}; }), "");
    EXPECT_NE(refusal([](auto& p) { p.libraries = {"posix", "posix"}; }), "");
    EXPECT_NE(refusal([](auto& p) { p.processes = {2, 1, 2}; }), "");
    EXPECT_NE(refusal([](auto& p) { p.backend_settings = "rank-rate=1"; }), "");
    Parameters p;
    p.own_sets = {"mine:cb_nodes=2+hdf5.alignment=4MiB"};
    ASSERT_TRUE(p.check());
    ASSERT_EQ(p.sets.size(), 3U);
    EXPECT_EQ(p.sets[2].settings_of("hdf5"), "alignment=4MiB");
}

}  // namespace
}  // namespace effio::libraries
