// SPDX-License-Identifier: BSD-3-Clause
#include "storage/shared_directory.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <chrono>
#include <optional>
#include <thread>

#include "core/clock.hpp"
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

Status check_one(Session& session, const Topology& topology, const std::string& directory,
                 const std::string& token) {
    const std::string path = joined(directory, ".effio-shared-" + token);
    session.progress.call("look for a file of another node");
    // Where none can be made, the check of the directory says why.
    const bool made =
        session.comm.is_root() && bool(open_file(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW));
    if (session.comm.max(made ? 1 : 0) == 0) return {};
    const bool without = topology.is_node_leader() && !sees(session, path);
    const int missing = session.comm.sum(without ? 1 : 0);
    if (made) unlink(path.c_str());
    if (missing == 0) return {};
    const std::string names = names_of(session, topology, without);
    std::string home = topology.node_name;
    session.comm.broadcast(home);
    return io_error(
        "plan the run", directory,
        fmt::format("the directory is not shared by all nodes: a file that rank 0 made there on {} "
                    "is not seen on {} of {} nodes ({}); use a directory of a shared file system, "
                    "or give --node-local if each node is to use its own",
                    home, missing, topology.nodes, names));
}

}  // namespace

Status check_shared(Session& session, std::span<const std::string> directories,
                    const std::string& token) {
    if (session.nodes == 1) return {};
    const Topology topology = find_topology(session.comm);
    for (const auto& directory : directories) {
        if (auto same = check_one(session, topology, directory, token); !same) return same;
    }
    return {};
}

}  // namespace effio
