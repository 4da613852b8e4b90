// SPDX-License-Identifier: BSD-3-Clause
// The classic command line of b_eff, translated.
#include "classic/b_eff.hpp"

#include <fmt/format.h>

#include "benchmarks/b_eff/b_eff.hpp"
#include "core/units.hpp"
#include "storage/posix_calls.hpp"

namespace effio {
namespace {

constexpr const char* b_eff_help =
    R"(b_eff measures the effective communication bandwidth of all processes.

  mpirun -np NP b_eff [options]        (at least 2 processes)

  -f prefix         prefix of the files <prefix>.prot, .short and .sum [b_eff]
  -MB n             memory of one process in MBytes (2**20); the original has it compiled in
                    [memory of the node / processes on it]
  -short            the original's build switch SHORT: 2 repetitions, 6 random patterns, 0.05 s
                    for each size and method
  -yrange min:max   accepted; it is the range of figures that are not written here
  -help             this text
)";

constexpr const char* complaint = "Invalid Option! Use 'b_eff -help' to get help.\n";

}  // namespace

Result<ClassicProgram::Translation> translate_b_eff(const std::vector<std::string>& words,
                                                    const std::vector<std::string>& further) {
    ClassicProgram::Translation translation;
    std::string prefix = "b_eff";
    std::vector<std::string> own{"--quiet", "--progress=none"};
    for (std::size_t i = 0; i < words.size(); ++i) {
        const bool has_value = i + 1 < words.size();
        if (words[i] == "-help") {
            translation.message = b_eff_help;
            translation.help = true;
            return translation;
        }
        if (words[i] == "-short") {
            own.emplace_back("--quick");
        } else if (words[i] == "-f" && has_value) {
            prefix = words[++i];
        } else if (words[i] == "-yrange" && has_value) {
            ++i;
            translation.message =
                "b_eff: -yrange has no effect: the figures are in the report of effio\n";
        } else if (words[i] == "-MB" && has_value) {
            const auto memory = parse_integer(words[++i]);
            if (!memory || *memory < 1) return usage_error(complaint);
            own.push_back(fmt::format("--memory-per-rank={}MiB", *memory));
        } else {
            return usage_error(complaint);
        }
    }
    if (const std::string why = why_unwritable(prefix); !why.empty()) {
        return usage_error(fmt::format("b_eff: {}\n", why));
    }
    b_eff::FrontEnd front_end;
    front_end.classic_view = make_classic_b_eff_view(prefix);
    translation.benchmark = b_eff::make_benchmark(std::move(front_end));
    own.insert(own.end(), further.begin(), further.end());
    translation.arguments = std::move(own);
    return translation;
}

}  // namespace effio
