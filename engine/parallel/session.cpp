// SPDX-License-Identifier: BSD-3-Clause
#include "parallel/session.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <utility>

namespace effio {

void Console::print(const std::string& text) {
    if (!enabled_) return;
    const std::lock_guard lock(mutex_);
    if (status_shown_) {
        std::fputs("\r\033[K", stderr);
        std::fflush(stderr);
        status_shown_ = false;
    }
    std::fputs(text.c_str(), stdout);
    std::fflush(stdout);
}

void Console::status(const std::string& text) {
    const std::lock_guard lock(mutex_);
    if (status_line_) {
        std::fputs(("\r\033[K" + text).c_str(), stderr);
        status_shown_ = true;
    } else {
        std::fputs((text + "\n").c_str(), stderr);
    }
    std::fflush(stderr);
}

AtAbruptEnd::AtAbruptEnd(Session& session, std::function<void()> act) : session_(session) {
    const std::lock_guard lock(session_.ending_);
    session_.clean_up_.push_back(std::move(act));
}

AtAbruptEnd::~AtAbruptEnd() {
    const std::lock_guard lock(session_.ending_);
    session_.clean_up_.pop_back();
}

void end_job(Session& session, const End& end) {
    // Two threads of a rank may find the same trouble; the first one speaks.
    const std::lock_guard lock(session.ending_);
    const Neighbors* others = session.neighbors;
    const std::string speaker = session.speaker();
    if (const auto code = session.finished.load()) {
        fmt::print(stderr, "effio: {}{}; the run was complete, and so is its result\n", speaker,
                   end.reason);
        leave(others == nullptr ? *code : others->wait_for_all(session.progress, *code));
    }
    std::string message = fmt::format("effio: {}{}: {}\n", speaker, name(end.status), end.reason);
    for (const auto& error : end.errors) {
        message += fmt::format("effio: {}{}\n", speaker, error.text());
    }
    std::fputs(message.c_str(), stderr);
    session.results.end_from_any_rank(end);
    if (others != nullptr) {
        others->call_off(end.status, end.reason);
        others->wait_for_others(session.progress);
    }
    // Removing files on broken storage may itself hang: leave then by SIGALRM.
    std::signal(SIGALRM, SIG_DFL);
    alarm(5);
    for (auto act = session.clean_up_.rbegin(); act != session.clean_up_.rend(); ++act) (*act)();
    alarm(0);
    if (others == nullptr) leave(end.status);
    others->end(end.status, end.reason);
    leave(others->wait_for_all(session.progress, end.status));
}

void leave(ExitCode code) {
    std::fflush(stdout);
    _exit(static_cast<int>(code));  // the only one
}

}  // namespace effio
