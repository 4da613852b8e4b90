// SPDX-License-Identifier: BSD-3-Clause
#include "storage/target.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <ctime>
#include <filesystem>
#include <limits>
#include <random>

#include "core/fields.hpp"
#include "parallel/system.hpp"
#include "storage/late_views.hpp"
#include "storage/posix_calls.hpp"
#include "storage/removal.hpp"
#include "storage/shared_directory.hpp"

namespace effio {
namespace {

/// Calls `visit(set, i)` for the files that fall to `rank` of `ranks`: every rank takes every
/// ranks-th file of a set, so that a set of one file a rank costs each rank one call.
template <class Visit>
void for_share(std::span<const FileSet> files, int rank, int ranks, Visit&& visit) {
    for (const auto& set : files) {
        for (int i = rank; i < set.count; i += ranks) visit(set, i);
    }
}

Status check_directory(const std::string& directory, int access_mode) {
    struct stat info{};
    if (stat(directory.c_str(), &info) != 0) {
        return system_error("cannot use the directory", directory, errno);
    }
    if (!S_ISDIR(info.st_mode)) return system_error("cannot use the directory", directory, ENOTDIR);
    if (access(directory.c_str(), access_mode) != 0) {
        return system_error(
            access_mode == X_OK ? "read in the directory" : "write in the directory", directory,
            errno);
    }
    return {};
}

/// Distinguishes the trees of this run from those of all others.
std::string new_token() {
    std::random_device source;
    std::string token;
    for (int i = 0; i < 4; ++i) token += fmt::format("{:08x}", source());
    return token;
}

bool exists(const std::string& path) {
    struct stat info{};
    return lstat(path.c_str(), &info) == 0;
}

/// Whether a name is seen here only because this node's view is late: an earlier run has just
/// removed it on another node.
bool is_gone(Session& session, const std::string& path) {
    return look_until(session, [&path] { return !exists(path); });
}

/// Prints the error: in an end that is not orderly there is only stderr.
bool report(const Status& removed) {
    if (removed) return true;
    std::fputs(fmt::format("effio: {}\n", removed.error().text()).c_str(), stderr);
    return false;
}

/// Whether the set has a file of that name, relative to its directory. Known by the stem alone
/// where files are indexed.
bool may_hold(const FileSet& set, const std::string& name) {
    return set.indexed ? name.starts_with(set.stem) : name == set.name(0);
}

/// Removes what ROMIO keeps next to a file for its shared pointer (".NAME.shfp.…") and leaves there
/// if the file is never closed. Only of names of the sets, and only such as are not older than
/// `since`.
void remove_side_files(const std::string& directory, std::span<const FileSet> files,
                       std::time_t since) {
    std::error_code failed;
    for (std::filesystem::directory_iterator at(directory, failed), end; !failed && at != end;
         at.increment(failed)) {
        const std::string side = at->path().filename();
        const auto mark = side.find(".shfp.");
        if (!side.starts_with('.') || mark == std::string::npos) continue;
        const std::string name = side.substr(1, mark - 1);
        struct stat info{};
        if (lstat(at->path().c_str(), &info) != 0 || info.st_mtime < since) continue;
        if (std::any_of(files.begin(), files.end(),
                        [&](const FileSet& set) { return may_hold(set, name); })) {
            (void)remove_file(at->path());
        }
    }
}

Error refuse(const std::string& path, std::string why) {
    Error error = io_error("create", path, std::move(why));
    error.exit_code = ExitCode::usage;
    return error;
}

}  // namespace

const Fields<ByteCap>& cap_fields() {
    static const Fields<ByteCap> fields{
        {"bytes", Unit::bytes, "that may be on storage at a time", &ByteCap::bytes},
        {"why", Unit::word, "source of this limit", &ByteCap::why}};
    return fields;
}

ByteCap find_cap(const FileSystem& fs, std::optional<std::int64_t> available_memory,
                 std::optional<Bytes> given) {
    if (given) return {given->count, "given by --max-bytes"};
    ByteCap cap{
        fs.free_bytes / 5 * 4,
        fmt::format("80 % of the {} free on {}", format_size(static_cast<double>(fs.free_bytes)),
                    fs.mount_point.empty() ? fs.path : fs.mount_point)};
    if (fs.quota_free_bytes && *fs.quota_free_bytes < cap.bytes) {
        cap = {*fs.quota_free_bytes, "what is left of the quota"};
    }
    if (fs.memory_backed && !available_memory) {
        cap.why += fmt::format(
            "; {} lives in memory, and how much memory is available cannot be read", fs.type);
    } else if (fs.memory_backed && *available_memory / 2 < cap.bytes) {
        cap = {*available_memory / 2,
               fmt::format("half of the {} memory available, because {} lives in memory",
                           format_size(static_cast<double>(*available_memory)), fs.type)};
    }
    return cap;
}

const std::string& Target::directory_of(const FileSet& set) const {
    return set.directory.empty() ? request_.directory : set.directory;
}

std::string Target::own_directory(const FileSet& set, int i) const {
    return joined(directory_of(set), std::to_string(set.first + i * set.step));
}

std::string Target::path(const std::string& name) const {
    return joined(request_.directory, name);
}

std::string Target::path(const FileSet& set, int i) const {
    return joined(directory_of(set), set.name(i));
}

Status Target::check_directories() {
    const auto all = directories();
    for (std::size_t i = 0; i < all.size(); ++i) {
        const int mode = request_.only_read ? X_OK : W_OK | X_OK;
        if (auto usable = check_directory(all[i], mode); !usable) return usable;
        auto fs = find_file_system(all[i]);
        if (!fs) return fs.error();
        if (fs->total_bytes > 0 && (fs->free_bytes == 0 || fs->quota_free_bytes == 0)) {
            full_ = all[i];
        }
        // What the run makes is dealt out over the directories; the fullest of them sets the limit.
        ByteCap cap = find_cap(*fs, find_memory().available_bytes, request_.max_bytes);
        if (!request_.max_bytes && cap_share_ < 1) {
            cap.bytes = static_cast<std::int64_t>(cap_share_ * static_cast<double>(cap.bytes));
            cap.why += ", of which this group has its share";
        }
        if (i == 0 || cap.bytes < cap_.bytes) cap_ = cap;
        if (i == 0) file_system_ = std::move(*fs);
    }
    return {};
}

Status Target::check_names(Session& session, Existing& existing, Existing& replaced) {
    Status found;
    for_share(request_.files, rank_, ranks_, [&](const FileSet& set, int i) {
        if (!found) return;
        if (set.own_directory && access(own_directory(set, i).c_str(), F_OK) == 0) {
            not_ours_.insert(own_directory(set, i));
        }
        const std::string file = path(set, i);
        struct stat info{};
        if (request_.only_read) {
            if (stat(file.c_str(), &info) != 0) found = system_error("open", file, errno);
        } else if (lstat(file.c_str(), &info) != 0) {
            return;
        } else if (request_.use_existing) {
            if (first_existing_.empty()) first_existing_ = file;
            not_ours_.insert(file);
            existing.add(info);
        } else if (!request_.overwrite) {
            if (is_gone(session, file)) return;
            found = refuse(file,
                           "exists already and was not made by this run; remove it, or give "
                           "--overwrite");
        } else if (!S_ISREG(info.st_mode)) {
            found = refuse(file, fmt::format("is {}: only regular files are replaced and removed",
                                             kind_of(info.st_mode)));
        } else {
            if (first_existing_.empty()) first_existing_ = file;
            replaced.add(info);
        }
    });
    return found;
}

Result<Target> Target::prepare(Session& session, bool real_files, Request request) {
    Target target;
    target.request_ = std::move(request);
    target.real_ = real_files;
    if (session.comm.is_root()) target.token_ = new_token();
    session.comm.broadcast(target.token_);
    target.host_ = session.host;
    target.prepared_ = std::time(nullptr) - 5;
    target.cap_share_ = session.cap_share;
    target.rank_ = session.comm.rank();
    target.ranks_ = session.comm.size();
    const auto& r = target.request_;
    if (!target.real_) {
        target.cap_ = {r.max_bytes ? r.max_bytes->count : std::numeric_limits<std::int64_t>::max(),
                       r.max_bytes ? "given by --max-bytes" : "no limit: not real storage"};
        return target;
    }
    Outcome mine;
    if (auto made = session.comm.is_root() ? target.make_missing_directories() : Status(); !made) {
        mine.fail(made.error());
    }
    if (auto agreed = agree(session, session.comm, mine); agreed.failed()) return *agreed.error;
    std::optional<bool> close_to_open;
    if (!r.only_read && !r.node_local) {
        auto same = check_shared(session, target.directories(), target.token_);
        if (!same) {
            target.remove_made_directories();
            return same.error();
        }
        close_to_open = *same;
    }
    Existing existing;
    Existing replaced;
    auto checked = target.check_directories();
    if (target.file_system_) target.file_system_->close_to_open = close_to_open;
    const bool late = checked && session.nodes > 1 && target.file_system_->type.starts_with("fuse");
    session.late_views = session.comm.max(late ? 1 : 0) > 0;
    if (checked) checked = target.check_trees(session);
    if (checked) checked = target.check_names(session, existing, replaced);
    if (!checked) mine.fail(session.signed_error(checked.error()));
    if (auto agreed = agree(session, session.comm, mine); agreed.failed()) return *agreed.error;
    std::array sums{existing.files, replaced.files, existing.bytes + replaced.bytes,
                    std::ssize(target.not_ours_), std::int64_t{target.full_.empty() ? 0 : 1}};
    session.comm.sum(std::span<std::int64_t>(sums));
    // --max-bytes does not make space. Existing files have theirs.
    if (sums[4] > 0 && sums[2] == 0 && !r.only_read && !r.adopt_trees) {
        if (!target.full_.empty()) {
            mine.fail(session.signed_error(
                io_error("cannot plan the run in", target.full_,
                         "the file system is full: 0 bytes are available; free some, or use "
                         "another directory")));
        }
        if (auto agreed = agree(session, session.comm, mine); agreed.failed()) {
            target.remove_made_directories();
            return *agreed.error;
        }
    }
    target.existing_ = sums[0];
    target.replaced_ = sums[1];
    target.all_ours_ = sums[3] == 0;
    // Free space moves while ranks look at it; all must plan with the same number. Existing files
    // are written within the space that they have.
    target.cap_.bytes = session.comm.min(target.cap_.bytes);
    if (!r.max_bytes) target.cap_.bytes += sums[2];
    return target;
}

Json Target::describe(const FileSet& set, const std::string& directory, bool keep) {
    return Json{{"name", set.pattern()},
                {"count", set.count},
                {"first", set.first},
                {"step", set.step},
                {"directory", absolute(set.directory.empty() ? directory : set.directory)},
                {"keep", keep}};
}

Json Target::manifest() const {
    Json files = Json::array();
    for (const auto& set : request_.files) {
        files.push_back(describe(set, request_.directory, !removes(set)));
    }
    // Whoever cleans up after a killed run cannot distinguish the user's files from ours.
    const bool keep = request_.keep || request_.only_read || existing_ > 0;
    Json manifest{{"directory", absolute(request_.directory)},
                  {"host", host_},
                  {"keep", keep},
                  {"existing", existing_},
                  {"real", real_},
                  {"files", std::move(files)}};
    if (!request_.trees.empty() && !request_.adopt_trees) {
        Json trees = Json::array();
        for (const auto& set : request_.trees) trees.push_back(set.to_json());
        manifest["trees"] = std::move(trees);
        manifest["token"] = token_;
    }
    return manifest;
}

std::vector<std::string> Target::directories() const {
    std::vector<std::string> all{request_.directory};
    const auto add = [&all](const std::string& directory) {
        if (std::find(all.begin(), all.end(), directory) == all.end()) all.push_back(directory);
    };
    for (const auto& directory : request_.more_directories) add(directory);
    for (const auto& set : request_.trees) add(set.directory);
    return all;
}

Status Target::make_missing_directories() {
    if (!request_.make_directories) return {};
    for (const auto& directory : directories()) {
        if (::mkdir(directory.c_str(), new_directory_mode) == 0) {
            made_.push_back(directory);
        } else if (errno != EEXIST) {
            return system_error("mkdir", directory, errno);
        }
    }
    return {};
}

Status Target::check_trees(Session& session) const {
    for (const auto& set : request_.trees) {
        for (std::int64_t i = rank_; i < set.count(); i += ranks_) {
            if (auto good = check_tree(session, set, set.path(i)); !good) return good;
        }
    }
    return {};
}

Status Target::check_tree(Session& session, const TreeSet& set, const std::string& path) const {
    if (request_.adopt_trees) {
        struct stat info{};
        if (lstat(path.c_str(), &info) == 0 && S_ISDIR(info.st_mode)) return {};
        Error error = exists(path) ? io_error("cannot use the tree", path, kind_of(info.st_mode))
                                   : system_error("cannot use the tree", path, ENOENT);
        error.exit_code = ExitCode::usage;
        error.cause += "; create the tree first";
        return error;
    }
    if (!exists(path)) return {};
    if (!request_.overwrite && !request_.replace_trees) {
        if (is_gone(session, path)) return {};
        return refuse(path, owner_of_tree(path)
                                ? "exists already: an earlier run of effio was killed or is at "
                                  "work; remove it, or give --overwrite"
                                : "exists already; remove it, or give --overwrite");
    }
    auto names = set.names;
    if (!request_.overwrite) {
        // The earlier run may have made more of them.
        for (auto& one : names) {
            std::fill(one.counts.begin(), one.counts.end(),
                      std::numeric_limits<std::int64_t>::max());
        }
    }
    const auto left = unaccounted_in_tree(path, names);
    if (!left) return is_gone(session, path) ? Status() : left.error();
    if (left->nothing()) {
        if (!request_.overwrite) {
            fmt::print(stderr, "effio: warning: {} exists already; this run replaces it\n", path);
        }
        return remove_adopted_tree(path, names);
    }
    return refuse(path, "exists already and holds what this run would not make: " + left->text());
}

Status Target::make_tree(const std::string& path) const {
    if (!real_ || request_.adopt_trees) return {};
    return make_own_tree(path, token_);
}

Status Target::remove_tree(const std::string& path) const {
    if (!real_) return {};
    for (const auto& set : request_.trees) {
        for (std::int64_t i = 0; i < set.count(); ++i) {
            if (set.path(i) == path) return remove_tree(set, path);
        }
    }
    return {};
}

Status Target::remove_tree(const TreeSet& set, const std::string& path) const {
    return request_.adopt_trees ? remove_adopted_tree(path, set.names)
                                : remove_own_tree(path, token_, set.names);
}

Status Target::remove_trees(Session& session) const {
    if (!real_ || request_.adopt_trees) return {};
    Outcome mine;
    session.progress.call("remove trees");
    if (session.comm.is_root()) {
        for (const auto& set : request_.trees) {
            for (std::int64_t i = 0; i < set.count(); ++i) {
                auto done = request_.keep ? hand_over_tree(set.path(i), token_)
                                          : remove_tree(set, set.path(i));
                if (!done) mine.fail(done.error());
            }
        }
    }
    const auto agreed = agree(session, session.comm, mine);
    if (agreed.failed()) return *agreed.error;
    return {};
}

bool Target::removes(const FileSet& set) const {
    return !request_.keep && !request_.only_read && !set.keep;
}

Status Target::make_own_directories(Session& session) const {
    Outcome mine;
    for_share(request_.files, rank_, ranks_, [&](const FileSet& set, int i) {
        if (!set.own_directory || !real_ || request_.only_read || mine.error) return;
        const std::string directory = own_directory(set, i);
        if (::mkdir(directory.c_str(), new_directory_mode) != 0 && errno != EEXIST) {
            mine.fail(system_error("mkdir", directory, errno));
        }
    });
    const auto agreed = agree(session, session.comm, mine);
    if (agreed.failed()) return *agreed.error;
    return {};
}

Status Target::remove_files(Session& session, Storage& storage,
                            std::span<const FileSet> files) const {
    Outcome mine;
    session.progress.call("unlink");
    for_share(files, rank_, ranks_, [&](const FileSet& set, int i) {
        if (!removes(set) || not_ours_.contains(path(set, i))) return;
        if (auto done = storage.remove(path(set, i)); !done) mine.fail(done.error());
        session.progress.beat();
        if (!set.own_directory || !real_) return;
        const std::string directory = own_directory(set, i);
        if (not_ours_.contains(directory)) return;
        // Another file set may still have a file there; the last one takes the directory along.
        if (::rmdir(directory.c_str()) != 0 && errno != ENOENT && errno != ENOTEMPTY) {
            mine.fail(system_error("rmdir", directory, errno));
        }
    });
    if (session.comm.is_root() && real_ && !request_.keep) {
        // A close that failed leaves them too.
        for (const auto& directory : directories()) remove_side_files(directory, files, prepared_);
    }
    const auto agreed = agree(session, session.comm, mine);
    if (agreed.failed()) return *agreed.error;
    return {};
}

bool Target::remove_all_quietly() const {
    if (!real_) return true;
    bool gone = true;
    // Which of the other ranks' files existed before, only they know.
    const int rank = all_ours_ ? 0 : rank_;
    const int ranks = all_ours_ ? 1 : ranks_;
    for_share(request_.files, rank, ranks, [&](const FileSet& set, int i) {
        if (!removes(set) || not_ours_.contains(path(set, i))) return;
        gone = report(remove_file(path(set, i))) && gone;
        if (set.own_directory && !not_ours_.contains(own_directory(set, i))) {
            ::rmdir(own_directory(set, i).c_str());
        }
    });
    if (request_.keep || request_.adopt_trees) return gone;
    for (const auto& directory : directories()) {
        remove_side_files(directory, request_.files, prepared_);
    }
    for (const auto& set : request_.trees) {
        for (std::int64_t i = 0; i < set.count(); ++i) {
            gone = report(remove_own_tree(set.path(i), token_, set.names)) && gone;
        }
    }
    return gone;
}

void Target::remove_made_directories() const {
    for (const auto& directory : made_) ::rmdir(directory.c_str());
}

}  // namespace effio
