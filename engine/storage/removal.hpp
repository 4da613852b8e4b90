// SPDX-License-Identifier: BSD-3-Clause
// Taking names away: the one way in which effio removes what a run made.
//
// A name is removed through the descriptor of its directory, never through a link, and only if it
// is accounted for: a regular file of a name that the run says it writes, an entry of a tree whose
// kind and name the run says it makes, a directory when it is empty. All else stays and is
// reported. POSIX, local to the rank.
#pragma once

#include <sys/stat.h>

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/error.hpp"
#include "core/json.hpp"
#include "storage/posix_calls.hpp"

namespace effio {

/// Entries that a run may make anywhere in its tree.
struct NameSet {
    enum class Kind { file, directory, link };
    Kind kind = Kind::file;
    /// With a number in place of each %d, which may begin with zeros.
    std::string pattern;
    /// One for each %d: its number is below.
    std::vector<std::int64_t> counts;

    bool holds(std::string_view name) const;
    Json to_json() const;  ///< {"kind", "name": pattern, "counts"}
};

/// Removes a regular file. A missing file is not an error; anything that is not a regular file is
/// one and stays.
Status remove_file(const std::string& path);

/// What a removal had to leave: paths, some of them only if there are very many.
struct Left {
    static constexpr std::size_t most_paths = 100;
    std::vector<std::string> paths;
    std::int64_t count = 0;

    bool nothing() const { return count == 0; }
    void add(std::string path);
    /// "a, b and 3 more"
    std::string text() const;
    /// An error on `tree` that names them.
    Error error(const std::string& tree) const;
};

/// Removes what `names` account for from an open directory and from the directories of theirs in
/// it, which go when they are empty. A directory of another device stays, and one that is older
/// than the open directory: it was moved there. An entry of the directory itself named `spare` is
/// passed over. `path` is that of the directory, for messages only.
Result<Left> empty_directory(const Descriptor& directory, const std::string& path,
                             std::span<const NameSet> names, std::string_view spare);
/// What that would leave; removes nothing.
Result<Left> unaccounted_in(const Descriptor& directory, const std::string& path,
                            std::span<const NameSet> names, std::string_view spare);

}  // namespace effio
