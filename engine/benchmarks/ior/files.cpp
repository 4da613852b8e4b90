// SPDX-License-Identifier: BSD-3-Clause
#include "benchmarks/ior/files.hpp"

#include <fmt/format.h>

namespace effio::ior {

FileNames::FileNames(const Parameters& p, std::int64_t workers)
    : directories_(1 + static_cast<std::int64_t>(p.more_dirs.size())),
      shared_(p.files == Files::shared),
      each_repetition_(p.file_each_repetition) {
    const std::int64_t repetitions = each_repetition_ ? p.repetitions : 1;
    for (std::int64_t r = 0; r < repetitions; ++r) {
        const std::string suffix = each_repetition_ ? fmt::format(".{}", r) : "";
        if (shared_) {
            sets_.push_back({.stem = p.stem + suffix});
            continue;
        }
        for (std::int64_t d = 0; d < directories_; ++d) {
            FileSet set;
            set.stem = p.stem + ".";
            set.count = static_cast<int>((workers - d + directories_ - 1) / directories_);
            set.indexed = true;
            set.digits = 8;
            set.first = static_cast<int>(d);
            set.step = static_cast<int>(directories_);
            set.suffix = suffix;
            set.own_directory = p.rank_dirs;
            if (d > 0) set.directory = p.more_dirs[static_cast<std::size_t>(d - 1)];
            sets_.push_back(std::move(set));
        }
    }
}

FileNames::FileNames(const Parameters& p, std::int64_t workers, const Storage& storage)
    : FileNames(p, workers) {
    for (const auto& set : sets_) additional_.push_back(storage.additional_files(set));
    for (const auto& more : additional_) sets_.insert(sets_.end(), more.begin(), more.end());
}

std::size_t FileNames::set_of(std::int64_t worker, std::int64_t repetition) const {
    const std::int64_t r = each_repetition_ ? repetition : 0;
    return static_cast<std::size_t>(shared_ ? r : r * directories_ + worker % directories_);
}

std::string FileNames::path(const Target& target, std::int64_t worker,
                            std::int64_t repetition) const {
    return target.path(sets_[set_of(worker, repetition)],
                       shared_ ? 0 : static_cast<int>(worker / directories_));
}

std::vector<std::string> FileNames::paths(const Target& target, std::int64_t worker,
                                          std::int64_t repetition) const {
    std::vector<std::string> all{path(target, worker, repetition)};
    for (const FileSet& set : additional_[set_of(worker, repetition)]) {
        for (int i = 0; i < set.count; ++i) all.push_back(target.path(set, i));
    }
    return all;
}

}  // namespace effio::ior
