// SPDX-License-Identifier: BSD-3-Clause
// The classic command line of b_eff_io, translated.
#include "classic/b_eff_io.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <optional>

#include "benchmarks/b_eff_io/b_eff_io.hpp"
#include "benchmarks/b_eff_io/definition.hpp"
#include "parallel/system.hpp"
#include "storage/hints.hpp"
#include "storage/posix_calls.hpp"

namespace effio {
namespace {

constexpr const char* b_eff_io_help =
    R"(b_eff_io measures the effective bandwidth of parallel file I/O.

  mpirun -np NP b_eff_io -MB <memory per process> -MT <total memory> [options]

  -MB n        memory of the unit that one MPI process uses, in MBytes (2**20); mandatory
  -MT n        total memory of the system in MBytes; mandatory
  -noshared    individual file pointers in place of the shared one; the result is not valid
  -nounique    open files without MPI_MODE_UNIQUE_OPEN
  -rewrite     rewrite with all pattern types
  -keep        keep the data files
  -N n1,n2,... numbers of processes to measure with, at most 10
               [1; 1,2; or 2**rd(0.35*log2 NP), 2**rd(0.70*log2 NP), NP]
  -T n         scheduled time for all numbers of processes together, in seconds [1800]
               (a result is valid if each number of processes has at least 1800 s)
  -p dir       directory for the data files [.]
  -i file      info file with hints: lines of
               <processes> <access> <pattern type> <chunk size> <key> <value>
  -e n         number of error messages for each pattern and process [1]
  -f prefix    prefix of the files <prefix>.prot and <prefix>.sum [b_eff_io]
)";

/// The leading decimal digits, as the original reads numbers: "12abc" is 12, "x" is 0.
std::int64_t leading_digits(const std::string& text) {
    std::int64_t value = 0;
    for (const char c : text) {
        if (c < '0' || c > '9' || value > 100'000'000'000'000) break;
        value = 10 * value + (c - '0');
    }
    return value;
}

/// One command line while it is read.
class BEffIoReader {
  public:
    explicit BEffIoReader(const std::vector<std::string>& words) : words_(words) {}

    void read() {
        while (at_ < words_.size()) {
            const std::string word = words_[at_++];
            if (word == "-MB") {
                memory_ = number(word);
            } else if (word == "-MT") {
                total_ = number(word);
            } else if (word == "-noshared") {
                header_.noshared = true;
            } else if (word == "-nounique") {
                header_.nounique = true;
            } else if (word == "-rewrite") {
                header_.rewrite = true;
            } else if (word == "-keep") {
                header_.keep = true;
            } else if (word == "-d") {
                header_.keep = false;
            } else if (word == "-adapt") {
                header_.adapt = true;
            } else if (word == "-N") {
                sizes(word);
            } else if (word == "-T") {
                if (const auto n = number(word); n) header_.scheduled_seconds = *n;
            } else if (word == "-e") {
                if (const auto n = number(word); n) messages_ = *n;
            } else if (word == "-p") {
                text(word, header_.path);
            } else if (word == "-i") {
                text(word, header_.info_file);
            } else if (word == "-f") {
                text(word, header_.prefix);
            } else {
                complain(fmt::format("Invalid option {}", word));
            }
        }
        check_info_file();
        if (!memory_) complain("Missing mandatory argument -MB <memory per process> [in MBytes]");
        if (!total_) complain("Missing mandatory argument -MT <total memory> [in MBytes]");
        if (const std::string why = why_unwritable(header_.prefix); !why.empty()) complain(why);
    }

    const std::string& complaints() const { return complaints_; }
    const ClassicHeader& header() const { return header_; }

    std::vector<std::string> translated() const {
        std::vector<std::string> out{
            "--quiet",
            "--progress=none",
            // The original replaces files of its names without asking.
            "--overwrite",
            fmt::format("--memory-per-rank={}MiB", *memory_),
            fmt::format("--total-memory={}MiB", *total_),
            fmt::format("--time={}s", header_.scheduled_seconds),
            fmt::format("--dir={}", header_.path),
            fmt::format("--messages={}", messages_),
        };
        if (!sizes_.empty()) out.push_back(fmt::format("--partitions={}", fmt::join(sizes_, ",")));
        if (!header_.info_file.empty()) out.push_back("--hints=" + header_.info_file);
        if (header_.noshared) out.emplace_back("--no-shared-pointer");
        if (header_.nounique) out.emplace_back("--no-unique-open");
        if (header_.rewrite) out.emplace_back("--rewrite");
        if (header_.keep) out.emplace_back("--keep");
        if (header_.adapt) out.emplace_back("--adapt");
        return out;
    }

  private:
    void complain(const std::string& line) { complaints_ += line + "\n"; }

    const std::string* argument(const std::string& option) {
        if (at_ >= words_.size()) {
            complain(fmt::format("Missing argument for {}", option));
            return nullptr;
        }
        return &words_[at_++];
    }

    void text(const std::string& option, std::string& target) {
        if (const auto* word = argument(option)) target = *word;
    }

    std::optional<std::int64_t> number(const std::string& option) {
        const auto* word = argument(option);
        if (word == nullptr) return {};
        const std::int64_t value = leading_digits(*word);
        if (value > 0) return value;
        complain(fmt::format("Invalid argument for {}", option));
        // "Missing mandatory argument" follows after a negative number, but not after 0.
        return word->starts_with("-") ? std::optional<std::int64_t>() : 0;
    }

    void sizes(const std::string& option) {
        const auto* word = argument(option);
        if (word == nullptr) return;
        const auto world = launcher_size();
        for (std::size_t begin = 0; begin < word->size();) {
            const std::size_t comma = std::min(word->find(',', begin), word->size());
            const std::int64_t n = leading_digits(word->substr(begin, comma - begin));
            if (n < 1 || n > world.value_or(1)) {
                complain(fmt::format("Invalid argument for {}", option));
            } else if (sizes_.size() == 10) {
                complain("Too many (>10) arguments with -N");
                return;
            } else {
                sizes_.push_back(n);
            }
            begin = comma + 1;
        }
    }

    /// The engine checks the file again; here its faults come out in the original's place and
    /// words.
    void check_info_file() {
        if (header_.info_file.empty()) return;
        const auto read = HintRules::read_file(header_.info_file);
        if (!read) {
            complain(fmt::format("b_eff_io: can't open {}", header_.info_file));
            return;
        }
        HintVocabulary words = b_eff_io::hint_vocabulary(
            sizes_.empty() ? b_eff_io::default_partitions(launcher_size().value_or(1)) : sizes_);
        words.original_words = true;
        const auto rules = HintRules::parse(*read, header_.info_file, words);
        if (!rules) complain(rules.error().cause);
    }

    const std::vector<std::string>& words_;
    std::size_t at_ = 0;
    std::string complaints_;
    std::optional<std::int64_t> memory_;
    std::optional<std::int64_t> total_;
    std::int64_t messages_ = 1;
    std::vector<std::int64_t> sizes_;
    ClassicHeader header_{
        .prefix = "b_eff_io", .path = ".", .info_file = {}, .scheduled_seconds = 1800};
};

}  // namespace

Result<ClassicProgram::Translation> translate_b_eff_io(const std::vector<std::string>& words,
                                                       const std::vector<std::string>& own) {
    BEffIoReader reader(words);
    reader.read();
    if (!reader.complaints().empty()) {
        return usage_error(reader.complaints() + "Aborted due to argument errors.\n\n" +
                           b_eff_io_help);
    }
    b_eff_io::FrontEnd front_end;
    front_end.view = make_classic_b_eff_io_view(reader.header());
    front_end.warn = [](const std::string& message) {
        std::fputs((message + "\n").c_str(), stdout);
        std::fflush(stdout);
    };
    ClassicProgram::Translation translation;
    translation.benchmark = b_eff_io::make_benchmark(std::move(front_end));
    translation.arguments = reader.translated();
    translation.arguments.insert(translation.arguments.end(), own.begin(), own.end());
    return translation;
}

}  // namespace effio
