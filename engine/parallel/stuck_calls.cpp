// SPDX-License-Identifier: BSD-3-Clause
#include "parallel/stuck_calls.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <utility>

#include "parallel/results.hpp"
#include "parallel/text_file.hpp"

namespace effio {
namespace {

/// More lines come from no run of this size; a damaged file is read no further.
constexpr std::size_t most_bytes = std::size_t{16} << 20;

std::string content_of(int descriptor) {
    std::string text;
    std::array<char, 65536> piece{};
    while (text.size() < most_bytes) {
        const ssize_t n =
            pread(descriptor, piece.data(), piece.size(), static_cast<off_t>(text.size()));
        if (n <= 0) break;
        text.append(piece.data(), static_cast<std::size_t>(n));
    }
    return text;
}

bool is_same_place(const StuckCall& a, const StuckCall& b) {
    return a.waits == b.waits && a.call == b.call && a.step == b.step;
}

}  // namespace

Json StuckCall::to_json() const {
    return Json{{"rank", rank}, {"host", host},   {"call", call},
                {"step", step}, {"waits", waits}, {"silent_seconds", silent_seconds}};
}

StuckCall StuckCall::from(const Json& line) {
    StuckCall call;
    call.rank = line.at("rank").get<int>();
    call.host = line.at("host").get<std::string>();
    call.call = line.at("call").get<std::string>();
    call.step = line.at("step").get<std::string>();
    call.waits = line.at("waits").get<bool>();
    call.silent_seconds = line.at("silent_seconds").get<double>();
    return call;
}

Json distinct_calls(std::vector<StuckCall> calls) {
    std::sort(calls.begin(), calls.end(), [](const StuckCall& a, const StuckCall& b) {
        return std::pair(a.waits, a.rank) < std::pair(b.waits, b.rank);
    });
    Json all = Json::array();
    while (!calls.empty()) {
        const StuckCall first = calls.front();
        std::vector<StuckCall> others;
        Json ranks = Json::array();
        std::vector<std::string> hosts;
        double longest = 0;
        for (auto& call : calls) {
            if (!is_same_place(call, first)) {
                others.push_back(std::move(call));
                continue;
            }
            ranks.push_back(call.rank);
            hosts.push_back(std::move(call.host));
            longest = std::max(longest, call.silent_seconds);
        }
        std::sort(hosts.begin(), hosts.end());
        hosts.erase(std::unique(hosts.begin(), hosts.end()), hosts.end());
        all.push_back(Json{{"call", first.call},
                           {"step", first.step},
                           {"waits", first.waits},
                           {"ranks", std::move(ranks)},
                           {"hosts", hosts},
                           {"silent_seconds", longest}});
        calls = std::move(others);
    }
    return all;
}

std::string calls_path(const std::string& result_path) {
    return result_path + ".calls";
}

void note_stuck_call(const std::string& result_path, const StuckCall& call) {
    // The rank that ends the run holds this lock while it writes the `end` line.
    const auto result = TextFile::extend("note a call", result_path);
    if (!result || !lock_for(result->descriptor(), 1) || has_end_line(result->descriptor())) return;
    auto file = TextFile::share("note a call", calls_path(result_path));
    if (!file) return;
    lseek(file->descriptor(), 0, SEEK_END);
    (void)file->write(json_line(call.to_json()) + "\n");
}

std::vector<StuckCall> take_stuck_calls(const std::string& result_path) {
    const std::string path = calls_path(result_path);
    std::vector<StuckCall> calls;
    {
        const auto file = TextFile::extend("read the noted calls", path);
        if (!file) return calls;
        const std::string text = content_of(file->descriptor());
        for (std::size_t begin = 0; begin < text.size();) {
            const std::size_t end = std::min(text.find('\n', begin), text.size());
            const Json line = parse_json(std::string_view(text).substr(begin, end - begin));
            begin = end + 1;
            try {
                calls.push_back(StuckCall::from(line));
            } catch (const Json::exception&) {
                continue;  // a line that is not complete
            }
        }
    }
    ::unlink(path.c_str());
    return calls;
}

}  // namespace effio
