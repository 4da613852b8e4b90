// SPDX-License-Identifier: BSD-3-Clause
#include "classic/partest.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <cstdio>
#include <map>
#include <optional>
#include <utility>

#include "storage/posix_calls.hpp"
#include "storage/sion/format.hpp"

namespace effio {
namespace {

constexpr const char* partest_help =
    R"(Usage: partest [options]     writes, then reads; its lines go to stderr
  -f FILE   [partest_parfile.sion]; of tasks FILE.000000, FILE.000001, ...
  -T N      0, 1: SION container, opened for reading by all together or by each task;
            2: one file through MPI-IO; 3: a file of each task [0]
  -n N      files of a container [1]          -r SIZE   its chunks [what a task writes]
  -q SIZE   block of the file system, -1: as it says [2M]
  -b SIZE   of a call [10M]                   -s SIZE   of a task [20M]
  -g SIZE   of all tasks, instead             -F X      up to X times the size more, at random [0]
  -O SIZE   of the first call                 -W 0|1|2  write: not, once, twice [1]
  -R 0|1    read [1]                          -Z K      task t reads what task t + K wrote [0]
  -j N      so many tasks at a time, -1: all [-1]       -X  remove the files, timed
  -C        check no data                     -L        system calls (always so)
  -M, -m    collectors write, read the container for the other tasks
  -v, -d, -D   lines of each task, the first, the last
  -w, -Q KB, -x   hints IBM_largeblock_io, IBM_io_buffer_size, IBM_sparse_access
Sizes: 20M and 20MiB count in 1024, 20MB in 1000.
)";

constexpr std::string_view with_value = "fTnrqbsgFOWRZjQ";
constexpr std::string_view without_value = "CLMXmvdDwx";

/// Letters of the original that are refused, and why.
const char* why_not(char letter) {
    switch (letter) {
        case 'c':
            return "modular supercomputers' collective calls belong to one machine";
        case 'P':
        case 'p':
        case 'Y':
            return "the order of Blue Gene's I/O nodes belongs to one machine";
        default:
            return nullptr;
    }
}

using Letters = std::map<char, std::string>;

Result<Letters> read_letters(const std::vector<std::string>& words) {
    Letters letters;
    for (std::size_t i = 0; i < words.size(); ++i) {
        const std::string& word = words[i];
        if (word.size() < 2 || word[0] != '-') {
            return usage_error(fmt::format("unknown word {}", word));
        }
        for (std::size_t at = 1; at < word.size(); ++at) {
            const char letter = word[at];
            if (const char* reason = why_not(letter); reason != nullptr) {
                return usage_error(fmt::format("-{}: {}", letter, reason));
            }
            if (without_value.find(letter) != std::string_view::npos) {
                letters[letter] = "1";
                continue;
            }
            if (with_value.find(letter) == std::string_view::npos) {
                return usage_error(fmt::format("unknown option -{}", letter));
            }
            std::string value = word.substr(at + 1);
            if (value.empty()) {
                if (++i == words.size()) {
                    return usage_error(fmt::format("-{} needs a value", letter));
                }
                value = words[i];
            }
            letters[letter] = std::move(value);
            break;
        }
    }
    return letters;
}

/// The letters as our options; the first fault is kept.
class PartestTranslator {
  public:
    explicit PartestTranslator(const Letters& letters) : letters_(letters) {}

    std::vector<std::string> own() {
        // The original checks less, flushes nothing, and leaves the caches alone and its files
        // where they are.
        const std::string file = text('f', "partest_parfile.sion");
        own_ = {"--quiet",     "--progress=none",  "--overwrite",      "--exact-name",
                "--fsync=off", "--drop-cache=off", "--call-times=off", "--dir=" + parent_of(file)};
        own_.push_back("--prefix=" + file.substr(file.rfind('/') + 1));
        own_.emplace_back(has('X') ? "--unlink" : "--keep");
        if (has('C')) own_.emplace_back("--verify=off");
        const auto way = number('T', 0, 0, 3);
        constexpr std::array<const char*, 4> ways{"sion", "sion", "shared", "task-local"};
        own_.push_back(fmt::format("--ways={}", ways.at(static_cast<std::size_t>(way))));
        if (way == 1) own_.emplace_back("--container-open=each");
        sizes();
        phases();
        own_.push_back(fmt::format("--shift={}", number('Z', 0, 0, 2147483647)));
        if (const auto together = number('j', -1, -2, 2147483647); together == -2) {
            fault(
                "-j -2: which tasks that lets work together is not laid down; -j 1 is one by "
                "one");
        } else if (together == 0) {
            fault("-j 0: no task could work");
        } else if (together > 0) {
            own_.push_back(fmt::format("--at-a-time={}", together));
        }
        container(way <= 1);
        if (has('w')) own_.emplace_back("--hint=IBM_largeblock_io=true");
        if (has('x')) own_.emplace_back("--hint=IBM_sparse_access=true");
        if (has('Q')) {
            own_.push_back(
                fmt::format("--hint=IBM_io_buffer_size={}K", number('Q', 0, 1, 2147483647)));
        }
        return own_;
    }
    const std::optional<std::string>& wrong() const { return wrong_; }
    /// Of a container.
    std::int64_t files() const { return files_; }

  private:
    bool has(char letter) const { return letters_.contains(letter); }
    std::string text(char letter, const std::string& otherwise) const {
        const auto found = letters_.find(letter);
        return found == letters_.end() ? otherwise : found->second;
    }
    void fault(std::string what) {
        if (!wrong_) wrong_ = std::move(what);
    }
    std::int64_t number(char letter, std::int64_t otherwise, std::int64_t least,
                        std::int64_t most) {
        const auto value = parse_integer(text(letter, std::to_string(otherwise)));
        if (value && *value >= least && *value <= most) return *value;
        fault(fmt::format("no such number: -{}: '{}'", letter, text(letter, "")));
        return otherwise;
    }
    void size(char letter, const char* option, const char* otherwise) {
        if (!has(letter) && otherwise == nullptr) return;
        const std::string given = text(letter, otherwise == nullptr ? "" : otherwise);
        const auto bytes = parse_partest_size(given);
        if (!bytes) return fault(fmt::format("no such size: -{}: '{}'", letter, given));
        own_.push_back(fmt::format("--{}={}", option, *bytes));
    }
    void sizes() {
        size('b', "call", "10M");
        size('s', "size", "20M");
        size('g', "total", nullptr);
        size('r', "chunk", nullptr);
        size('O', "first-access", nullptr);
        if (const std::string block = text('q', "2M"); block != "-1" && block != "0") {
            size('q', "block", "2M");
        }
        if (has('F')) own_.push_back("--random-size=" + text('F', ""));
    }
    void phases() {
        const auto writes = number('W', 1, 0, 2);
        const bool reads = number('R', 1, 0, 1) == 1;
        if (writes == 0 && !reads) fault("-W 0 -R 0: nothing to do");
        std::string list = writes > 0 ? "write" : "";
        if (reads) list += list.empty() ? "read" : ",read";
        own_.push_back("--phases=" + list);
        if (writes == 2) own_.emplace_back("--double-write");
    }

    /// The original does not look at these letters where there is no container.
    void container(bool there) {
        const auto files = number('n', 1, -2147483647, 2147483647);
        if (!there) return;
        if (files < 1) {
            fault(
                fmt::format("-n {}: a file for each communicator; how tasks are shared out among "
                            "those is not laid down: give their number",
                            files));
        } else if (files > 1) {
            own_.push_back(fmt::format("--container-files={}", files));
            files_ = files;
        }
        if ((has('M') || has('m')) && number('j', -1, -2, 2147483647) > 0) {
            fault("-M and -m: all tasks make collective calls together; -j has no place there");
        }
        if (has('m') && number('T', 0, 0, 3) == 1) {
            fault("-m: the container is opened by all tasks together, which is -T 0");
        }
        if (has('M')) own_.emplace_back("--collective=write");
        if (has('m')) own_.emplace_back("--collective=read");
    }

    const Letters& letters_;
    std::vector<std::string> own_;
    std::int64_t files_ = 1;
    std::optional<std::string> wrong_;
};

class PartestView : public study::Observer {
  public:
    explicit PartestView(PartestTasks tasks) : tasks_(tasks) {}

    bool wants_ranks() const override { return tasks_.any(); }
    void pass(const study::PassResult& result) override {
        if (result.valid) std::fputs(classic_partest_report(tasks_, result).c_str(), stderr);
    }

  private:
    PartestTasks tasks_;
};

std::string stat_line(const std::string& of, double bytes, double seconds) {
    const double rate = seconds > 0 ? bytes / seconds : 0;
    constexpr auto mebi = static_cast<double>(MiB);
    return fmt::format("T_STAT {} b={:.4f} MiB t={:.6f} s bw={:.4f} MB/s ({:.4f} MiB/s)", of,
                       bytes / mebi, seconds, rate / MB_per_s, rate / mebi);
}

/// Of each file of a container: bytes of its tasks, and the times of their slowest.
std::string file_lines(const study::PassResult& result) {
    struct Sum {
        double bytes = 0;
        double total = 0;
        double transfer = 0;
    };
    const int files = result.cell->parts_of_file;
    std::vector<Sum> sums(static_cast<std::size_t>(files));
    const auto count = std::ssize(result.each);
    for (std::int64_t task = 0; task < count; ++task) {
        const study::RankLine& one = result.each[static_cast<std::size_t>(task)];
        Sum& sum = sums[static_cast<std::size_t>(sion::file_of(task, count, files))];
        sum.bytes += one.bytes;
        sum.total = std::max(sum.total, one.total);
        sum.transfer = std::max(sum.transfer, one.transfer);
    }
    const std::string& access = result.pass.name;
    std::string out;
    for (std::size_t file = 0; file < sums.size(); ++file) {
        const Sum& sum = sums[file];
        out += stat_line(fmt::format("FILE {:06d} {}", file, access), sum.bytes, sum.total);
        out += fmt::format("\nT_PHASE FILE {:06d} {}={:.6f}\n", file, access, sum.transfer);
    }
    return out;
}

}  // namespace

Result<std::int64_t> parse_partest_size(std::string_view text) {
    const auto end = std::find_if(text.begin(), text.end(), [](char c) {
        return std::isalpha(static_cast<unsigned char>(c)) != 0;
    });
    const auto digits = static_cast<std::size_t>(end - text.begin());
    const auto value = parse_real(text.substr(0, digits));
    const std::string suffix = lower_case(text.substr(digits));
    const auto refused = [&] { return usage_error(fmt::format("no such size: '{}'", text)); };
    if (!value) return refused();
    double unit = 1;
    if (!suffix.empty() && suffix != "b") {
        const auto power = std::string_view("kmgt").find(suffix[0]);
        const std::string rest = suffix.substr(1);
        if (power == std::string_view::npos ||
            (!rest.empty() && rest != "b" && rest != "i" && rest != "ib")) {
            return refused();
        }
        unit = std::pow(rest == "b" ? 1000.0 : 1024.0, static_cast<double>(power + 1));
    }
    const double bytes = *value * unit;
    if (bytes < 0 || bytes > 9e15 || bytes != std::floor(bytes)) return refused();
    return static_cast<std::int64_t>(bytes);
}

std::string classic_partest_report(const PartestTasks& tasks, const study::PassResult& result) {
    const study::Cell& cell = *result.cell;
    const std::string& access = result.pass.name;
    std::string out;
    const int count = static_cast<int>(result.each.size());
    for (int task = 0; task < count; ++task) {
        const bool wanted =
            tasks.each || (tasks.first && task == 0) || (tasks.last && task + 1 == count);
        if (!wanted) continue;
        const study::RankLine& one = result.each[static_cast<std::size_t>(task)];
        out += stat_line(fmt::format("TASK {:06d} {}", task, access), one.bytes, one.total);
        out += fmt::format("\nT_PHASE TASK {:06d} {}={:.6f}\n", task, access, one.transfer);
    }
    if (tasks.files) out += file_lines(result);
    out += stat_line("TOTAL " + access, static_cast<double>(result.bytes), result.counted_seconds);
    out +=
        fmt::format(" #chunks={} ion={} nf={}\n", result.calls, result.nodes, cell.files_on_disk());
    const auto longest = [&](const char* part) { return result.longest(part); };
    out += fmt::format(
        "T_PHASE TOTAL create={:.6f} create_cls={:.6f} open={:.6f} {}={:.6f} close={:.6f} "
        "tlog={:.6f}\n",
        longest("create"), longest("create_close"), longest("open"), access, longest("transfer"),
        longest("close"), longest("turn"));
    out += fmt::format("T_FILE_BARRIER TOTAL t={:.6f}\nT_GLOBAL_BARRIER TOTAL t={:.6f}\n",
                       longest("file_barrier"), longest("global_barrier"));
    const auto has_unlink = std::any_of(result.seconds.begin(), result.seconds.end(),
                                        [](const auto& part) { return part.first == "unlink"; });
    if (has_unlink) out += fmt::format("T_PHASE TOTAL unlink={:.6f}\n", longest("unlink"));
    if (result.error_count > 0) {
        out += fmt::format("{} WRONG: {}\n", count_of(result.error_count, "call"),
                           result.errors.front().text());
    }
    return out;
}

Result<ClassicProgram::Translation> translate_partest(const std::vector<std::string>& words,
                                                      const std::vector<std::string>& further) {
    ClassicProgram::Translation translation;
    if (std::any_of(words.begin(), words.end(),
                    [](const auto& word) { return word == "-h" || word == "--help"; })) {
        translation.message = partest_help;
        translation.help = true;
        return translation;
    }
    const auto complaint = [](const std::string& text) {
        return usage_error(text + "\n" + partest_help);
    };
    const auto letters = read_letters(words);
    if (!letters) return complaint(letters.error().cause);
    PartestTranslator translator(*letters);
    translation.arguments = translator.own();
    if (translator.wrong()) return complaint(*translator.wrong());
    translation.arguments.insert(translation.arguments.end(), further.begin(), further.end());
    const PartestTasks tasks{letters->contains('v'), letters->contains('d'), letters->contains('D'),
                             translator.files() > 1};
    translation.benchmark = partest::make_benchmark(std::make_unique<PartestView>(tasks));
    return translation;
}

}  // namespace effio
