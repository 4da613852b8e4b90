// SPDX-License-Identifier: BSD-3-Clause
#include "parallel/sentinel.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <future>

#include "core/units.hpp"
#include "parallel/file_system.hpp"
#include "parallel/left_semaphore.hpp"

namespace effio {
namespace {

sigset_t stop_signals() {
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGINT);
    sigaddset(&set, SIGTERM);
    sigaddset(&set, SIGUSR1);
    return set;
}

/// The signal with which this process ends the sentinel's wait. From another process it asks the
/// run to stop.
constexpr int wake = SIGUSR1;

/// What the file system that holds `path` adds to a hang, as the end of a sentence; empty if
/// nothing. Libraries hang where they cannot write. It may hang as well, so a thread asks that
/// no rank waits longer for it than the others wait before they report themselves.
std::string state_of_file_system(const std::string& path) {
    if (path.empty()) return {};
    std::packaged_task<std::string()> ask([path]() -> std::string {
        constexpr std::int64_t little = 1 << 20;
        const auto fs = find_file_system(std::filesystem::path(path).parent_path());
        if (!fs) return {};
        if (fs->free_bytes < little) {
            return fmt::format("; only {} are left on its file system",
                               format_size(static_cast<double>(fs->free_bytes)));
        }
        const bool full = fs->total_inodes > 0 && fs->free_inodes == 0;
        return full ? "; no inodes are left on its file system" : "";
    });
    auto answer = ask.get_future();
    std::thread(std::move(ask)).detach();
    if (answer.wait_for(std::chrono::seconds(1)) == std::future_status::ready) return answer.get();
    return "; its file system does not answer either";
}

}  // namespace

void block_stop_signals() {
    const sigset_t set = stop_signals();
    pthread_sigmask(SIG_BLOCK, &set, nullptr);
}

Sentinel::Sentinel(Session& session, std::atomic<bool>& stop, Settings settings)
    : session_(session), stop_(stop), settings_(std::move(settings)) {
    // Before anything is measured: a group that never gave a sign of life is not looked for.
    if (heeds()) session_.neighbors->beat();
    thread_ = std::jthread([this](const std::stop_token& token) { watch(token); });
}

Sentinel::~Sentinel() {
    thread_.request_stop();
    pthread_kill(thread_.native_handle(), wake);
}

bool Sentinel::heeds() const {
    return session_.neighbors != nullptr && session_.comm.is_root();
}

void Sentinel::end_hung(const Progress::Snapshot& now, double silent_seconds) {
    std::string cause = fmt::format("no progress for {:.0f} s in '{}'{}", silent_seconds,
                                    now.step.title, state_of_file_system(now.step.path));
    cause += left_semaphore(now.step.path, silent_seconds);
    if (now.waits) cause += "; this rank waits for another rank";
    if (!session_.finished.load()) {
        cause += "; if the storage is merely slow, raise " + settings_.hang_limit_name;
    }
    Error error = io_error(now.call, now.step.path, std::move(cause));
    error.exit_code = ExitCode::hung;
    error = session_.signed_error(error);
    End end;
    end.status = ExitCode::hung;
    end.reason = error.text();
    end.errors = {error};
    end.detail["calls"] = distinct_calls({stuck_call(now, silent_seconds)});
    end_job(session_, end);
}

void Sentinel::report_call(const Progress::Snapshot& now, double silent_seconds) const {
    constexpr int most_lines = 64;    // more lines would not help
    constexpr int most_noted = 4096;  // ranks that append to one file
    if (session_.comm.rank() >= most_noted || session_.finished.load()) return;
    if (session_.comm.rank() < most_lines) {
        fmt::print(stderr, "effio: {}rank {} on {}: in {} for {:.0f} s{}\n", session_.speaker(),
                   session_.world_rank, session_.host, now.call, silent_seconds,
                   now.waits ? ", waiting for other ranks" : "");
    }
    if (session_.results.path().empty()) return;
    // The file system of the result may hang as well.
    std::thread(note_stuck_call, session_.results.path(), stuck_call(now, silent_seconds)).detach();
}

StuckCall Sentinel::stuck_call(const Progress::Snapshot& now, double silent_seconds) const {
    return {session_.world_rank, session_.host, now.call,
            now.step.title,      now.waits,     silent_seconds};
}

void Sentinel::watch_neighbors(double now) {
    // The group's own ranks find a hang within the limit and their patience; a rank that finds one
    // in another group lets that group report it. Slow storage stops no sign of life.
    constexpr double patience = 10;
    session_.neighbors->beat();
    if (settings_.hang_limit_seconds > 0) {
        session_.neighbors->find_frozen(settings_.hang_limit_seconds + patience);
    }
    if (!session_.neighbors->look()) return;
    if (called_off_ == 0) called_off_ = now;
    stop_.store(true);
    // A finished group has nothing to lose: its main thread leaves (World::leave).
    if (session_.finished.load() || now - called_off_ < session_.neighbors->grace_seconds()) {
        return;
    }
    End end;
    end.status = ExitCode::interrupted;
    end.reason = session_.neighbors->cause();
    end_job(session_, end);
}

void Sentinel::watch(const std::stop_token& token) {
    const sigset_t set = stop_signals();
    // Where several ranks hang, one speaks first. Those that wait for a rank speak last:
    // what hangs is known where it hangs.
    const double of_this_rank = settings_.speaks_first ? 0 : 2;
    constexpr double of_waiting = 4;
    // Before that, each rank reports its call.
    constexpr double of_reports = 0.3;
    std::uint64_t beats = 0;
    double last_sign = Clock::monotonic_seconds();
    double last_shown = last_sign;
    double last_heeded = last_sign;
    bool asked = false;
    bool reported = false;
    while (!token.stop_requested()) {
        constexpr timespec tick{0, 100'000'000};
        siginfo_t info{};
        const int signal = sigtimedwait(&set, &info, &tick);
        if (signal == wake && info.si_pid == ::getpid() && token.stop_requested()) return;
        if (signal > 0) {
            if (asked && signal == SIGINT) {
                End end;
                end.status = ExitCode::interrupted;
                end.reason = "stopped at once by a second signal; the cell in work is lost";
                end_job(session_, end);
            }
            asked = true;
            stop_.store(true);
        }
        const double now = Clock::monotonic_seconds();
        const auto state = session_.progress.snapshot();
        if (state.beats != beats) {
            beats = state.beats;
            last_sign = now;
            reported = false;
        }
        double limit = settings_.hang_limit_seconds;
        if (state.step.limit_seconds > 0) limit = std::min(limit, state.step.limit_seconds);
        limit += state.step.allowance_seconds;
        if (settings_.hang_limit_seconds > 0 && now - last_sign > limit && !reported) {
            report_call(state, now - last_sign);
            reported = true;
        }
        limit += of_reports + of_this_rank + (state.waits ? of_waiting : 0);
        if (settings_.hang_limit_seconds > 0 && now - last_sign > limit) {
            end_hung(state, now - last_sign);
        }
        if (settings_.look) settings_.look();
        if (heeds() && now - last_heeded >= 1.0) {
            last_heeded = now;
            watch_neighbors(now);
        }
        if (settings_.show && now - last_shown >= 1.0) {
            last_shown = now;
            settings_.show(state);
        }
    }
}

}  // namespace effio
