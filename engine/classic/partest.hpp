// SPDX-License-Identifier: BSD-3-Clause
// The command line and the text of partest (docs/definitions/partest.md).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "benchmarks/partest/partest.hpp"
#include "classic/classic.hpp"

namespace effio {

/// Options as single letters, or as the original's long names, which all take a value.
Result<ClassicProgram::Translation> translate_partest(const std::vector<std::string>& words,
                                                      const std::vector<std::string>& further);

/// "20M", "64Ki", "1GiB" count in 1024, "20MB" in 1000: two letters that end in a B.
Result<std::int64_t> parse_partest_size(std::string_view text);

/// The options of a run, as the text repeats them. Sizes in bytes.
struct PartestRequest {
    std::string file = "partest_parfile.sion";
    int type = 0;
    std::int64_t files = 1;  ///< of a container
    double random_size = 0;
    bool unlink = false;
    std::int64_t call = 0;
    std::int64_t size = 0;  ///< of a task
    std::optional<std::int64_t> total;
    std::int64_t chunk = 0;
    std::int64_t block = 0;  ///< -1: as the file system says
    std::int64_t first_access = 0;
    std::int64_t at_a_time = -1;
    std::int64_t shift = 0;
    std::int64_t writes = 1;
    bool reads = true;
    bool each_task = false;
    bool first_task = false;
    bool last_task = false;
    bool collective_write = false;
    bool collective_read = false;
    bool unchecked = false;
    bool system_calls = false;
    bool large_blocks = false;
    bool sparse_access = false;
    std::optional<std::int64_t> io_buffer;  ///< KB

    bool container() const { return type <= 1; }
    std::int64_t bytes_of_a_task(int tasks) const {
        return total ? std::max<std::int64_t>(1, *total / tasks) : size;
    }
    std::int64_t bytes_in_all(int tasks) const { return total ? *total : size * tasks; }
    /// Files that the tasks share.
    int shared_files() const { return container() ? static_cast<int>(files) : 1; }
    /// The text needs the numbers of each task.
    bool wants_ranks() const {
        return each_task || first_task || last_task || unlink || type == 2 || shared_files() > 1;
    }
};

/// The text before anything is measured. `now`: as ctime writes it; `block`: of the file system;
/// `of_first`: bytes that task 0 writes.
std::string classic_partest_head(const PartestRequest& request, int tasks, const std::string& now,
                                 std::int64_t block, std::int64_t of_first);

/// The report of one pass.
std::string classic_partest_report(const PartestRequest& request, const study::PassResult& result);

std::string classic_partest_end(const std::string& now);

}  // namespace effio
