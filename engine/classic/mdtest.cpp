// SPDX-License-Identifier: BSD-3-Clause
// The classic command line of mdtest, translated.
#include "classic/mdtest.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <map>
#include <optional>
#include <set>

#include "benchmarks/mdtest/mdtest.hpp"
#include "classic/ior_options.hpp"
#include "classic/mdtest_options.hpp"
#include "parallel/system.hpp"

namespace effio {
namespace {

bool is_number(const std::string& text) {
    return !text.empty() &&
           std::all_of(text.begin(), text.end(), [](unsigned char c) { return std::isdigit(c); });
}

/// One command line while it is read.
class MdtestReader {
  public:
    explicit MdtestReader(const std::vector<std::string>& words) : words_(words) {
        view_.words = words;
    }

    void read() {
        while (at_ < words_.size()) {
            const std::string word = words_[at_++];
            if (word.starts_with("--") && word.size() > 2) {
                const auto equals = word.find('=');
                const auto value = equals == std::string::npos
                                       ? std::optional<std::string>()
                                       : std::optional(word.substr(equals + 1));
                take(word.substr(2, equals == std::string::npos ? equals : equals - 2), value);
            } else if (word.starts_with('-') && word.size() > 1) {
                bundle(word);
            } else {
                complain(fmt::format("'{}' is not an option", word));
            }
        }
        finish();
    }

    bool help() const { return help_; }
    const std::string& complaints() const { return complaints_; }
    const std::vector<std::string>& translated() const { return out_; }
    const ClassicMdtest& view() const { return view_; }

  private:
    void complain(const std::string& line) { complaints_ += "mdtest: " + line + "\n"; }

    /// "-b3", "-b=3", "-CTr", "-R12".
    void bundle(const std::string& word) {
        for (std::size_t i = 1; i < word.size(); ++i) {
            const std::string name(1, word[i]);
            const MdtestOption* option = find_mdtest_option(name);
            std::string rest = word.substr(i + 1);
            if (rest.starts_with('=')) rest.erase(0, 1);
            const bool seeded = name == "R" && is_number(rest);
            if ((option != nullptr && option->value != MdtestOption::Value::none &&
                 !rest.empty()) ||
                seeded) {
                take(seeded ? "random-seed" : name, rest);
                return;
            }
            take(name, {});
        }
    }

    void take(const std::string& name, std::optional<std::string> value) {
        const MdtestOption* option = find_mdtest_option(name);
        const std::string shown = (name.size() == 1 ? "-" : "--") + name;
        if (option == nullptr) {
            complain(fmt::format("{}: no such option here; --help shows all", shown));
            return;
        }
        if (!value && option->value != MdtestOption::Value::none) {
            const bool more = at_ < words_.size();
            if (option->value == MdtestOption::Value::needed && !more) {
                complain(fmt::format("{}: needs a value", shown));
                return;
            }
            if (option->value == MdtestOption::Value::needed || (more && is_number(words_[at_]))) {
                value = words_[at_++];
            }
        }
        apply(name, value.value_or(""));
    }

    void number(const std::string& letter, const std::string& text, const std::string& ours) {
        const auto n = parse_ior_size(text);  // "1k" is 1024 here, too
        if (!n || *n < 0) {
            complain(fmt::format("-{}: '{}' is not a non-negative number", letter, text));
        } else {
            out_.push_back(fmt::format("--{}={}", ours, *n));
        }
    }
    /// 0 means that the option was not given, and the last one counts.
    void count(const std::string& letter, const std::string& text) {
        counts_.erase(letter);
        if (text != "0") counts_.emplace(letter, text);
    }
    void bytes(const std::string& letter, const std::string& text, std::int64_t& target) {
        const auto n = parse_ior_size(text);
        if (!n || *n < 0) complain(fmt::format("-{}: '{}' is not a size", letter, text));
        target = n ? *n : 0;
    }
    void flag(const std::string& ours) { out_.push_back("--" + ours); }

    void apply(const std::string& name, const std::string& value) {
        if (name.size() > 1) return apply_long(name, value);
        switch (name[0]) {
            case 'a':
                api_ = lower_case(value);
                return;
            case 'b':
                return number(name, value, "branching");
            case 'z':
                return number(name, value, "depth");
            case 'B':
                no_barriers_ = value != "0";
                return;
            case 'c':
                return flag("by-root");
            case 'C':
                phases_.insert("create");
                return;
            case 'T':
                phases_.insert("stat");
                return;
            case 'E':
                phases_.insert("read");
                return;
            case 'U':
                phases_.insert("rename");
                return;
            case 'r':
                phases_.insert("remove");
                return;
            case 'd':
                directory_ = value;
                return;
            case 'D':
                directories_ = true;
                return;
            case 'F':
                files_ = true;
                return;
            case 'e':
                return bytes(name, value, read_bytes_);
            case 'w':
                return bytes(name, value, write_bytes_);
            case 'f':
                return sweep(name, value, first_);
            case 'l':
                return sweep(name, value, last_);
            case 's':
                return sweep(name, value, stride_);
            case 'g':
                view_.notes.emplace_back("-g: the layout of directories is left as it is");
                return;
            case 'G':
                seed_ = value;
                return;
            case 'h':
                help_ = true;
                return;
            case 'i':
                return number(name, value, "iterations");
            case 'I':
            case 'n':
                return count(name, value);
            case 'k':
                mknod_ = true;
                return;
            case 'L':
                return flag("leaf-only");
            case 'N':
                return number(name, value, "rank-shift");
            case 'p':
                return number(name, value, "delay");
            default:
                return apply_more(name[0], value);
        }
    }

    void apply_more(char letter, const std::string& value) {
        switch (letter) {
            case 'P':
                both_tables_ = true;
                return;
            case 'Z':
                view_.times = true;
                view_.rates = false;
                return;
            case 'R':
                random_order_ = true;
                return;
            case 'S':
                files_ = shared_ = true;
                return flag("shared-files");
            case 't':
                entry_ = true;
                return;
            case 'u':
                unique_ = true;
                return;
            case 'v':
                view_.each_phase = true;
                return;
            case 'V':
                view_.each_phase = view_.each_phase || value != "0";
                return;
            case 'W':
                wall_ = value;
                return;
            case 'x':
                wall_file_ = value;
                return;
            case 'X':
                verify_ = true;
                return;
            case 'y':
                sync_files_ = true;
                return;
            case 'Y':
                return flag("sync-phases");
            default:
                return;
        }
    }

    void apply_long(const std::string& name, const std::string& value) {
        if (name.starts_with("dummy.")) {
            dummy(name, value);
        } else if (name == "help") {
            help_ = true;
        } else if (name.starts_with("verify")) {
            verify_ = true;
        } else if (name == "random-seed") {
            random_order_ = true;
            seed_ = value;
        } else if (name == "as-of-2017") {
            as_of_2017_ = true;
        } else if (name == "savePerOpDataCSV") {
            flag("save-calls=" + value);
        } else if (name == "saveRankPerformanceDetails") {
            flag("save-rank-details=" + value);
        } else if (name == "run-cmd-before-phase") {
            flag("run-before-phase=" + value);
        } else if (name == "run-cmd-after-phase") {
            flag("run-after-phase=" + value);
        } else if (name == "posix.odirect") {
            direct_ = true;
        } else if (name == "posix.rangelocks") {
            complain("--posix.rangelocks: range locks are not supported");
        } else if (name == "overwrite") {
            flag("overwrite");
        } else if (name == "dataPacketType") {
            view_.notes.emplace_back(
                "--dataPacketType: data are always such that neither compression nor "
                "deduplication gains, and that show a misplaced file");
        } else if (name == "showRankStatistics") {
            view_.rank_statistics = true;
        } else if (name == "print-all-procs") {
            view_.all_ranks = true;
        }
    }

    void dummy(const std::string& name, const std::string& value) {
        dummy_given_ = true;
        if (name == "dummy.delay-only-rank0") {
            only_rank0_ = true;
            return;
        }
        const auto n = parse_integer(value);
        if (!n || *n < 0 || *n > longest_delay) {
            complain(fmt::format("--{}: '{}' is not a number of microseconds", name, value));
            return;
        }
        const std::string_view what = std::string_view(name).substr(name.rfind('-') + 1);
        (what == "create"  ? delay_create_
         : what == "close" ? delay_close_
         : what == "sync"  ? delay_sync_
                           : delay_transfer_) = *n;
    }

    /// A file that is created or read is closed; what else is done with it depends on the line.
    std::string delays_of_dummy() const {
        const std::int64_t written = write_bytes_ > 0 ? delay_transfer_ : 0;
        const std::int64_t synced = sync_files_ ? delay_sync_ : 0;
        const std::int64_t made = delay_create_ + (mknod_ ? 0 : written + synced + delay_close_);
        const std::int64_t read = (read_bytes_ > 0 ? delay_transfer_ : 0) + delay_close_;
        return fmt::format("create={}us,read={}us{}", made, read,
                           only_rank0_ ? ",only-rank=0" : "");
    }

    void backend() {
        std::string value = api_ == "dummy" ? "null" : api_;
        if (value != "posix" && value != "null" && value != "sim") {
            complain(
                fmt::format("-a: {} does not serve names; POSIX, DUMMY, NULL or SIM do", value));
            return;
        }
        if (value == "posix" && direct_) value = "direct";
        flag("backend=" + value);
        if (dummy_given_ && value == "null") {
            flag("backend-options=" + delays_of_dummy());
        } else if (dummy_given_) {
            view_.notes.push_back("the delays of DUMMY have no effect with -a " + api_);
        }
        if (value == "sim") flag("backend-options=metadata=1ms");
    }

    void sweep(const std::string& letter, const std::string& value, std::int64_t& target) {
        const auto n = parse_integer(value);
        if (!n || *n < 0) {
            complain(fmt::format("-{}: '{}' is not a number of tasks", letter, value));
            return;
        }
        target = *n;
    }

    void finish() {
        if (both_tables_) view_.rates = view_.times = true;  // also with -Z
        if (view_.times) {
            view_.notes.emplace_back("ms/op: milliseconds that one operation took one task");
        }
        if (view_.rank_statistics || view_.all_ranks) flag("rank-details");
        if (directories_ != files_) flag(files_ ? "things=files" : "things=directories");
        if (phases_.empty()) {
            phases_ = {"create", "stat", "read", "rename", "remove"};
            if (as_of_2017_) phases_.erase("rename");
        }
        flag(fmt::format("phases={}", fmt::join(phases_, ",")));
        // The original leaves what it was not set to remove.
        if (!phases_.contains("remove")) flag("keep");
        stonewall();
        base_directories();
        if (unique_) flag("unique");
        if (entry_ && unique_) flag("time-entry");
        if (random_order_) flag("random-order");
        if (seed_ && *seed_ != "-1") number("G", *seed_, "seed");  // -1: any
        for (const auto& [letter, text] : counts_) {
            number(letter, text, letter == "n" ? "items" : "items-per-directory");
        }
        if (counts_.empty()) flag("items=0");
        backend();
        flag(fmt::format("write-bytes={}", write_bytes_));
        flag(fmt::format("read-bytes={}", read_bytes_));
        if (verify_ && read_bytes_ == 0 && write_bytes_ == 0) {
            complain("there are no bytes to verify: give -w and -e");
        } else if (verify_) {
            flag("verify");
        }
        if (mknod_) made_by_mknod();
        if (sync_files_) flag("sync-files");
        if (no_barriers_) without_barriers();
        ranks();
        for (const char* own : {"quiet", "progress=none", "make-dir", "drop-cache=off"}) flag(own);
    }

    /// Bounds the creation of files; the original takes it in vain where there is none.
    void stonewall() {
        const bool files = files_ || !directories_;
        if (files && phases_.contains("create")) number("W", wall_, "stonewall");
        if (files && !wall_file_.empty()) flag("stonewall-file=" + wall_file_);
    }

    void base_directories() {
        std::string rest = directory_;
        for (bool first = true;; first = false) {
            const auto at = rest.find('@');
            out_.push_back((first ? "--dir=" : "--also-dir=") + rest.substr(0, at));
            if (at == std::string::npos) return;
            rest.erase(0, at + 1);
        }
    }

    void made_by_mknod() {
        if (as_of_2017_) {
            view_.notes.emplace_back(
                "-k: did nothing in the mdtest that the documents of 2017 used, and does nothing "
                "now; files are created by open");
            return;
        }
        if (shared_) {
            view_.notes.emplace_back(
                "-k: with -S files are created by open, because mknod(2) fails where another task "
                "was first");
            return;
        }
        view_.notes.emplace_back(
            "-k: files are created by mknod(2), without open and close, so the rate of creation "
            "does not compare with that of documents before 2018, where -k did nothing: for those "
            "give --as-of-2017 or leave -k out");
        if (sync_files_) {
            view_.notes.emplace_back("-y: with -k no file is opened that could be synced");
            sync_files_ = false;
        }
        flag("create=mknod");
    }

    /// The tasks of a shared tree have to wait for each other.
    void without_barriers() {
        if (unique_) return flag("no-barriers");
        view_.notes.emplace_back(
            "-B: without -u the tasks wait for each other after each phase, because they work in "
            "one tree");
    }

    void ranks() {
        if (first_ == 0 && last_ == 0) return;
        const std::int64_t size = launcher_size().value_or(1);
        const std::int64_t last = last_ > 0 ? std::min(last_, size) : size;
        const std::int64_t first = first_ > 0 ? first_ : size;
        std::string list;
        for (std::int64_t n = first; n <= last; n += std::max<std::int64_t>(stride_, 1)) {
            list += fmt::format("{}{}", list.empty() ? "" : ",", n);
        }
        if (list.empty()) {
            complain(fmt::format("-f {} -l {}: no number of tasks is left", first, last));
        } else {
            flag("ranks=" + list);
        }
    }

    const std::vector<std::string>& words_;
    std::size_t at_ = 0;
    std::string complaints_;
    std::vector<std::string> out_;
    ClassicMdtest view_;
    std::set<std::string> phases_;
    std::string directory_ = "./out";
    std::string api_ = "posix";
    std::string wall_ = "0";
    std::string wall_file_;
    std::int64_t read_bytes_ = 0;
    std::int64_t write_bytes_ = 0;
    std::int64_t first_ = 0;
    std::int64_t last_ = 0;
    std::int64_t stride_ = 1;
    std::optional<std::string> seed_;
    bool random_order_ = false;
    std::map<std::string, std::string> counts_;  ///< how many items: by letter, -n or -I
    bool sync_files_ = false;
    bool direct_ = false;
    bool dummy_given_ = false;
    bool only_rank0_ = false;
    // Of DUMMY, microseconds.
    static constexpr std::int64_t longest_delay = 1'000'000'000;
    std::int64_t delay_create_ = 0;
    std::int64_t delay_close_ = 0;
    std::int64_t delay_sync_ = 0;
    std::int64_t delay_transfer_ = 0;
    bool both_tables_ = false;  ///< -P
    bool no_barriers_ = false;
    bool shared_ = false;
    bool help_ = false;
    bool directories_ = false;
    bool files_ = false;
    bool unique_ = false;
    bool entry_ = false;
    bool verify_ = false;
    bool mknod_ = false;
    bool as_of_2017_ = false;
};

}  // namespace

Result<ClassicProgram::Translation> translate_mdtest(const std::vector<std::string>& words,
                                                     const std::vector<std::string>& own) {
    MdtestReader reader(words);
    reader.read();
    ClassicProgram::Translation translation;
    if (reader.help()) {
        translation.message = mdtest_help();
        translation.help = true;
        return translation;
    }
    if (!reader.complaints().empty()) return usage_error(reader.complaints());
    translation.benchmark = mdtest::make_benchmark(make_classic_mdtest_view(reader.view()),
                                                   make_classic_mdtest_rank_table());
    translation.arguments = reader.translated();
    translation.arguments.insert(translation.arguments.end(), own.begin(), own.end());
    return translation;
}

}  // namespace effio
