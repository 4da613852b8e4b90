// SPDX-License-Identifier: BSD-3-Clause
#include "parallel/shell.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>
#include <thread>

#include "parallel/sentinel.hpp"
#include "test_session.hpp"

namespace effio {
namespace {

struct Shell : testing::Test {
    TestSession test;
    std::string file = testing::TempDir() + "effio-shell-" + std::to_string(getpid());

    ~Shell() override { std::filesystem::remove(file); }
    Status run(const std::string& command, const ShellVariables& variables = {}) {
        return run_in_shell(test.session, command, variables);
    }
    std::string failure(const std::string& command) {
        const auto done = run(command);
        return done ? "" : done.error().text();
    }
    std::string written() const {
        std::ifstream in(file);
        return {std::istreambuf_iterator<char>(in), {}};
    }
};

TEST_F(Shell, a_command_is_the_shells_and_is_waited_for) {
    ASSERT_TRUE(run("sleep 0.1 && { echo 'a  b'; echo c; } > " + file));
    EXPECT_EQ(written(), "a  b\nc\n");
}

TEST_F(Shell, variables_are_added_to_the_environment_and_replace_it) {
    setenv("EFFIO_SHELL_TEST_KEPT", "kept", 1);
    setenv("EFFIO_SHELL_TEST", "old", 1);
    ASSERT_TRUE(
        run("(echo $EFFIO_SHELL_TEST_KEPT $EFFIO_SHELL_TEST; env | grep -c "
            "^EFFIO_SHELL_TEST=) > " +
                file,
            {{"EFFIO_SHELL_TEST", "new"}}));
    EXPECT_EQ(written(), "kept new\n1\n");
}

TEST_F(Shell, nothing_can_be_read_and_no_signal_is_held_back) {
    block_stop_signals();
    std::signal(SIGPIPE, SIG_IGN);
    ASSERT_TRUE(run("cat > " + file + "; grep -E '^Sig(Blk|Ign)' /proc/self/status >> " + file));
    std::istringstream lines(written());
    std::string word;
    unsigned long long set = 0;
    int sets = 0;
    // Those from 32 on are the C library's own.
    for (; lines >> word >> std::hex >> set; ++sets) EXPECT_EQ(set & 0x7fffffffU, 0U) << word;
    EXPECT_EQ(sets, 2);
}

TEST_F(Shell, an_end_that_is_not_good_is_reported_with_the_command) {
    EXPECT_EQ(failure("exit 7"), "run the command: 'exit 7' ended with exit code 7");
    EXPECT_EQ(failure("kill -KILL $$"),
              "run the command: 'kill -KILL $$' was killed by signal 9 (Killed)");
    // The shell's own code for what it does not find.
    EXPECT_EQ(failure("/nowhere/nothing 2> /dev/null"),
              "run the command: '/nowhere/nothing 2> /dev/null' ended with exit code 127");
}

TEST_F(Shell, a_command_that_cannot_be_started_is_reported) {
    // More than the kernel takes as one word (128 KiB).
    const std::string command = ": " + std::string(200'000, 'x');
    EXPECT_NE(failure(command).find("was not started: Argument list too long"), std::string::npos);
}

TEST_F(Shell, a_request_to_stop_ends_the_command) {
    std::jthread stopper([&] {
        std::this_thread::sleep_for(std::chrono::milliseconds(200));
        test.stop = true;
    });
    const double begin = test.clock.now();
    EXPECT_TRUE(run("sleep 30; echo late > " + file));
    EXPECT_LT(test.clock.now() - begin, 20);
    EXPECT_FALSE(std::filesystem::exists(file));
}

}  // namespace
}  // namespace effio
