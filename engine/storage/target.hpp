// SPDX-License-Identifier: BSD-3-Clause
// The directories a run works in: what may be created there, how much, and what is removed again.
//
// Rules: a name of ours that exists already is refused unless the request says otherwise; nothing
// outside the directories is touched; only what the run may have created is removed, by name
// (storage/removal.hpp). Only regular files, and trees that hold nothing but such names, are
// replaced.
#pragma once

#include <cstdint>
#include <ctime>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "core/error.hpp"
#include "core/json.hpp"
#include "core/units.hpp"
#include "parallel/agree.hpp"
#include "parallel/file_system.hpp"
#include "parallel/session.hpp"
#include "storage/byte_file.hpp"
#include "storage/file_set.hpp"
#include "storage/own_tree.hpp"

namespace effio {

template <class T>
class Fields;

/// The most bytes that may be in the directory at a time.
struct ByteCap {
    std::int64_t bytes = 0;
    std::string why;  ///< "80 % of the free space of …"
};
const Fields<ByteCap>& cap_fields();

/// The smallest of 80 % of the free space, the quota, and half the available memory on a RAM-backed
/// file system; `given` replaces all of them.
ByteCap find_cap(const FileSystem& fs, std::optional<std::int64_t> available_memory,
                 std::optional<Bytes> given);

class Target {
  public:
    struct Request {
        std::string directory;
        std::vector<std::string> more_directories;
        std::vector<FileSet> files;
        std::vector<TreeSet> trees;
        /// The trees are those that an earlier run kept: they must be there.
        bool adopt_trees = false;
        /// Directories of the request that are missing are created (one level), and removed at the
        /// end if they are empty.
        bool make_directories = false;
        bool overwrite = false;  ///< existing regular files of our names are replaced and removed
        /// Trees of an earlier run are replaced with a warning, also without `overwrite`.
        bool replace_trees = false;
        bool use_existing = false;  ///< they are the user's: written into, never removed
        bool only_read = false;     ///< nothing is created or removed; all files must exist
        bool keep = false;
        std::optional<Bytes> max_bytes;
        /// Each node has its own directories under these names, on purpose.
        bool node_local = false;
    };

    /// Collective. Checks the directories, the names in them and the space; creates nothing but
    /// missing directories, and removes trees of earlier runs that are to be overwritten. On
    /// several nodes a file shows, for a moment, whether all see the same directories. Sets
    /// Session::late_views.
    static Result<Target> prepare(Session& session, Storage& storage, Request request) {
        return prepare(session, storage.capabilities().real_files, std::move(request));
    }
    static Result<Target> prepare(Session& session, bool real_files, Request request);

    /// The path of a file in the first directory.
    std::string path(const std::string& name) const;
    std::string path(const FileSet& set, int i) const;
    const ByteCap& cap() const { return cap_; }
    /// The file system of the first directory.
    const std::optional<FileSystem>& file_system() const { return file_system_; }
    /// How many files of ours existed before and are left alone (use_existing).
    std::int64_t existing() const { return existing_; }
    /// How many are replaced and removed (overwrite).
    std::int64_t replaced() const { return replaced_; }
    /// The first file of either kind among those that the root looks at; empty if there is none.
    const std::string& first_existing() const { return first_existing_; }
    /// Whether the cap was given, not found.
    bool cap_given() const { return request_.max_bytes.has_value(); }
    /// Directories and name patterns of all that may be created, for the result file.
    Json manifest() const;
    /// A file set's entry in it.
    static Json describe(const FileSet& set, const std::string& directory, bool keep);

    /// Collective: makes the directories of file sets that have one for each file.
    Status make_own_directories(Session& session) const;
    /// Collective: each rank removes its share of the files; nothing if they are to be kept.
    Status remove_files(Session& session, Storage& storage) const {
        return remove_files(session, storage, request_.files);
    }
    /// The same for some of the files, which must be of the request.
    Status remove_files(Session& session, Storage& storage, std::span<const FileSet> files) const;
    /// What the run writes into its trees to know them again.
    const std::string& token() const { return token_; }
    /// Local, one rank: makes a tree of the request; nothing where trees are adopted.
    Status make_tree(const std::string& path) const;
    /// Local, one rank: removes what the run made in it, and it. What else is in it is an error
    /// that lists it; a tree that is not there is none.
    Status remove_tree(const std::string& path) const;
    /// Collective, on the root: removes all trees. Trees that are kept are handed over
    /// (hand_over_tree), and adopted trees do not change.
    Status remove_trees(Session& session) const;

    /// Local, without MPI: all files and trees of all ranks; what stays is reported on stderr. For
    /// ends that are not orderly. False if something stays.
    bool remove_all_quietly() const;
    /// Local: the directories that `prepare` made, if they are empty; only the root made any.
    void remove_made_directories() const;

  private:
    const std::string& directory_of(const FileSet& set) const;
    std::string own_directory(const FileSet& set, int i) const;
    Status check_directories();
    /// Files of this run's names that were there before, and the space that they take.
    struct Existing {
        std::int64_t files = 0;
        std::int64_t bytes = 0;
        void add(const struct stat& info) {
            constexpr std::int64_t block = 512;  // of st_blocks
            ++files;
            bytes += info.st_blocks * block;
        }
    };

    Status check_names(Session& session, Existing& existing, Existing& replaced);
    bool removes(const FileSet& set) const;
    Status check_trees(Session& session) const;
    Status check_tree(Session& session, const TreeSet& set, const std::string& path) const;
    Status remove_tree(const TreeSet& set, const std::string& path) const;
    Status make_missing_directories();
    std::vector<std::string> directories() const;

    Request request_;
    std::string token_;
    std::string host_;               ///< where the root sees the directories
    std::vector<std::string> made_;  ///< directories that were missing; on the root
    ByteCap cap_;
    std::optional<FileSystem> file_system_;
    double cap_share_ = 1;
    bool real_ = true;
    std::string full_;  ///< a directory without space that is free, if there is one
    std::int64_t existing_ = 0;
    std::int64_t replaced_ = 0;
    std::string first_existing_;
    bool all_ours_ = true;            ///< no name of any rank's share existed before
    std::set<std::string> not_ours_;  ///< files and directories of this rank's share
    std::time_t prepared_ = 0;        ///< just before; clocks of file servers differ by a little
    int rank_ = 0;
    int ranks_ = 1;
};

}  // namespace effio
