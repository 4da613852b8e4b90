// SPDX-License-Identifier: BSD-3-Clause
// What hides, why no more does, and when to ask, against docs/definitions/overlap.md.
#include "benchmarks/overlap/definition.hpp"

#include <gtest/gtest.h>

#include "core/stats.hpp"

namespace effio::overlap {
namespace {

/// `io`, `work` and `both`; the computation is not slowed down.
Times times(double io, double work, double both) {
    Times t;
    t.io = io;
    t.work = t.alone = t.during = work;
    t.both = both;
    return t;
}

TEST(Overlap, share_that_hides_computed_manually) {
    EXPECT_DOUBLE_EQ(*times(2, 4, 4).hidden(), 1);       // all of it
    EXPECT_DOUBLE_EQ(*times(2, 4, 6).hidden(), 0);       // nothing
    EXPECT_DOUBLE_EQ(*times(2, 4, 4.5).hidden(), 0.75);  // half a second of two is left
    EXPECT_DOUBLE_EQ(*times(2, 4, 7).hidden(), -0.5);    // worse than one after the other
    EXPECT_DOUBLE_EQ(*times(2, 1, 2).hidden(), 0.5);     // as much as can
    EXPECT_DOUBLE_EQ(*times(2, 1, 2).possible(), 0.5);
    EXPECT_DOUBLE_EQ(*times(2, 4, 4).possible(), 1);
    EXPECT_FALSE(times(0, 4, 4).hidden());
    // What arithmetic leaves of equal times is nothing: 0.1 + 0.2 is above 0.3.
    EXPECT_EQ(*times(0.1, 0.2, 0.3).hidden(), 0);
    EXPECT_FALSE(times(0, 4, 4).possible());
}

TEST(Overlap, slow_down_computed_manually) {
    Times t = times(2, 4, 5);
    EXPECT_DOUBLE_EQ(*t.slow_down(), 1);
    t.during = 5;
    EXPECT_DOUBLE_EQ(*t.slow_down(), 1.25);
    t.alone = 0;
    EXPECT_FALSE(t.slow_down());
}

TEST(Overlap, mean_is_that_of_each_time) {
    Times a = times(1, 2, 3);
    a.post = 1;
    a.poll = 0.5;
    Times b = times(3, 4, 9);
    b.wait = 8;
    b.during = 6;
    const std::vector<Times> both{a, b};
    const Times mean = mean_of(both);
    EXPECT_DOUBLE_EQ(mean.io, 2);
    EXPECT_DOUBLE_EQ(mean.work, 3);
    EXPECT_DOUBLE_EQ(mean.both, 6);
    EXPECT_DOUBLE_EQ(mean.alone, 3);
    EXPECT_DOUBLE_EQ(mean.during, 4);
    EXPECT_DOUBLE_EQ(mean.post, 0.5);
    EXPECT_DOUBLE_EQ(mean.poll, 0.25);
    EXPECT_DOUBLE_EQ(mean.wait, 4);
    EXPECT_DOUBLE_EQ(mean_of({}).io, 0);
}

TEST(Overlap, limit_is_where_the_time_went) {
    EXPECT_FALSE(limit_of(times(0, 1, 1)));
    EXPECT_EQ(limit_of(times(10, 20, 21)), Limit::none);  // 0.9 hides
    Times t = times(10, 20, 30);
    t.post = 10;
    EXPECT_EQ(limit_of(t), Limit::post);
    t = times(10, 20, 30);
    t.wait = 10;
    EXPECT_EQ(limit_of(t), Limit::wait);
    t = times(10, 20, 30);
    t.poll = 7;
    t.wait = 3;
    EXPECT_EQ(limit_of(t), Limit::poll);
    t = times(10, 20, 26);
    t.during = 26;
    EXPECT_EQ(limit_of(t), Limit::work);
}

TEST(Overlap, limit_of_a_short_computation) {
    Times t = times(10, 4, 10);  // what is left has to be waited for
    t.wait = 6;
    EXPECT_EQ(limit_of(t), Limit::length);
    // Only 0.2 of the 0.4 that could: 6 of the wait's 8 s are not the method's fault.
    t = times(10, 4, 12);
    t.post = 1;
    t.wait = 8;
    EXPECT_EQ(limit_of(t), Limit::wait);
    t.post = 4;
    EXPECT_EQ(limit_of(t), Limit::post);
}

TEST(Overlap, computation_is_twice_as_long_or_as_asked) {
    EXPECT_DOUBLE_EQ(work_seconds({}, 0.25), 0.5);
    EXPECT_DOUBLE_EQ(work_seconds(0.01, 0.25), 0.01);
}

TEST(Overlap, polls_stand_evenly_between_the_pieces) {
    const Polls polls{10, 4};  // after 2, 4, 6 and 8 of 10 pieces
    const std::vector<std::int64_t> due{0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 4};
    for (std::size_t done = 0; done < due.size(); ++done) {
        EXPECT_EQ(polls.due(static_cast<std::int64_t>(done)), due[done]) << done;
    }
    const Polls none{10, 0};
    EXPECT_EQ(none.due(10), 0);
    const Polls most{1000001, 1000000};
    EXPECT_EQ(most.due(999999), 999999);
    EXPECT_EQ(most.due(1000001), 1000000);
}

PointTimes series(Method method, std::int64_t transfer, const Times& t) {
    PointTimes s;
    s.point = {method, WorkKind::compute, true, transfer};
    s.times = {t, t};
    return s;
}

TEST(Overlap, sentence_says_what_hides_and_why_not) {
    Times all = times(10, 20, 20);
    Times none = times(10, 20, 30);
    none.wait = 10;
    const PointTimes large = series(Method::nonblocking, 1 << 20, all);
    const PointTimes small = series(Method::nonblocking, 4096, none);
    const std::vector<const PointTimes*> both{&small, &large};
    EXPECT_EQ(
        sentence(both),
        "nonblocking write alongside compute work: 100 % of 1 MiB hides (the computation hides "
        "it), but 0 % of 4 KiB hides (the bytes are left for the wait: the transfer does not "
        "continue, or not as fast, while the rank computes)");
    none.wait = 0;
    none.post = 10;
    const PointTimes waits = series(Method::blocking, 4096, none);
    const std::vector<const PointTimes*> one{&waits};
    EXPECT_EQ(
        sentence(one),
        "blocking write alongside compute work: 0 % of 4 KiB hides (the call comes back when the "
        "bytes are moved)");
    const PointTimes longer = series(Method::blocking, 4096, times(10, 20, 30.4));
    EXPECT_EQ(sentence(std::vector<const PointTimes*>{&longer}).substr(0, 63),
              "blocking write alongside compute work: nothing of 4 KiB hides (");
    const PointTimes unmeasured = series(Method::blocking, 4096, times(0, 1, 1));
    const std::vector<const PointTimes*> nothing{&unmeasured};
    EXPECT_EQ(sentence(nothing), "");
    EXPECT_EQ(sentence({}), "");
}

TEST(Overlap, share_over_repetitions_is_that_of_the_means) {
    PointTimes s = series(Method::thread, 4096, times(1, 4, 4.5));  // half a second of one
    s.times.back() = times(3, 4, 4.5);                              // 2.5 of three seconds
    // Seconds that hide: 0.5 and 2.5, over the mean of 2.
    EXPECT_EQ(s.hidden(), (std::vector{0.25, 1.25}));
    EXPECT_DOUBLE_EQ(samples_of(s.hidden()).mean(), *s.mean().hidden());
    EXPECT_EQ(s.slow_downs(), (std::vector{1.0, 1.0}));
    EXPECT_FALSE(s.is_known());  // 12.7 * 0.5 on either side
    EXPECT_EQ(series(Method::thread, 4096, times(0.1, 0.2, 0.3)).hidden().front(), 0);
    EXPECT_TRUE(series(Method::thread, 4096, times(1, 4, 4.5)).is_known());
    EXPECT_FALSE(series(Method::thread, 4096, times(0, 4, 4.5)).is_known());
    EXPECT_TRUE(series(Method::thread, 4096, times(0, 4, 4.5)).hidden().empty());
}

TEST(Overlap, one_repetition_and_what_is_not_a_share_are_not_known) {
    PointTimes once =
        series(Method::thread, 4096, times(1, 4, 18.37));  // observed: -1337 % "hidden"
    once.times.pop_back();
    EXPECT_FALSE(once.is_known());
    EXPECT_TRUE(once.stated().empty());
    EXPECT_EQ(once.why_not_known(), "the share needs at least two repetitions");
    EXPECT_EQ(best_of({once}), nullptr);
    const std::vector<const PointTimes*> one{&once};
    EXPECT_EQ(sentence(one),
              "thread write alongside compute work: the share that hides needs at least two "
              "repetitions");
    const PointTimes below = series(Method::thread, 4096, times(1, 4, 18.37));
    EXPECT_EQ(below.why_not_known(), "the share is outside 0 to 1 by more than its interval");
    EXPECT_TRUE(below.stated().empty());
    EXPECT_EQ(best_of({below}), nullptr);
    // A deviation within the resolution of clocks is accepted.
    const PointTimes nothing = series(Method::blocking, 4096, times(1, 4, 5.04));
    EXPECT_TRUE(nothing.is_known());
    EXPECT_EQ(nothing.stated().size(), 2U);
}

TEST(Overlap, what_is_not_known_is_neither_the_best_nor_explained) {
    PointTimes unknown = series(Method::thread, 4096, times(1, 4, 3));
    unknown.times.back() = times(1, 4, 5);
    PointTimes known = series(Method::thread, 8192, times(1, 4, 4.5));
    known.times.back() = times(1, 4, 4.52);  // 0.49 ± 0.127
    ASSERT_TRUE(known.is_known());
    EXPECT_EQ(known.limit(), limit_of(known.mean()));
    EXPECT_FALSE(unknown.limit());
    const std::vector<PointTimes> all{unknown, known};
    EXPECT_EQ(best_of(all), &all[1]);
    EXPECT_EQ(best_of({unknown}), nullptr);
    EXPECT_EQ(best_of({}), nullptr);
    const std::vector<const PointTimes*> one{&unknown};
    EXPECT_EQ(
        sentence(one),
        "thread write alongside compute work: no share is known within ± 20 %; more repetitions, "
        "or a machine that is quiet, would show it");
    const std::vector<const PointTimes*> both{&unknown, &known};
    EXPECT_TRUE(
        sentence(both).starts_with("thread write alongside compute work: 49 % of 8 KiB hides ("));
}

}  // namespace
}  // namespace effio::overlap
