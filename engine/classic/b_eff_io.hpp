// SPDX-License-Identifier: BSD-3-Clause
// The classic b_eff_io 2.1: its options and its two files (docs/definitions/b-eff-io.md).
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "benchmarks/b_eff_io/result.hpp"
#include "classic/classic.hpp"

namespace effio {

Result<ClassicProgram::Translation> translate_b_eff_io(const std::vector<std::string>& words,
                                                       const std::vector<std::string>& own = {});

/// What the classic header shows in addition to the setup.
struct ClassicHeader {
    std::string prefix;
    std::string path;
    std::string info_file;  ///< empty without -i
    bool noshared = false;
    bool nounique = false;
    bool rewrite = false;
    bool keep = false;
    bool adapt = false;
    long scheduled_seconds = 0;  ///< T as given
};

/// The complete text of `<prefix>.sum`. Cells without a valid value are -999.999, as the original
/// prints rows with errors; a partition without a value has b_eff_io 0.000.
std::string classic_sum(const ClassicHeader& header, const b_eff_io::RunResult& run);
/// The line that ends both files and stdout, with the blank line before it.
std::string classic_final_line(const b_eff_io::RunResult& run);

/// Writes `<prefix>.prot` while the run continues, `<prefix>.sum` and stdout at its end.
std::unique_ptr<b_eff_io::Observer> make_classic_b_eff_io_view(ClassicHeader header);

}  // namespace effio
