// SPDX-License-Identifier: BSD-3-Clause
// Command lines and text formats that others already parse. Each program here is a translation to
// our own options and a view of our own events, and nothing else.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "benchmarks/benchmark.hpp"
#include "core/error.hpp"

namespace effio {

struct ClassicProgram {
    /// The benchmark with the classic view attached, and our command line for it. Without a
    /// benchmark there is nothing to run: `message` was asked for (help), `code` is the answer.
    struct Translation {
        std::unique_ptr<Benchmark> benchmark;
        std::vector<std::string> arguments;
        std::string message;
        ExitCode code = ExitCode::done;
    };

    std::string name;  ///< of the original program and of the link in bin/
    std::string purpose;
    /// An error's cause is printed on stdout as it is, as the originals do.
    Result<Translation> (*translate)(const std::vector<std::string>& words);
};

/// For words that the originals take in any case.
std::string lower_case(std::string_view text);

/// A new classic program is one more line in classic.cpp.
const std::vector<ClassicProgram>& classic_programs();
const ClassicProgram* find_classic(std::string_view name);

}  // namespace effio
