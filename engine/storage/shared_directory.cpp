// SPDX-License-Identifier: BSD-3-Clause
#include "storage/shared_directory.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <optional>
#include <span>
#include <thread>

#include "core/clock.hpp"
#include "parallel/file_system.hpp"
#include "parallel/system.hpp"
#include "parallel/topology.hpp"
#include "storage/file_set.hpp"
#include "storage/posix_calls.hpp"

namespace effio {
namespace {

constexpr double longest_wait = 5;
constexpr auto pause = std::chrono::milliseconds(50);
constexpr std::size_t most_named = 8;

bool sees(Session& session, const std::string& path) {
    const double start = Clock::monotonic_seconds();
    while (access(path.c_str(), F_OK) != 0) {
        if (Clock::monotonic_seconds() - start >= longest_wait) return false;
        std::this_thread::sleep_for(pause);
        session.progress.beat();
    }
    return true;
}

/// Collective: names of the nodes whose leader is `without` the file, the first of them, on all
/// ranks.
std::string names_of(Session& session, const Topology& topology, bool without) {
    const auto those = session.comm.split(without ? std::optional<int>(0) : std::nullopt);
    std::string names;
    if (those) {
        const auto all = those->gather(topology.node_name);
        for (std::size_t i = 0; i < all.size() && i < most_named; ++i) {
            names += (i == 0 ? "" : ", ") + all[i];
        }
        if (all.size() > most_named) names += ", ...";
    }
    const int none = session.comm.size();
    session.comm.broadcast(names, session.comm.min(names.empty() ? none : session.comm.rank()));
    return names;
}

/// Returns false without a write if the file system is full: on some of them it would block for a
/// minute.
bool overwrite(const std::string& path, const std::string& text) {
    const auto place = find_file_system(std::filesystem::path(path).parent_path().string());
    if (!place || (place->total_bytes > 0 && place->free_bytes == 0)) return false;
    const auto file = open_file(path, O_WRONLY | O_NOFOLLOW);
    return file && pwrite_all(file->get(), path, std::as_bytes(std::span(text)), 0);
}

/// Empty if it cannot be read.
std::optional<std::string> read_all(const std::string& path, std::size_t most) {
    auto file = open_file(path, O_RDONLY | O_NOFOLLOW);
    if (!file) return {};
    std::string text(most, '\0');
    const auto read = pread_all(file->get(), path, std::as_writable_bytes(std::span(text)), 0);
    if (!read) return {};
    text.resize(static_cast<std::size_t>(*read));
    return text;
}

/// Collective. The root overwrites the file and closes it; then one rank of each node opens and
/// reads it. Returns whether all of them read the new text; empty if writing or reading failed.
std::optional<bool> reads_alike(Session& session, const Topology& topology, const std::string& path,
                                const std::string& text) {
    const bool failed = session.comm.is_root() && !overwrite(path, text);
    if (session.comm.max(failed ? 1 : 0) > 0) return {};
    int unread = 0;
    int stale = 0;
    if (topology.is_node_leader()) {
        const auto found = read_all(path, text.size());
        unread = found ? 0 : 1;
        stale = found && *found != text ? 1 : 0;
    }
    const bool other = session.comm.sum(stale) > 0;
    const bool unknown = session.comm.sum(unread) > 0;
    if (other) return false;
    return unknown ? std::optional<bool>() : true;
}

/// Collective: whether the file has close-to-open consistency. It is written twice, because a node
/// may answer the second read from its cache.
std::optional<bool> is_close_to_open(Session& session, const Topology& topology,
                                     const std::string& path, const std::string& token) {
    const auto first = reads_alike(session, topology, path, token);
    if (first != true) return first;
    return reads_alike(session, topology, path, {token.rbegin(), token.rend()});
}

Result<std::optional<bool>> check_one(Session& session, const Topology& topology,
                                      const std::string& directory, const std::string& token) {
    const std::string path = joined(directory, ".effio-shared-" + token);
    session.progress.call("look for a file of another node");
    // Where none can be made, the check of the directory says why.
    const bool made =
        session.comm.is_root() && bool(open_file(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW));
    if (session.comm.max(made ? 1 : 0) == 0) return std::optional<bool>();
    const bool without = topology.is_node_leader() && !sees(session, path);
    const int missing = session.comm.sum(without ? 1 : 0);
    std::optional<bool> close_to_open;
    if (missing == 0) close_to_open = is_close_to_open(session, topology, path, token);
    if (made) unlink(path.c_str());
    if (missing == 0) return close_to_open;
    const std::string names = names_of(session, topology, without);
    std::string home = topology.node_name;
    session.comm.broadcast(home);
    return io_error(
        "cannot plan the run in", directory,
        fmt::format("the directory is not shared by all nodes: a file that rank 0 made there on {} "
                    "is not seen on {} of {} nodes ({}); use a directory of a shared file system, "
                    "or give --node-local if each node is to use its own",
                    home, missing, topology.nodes, names));
}

}  // namespace

Result<std::optional<bool>> check_shared(Session& session, std::span<const std::string> directories,
                                         const std::string& token) {
    if (session.nodes == 1) return std::optional<bool>();
    const Topology topology = find_topology(session.comm);
    bool known = true;
    for (const auto& directory : directories) {
        auto one = check_one(session, topology, directory, token);
        if (!one) return std::move(one.error());
        if (*one == false) return std::optional(false);
        known = known && *one;
    }
    return known ? std::optional(true) : std::optional<bool>();
}

}  // namespace effio
