// SPDX-License-Identifier: BSD-3-Clause
// Calls a fuzz target with every file of a corpus and then with inputs made from them by chance:
//
//   TARGET CORPUS [INPUTS [SEED]]
//
// The same seed makes the same inputs everywhere. The input at work lies in the file
// "<TARGET>.input" of the working directory, which is removed at the end: after a crash it holds
// the culprit, and TARGET with a folder that holds it alone repeats the crash. An input that takes
// more than `most_seconds` is a fault as well.
#include <fcntl.h>
#include <sys/time.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "fuzz.hpp"

namespace {

constexpr std::size_t most_bytes = 8192;
constexpr int most_seconds = 20;  // of a processor for one input, far more than any should take
constexpr std::array<std::string_view, 24> numbers{"0",
                                                   "1",
                                                   "-1",
                                                   "2",
                                                   "3",
                                                   "7",
                                                   "2147483646",
                                                   "2147483647",
                                                   "2147483648",
                                                   "4294967295",
                                                   "-2147483648",
                                                   "9007199254740993",
                                                   "9223372036854775806",
                                                   "9223372036854775807",
                                                   "9223372036854775808",
                                                   "-9223372036854775808",
                                                   "18446744073709551615",
                                                   "99999999999999999999",
                                                   "1e308",
                                                   "1e-320",
                                                   "0.5",
                                                   "8EiB",
                                                   "7EiB+1PiB",
                                                   "nan"};
constexpr std::string_view signs = "=,;:-+.%/@\n\t '\"#\\";

/// Where the input stands that is at work: also there when the process is gone.
class Witness {
  public:
    explicit Witness(std::string path) : path_(std::move(path)) {
        file_ = open(path_.c_str(), O_RDWR | O_CREAT | O_TRUNC, 0644);
    }
    Witness(const Witness&) = delete;
    Witness& operator=(const Witness&) = delete;
    ~Witness() {
        close(file_);
        unlink(path_.c_str());
    }
    bool note(const std::string& input) const {
        return ftruncate(file_, 0) == 0 &&
               pwrite(file_, input.data(), input.size(), 0) == static_cast<ssize_t>(input.size());
    }

  private:
    std::string path_;
    int file_ = -1;
};

class Mutator {
  public:
    Mutator(std::vector<std::string> corpus, std::uint64_t seed)
        : corpus_(std::move(corpus)), chance_(seed) {
        for (const auto& one : corpus_) {
            std::size_t begin = 0;
            while (begin < one.size()) {
                const auto end = std::min(one.find_first_of("\n =,", begin), one.size());
                if (end > begin) words_.push_back(one.substr(begin, end - begin));
                begin = end + 1;
            }
        }
    }

    std::string make() {
        std::string text = any(corpus_);
        for (std::size_t i = 0, times = 1 + below(4); i < times; ++i) change(text);
        if (text.size() > most_bytes) text.resize(most_bytes);
        return text;
    }

  private:
    std::size_t below(std::size_t limit) { return limit == 0 ? 0 : chance_() % limit; }
    template <class List>
    std::string any(const List& list) {
        return std::string(list[below(list.size())]);
    }

    void change(std::string& text) {
        const std::size_t at = below(text.size() + 1);
        switch (below(9)) {
            case 0:
                text.insert(at, any(words_));
                break;
            case 1:
                text.insert(at, any(numbers));
                break;
            case 2:
                text.erase(at, 1 + below(12));
                break;
            case 3:
                if (at < text.size()) text[at] = static_cast<char>(below(256));
                break;
            case 4:
                text.insert(at, 1, signs[below(signs.size())]);
                break;
            case 5: {  // a line of another one
                const std::string other = any(corpus_);
                const auto begin = other.rfind('\n', below(other.size() + 1));
                const auto from = begin == std::string::npos ? 0 : begin + 1;
                text.insert(at, "\n" + other.substr(from, other.find('\n', from) - from) + "\n");
                break;
            }
            case 6:
                replace_bytes(text, at);
                break;
            default:
                replace_number(text, at);
        }
    }

    /// Bytes from `at` on become a whole number at or next to a power of two, as binary files have
    /// them: of 4 or 8 bytes, in either order.
    void replace_bytes(std::string& text, std::size_t at) {
        const std::size_t length = below(2) == 0 ? 4 : 8;
        const std::uint64_t value = (std::uint64_t{1} << below(8 * length)) + below(3) - 1;
        const bool big = below(2) == 0;
        for (std::size_t i = 0; i < length && at + i < text.size(); ++i) {
            text[at + i] = static_cast<char>(value >> 8 * (big ? length - 1 - i : i));
        }
    }

    /// The first number from `at` on becomes another one.
    void replace_number(std::string& text, std::size_t at) {
        constexpr std::string_view digits = "0123456789";
        const auto begin = text.find_first_of(digits, at);
        if (begin == std::string::npos) return;
        const auto end = std::min(text.find_first_not_of(digits, begin), text.size());
        text.replace(begin, end - begin, any(numbers));
    }

    std::vector<std::string> corpus_;
    std::vector<std::string> words_;
    std::mt19937_64 chance_;
};

/// Ends the process by SIGPROF when it has used up `most_seconds` from now on. Time of the
/// processor, because a busy machine is not the input's fault.
void limit_time() {
    const itimerval limit{.it_interval = {}, .it_value = {.tv_sec = most_seconds, .tv_usec = 0}};
    setitimer(ITIMER_PROF, &limit, nullptr);
}

std::vector<std::string> read_corpus(const char* folder) {
    std::vector<std::filesystem::path> paths;
    for (const auto& entry : std::filesystem::directory_iterator(folder)) {
        paths.push_back(entry.path());
    }
    std::sort(paths.begin(), paths.end());
    std::vector<std::string> texts;
    for (const auto& path : paths) {
        std::ifstream file(path, std::ios::binary);
        texts.emplace_back(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>());
    }
    return texts;
}

std::uint64_t number(const char* text) {
    std::uint64_t value = 0;
    std::from_chars(text, text + std::strlen(text), value);
    return value;
}

}  // namespace

int main(int argc, char** argv) {
    if (argc < 2) {
        std::fprintf(stderr, "usage: %s CORPUS [INPUTS [SEED]]\n", argv[0]);
        return 2;
    }
    const std::uint64_t inputs = argc > 2 ? number(argv[2]) : 0;
    const auto corpus = read_corpus(argv[1]);
    if (corpus.empty()) {
        std::fprintf(stderr, "%s: nothing in %s\n", argv[0], argv[1]);
        return 2;
    }
    const Witness witness{std::filesystem::path(argv[0]).filename().string() + ".input"};
    const auto one = [&](const std::string& input) {
        if (!witness.note(input)) std::abort();
        limit_time();
        LLVMFuzzerTestOneInput(reinterpret_cast<const std::uint8_t*>(input.data()), input.size());
    };
    for (const auto& input : corpus) one(input);
    Mutator mutator(corpus, argc > 3 ? number(argv[3]) : 1);
    for (std::uint64_t i = 0; i < inputs; ++i) one(mutator.make());
    std::printf("%zu of the corpus and %llu others\n", corpus.size(),
                static_cast<unsigned long long>(inputs));
}
