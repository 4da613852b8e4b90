// SPDX-License-Identifier: BSD-3-Clause
#include "storage/run_marks.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <random>
#include <string_view>

#include "storage/posix_calls.hpp"
#include "storage/removal.hpp"

namespace effio {
namespace {

constexpr std::size_t token_letters_in_name = 16;

std::string fresh_token() {
    std::random_device source;
    std::string token;
    for (int i = 0; i < 4; ++i) token += fmt::format("{:08x}", source());
    return token;
}

/// Directories of all that the run makes, each once.
std::vector<std::string> directories_of(const Json& manifest) {
    std::vector<std::string> all;
    const auto add = [&all](std::string directory) {
        if (std::find(all.begin(), all.end(), directory) == all.end()) {
            all.push_back(std::move(directory));
        }
    };
    for (const auto& set : manifest.at("files")) add(set.at("directory").get<std::string>());
    if (manifest.contains("trees")) {
        for (const auto& set : manifest.at("trees")) add(set.at("directory").get<std::string>());
    }
    return all;
}

bool write_mark(const std::string& path, std::string_view text) {
    // For the owner alone: whoever else could write it could claim files with it.
    constexpr unsigned private_mode = 0600;
    auto file = open_file(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, private_mode);
    if (!file) return false;
    while (!text.empty()) {
        const ssize_t moved = ::write(file->get(), text.data(), text.size());
        if (moved < 0 && errno == EINTR) continue;
        if (moved <= 0) {
            (void)::unlink(path.c_str());
            return false;
        }
        text.remove_prefix(static_cast<std::size_t>(moved));
    }
    return true;
}

}  // namespace

void RunMarks::make(Json& manifest) {
    const auto directories = directories_of(manifest);
    if (!manifest.at("real").get<bool>() || directories.empty()) return;
    Json places = Json::array();
    for (const auto& directory : directories) {
        struct stat info{};
        if (session_.comm.is_root() && stat(directory.c_str(), &info) == 0) {
            places.push_back(Json{{"directory", directory}, {"inode", info.st_ino}});
        }
    }
    manifest["places"] = std::move(places);
    if (manifest.at("keep").get<bool>()) return;
    std::string token = manifest.value("token", session_.comm.is_root() ? fresh_token() : "");
    session_.comm.broadcast(token);
    manifest["token"] = token;
    for (const auto& directory : directories) {
        paths_.push_back(
            fmt::format("{}/.effio-run-{}", directory, token.substr(0, token_letters_in_name)));
    }
    at_abrupt_end_ = std::make_unique<const AtAbruptEnd>(session_, [this] { remove(); });
    if (session_.comm.is_root()) {
        const std::string text = json_line(manifest) + "\n";
        for (const auto& path : paths_) (void)write_mark(path, text);
    }
    int made = 1;
    session_.comm.broadcast(made);  // no file of any rank is older than the mark
}

void RunMarks::remove() const {
    if (keep_) return;
    for (const auto& path : paths_) {
        if (!hides_(parent_of(path))) (void)remove_file(path);
    }
}

}  // namespace effio
