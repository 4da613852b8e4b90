// SPDX-License-Identifier: BSD-3-Clause
#include "classic/classic.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cctype>
#include <cerrno>
#include <cstring>
#include <utility>

#include "classic/b_eff.hpp"
#include "classic/b_eff_io.hpp"
#include "classic/flash_io.hpp"
#include "classic/ior.hpp"
#include "classic/mdtest.hpp"
#include "classic/partest.hpp"
#include "classic/tile_io.hpp"
#include "parallel/text_file.hpp"

namespace effio {

namespace {

using Wording = ClassicProgram::Wording;

/// With what all of them take from the environment.
Wording and_common(Wording wording) {
    wording.emplace_back("--watchdog", "EFFIO_WATCHDOG");
    wording.emplace_back("--result", "EFFIO_RESULT");
    return wording;
}

Wording and_storage(Wording wording) {
    wording.emplace_back("--max-bytes", "EFFIO_MAX_BYTES");
    return and_common(std::move(wording));
}

std::string percent_of(std::int64_t part, std::int64_t whole) {
    const double percent =
        whole > 0 ? 100.0 * static_cast<double>(part) / static_cast<double>(whole) : 0.0;
    return fmt::format("{:.1f}%", percent);
}

Wording b_eff_words() {
    return {{"--memory-per-rank", "-MB"}};
}
Wording b_eff_io_words() {
    return {{"--memory-per-rank", "-MB"},
            {"--partitions", "-N"},
            {"--time", "-T"},
            {"--dir", "-p"},
            {"--hints", "-i"},
            {"--keep", "-keep"}};
}
Wording flash_io_words() {
    return {{"--dir", "-f"}, {"--prefix", "-f"}, {"--cells", "-n"}};
}
Wording partest_words() {
    return {{"--first-access", "-O"}, {"--call", "-b"},   {"--unlink", "-X"},
            {"--random-size", "-F"},  {"--chunk", "-r"},  {"--size", "-s"},
            {"--total", "-g"},        {"--block", "-q"},  {"--double-write", "-W 2"},
            {"--dir", "-f"},          {"--prefix", "-f"}, {"--phases", "-W, -R"}};
}
Wording mdtest_words() {
    return {{"--items-per-directory", "-I"},
            {"--items", "-n"},
            {"--branching", "-b"},
            {"--depth", "-z"},
            {"--leaf-only", "-L"},
            {"--unique", "-u"},
            {"--write-bytes", "-w"},
            {"--read-bytes", "-e"},
            {"--shared-files", "-S"},
            {"--also-dir", "-d"},
            {"--dir", "-d"},
            {"--phases", "-C, -T, -E, -U, -r"},
            {"--iterations", "-i"},
            {"--ranks", "-f and -l"},
            {"--rank-shift", "-N"},
            {"--random-order", "-R"},
            {"--create", "-k"},
            {"--by-root", "-c"},
            {"--sync-files", "-y"},
            {"--sync-phases", "-Y"},
            {"--verify", "-X"},
            {"--stonewall-file", "-x"},
            {"--stonewall", "-W"},
            {"--no-barriers", "-B"},
            {"--time-entry", "-t"},
            {"--delay", "-p"},
            {"--run-before-phase", "--run-cmd-before-phase"},
            {"--run-after-phase", "--run-cmd-after-phase"},
            {"--save-rank-details", "--saveRankPerformanceDetails"},
            {"--save-calls", "--savePerOpDataCSV"}};
}
/// Longer ones first, because each is looked for in what the ones before it have left.
Wording ior_words() {
    return {{"--files per-process", "-F"},
            {"--placement strided", "-S"},
            {"--placement view", "-V"},
            {"--placement offset", "calls without -V and -S"},
            {"--order shuffled", "-z"},
            {"--order random", "-z -z"},
            {"--sync each", "-Y"},
            {"--sync end", "-e"},
            {"--data stamped", "-l random"},
            {"--phases mixed", "mixed phases"},
            {"--block", "-b"},
            {"--transfer", "-t"},
            {"--segments", "-s"},
            {"--dir", "-o"},
            {"--name", "-o"},
            {"--more-dirs", "-o"},
            {"--files", "-F"},
            {"--rank-dirs", "-u"},
            {"--ranks", "-N"},
            {"--repetitions", "-i"},
            {"--file-each-repetition", "-m"},
            {"--phases", "-w, -r"},
            {"--stonewall", "-D"},
            {"--wear-out", "stoneWallingWearOut"},
            {"--max-transfers", "stoneWallingWearOutIterations"},
            {"--count-file", "stoneWallingStatusFile"},
            {"--min-time", "minTimeDuration"},
            {"--use-existing", "-E"},
            {"--keep-on-errors", "-K"},
            {"--keep", "-k"},
            {"--stop-on-errors", "-q"},
            {"--collective", "-c"},
            {"--queue-depth", "--aio.max-pending"},
            {"--placement", "-V, -S"},
            {"--order-seed", "--random-offset-seed"},
            {"--order", "-z"},
            {"--sync", "-e, -Y"},
            {"--barriers", "-g"},
            {"--read-from", "-C, -Z"},
            {"--distance", "-Q"},
            {"--partner-seed", "-X"},
            {"--ranks-per-node", "IOR_FAKE_TASK_PER_NODES"},
            {"--verify", "-W, -R"},
            {"--data", "-l"},
            {"--seed", "-G"},
            {"--preallocate", "-p"},
            {"--hold-memory", "-M"},
            {"--hint", "-U"},
            {"--hints", "-U"},
            {"--delay", "-d"},
            {"--think-time", "interIODelay"},
            {"--time-limit", "-T"},
            {"--slowest", "-j"},
            {"--stripe-count", "lustreStripeCount"},
            {"--stripe-size", "lustreStripeSize"},
            {"--stripe-start", "lustreStartOST"},
            {"--stripe-pool", "--posix.lustre.pool"},
            {"--backend", "-a"},
            {"--backend-options", "the options of -a"},
            {"--save-rank-details", "-O saveRankPerformanceDetailsCSV"},
            {"--save-calls", "-O savePerOpDataCSV"}};
}

}  // namespace

const std::vector<ClassicProgram>& classic_programs() {
    static const std::vector<ClassicProgram> programs{
        {"b_eff", "b_eff 3.6: writes PREFIX.prot, PREFIX.short and PREFIX.sum", translate_b_eff,
         and_common(b_eff_words())},
        {"b_eff_io", "b_eff_io 2.1: writes PREFIX.prot and PREFIX.sum", translate_b_eff_io,
         and_storage(b_eff_io_words())},
        {"flash_benchmark_io", "FLASH I/O's PnetCDF port: the report on stdout", translate_flash_io,
         and_storage(flash_io_words())},
        {"mdtest", "mdtest's options and SUMMARY tables, with the units they name",
         translate_mdtest, and_storage(mdtest_words())},
        {"mpi-tile-io", "MPI-Tile-IO: its options and its report in lines with #",
         translate_tile_io, and_storage({})},
        {"partest", "partest of SIONlib: its options, and its T_ lines on stderr",
         translate_partest, and_storage(partest_words())},
        {"ior", "IOR 4: its options, scripts, text, JSON and CSV", translate_ior,
         and_storage(ior_words())}};
    return programs;
}

std::string lower_case(std::string_view text) {
    std::string out(text);
    for (char& c : out) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    return out;
}

std::string why_unwritable(const std::string& prefix) {
    const std::string folder = parent_of(prefix);
    if (access(folder.c_str(), W_OK | X_OK) == 0) return "";
    const int code = errno;
    return fmt::format("The files {}.* cannot be written: {}: {}. -f PREFIX names another place.",
                       prefix, folder == "." ? "the current directory" : folder,
                       std::strerror(code));
}

std::string used_space(const FileSystem& fs) {
    return percent_of(fs.used_bytes, fs.total_bytes);
}

std::string used_inodes(const FileSystem& fs) {
    return percent_of(fs.used_inodes, fs.total_inodes);
}

const ClassicProgram* find_classic(std::string_view name) {
    for (const auto& program : classic_programs()) {
        if (program.name == name) return &program;
    }
    return nullptr;
}

}  // namespace effio
