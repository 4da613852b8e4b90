// SPDX-License-Identifier: BSD-3-Clause
// IOR's command line, translated.
#include "classic/ior.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <fstream>
#include <iostream>

#include "benchmarks/ior/plan.hpp"
#include "classic/ior_backend.hpp"
#include "parallel/system.hpp"
#include "storage/posix_calls.hpp"

namespace effio {
namespace {

std::string lower(std::string text) {
    for (char& c : text) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    return text;
}

std::string base_of(const std::string& path) {
    const auto slash = path.rfind('/');
    return slash == std::string::npos ? path : path.substr(slash + 1);
}

std::vector<std::string> split(const std::string& text, char at) {
    std::vector<std::string> parts;
    std::size_t begin = 0;
    while (true) {
        const auto end = text.find(at, begin);
        parts.push_back(text.substr(begin, end - begin));
        if (end == std::string::npos) return parts;
        begin = end + 1;
    }
}

/// One test while it is translated.
class Translator {
  public:
    Translator(const IorOptions& o, int tasks) : o_(o), tasks_(tasks) {}

    Result<IorTranslation> translate() {
        add("--quiet");
        add("--progress=none");
        refuse_unsupported();
        backend();
        files();
        workload();
        calls();
        limits();
        data();
        if (!faults_.empty()) return usage_error(faults_);
        return std::move(out_);
    }

  private:
    void add(std::string word) { out_.arguments.push_back(std::move(word)); }
    template <class T>
    void add(std::string_view name, const T& value) {
        out_.arguments.push_back(fmt::format("--{}={}", name, value));
    }
    void fault(const std::string& text) { faults_ += text + "\n"; }
    void warn(const std::string& text) { out_.warnings.push_back(text); }

    void refuse_unsupported() {
        if (o_.shared_pointer != 0) fault("-P: shared file pointers are not supported");
        if (o_.dual_mount != 0) fault("-y: dual mounts are not supported");
        if (o_.random_prefill != 0) fault("--randomPrefill is not supported");
        if (o_.range_locks != 0) fault("--posix.rangelocks is not supported");
        if (o_.gpu_direct != 0 || o_.gpu_buffer != 0) fault("buffers on GPUs are not supported");
        if (o_.num_nodes >= 0 || o_.tasks_on_node0 >= 0) {
            warn("numNodes and numTasksOnNode0 are ignored: the nodes are found");
        }
    }

    void backend() {
        auto backend = backend_of(o_);
        for (auto& word : backend.arguments) add(std::move(word));
        for (auto& text : backend.warnings) warn(text);
        for (auto& text : backend.faults) fault(text);
        views_ = lower(o_.api).starts_with("mpi");
    }

    void files() {
        auto paths = split(o_.test_file, '@');
        add("dir", parent_of(paths[0]));
        add("name", base_of(paths[0]));
        if (o_.file_per_proc != 0) {
            add("files", "per-process");
            for (std::size_t i = 1; i < paths.size(); ++i) {
                if (base_of(paths[i]) != base_of(paths[0])) {
                    fault("-o: several paths must differ in their directories alone");
                    break;
                }
                add("more-dirs", parent_of(paths[i]));
            }
        } else if (paths.size() > 1) {
            warn("-o: without -F only the first path is used");
        }
        if (o_.unique_dir != 0) {
            if (o_.file_per_proc == 0) fault("-u needs -F");
            if (paths.size() > 1) fault("-u takes one path");
            add("--rank-dirs");
        }
        if (o_.multi_file != 0) add("--file-each-repetition");
        if (o_.keep != 0) add("--keep");
        if (o_.keep_with_error != 0) add("--keep-on-errors");
        if (o_.use_existing != 0) {
            add("--use-existing");
        } else {
            add("--overwrite");  // the original replaces files of its names without asking
        }
    }

    void workload() {
        const bool none =
            o_.write == 0 && o_.read == 0 && o_.check_read == 0 && o_.check_write == 0;
        const bool writes = none || o_.write != 0;
        const bool reads = none || o_.read != 0 || o_.check_read != 0;
        writes_ = writes;
        if (writes && reads) {
            add("phases", "write,read");
        } else {
            add("phases", writes ? "write" : "read");
        }
        if (o_.check_write != 0) add("verify", writes ? "write" : "read");
        if (o_.check_read != 0 && !(o_.check_write != 0 && !writes)) add("verify", "read");
        if (o_.block % std::max<std::int64_t>(o_.transfer, 1) != 0) {
            fault(fmt::format("block size (-b {}) must be a multiple of transfer size (-t {})",
                              o_.block, o_.transfer));
        }
        add("block", o_.block);
        add("transfer", o_.transfer);
        add("segments", o_.segments);
        add("repetitions", o_.repetitions);
        if (o_.num_tasks > tasks_) {
            warn(fmt::format("-N {}: only {} tasks are there", o_.num_tasks, tasks_));
        } else if (o_.num_tasks > 0) {
            add("ranks", o_.num_tasks);
        }
        if (o_.random_offset > 0) {
            const bool collective = o_.collective != 0 || o_.file_view != 0;
            if (collective) fault("-z cannot be had with collective calls or views");
            add("order", o_.random_offset > 1 ? "random" : "shuffled");
            if (o_.random_offset_seed >= 0) add("order-seed", o_.random_offset_seed);
        }
        if (o_.reorder != 0 && o_.reorder_random != 0) fault("-C and -Z exclude each other");
        const char* from = "same";
        if (o_.reorder != 0) from = "shifted";
        if (o_.reorder_random == 1) from = "random";
        if (o_.reorder_random > 1) from = "shuffled";
        add("read-from", from);
        add("distance", o_.task_offset);
        if (o_.reorder_random != 0) add("partner-seed", std::abs(o_.reorder_seed));
    }

    void calls() {
        if (o_.collective != 0) add("--collective");
        if (views_ && o_.strided_type != 0) {
            add("placement", "strided");
        } else if (views_ && o_.file_view != 0) {
            add("placement", "view");
        }
        if (o_.preallocate != 0 && lower(o_.api) != "ncmpi") add("--preallocate");
        add("sync", o_.fsync_per_write != 0 ? "each" : o_.fsync != 0 ? "end" : "none");
        if (o_.barriers != 0) add("--barriers");
        if (o_.delay > 0) add("delay", o_.delay);
        if (o_.inter_io_delay > 0) add("think-time", fmt::format("{}us", o_.inter_io_delay));
        hold_memory();
    }

    void hold_memory() {
        const std::string& text = o_.memory_per_node;
        std::int64_t bytes = o_.memory_per_task;
        if (bytes > 0) bytes *= tasks_;  // of one node, where all tasks may be
        if (text.ends_with('%')) {
            const auto percent = parse_integer(std::string_view(text).substr(0, text.size() - 1));
            if (!percent || *percent < 0 || *percent > 100) {
                fault(fmt::format("-M: '{}' is no part of the memory", text));
                return;
            }
            bytes = find_memory().total_bytes / 100 * *percent;
        } else if (!text.empty()) {
            const auto size = parse_ior_size(text);
            if (!size) {
                fault("-M: " + size.error().cause);
                return;
            }
            bytes = *size;
        }
        if (bytes > 0) add("hold-memory", bytes);
    }

    void limits() {
        if (o_.deadline > 0) add("stonewall", o_.deadline);
        if (o_.wear_out != 0) {
            if (o_.deadline <= 0) fault("stoneWallingWearOut needs -D");
            add("--wear-out");
        }
        if (o_.wear_out_iterations > 0) add("max-transfers", o_.wear_out_iterations);
        if (!o_.status_file.empty()) {
            if (writes_ && o_.keep == 0) fault("stoneWallingStatusFile needs -k");
            if (writes_ && o_.wear_out == 0) {
                fault("stoneWallingStatusFile needs stoneWallingWearOut");
            }
            add("count-file", o_.status_file);
        }
        if (o_.min_duration > 0) add("min-time", o_.min_duration);
        if (o_.max_duration > 0) add("time-limit", fmt::format("{}min", o_.max_duration));
        if (o_.quit_on_error != 0) add("--stop-on-errors");
        if (o_.outlier_threshold > 0) add("--slowest");
        if (!o_.rank_csv.empty()) add("--rank-details");
        if (!o_.calls_csv.empty()) add("save-calls", o_.calls_csv);
    }

    /// Without -l data are position-dependent; with a signature and no -l they are the original's
    /// default, so that runs of both programs can check each other's files.
    void data() {
        const std::string type = lower(o_.data_type);
        std::string kind;
        if (type.empty()) {
            kind = o_.signature != 0 ? "timestamp" : "stamped";
        } else if (type == "t" || type == "timestamp") {
            kind = "timestamp";
        } else if (type == "o" || type == "offset") {
            kind = "offset";
        } else if (type == "i" || type == "incompressible" || type == "r" || type == "random") {
            kind = "stamped";
        } else {
            fault(fmt::format("-l {}: timestamp, offset, incompressible and random are known",
                              o_.data_type));
            return;
        }
        add("data", kind);
        const bool checks = o_.check_read != 0 || o_.check_write != 0;
        if (checks && !writes_ && o_.signature == 0) {
            fault("-R or -W without -w needs the signature (-G) that the data were written with");
        }
        if (o_.signature != 0) {
            add("seed", static_cast<std::uint32_t>(o_.signature) & 0x7fffffffU);
        }
    }

    const IorOptions& o_;
    int tasks_;
    bool views_ = false;
    bool writes_ = true;
    IorTranslation out_;
    std::string faults_;
};

/// The one report of all tests. A run that failed has said what it measured until then.
struct SharedReport {
    explicit SharedReport(std::unique_ptr<IorReport> one) : report(std::move(one)) {}
    SharedReport(const SharedReport&) = delete;
    SharedReport& operator=(const SharedReport&) = delete;
    ~SharedReport() { finish(); }
    void finish() {
        if (begun && !finished) report->finish();
        finished = true;
    }
    std::unique_ptr<IorReport> report;
    bool begun = false;
    bool finished = false;
};

/// Hands the events of one test to the report of all.
class TestView : public ior::Observer {
  public:
    TestView(std::shared_ptr<SharedReport> report, int test, bool last, IorOptions options)
        : shared_(std::move(report)), test_(test), last_(last), options_(std::move(options)) {}

    void start(const ior::Setup& setup) override {
        shared_->begun = true;
        shared_->report->begin_test(test_, setup);
    }
    void phase(const ior::PhaseResult& result) override {
        shared_->report->row({result, test_});
        save_ranks(result);
        name_outliers(result);
    }
    void removed(std::int64_t repetition, double seconds) override {
        shared_->report->removed(test_, repetition, seconds);
    }
    void end(const ior::RunResult& run) override {
        shared_->report->end_test(test_, run);
        if (last_) shared_->finish();
    }

  private:
    /// One line for each rank, as IOR writes them; B/s.
    void save_ranks(const ior::PhaseResult& r) {
        if (options_.rank_csv.empty()) return;
        const bool fresh = !saved_ && test_ == 0;  // later tests add to the file of the first
        saved_ = true;
        std::ofstream out(options_.rank_csv, fresh ? std::ios::trunc : std::ios::app);
        out.seekp(0, std::ios::end);
        if (out.tellp() == 0) {
            out << "access,rank,runtime-with-openclose,runtime,throughput-withopenclose,"
                   "throughput\n";
        }
        int rank = 0;
        const auto rate = [](double bytes, double time) { return time > 0 ? bytes / time : 0.0; };
        for (const auto& d : r.rank_details) {
            out << fmt::format("{},{},{:.9f},{:.9f},{:.3f},{:.3f}\n", name(r.access), rank++,
                               d.total, d.transfer, rate(d.bytes, d.total),
                               rate(d.bytes, d.transfer));
        }
        out.close();
        if (!out) fmt::print(stderr, "ior: WARNING: cannot write {}\n", options_.rank_csv);
    }

    void name_outliers(const ior::PhaseResult& r) const {
        if (options_.outlier_threshold <= 0 || r.seconds.empty()) return;
        const double mean = r.span("transfer").seconds() > 0 ? r.seconds[2].second.mean : 0;
        for (const auto& slow : r.slowest) {
            if (slow.value <= mean + static_cast<double>(options_.outlier_threshold)) continue;
            fmt::print(stderr,
                       "ior: WARNING: rank {} on {} needed {:.6f} s for its calls, the mean is "
                       "{:.6f} s\n",
                       slow.rank, slow.host, slow.value, mean);
        }
    }

    std::shared_ptr<SharedReport> shared_;
    int test_;
    bool last_;
    IorOptions options_;
    bool saved_ = false;
};

IorSink sink_of(const std::string& file) {
    if (file.empty()) {
        return [](const std::string& text) {
            std::fputs(text.c_str(), stdout);
            std::fflush(stdout);
        };
    }
    auto fresh = std::make_shared<bool>(true);
    return [file, fresh](const std::string& text) {
        std::ofstream out(file, *fresh ? std::ios::trunc : std::ios::app);
        *fresh = false;
        out << text;
        out.close();
        if (!out) fmt::print(stderr, "ior: cannot write {}\n", file);
    };
}

Result<std::shared_ptr<SharedReport>> report_of(const IorCommand& command,
                                                const std::vector<std::string>& words) {
    const IorOptions& first = command.tests.front();
    IorReportRequest request{command.tests, fmt::format("ior {}", fmt::join(words, " "))};
    const std::string format = lower(first.summary_format);
    IorSink sink = sink_of(first.summary_file);
    if (format == "default") {
        return std::make_shared<SharedReport>(make_ior_text(std::move(request), std::move(sink)));
    }
    if (format == "json") {
        return std::make_shared<SharedReport>(make_ior_json(std::move(request), std::move(sink)));
    }
    if (format == "csv") {
        return std::make_shared<SharedReport>(make_ior_csv(std::move(sink)));
    }
    return usage_error(
        fmt::format("summaryFormat={}: default, JSON and CSV are known\n", first.summary_format));
}

}  // namespace

Result<IorTranslation> translate_ior_test(const IorOptions& options, int tasks) {
    return Translator(options, tasks).translate();
}

Result<ClassicProgram::Translation> translate_ior(const std::vector<std::string>& words) {
    auto command = parse_ior(words);
    if (!command) return command.error();
    ClassicProgram::Translation translation;
    if (command->help) {
        translation.message = ior_help();
        return translation;
    }
    const auto report = report_of(*command, words);
    if (!report) return report.error();
    const int tasks = launcher_size().value_or(1);
    std::vector<ior::Test> tests;
    std::string plans;
    const bool speaks = launcher_rank().value_or(0) == 0;
    for (std::size_t i = 0; i < command->tests.size(); ++i) {
        const IorOptions& o = command->tests[i];
        auto translated = translate_ior_test(o, tasks);
        if (!translated) return translated.error();
        for (const auto& warning : translated->warnings) {
            if (speaks) fmt::print(stderr, "ior: WARNING: {}\n", warning);
            if (o.warning_as_errors != 0) return usage_error(warning + "\n");
        }
        ior::Test test;
        OptionTable table("ior", "");
        test.parameters.declare(table);
        // The options of the run itself are no part of a test.
        const std::vector<std::string> own(translated->arguments.begin() + 2,
                                           translated->arguments.end());
        auto status = table.parse(own);
        if (status) status = test.parameters.check();
        if (!status) {
            // A backend that is missing here is no fault of the command line.
            Error error = status.error();
            if (error.exit_code != ExitCode::usage) error.cause = error.text();
            error.cause += "\n";
            return error;
        }
        if (o.dry_run != 0) {
            const auto plan = ior::make_plan(test.parameters, {tasks, tasks, 1e9});
            if (!plan) return plan.error();
            plans += plan->text;
        }
        test.view = std::make_unique<TestView>(*report, static_cast<int>(i),
                                               i + 1 == command->tests.size(), o);
        tests.push_back(std::move(test));
        if (i == 0) translation.arguments = std::move(translated->arguments);
    }
    if (!plans.empty()) {
        translation.message = plans;
        return translation;
    }
    translation.benchmark = ior::make_benchmark(std::move(tests));
    return translation;
}

double IorRow::wr_rd() const {
    const auto& calls = result.span("transfer");
    const auto& sync = result.span("sync");
    return std::max(calls.end, sync.end) - calls.begin;
}

double IorRow::iops() const {
    const double time = wr_rd();
    return time > 0 ? static_cast<double>(result.operations) / time : 0;
}

double IorRow::latency() const {
    const double calls = static_cast<double>(result.operations) / result.ranks;
    if (calls <= 0) return 0;
    double seconds = 0;
    for (const auto& [part, spread] : result.seconds) {
        if (part == "transfer" || part == "sync") seconds += spread.mean;
    }
    return seconds / calls;
}

std::vector<IorSummary> summaries_of(const ior::RunResult& run) {
    std::vector<IorSummary> all;
    const auto& p = run.setup.parameters;
    for (const ior::Access access : {ior::Access::write, ior::Access::read}) {
        if (access == ior::Access::write ? !p.writes() : !p.reads()) continue;
        IorSummary s;
        s.access = access;
        Samples wall_seconds;
        Samples wall_mib;
        for (const auto& phase : run.phases) {
            if (phase.access != access || !phase.valid) continue;
            s.mib_per_second.add(phase.rate / static_cast<double>(MiB));
            const double calls =
                static_cast<double>(phase.bytes) / static_cast<double>(phase.transfer);
            s.operations_per_second.add(phase.total > 0 ? calls / phase.total : 0);
            s.seconds.add(phase.total);
            if (!phase.stonewall) continue;
            const double time = phase.stonewall->wall.last_seconds;
            wall_seconds.add(time);
            wall_mib.add(time > 0 ? phase.stonewall->total_bytes() / static_cast<double>(MiB) / time
                                  : 0);
        }
        if (wall_seconds.count() > 0) {
            s.stonewall_seconds = wall_seconds.mean();
            s.stonewall_mib = wall_mib.mean();
        }
        all.push_back(s);
    }
    return all;
}

std::string ior_time_text() {
    const std::time_t now = std::time(nullptr);
    std::array<char, 32> text{};
    ctime_r(&now, text.data());
    return std::string(text.data()).substr(0, 24);
}

std::string ior_machine() {
    const auto uname = find_uname();
    return uname.system + " " + uname.node;
}

}  // namespace effio
