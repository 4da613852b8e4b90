// SPDX-License-Identifier: BSD-3-Clause
// Command lines and text formats that others already parse. Each program here is a translation to
// our options and a view of our events, and nothing else.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/error.hpp"
#include "frame/benchmark.hpp"
#include "frame/job/options.hpp"
#include "parallel/file_system.hpp"

namespace effio {

struct ClassicProgram {
    /// The benchmark with the classic view attached, and our command line for it. Without a
    /// benchmark there is nothing to run: `message` was requested (help), `code` is the answer.
    struct Translation {
        std::unique_ptr<Benchmark> benchmark;
        std::vector<std::string> arguments;
        std::string message;
        ExitCode code = ExitCode::done;
        bool help = false;  ///< the message is the help text
    };

    using Wording = std::vector<Renamed>;

    std::string name;  ///< of the original program and of the link in bin/
    std::string purpose;
    /// An error's cause is printed on stdout as it is, as the originals do. `own`: further options
    /// of ours, for the benchmark.
    Result<Translation> (*translate)(const std::vector<std::string>& words,
                                     const std::vector<std::string>& own);
    /// What messages say in place of our options.
    Wording wording;
};

/// The text in lower case: the originals ignore the case of certain words.
std::string lower_case(std::string_view text);

/// Why no file PREFIX.* can be written, and which option names another place; empty where they can
/// be.
std::string why_unwritable(const std::string& prefix);

/// "75.5%" of the file system, root's reserve counting as free: ior and mdtest show it.
std::string used_space(const FileSystem& fs);
std::string used_inodes(const FileSystem& fs);

/// A new classic program is one more line in classic.cpp.
const std::vector<ClassicProgram>& classic_programs();
const ClassicProgram* find_classic(std::string_view name);

}  // namespace effio
