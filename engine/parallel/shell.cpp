// SPDX-License-Identifier: BSD-3-Clause
#include "parallel/shell.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <future>

namespace effio {
namespace {

constexpr const char* shell = "/bin/sh";

Error failure(const std::string& command, const std::string& how) {
    return io_error("run the command", {}, fmt::format("'{}' {}", command, how));
}

/// This process' environment with `variables` in place of what they were.
std::vector<std::string> environment_with(const ShellVariables& variables) {
    std::vector<std::string> all;
    for (const auto& [name, value] : variables) all.push_back(fmt::format("{}={}", name, value));
    for (char** entry = environ; *entry != nullptr; ++entry) {
        const std::string_view old(*entry);
        const bool replaced = std::any_of(
            variables.begin(), variables.end(),
            [&](const auto& variable) { return old.substr(0, old.find('=')) == variable.name; });
        if (!replaced) all.emplace_back(old);
    }
    return all;
}

std::vector<char*> pointers_to(std::vector<std::string>& words) {
    std::vector<char*> pointers;
    for (auto& word : words) pointers.push_back(word.data());
    pointers.push_back(nullptr);
    return pointers;
}

/// How the shell is started: no input, a separate process group, and none of the signals blocked
/// or ignored that are so here.
class Manner {
  public:
    Manner() {
        posix_spawn_file_actions_init(&files);
        posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
        posix_spawnattr_init(&attributes);
        sigset_t set;
        sigemptyset(&set);
        posix_spawnattr_setsigmask(&attributes, &set);
        sigfillset(&set);
        sigdelset(&set, SIGKILL);
        sigdelset(&set, SIGSTOP);
        posix_spawnattr_setsigdefault(&attributes, &set);
        posix_spawnattr_setflags(
            &attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETPGROUP);
        posix_spawnattr_setpgroup(&attributes, 0);
    }
    Manner(const Manner&) = delete;
    Manner& operator=(const Manner&) = delete;
    ~Manner() {
        posix_spawn_file_actions_destroy(&files);
        posix_spawnattr_destroy(&attributes);
    }

    posix_spawn_file_actions_t files{};
    posix_spawnattr_t attributes{};
};

/// Returns when the process has ended, and leaves its status to be fetched.
void wait_for(pid_t process) {
    siginfo_t info;
    while (waitid(P_PID, static_cast<id_t>(process), &info, WEXITED | WNOWAIT) < 0 &&
           errno == EINTR) {
    }
}

}  // namespace

Status run_in_shell(Session& session, const std::string& command, const ShellVariables& variables) {
    auto environment = environment_with(variables);
    std::vector<std::string> words{shell, "-c", command};
    const Manner manner;
    pid_t process = 0;
    // Not fork: that of a process with registered memory is trouble with some networks.
    const int code = posix_spawn(&process, shell, &manner.files, &manner.attributes,
                                 pointers_to(words).data(), pointers_to(environment).data());
    if (code != 0) {
        return failure(command, fmt::format("was not started: {}", std::strerror(code)));
    }
    const AtAbruptEnd end_with_job(session, [process] { kill(-process, SIGKILL); });
    // Another thread waits, so that this one sees a request to stop and still learns of the end at
    // once.
    auto end = std::async(std::launch::async, wait_for, process);
    bool terminated = false;
    while (end.wait_for(std::chrono::milliseconds(50)) != std::future_status::ready) {
        session.progress.beat();  // it takes as long as the user wants
        if (terminated || !session.interrupted.load()) continue;
        kill(-process, SIGTERM);
        terminated = true;
    }
    int status = 0;
    const pid_t ended = waitpid(process, &status, 0);
    if (terminated || session.interrupted.load()) return {};
    if (ended != process) {
        return failure(command, fmt::format("has an unknown end: {}", std::strerror(errno)));
    }
    if (WIFSIGNALED(status)) {
        const int signal = WTERMSIG(status);
        return failure(command,
                       fmt::format("was killed by signal {} ({})", signal, strsignal(signal)));
    }
    if (WEXITSTATUS(status) != 0) {
        return failure(command, fmt::format("ended with exit code {}", WEXITSTATUS(status)));
    }
    return {};
}

}  // namespace effio
