// SPDX-License-Identifier: BSD-3-Clause
// The search through the trees of an iteration: which entries of a directory a rank looks at, which
// of them are wanted, and how many there must be (docs/definitions/mdtest.md, Search).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "benchmarks/mdtest/worker.hpp"
#include "storage/names.hpp"

namespace effio::mdtest {

/// Number of the searcher, of `parts`, that checks an entry: by its name alone, so that ranks that
/// read the same directory in different orders divide it without messages.
int searcher_of(std::string_view name, int parts);

/// One rank's search.
class Search {
  public:
    /// In trees that all ranks share, each rank searches a part of every directory.
    explicit Search(const Iteration& iteration);

    bool is_mine(std::string_view name) const {
        return parts_ == 1 || searcher_of(name, parts_) == part_;
    }
    /// Whether it is a file, its name is like --find-name, and it is as long as --find-bytes says.
    bool is_wanted(const std::string& name, const Attributes& seen) const;
    /// Number of the files that this rank made for the iteration, populated ones among them. Every
    /// name is formed anew: untimed.
    std::int64_t wanted_of_own() const;

  private:
    const Iteration& iteration_;
    int parts_ = 1;
    int part_ = 0;
};

}  // namespace effio::mdtest
