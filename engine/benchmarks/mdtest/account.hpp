// SPDX-License-Identifier: BSD-3-Clause
// Names by which a run recognizes what it made in its trees.
#pragma once

#include <vector>

#include "benchmarks/mdtest/parameters.hpp"
#include "storage/removal.hpp"

namespace effio::mdtest {

/// All that a run of this many ranks may make in a test directory. In a tree that an earlier run
/// made these are the directories of the tree alone: its items go one by one, in the phases that
/// remove them, and what is left of them is not of this run.
std::vector<NameSet> names_made(const Parameters& parameters, const Workload& workload, int ranks);

/// The same, and what runs with and without --unique and --shared-files would make: a tree that is
/// replaced may have another shape.
std::vector<NameSet> names_of_any_shape(const Parameters& parameters, const Workload& workload,
                                        int ranks);

}  // namespace effio::mdtest
