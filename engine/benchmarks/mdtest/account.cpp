// SPDX-License-Identifier: BSD-3-Clause
#include "benchmarks/mdtest/account.hpp"

#include <algorithm>
#include <initializer_list>
#include <string>

namespace effio::mdtest {
namespace {

using Kind = NameSet::Kind;

void add_items(std::vector<NameSet>& all, Kind kind, const std::string& stem,
               const std::vector<std::int64_t>& counts,
               std::initializer_list<const char*> suffixes) {
    for (const char* suffix : suffixes) all.push_back({kind, stem + suffix, counts});
}

}  // namespace

std::vector<NameSet> names_made(const Parameters& p, const Workload& w, int ranks) {
    const std::int64_t directories = w.tree.directories();
    std::vector<NameSet> all;
    if (p.unique || p.compare_trees) {
        all.push_back({Kind::directory, "mdtest_tree.%d.%d", {ranks, directories}});
    }
    if (!p.unique) all.push_back({Kind::directory, "mdtest_tree.%d", {directories}});
    if (p.adopts()) return all;
    all.push_back({Kind::directory, "mdtest_moved", {}});
    all.push_back({Kind::directory, "mdtest_moved.%d", {ranks}});
    // No item has a higher number, wherever its tree begins to count.
    const std::int64_t items = w.per_directory * directories * w.loops;
    add_items(all, Kind::directory, item_prefix(ItemKind::directory) + "%d.%d", {ranks, items},
              {"", spare_suffix});
    const std::string file = item_prefix(ItemKind::file);
    add_items(all, Kind::file, file + "%d.%d", {ranks, items}, {"", spare_suffix, hard_suffix});
    add_items(all, Kind::link, file + "%d.%d", {ranks, items}, {symbolic_suffix});
    if (p.shared_files)
        add_items(all, Kind::file, item_stem(ItemKind::file, {}) + "%d", {items}, {""});
    if (p.populate > 0) all.push_back({Kind::file, "file.populate.%d", {p.populate}});
    return all;
}

std::vector<NameSet> names_of_any_shape(const Parameters& p, const Workload& w, int ranks) {
    std::vector<NameSet> all = names_made(p, w, ranks);
    if (p.adopts()) return all;
    Parameters other = p;
    other.unique = !p.unique;
    other.shared_files = !p.shared_files;
    for (NameSet& set : names_made(other, w, ranks)) {
        const auto same = [&set](const NameSet& one) {
            return one.kind == set.kind && one.pattern == set.pattern;
        };
        if (std::none_of(all.begin(), all.end(), same)) all.push_back(std::move(set));
    }
    return all;
}

}  // namespace effio::mdtest
