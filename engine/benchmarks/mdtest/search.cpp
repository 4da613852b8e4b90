// SPDX-License-Identifier: BSD-3-Clause
#include "benchmarks/mdtest/search.hpp"

#include <fnmatch.h>

namespace effio::mdtest {

int searcher_of(std::string_view name, int parts) {
    // FNV-1a: the names of a directory differ in a digit or two.
    std::uint64_t hash = 14695981039346656037U;
    for (const char c : name) {
        hash = (hash ^ static_cast<unsigned char>(c)) * 1099511628211U;
    }
    return static_cast<int>(mix64(hash) % static_cast<std::uint64_t>(parts));
}

Search::Search(const Iteration& iteration) : iteration_(iteration) {
    if (iteration.parameters.unique) return;
    parts_ = iteration.comm.size();
    part_ = iteration.comm.rank();
}

bool Search::is_wanted(const std::string& name, const Attributes& seen) const {
    const Parameters& p = iteration_.parameters;
    if (seen.kind != Attributes::Kind::file) return false;
    if (p.find_bytes && seen.bytes != p.find_bytes->count) return false;
    return fnmatch(p.find_name.c_str(), name.c_str(), 0) == 0;
}

std::int64_t Search::wanted_of_own() const {
    const Parameters& p = iteration_.parameters;
    const Workload& w = iteration_.paths.workload();
    std::int64_t wanted = 0;
    const std::string stem = item_stem(ItemKind::file, iteration_.comm.rank());
    const Attributes item{Attributes::Kind::file, p.write_bytes.count};
    for (std::int64_t i = 0; i < iteration_.items(ItemKind::file); ++i) {
        wanted += is_wanted(iteration_.paths.name(stem, w.label(i)), item) ? 1 : 0;
    }
    const Attributes empty{Attributes::Kind::file};
    for (std::int64_t i = part_; i < p.populate; i += parts_) {
        wanted += is_wanted(iteration_.paths.name(populated_stem, i), empty) ? 1 : 0;
    }
    return wanted;
}

}  // namespace effio::mdtest
