// SPDX-License-Identifier: BSD-3-Clause
// The sentinel while the job runs. How it ends jobs: endings.cpp.
#include "parallel/sentinel.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <chrono>

#include "test_session.hpp"

namespace effio {
namespace {

using std::chrono::milliseconds;

/// Waits until `condition` holds; false after ten seconds.
template <class Condition>
bool eventually(Condition&& condition) {
    for (int i = 0; i < 1000; ++i) {
        if (condition()) return true;
        std::this_thread::sleep_for(milliseconds(10));
    }
    return false;
}

TEST(Sentinel, each_signal_asks_the_run_to_stop) {
    TestSession s;
    for (const int signal : {SIGUSR1, SIGTERM, SIGINT}) {
        s.stop = false;
        const Sentinel sentinel(s.session, s.stop, {});
        kill(getpid(), signal);
        EXPECT_TRUE(eventually([&] { return s.stop.load(); })) << signal;
    }
}

TEST(Sentinel, progress_is_shown_about_once_a_second) {
    TestSession s;
    s.progress.begin({"write scatter", "", 0, 0, 0, 0, 1});
    std::atomic<int> shown{0};
    std::string title;  // read after the sentinel is gone
    {
        Sentinel::Settings settings;
        settings.show = [&](const Progress::Snapshot& now) {
            title = now.step.title;
            ++shown;
        };
        const Sentinel sentinel(s.session, s.stop, settings);
        EXPECT_TRUE(eventually([&] { return shown.load() > 0; }));
    }
    EXPECT_EQ(title, "write scatter");
}

TEST(Sentinel, silence_is_allowed_where_the_step_says_so_or_nothing_watches) {
    TestSession s;
    Sentinel::Settings settings;
    settings.hang_limit_seconds = 0.01;
    s.progress.begin({"flush", "", 0, 1e6, 0, 0, 1});
    {
        const Sentinel sentinel(s.session, s.stop, settings);
        std::this_thread::sleep_for(milliseconds(400));
    }
    settings.hang_limit_seconds = 0;
    s.progress.begin({"flush", "", 0, 0, 0, 0, 1});
    const Sentinel sentinel(s.session, s.stop, settings);
    std::this_thread::sleep_for(milliseconds(400));
    EXPECT_FALSE(s.stop);
}

TEST(Sentinel, its_end_does_not_wait_for_the_next_look) {
    TestSession s;
    std::atomic<int> looks{0};
    Sentinel::Settings settings;
    settings.look = [&] { ++looks; };
    int before_the_end = 0;
    for (int i = 0; i < 10; ++i) {
        const Sentinel sentinel(s.session, s.stop, settings);
        const int first = looks;
        EXPECT_TRUE(eventually([&] { return looks > first; }));
        before_the_end += looks - first;
    }
    // A busy machine may let a tenth of a second pass between the count and the end, but not
    // always.
    EXPECT_LT(looks - before_the_end, 5);
    EXPECT_FALSE(s.stop);
}

}  // namespace
}  // namespace effio
