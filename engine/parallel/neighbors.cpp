// SPDX-License-Identifier: BSD-3-Clause
#include "parallel/neighbors.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <fstream>
#include <thread>

#include "core/clock.hpp"
#include "parallel/text_file.hpp"

namespace effio {

void Neighbors::write(const Json& line) const {
    auto file = TextFile::extend("write", path_);
    if (!file) return;  // not visible on this node: the message is on stderr
    // Without the lock, network file systems may append at an outdated end of the file.
    flock(file->descriptor(), LOCK_EX);
    const auto written = file->write(json_line(line) + "\n");
    if (!written) fmt::print(stderr, "effio: {}\n", written.error().text());
}

void Neighbors::send(const char* event, ExitCode status, const std::string& reason) const {
    write(Json{{"event", event},
               {"group", number()},
               {"status", effio::name(status)},
               {"exit_code", static_cast<int>(status)},
               {"reason", reason}});
}

std::vector<Neighbors::Report> Neighbors::reports() const {
    std::vector<Report> all(names_.size());
    std::ifstream file(path_);
    for (std::string text; std::getline(file, text);) {
        const Json line = parse_json(text);
        if (!line.is_object()) continue;  // half of a line that is being written
        const std::string event = line.value("event", "");
        const std::size_t number = line.value("group", std::size_t{0});
        if (number < 1 || number > all.size()) continue;
        Report& group = all[number - 1];
        const auto status = static_cast<ExitCode>(line.value("exit_code", 0));
        if (event == "end") group.ended = status;
        if (event == "call_off" && !group.called_off) group.called_off = status;
        if (group.reason.empty()) group.reason = line.value("reason", "");
    }
    return all;
}

bool Neighbors::look() {
    if (called_off_.load()) return true;
    const auto all = reports();
    for (std::size_t i = 0; i < all.size(); ++i) {
        if (i != mine_ && all[i].called_off) called_off_.store(true);
    }
    return called_off_.load();
}

std::string Neighbors::cause() const {
    const auto all = reports();
    for (std::size_t i = 0; i < all.size(); ++i) {
        if (i == mine_ || !all[i].called_off) continue;
        return fmt::format("{} ended the job: {}", names_[i], all[i].reason);
    }
    return {};
}

// The file of the signs of life holds one number a group, each written by its root alone.
void Neighbors::beat() {
    const auto file = TextFile::share("write", path_ + ".alive");
    if (!file) return;
    ++beats_;
    // A sign that is not given does no harm: the next one follows.
    (void)!pwrite(file->descriptor(), &beats_, sizeof beats_,
                  static_cast<off_t>(mine_ * sizeof beats_));
}

void Neighbors::find_frozen(double limit) {
    std::vector<std::uint64_t> counts(names_.size());
    const std::size_t bytes = counts.size() * sizeof(std::uint64_t);
    const int fd = ::open((path_ + ".alive").c_str(), O_RDONLY | O_CLOEXEC);
    if (fd < 0) return;
    const bool whole = pread(fd, counts.data(), bytes, 0) > 0;
    ::close(fd);
    if (!whole) return;
    const double now = Clock::monotonic_seconds();
    seen_.resize(names_.size());
    for (std::size_t i = 0; i < counts.size(); ++i) {
        if (counts[i] != seen_[i].count) seen_[i] = {counts[i], now};
        if (i == mine_ || counts[i] == 0 || now - seen_[i].since < limit) continue;
        if (reports()[i].ended || called_off()) continue;
        write(Json{{"event", "call_off"},
                   {"group", i + 1},
                   {"status", effio::name(ExitCode::hung)},
                   {"exit_code", static_cast<int>(ExitCode::hung)},
                   {"by", number()},
                   {"reason", fmt::format("no sign of life for {:.0f} s: all its ranks are stopped",
                                          now - seen_[i].since)}});
        seen_[i].since = now;
    }
}

template <class True>
void Neighbors::wait_until(Progress& progress, True&& come) const {
    constexpr double removal_seconds = 8;  // end_job gives it 5
    const double deadline = Clock::monotonic_seconds() + grace_seconds_ + removal_seconds;
    // No one waits for what cannot be seen from this node.
    while (access(path_.c_str(), R_OK) == 0 && !come() && Clock::monotonic_seconds() < deadline) {
        progress.beat();
        std::this_thread::sleep_for(std::chrono::milliseconds(100));
    }
}

void Neighbors::wait_for_others(Progress& progress) const {
    wait_until(progress, [this] {
        const auto all = reports();
        for (std::size_t i = 0; i < all.size(); ++i) {
            if (i != mine_ && !all[i].ended && !all[i].called_off) return false;
        }
        return true;
    });
}

ExitCode Neighbors::wait_for_all(Progress& progress, ExitCode mine) const {
    ExitCode worst = mine;
    wait_until(progress, [&] {
        bool all_ended = true;
        for (const auto& group : reports()) {
            all_ended = all_ended && group.ended.has_value();
            worst = worse(worst, group.ended.value_or(ExitCode::done));
            worst = worse(worst, group.called_off.value_or(ExitCode::done));
        }
        return all_ended;
    });
    return worst;
}

}  // namespace effio
