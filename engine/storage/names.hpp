// SPDX-License-Identifier: BSD-3-Clause
// Operations on names: files and directories as entries, not as bytes. Local to the rank.
//
// Made for loops over millions of names: a call that succeeds allocates nothing and does nothing
// in addition to the system calls that its comment names.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/error.hpp"
#include "core/json.hpp"
#include "core/sim_model.hpp"
#include "parallel/session.hpp"
#include "storage/null.hpp"
#include "storage/sim.hpp"

namespace effio {

struct Attributes {
    enum class Kind { file, directory, link, other };
    Kind kind = Kind::other;
    std::int64_t bytes = 0;
    std::int64_t links = 0;
    unsigned mode = 0;  ///< permission bits
};

struct NamesCapabilities {
    bool keeps = true;       ///< what was created can be found again
    bool real_files = true;  ///< paths name files of this system
    bool threads = true;     ///< several threads of a rank may call at the same time
};

/// Every call returns errno's text, the path and the operation on failure.
class Names {
  public:
    virtual ~Names() = default;
    Names(const Names&) = delete;
    Names& operator=(const Names&) = delete;

    virtual std::string_view name() const = 0;
    virtual NamesCapabilities capabilities() const { return {}; }
    /// What the backend wants said in the result (its model); an object.
    virtual Json describe() const { return Json::object(); }

    /// Creates an empty file (it must not exist) and closes it.
    virtual Status create(const std::string& path) = 0;
    /// Creates a file by mknod, without opening it.
    virtual Status make_node(const std::string& path) = 0;
    /// Creates a file (it must not exist), writes `data` in one call, syncs it if asked, closes it.
    virtual Status create_with(const std::string& path, std::span<const std::byte> data,
                               bool sync) = 0;
    /// Opens a file for writing, creating it where it is missing; writes `data` at its start in one
    /// call unless empty, syncs it if asked, closes it.
    virtual Status write(const std::string& path, std::span<const std::byte> data, bool sync) = 0;
    /// Opens for reading only, reads into all of `data` (empty: just opens and closes).
    virtual Status read(const std::string& path, std::span<std::byte> data) = 0;
    /// Does not follow a symbolic link at the end of the path.
    virtual Result<Attributes> stat(const std::string& path) = 0;
    virtual Status unlink(const std::string& path) = 0;
    virtual Status make_directory(const std::string& path) = 0;
    virtual Status remove_directory(const std::string& path) = 0;
    /// Calls `visit` for each name in the directory but "." and "..", in the file system's order.
    virtual Status visit(const std::string& path,
                         const std::function<void(std::string_view)>& visit) = 0;
    /// The same as a list, for directories known to be small.
    Result<std::vector<std::string>> list(const std::string& path);
    virtual Status rename(const std::string& from, const std::string& to) = 0;
    virtual Status hard_link(const std::string& existing, const std::string& path) = 0;
    virtual Status symbolic_link(const std::string& target, const std::string& path) = 0;
    /// The target as far as it fits into `into`; its length in bytes.
    virtual Result<std::int64_t> read_link(const std::string& path, std::span<char> into) = 0;
    virtual Status change_mode(const std::string& path, unsigned mode) = 0;
    virtual Status truncate(const std::string& path, std::int64_t bytes) = 0;
    virtual Status set_attribute(const std::string& path, const std::string& key,
                                 std::string_view value) = 0;
    /// An attribute longer than `into` is an error; returns its length in bytes.
    virtual Result<std::int64_t> get_attribute(const std::string& path, const std::string& key,
                                               std::span<char> into) = 0;
    /// What this node wrote to the file system that holds `path` is on storage (syncfs).
    virtual Status sync_all(const std::string& path) = 0;

  protected:
    Names() = default;
};

/// With `direct`, files that data go to or come from are opened with O_DIRECT: the kernel then
/// takes multiples of the device's block only.
std::unique_ptr<Names> make_posix_names(bool direct = false);
/// Keeps nothing and takes the programmed time: everything is found, nothing is listed.
std::unique_ptr<Names> make_null_names(Session& session, const NullNameDelays& delays);
/// The same operations on files of `room`, each costing the model's metadata time (and its transfer
/// time for data) on the session's virtual clock.
std::unique_ptr<Names> make_sim_names(Session& session, const SimModel& model, const SimRoom& room);

}  // namespace effio
