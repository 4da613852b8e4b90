// SPDX-License-Identifier: BSD-3-Clause
#include "classic/partest.hpp"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <cstdio>
#include <map>
#include <optional>
#include <string_view>

#include "parallel/local_time.hpp"
#include "storage/posix_calls.hpp"

namespace effio {
namespace {

constexpr const char* partest_help =
    R"(Usage: partest [options]     writes, then reads; its text goes to stderr
  -f FILE   --filename     [partest_parfile.sion]; -T 3: FILE.000000, FILE.000001, ...
  -T N      --testtype     0, 1: SION container, opened for reading by all tasks together
                           or by each task; 2: one file through MPI-IO, FILE.000000;
                           3: one file per task [0]
  -n N      --numfiles     files of a container [1]
  -r SIZE   --chunksize    chunks of a container [20M]
  -q SIZE   --fsblksize    file system block, -1: ask the file system [2M]
  -b SIZE   --bufsize      bytes per call [10M]
  -s SIZE   --localsize    bytes per task [20M]
  -g SIZE   --totalsize    bytes of all tasks, replaces -s
  -F X      --factor       random extra bytes per task, up to X times -s [0]
  -O SIZE   --byteoffset   bytes of the first call
  -W 0|1|2  --write        do not write, write once, write twice [1]
  -R 0|1    --read         read [1]
  -Z K      --taskoffset   task t reads the data of task t + K [0]
  -j N      --serialized   tasks that work at a time, -1 and -2: all [-1]
  -X 0|1    --unlinkfiles  remove the files at the end, timed [0]
  -C        --nochecksum   do not check the data
  -L        --posix        system calls instead of stdio (always the case here)
  -M, -m    --collwrite, --collread   collectors write, read the container for other tasks
  -v, -d, -D   --verbose, --debugtask, --Debugtask   lines of each, the first, the last task
  -w, -Q KB, -x   --hintlargeblock, --hintiobufsize, --hintsparseacess
                           hints IBM_largeblock_io, IBM_io_buffer_size, IBM_sparse_access
Each long option takes a value (--verbose 1), and its name can be shortened.
Sizes: 20M and 20MiB count in 1024, 20MB in 1000.
)";

struct Letter {
    char letter;
    std::string_view name;
    /// The short option has a value; a long one always has.
    bool valued;
    /// Why it is refused; empty if it is not.
    std::string_view refused = {};
};

constexpr std::string_view other_machine =
    "the order of Blue Gene's I/O nodes exists on that machine only";

constexpr std::array<Letter, 29> partest_letters{{
    {'f', "filename", true},
    {'n', "numfiles", true},
    {'r', "chunksize", true},
    {'q', "fsblksize", true},
    {'T', "testtype", true},
    {'b', "bufsize", true},
    {'g', "totalsize", true},
    {'s', "localsize", true},
    {'F', "factor", true},
    {'W', "write", true},
    {'R', "read", true},
    {'v', "verbose", false},
    {'C', "nochecksum", false},
    {'d', "debugtask", false},
    {'D', "Debugtask", false},
    {'L', "posix", false},
    {'M', "collwrite", false},
    {'m', "collread", false},
    {'c', "collmsa", false, "collective calls of modular supercomputers need such a machine"},
    {'Z', "taskoffset", true},
    {'O', "byteoffset", true},
    {'j', "serialized", true},
    {'X', "unlinkfiles", true},
    {'P', "bgionode", true, other_machine},
    {'p', "bgtaskperionode", true, other_machine},
    {'Y', "bgtasksort", true, other_machine},
    {'w', "hintlargeblock", false},
    {'Q', "hintiobufsize", true},
    {'x', "hintsparseacess", false},
}};

using Letters = std::map<char, std::string>;

/// A full name, or the start of only one.
Result<const Letter*> find_long(std::string_view name) {
    const Letter* found = nullptr;
    for (const Letter& one : partest_letters) {
        if (one.name == name) return &one;
        if (name.empty() || !one.name.starts_with(name)) continue;
        if (found != nullptr) {
            return usage_error(
                fmt::format("--{} is the start of --{} and --{}", name, found->name, one.name));
        }
        found = &one;
    }
    if (found == nullptr) return usage_error(fmt::format("unknown option --{}", name));
    return found;
}

class WordReader {
  public:
    explicit WordReader(const std::vector<std::string>& words) : words_(words) {}

    Result<Letters> read() {
        for (; at_ < words_.size(); ++at_) {
            const std::string& word = words_[at_];
            if (word.size() < 2 || word[0] != '-') {
                return usage_error(fmt::format("unknown word {}", word));
            }
            if (auto done = word[1] == '-' ? long_option(word.substr(2)) : short_options(word);
                !done) {
                return std::move(done.error());
            }
        }
        return std::move(letters_);
    }

  private:
    /// The next word is a value.
    Result<std::string> next(const std::string& option) {
        if (++at_ == words_.size()) return usage_error(fmt::format("{} needs a value", option));
        return words_[at_];
    }

    Status long_option(std::string name) {
        std::optional<std::string> value;
        if (const auto equals = name.find('='); equals != std::string::npos) {
            value = name.substr(equals + 1);
            name.resize(equals);
        }
        const auto found = find_long(name);
        if (!found) return Error(found.error());
        const Letter& option = **found;
        if (!value) {
            auto word = next(fmt::format("--{}", option.name));
            if (!word) return std::move(word.error());
            value = std::move(*word);
        }
        const bool off = *value == "0";
        if (!option.refused.empty() && !off) {
            return usage_error(fmt::format("--{}: {}", option.name, option.refused));
        }
        if (!option.valued && off) {
            letters_.erase(option.letter);
        } else if (option.refused.empty()) {
            letters_[option.letter] = option.valued ? *value : "1";
        }
        return {};
    }

    Status short_options(const std::string& word) {
        for (std::size_t at = 1; at < word.size(); ++at) {
            const auto found =
                std::find_if(partest_letters.begin(), partest_letters.end(),
                             [&](const Letter& one) { return one.letter == word[at]; });
            if (found == partest_letters.end()) {
                return usage_error(fmt::format("unknown option -{}", word[at]));
            }
            if (!found->refused.empty()) {
                return usage_error(fmt::format("-{}: {}", word[at], found->refused));
            }
            if (!found->valued) {
                letters_[word[at]] = "1";
                continue;
            }
            std::string value = word.substr(at + 1);
            if (value.empty()) {
                auto following = next(fmt::format("-{}", word[at]));
                if (!following) return std::move(following.error());
                value = std::move(*following);
            }
            letters_[word[at]] = std::move(value);
            break;
        }
        return {};
    }

    const std::vector<std::string>& words_;
    std::size_t at_ = 0;
    Letters letters_;
};

/// The letters as our options; the first fault is kept.
class PartestTranslator {
  public:
    explicit PartestTranslator(const Letters& letters) : letters_(letters) {}

    std::vector<std::string> own() {
        read_request();
        // The original checks less, flushes nothing, and leaves the caches alone and its files
        // where they are.
        const std::string& file = asked_.file;
        own_ = {"--quiet",     "--progress=none",  "--overwrite",      "--exact-name",
                "--fsync=off", "--drop-cache=off", "--call-times=off", "--dir=" + parent_of(file)};
        own_.push_back("--prefix=" + file.substr(file.rfind('/') + 1) +
                       (asked_.type == 2 ? ".000000" : ""));
        own_.emplace_back(asked_.unlink ? "--unlink" : "--keep");
        // Files of another program hold its own data.
        if (asked_.unchecked || asked_.writes == 0) own_.emplace_back("--verify=off");
        constexpr std::array<const char*, 4> methods{"sion", "sion", "shared", "task-local"};
        own_.push_back(
            fmt::format("--methods={}", methods.at(static_cast<std::size_t>(asked_.type))));
        if (asked_.type == 1) own_.emplace_back("--container-open=each");
        sizes();
        phases();
        own_.push_back(fmt::format("--shift={}", asked_.shift));
        if (asked_.at_a_time == 0) fault("-j 0: no task could work");
        if (asked_.at_a_time > 0) own_.push_back(fmt::format("--at-a-time={}", asked_.at_a_time));
        files();
        if (asked_.large_blocks) own_.emplace_back("--hint=IBM_largeblock_io=true");
        if (asked_.sparse_access) own_.emplace_back("--hint=IBM_sparse_access=true");
        if (asked_.io_buffer) {
            own_.push_back(fmt::format("--hint=IBM_io_buffer_size={}K", *asked_.io_buffer));
        }
        return own_;
    }
    const std::optional<std::string>& wrong() const { return wrong_; }
    const PartestRequest& request() const { return asked_; }

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
    std::int64_t size(char letter, const char* otherwise) {
        const std::string given = text(letter, otherwise);
        const auto bytes = parse_partest_size(given);
        if (bytes) return *bytes;
        fault(fmt::format("no such size: -{}: '{}'", letter, given));
        return 0;
    }

    void read_request() {
        constexpr std::int64_t most = 2147483647;
        asked_.file = text('f', asked_.file);
        asked_.type = static_cast<int>(number('T', 0, 0, 3));
        asked_.files = number('n', 1, -most, most);
        asked_.call = size('b', "10M");
        asked_.size = size('s', "20M");
        if (has('g')) asked_.total = size('g', "0");
        asked_.chunk = size('r', "20M");
        const std::string block = text('q', "2M");
        asked_.block = block == "-1" || block == "0" ? -1 : size('q', "2M");
        asked_.first_access = size('O', "0");
        if (has('F')) {
            const auto factor = parse_real(text('F', ""));
            if (!factor) fault(fmt::format("no such number: -F: '{}'", text('F', "")));
            if (factor) asked_.random_size = *factor;
        }
        asked_.shift = number('Z', 0, 0, most);
        asked_.at_a_time = number('j', -1, -2, most);
        asked_.writes = number('W', 1, 0, 2);
        asked_.reads = number('R', 1, 0, 1) == 1;
        asked_.unlink = number('X', 0, 0, 1) == 1;
        asked_.each_task = has('v');
        asked_.first_task = has('d');
        asked_.last_task = has('D');
        asked_.collective_write = has('M');
        asked_.collective_read = has('m');
        asked_.unchecked = has('C');
        asked_.system_calls = has('L');
        asked_.large_blocks = has('w');
        asked_.sparse_access = has('x');
        if (has('Q')) asked_.io_buffer = number('Q', 0, 1, most);
    }

    void sizes() {
        const auto add = [&](const char* option, std::int64_t bytes) {
            own_.push_back(fmt::format("--{}={}", option, bytes));
        };
        add("call", asked_.call);
        add("size", asked_.size);
        if (asked_.total) add("total", *asked_.total);
        add("chunk", asked_.chunk);
        if (has('O')) add("first-access", asked_.first_access);
        if (asked_.block > 0) add("block", asked_.block);
        if (has('F')) own_.push_back("--random-size=" + text('F', ""));
    }
    void phases() {
        if (asked_.writes == 0 && !asked_.reads) fault("-W 0 -R 0: nothing to do");
        std::string list = asked_.writes > 0 ? "write" : "";
        if (asked_.reads) list += list.empty() ? "read" : ",read";
        own_.push_back("--phases=" + list);
        if (asked_.writes == 2) own_.emplace_back("--double-write");
    }

    /// The original ignores these letters where each task has its own file.
    void files() {
        if (asked_.type == 2 && asked_.files != 1) {
            fault(fmt::format("-n {}: -T 2 has one shared file here; use -n 1", asked_.files));
        }
        if (!asked_.container()) return;
        if (asked_.files < 1) {
            fault(
                fmt::format("-n {}: one file per communicator is not supported; give the number "
                            "of files",
                            asked_.files));
        } else if (asked_.files > 1) {
            own_.push_back(fmt::format("--container-files={}", asked_.files));
        }
        if ((asked_.collective_write || asked_.collective_read) && asked_.at_a_time > 0) {
            fault("-M and -m: all tasks make collective calls together, which -j excludes");
        }
        if (asked_.collective_read && asked_.type == 1) {
            fault("-m: the container is opened by all tasks together, which is -T 0");
        }
        if (asked_.collective_write) own_.emplace_back("--collective=write");
        if (asked_.collective_read) own_.emplace_back("--collective=read");
    }

    const Letters& letters_;
    PartestRequest asked_;
    std::vector<std::string> own_;
    std::optional<std::string> wrong_;
};

class PartestView : public study::Observer {
  public:
    explicit PartestView(PartestRequest request) : request_(std::move(request)) {}

    bool wants_ranks() const override { return request_.wants_ranks(); }
    void start(const Session& session) override {
        const int tasks = session.comm.size();
        partest::Parameters sizes;
        sizes.size = Bytes{request_.size};
        if (request_.total) sizes.total = Bytes{*request_.total};
        sizes.random_size = request_.random_size;
        const std::int64_t block =
            request_.block > 0 ? request_.block : block_of(parent_of(request_.file));
        print(
            classic_partest_head(request_, tasks, now_as_ctime(), block, sizes.bytes_of(0, tasks)));
    }
    void pass(const study::PassResult& result) override {
        if (result.valid) print(classic_partest_report(request_, result));
    }
    void end(const std::vector<study::Mean>&, const std::vector<study::Flow>&) override {
        print(classic_partest_end(now_as_ctime()));
    }

  private:
    static void print(const std::string& text) { std::fputs(text.c_str(), stderr); }
    static std::int64_t block_of(const std::string& directory) {
        struct stat info{};
        return ::stat(directory.c_str(), &info) == 0 ? info.st_blksize : -1;
    }

    PartestRequest request_;
};

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
    const auto letters = WordReader(words).read();
    if (!letters) return complaint(letters.error().cause);
    PartestTranslator translator(*letters);
    translation.arguments = translator.own();
    if (translator.wrong()) return complaint(*translator.wrong());
    translation.arguments.insert(translation.arguments.end(), further.begin(), further.end());
    translation.benchmark =
        partest::make_benchmark(std::make_unique<PartestView>(translator.request()));
    return translation;
}

}  // namespace effio
