// SPDX-License-Identifier: BSD-3-Clause
#include "frame/study/groups.hpp"

#include <algorithm>
#include <map>

namespace effio::study {
namespace {

/// What the names of a cell's files depend on.
struct Naming {
    const Cell& cell;
    const Backends& backends;
    int ranks;  ///< of the run
};

// These set how the files of a cell are named. Other cells may use the same files.

void name_files(const Pieces& /*data*/, const Naming& naming, FileSet& files) {
    files.count = std::max(files.count, naming.cell.files);
    files.indexed = files.count > 1;
    files.stem = naming.cell.file + (files.indexed ? "." : "");
}
void name_files(const Items& /*data*/, const Naming& naming, FileSet& files) {
    files.count = std::max(files.count, naming.cell.files);
    files.indexed = true;
    files.digits = 6;
    files.stem = naming.cell.file + ".";
}
void name_files(const Streams& streams, const Naming& naming, FileSet& files) {
    files.count = std::max(files.count, naming.cell.files);
    files.indexed = files.count > 1 || streams.apart;
    files.digits = 6;
    files.stem = naming.cell.file + (files.indexed ? "." : "");
}
void name_files(const Arrays& /*data*/, const Naming& naming, FileSet& files) {
    files = naming.backends.arrays_of(naming.cell)->files(naming.cell.file, naming.ranks);
}

void add_files(Group& group, const Cell& cell, const Backends& backends, int ranks) {
    auto set = std::find_if(group.sets.begin(), group.sets.end(),
                            [&](const auto& s) { return s.name == cell.file; });
    if (set == group.sets.end()) set = group.sets.insert(set, {cell.file, {}, {}});
    FileSet& files = set->files;
    const Naming naming{cell, backends, ranks};
    std::visit([&](const auto& data) { name_files(data, naming, files); }, cell.data);
    set->more = backends.of(cell).additional_files(files);
}

}  // namespace

const FileSet& Group::files_of(const Cell& cell) const {
    return std::find_if(sets.begin(), sets.end(),
                        [&](const Set& set) { return set.name == cell.file; })
        ->files;
}

std::vector<Group> groups_of(std::span<const Cell> cells, const Backends& backends, int ranks) {
    std::vector<Group> groups;
    for (std::size_t begin = 0; begin < cells.size();) {
        std::size_t end = begin;
        while (end < cells.size() && cells[end].keeper() == cells[begin].keeper()) ++end;
        Group& group = groups.emplace_back();
        group.cells = cells.subspan(begin, end - begin);
        for (const Cell& cell : group.cells) {
            group.writes = group.writes || cell.writes();
            add_files(group, cell, backends, ranks);
        }
        begin = end;
    }
    return groups;
}

std::vector<NextPass> next_passes(std::span<const Cell> cells, const Cell& cell) {
    NextPass next = NextPass::none;
    std::vector<NextPass> all_next;
    for (std::size_t i = cells.size(); i-- > 0;) {
        const Cell& one = cells[i];
        if (one.file != cell.file) continue;
        const bool all = one.ranks >= cell.ranks && one.bytes_in_all() >= cell.bytes_in_all();
        for (std::size_t p = one.passes.size(); p-- > 0;) {
            if (&one == &cell) all_next.insert(all_next.begin(), next);
            const bool reads_all = all && one.passes[p].access != Access::write;
            if (reads_all) {
                next = NextPass::reads;
            } else if (one.passes[p].writes()) {
                next = NextPass::writes;
            }
        }
        if (&one == &cell) break;
    }
    return all_next;
}

std::vector<FileSet> files_of(const std::vector<Group>& groups) {
    std::vector<FileSet> all;
    const auto add = [&](const FileSet& files) {
        const bool known = std::any_of(all.begin(), all.end(), [&](const FileSet& other) {
            return other.stem == files.stem && other.indexed == files.indexed;
        });
        if (!known) all.push_back(files);
    };
    for (const auto& group : groups) {
        for (const auto& set : group.sets) {
            add(set.files);
            for (const auto& files : set.more) add(files);
        }
    }
    return all;
}

OnStorage on_storage(const Definition& definition, const StorageOptions& storage) {
    // By keeper and file; where all are kept, those of one name replace each other.
    std::map<std::string, std::map<std::string, OnStorage>> lying;
    for (const auto& cell : definition.cells) {
        if (!cell.writes()) continue;
        OnStorage& most = lying[storage.keep ? "" : cell.keeper()][cell.file];
        const std::string& backend = cell.backend ? cell.backend->name : storage.backend.name;
        const int files = cell.holds_arrays() && makes_file_per_process(backend)
                              ? cell.ranks
                              : cell.files_on_disk();
        most.bytes = std::max(
            most.bytes, static_cast<double>(cell.files) * static_cast<double>(cell.file_bytes));
        most.files = std::max(most.files, static_cast<double>(files));
    }
    OnStorage most;
    for (const auto& [keeper, files] : lying) {
        OnStorage sum;
        for (const auto& [file, of_file] : files) {
            sum.bytes += of_file.bytes;
            sum.files += of_file.files;
        }
        most.bytes = std::max(most.bytes, sum.bytes);
        most.files = std::max(most.files, sum.files);
    }
    return most;
}

}  // namespace effio::study
