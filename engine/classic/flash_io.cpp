// SPDX-License-Identifier: BSD-3-Clause
#include "classic/flash_io.hpp"

#include <fmt/format.h>

#include <array>
#include <cstdio>
#include <iterator>
#include <string_view>

#include "benchmarks/flash_io/flash_io.hpp"
#include "core/units.hpp"
#include "storage/posix_calls.hpp"

namespace effio {
namespace {

constexpr const char* flash_io_help =
    R"(Usage: flash_benchmark_io [-h] [-q] [-b] [-i] [-n edge] -f prefix
  -h         this help
  -q         quiet: no report
  -b         blocking calls (else nonblocking)
  -i         independent data mode (else collective)
  -n edge    cells along the edge of a block [8]; a constant at compile time in the original
  -f prefix  prefix of the file names, a path; at most 128 characters
)";

constexpr std::size_t longest_prefix = 128;

class ReportView : public flash_io::Observer {
  public:
    void end(const flash_io::Setup& setup,
             const std::vector<flash_io::Repetition>& repetitions) override {
        if (repetitions.empty() || !repetitions.front().complete) return;
        std::fputs(classic_flash_io_report(setup, repetitions.front()).c_str(), stdout);
        std::fflush(stdout);
    }
};

std::string count(std::string_view label, std::int64_t value, std::string_view unit = {}) {
    return fmt::format(" {:<22}:{:>14}{}\n", label, value, unit);
}

std::string real(std::string_view label, double value, std::string_view unit) {
    return fmt::format(" {:<22}:{:>17.2f}  {}\n", label, value, unit);
}

std::string word(std::string_view label, std::string_view value) {
    return fmt::format(" {:<22}:{:>14}\n", label, value);
}

/// The hints that MPI-IO returns for the checkpoint.
std::string file_info(const GrantedHints& hints) {
    std::string out =
        fmt::format(" MPI File Info: nkeys = {}\n", std::distance(hints.begin(), hints.end()));
    int number = 0;
    for (const auto& [key, value] : hints) {
        out +=
            fmt::format(" MPI File Info: [{:2d}] key = {:>25}, value = {}\n", number++, key, value);
    }
    return out;
}

double mib(std::int64_t bytes) {
    return static_cast<double>(bytes) / static_cast<double>(MiB);
}

}  // namespace

std::string classic_flash_io_report(const flash_io::Setup& setup,
                                    const flash_io::Repetition& repetition) {
    const flash_io::Geometry g = setup.parameters.geometry();
    const std::string rule = " " + std::string(55, '-') + "\n";
    std::string out = word("API", setup.nonblocking ? "nonblocking" : "blocking") +
                      word("data mode", name(setup.parameters.access)) +
                      count("number of guards", g.guards) + count("number of blocks", g.blocks) +
                      count("number of variables", flash_io::variable_count);
    constexpr std::array<std::string_view, 3> titles{"checkpoint time", "plot no corner",
                                                     "plot    corner"};
    for (const auto file : flash_io::all_files) {
        const auto& part = repetition.parts[flash_io::index(file)];
        out += real(titles[flash_io::index(file)], part.seconds, "sec");
        out += real("       max header", part.header, "sec");
        out += real("       max unknown", part.unknown, "sec");
        out += real("       max close", part.close, "sec");
        out += real("       I/O amount", mib(part.bytes), "MiB");
    }
    out += rule + fmt::format(" {:<22}: {}\n", "File base name", setup.base_name);
    const auto stripes = parse_integer(repetition.granted.get("striping_factor").value_or("0"));
    if (stripes && *stripes > 0) {
        const auto unit = parse_integer(repetition.granted.get("striping_unit").value_or("0"));
        out += count("  file striping count", *stripes);
        out += count("  file striping size", unit ? *unit : 0, "     bytes");
    }
    out += real("Total I/O amount", mib(repetition.bytes()), "MiB") + rule;
    out += " nproc    array size      exec (sec)   bandwidth (MiB/s)\n";
    out += fmt::format("{:5d}  {:4d} x {:3d} x {:3d}{:10.2f}{:12.2f}\n\n", setup.ranks, g.extent(0),
                       g.extent(1), g.extent(2), repetition.seconds(),
                       repetition.rate() / static_cast<double>(MiB));
    return out + file_info(repetition.granted) + "\n";
}

Result<ClassicProgram::Translation> translate_flash_io(const std::vector<std::string>& words,
                                                       const std::vector<std::string>& further) {
    ClassicProgram::Translation translation;
    bool quiet = false;
    std::string prefix;
    // What the original does: no flush, files stay, older ones of the names are replaced.
    std::vector<std::string> own{"--quiet",     "--progress=none", "--backend=pnetcdf",
                                 "--fsync=off", "--keep",          "--overwrite"};
    const auto complaint = [](const std::string& text) {
        return usage_error(text + "\n" + flash_io_help);
    };
    for (std::size_t i = 0; i < words.size(); ++i) {
        const std::string& word = words[i];
        if (word == "-h") {
            translation.message = flash_io_help;
            translation.help = true;
            return translation;
        }
        if (word == "-q") {
            quiet = true;
        } else if (word == "-b" || word == "-i") {
            own.emplace_back(word == "-b" ? "--calls=blocking" : "--access=independent");
        } else if (word == "-f" || word == "-n") {
            if (++i == words.size()) return complaint(fmt::format("{} needs an argument", word));
            if (word == "-f") {
                prefix = words[i];
            } else {
                own.push_back("--cells=" + words[i]);
            }
        } else if (!word.starts_with('-') && prefix.empty()) {
            prefix = word;  // older releases
        } else {
            return complaint(fmt::format("unknown option {}", word));
        }
    }
    if (prefix.empty()) return complaint("the prefix is missing (-f)");
    if (prefix.size() > longest_prefix) {
        return complaint(fmt::format("the prefix is longer than {} characters", longest_prefix));
    }
    own.push_back("--dir=" + parent_of(prefix));
    own.push_back("--prefix=" + prefix.substr(prefix.rfind('/') + 1));
    translation.benchmark =
        flash_io::make_benchmark(quiet ? nullptr : std::make_unique<ReportView>());
    own.insert(own.end(), further.begin(), further.end());
    translation.arguments = std::move(own);
    return translation;
}

}  // namespace effio
