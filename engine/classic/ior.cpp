// SPDX-License-Identifier: BSD-3-Clause
// IOR as a program: its command line becomes tests of ior, their events its report and files.
#include "classic/ior.hpp"

#include <fmt/format.h>

#include <cstdio>

#include "benchmarks/ior/plan.hpp"
#include "parallel/system.hpp"
#include "parallel/text_file.hpp"

namespace effio {
namespace {

/// Where the output goes.
struct Output {
    IorSink sink;
    std::function<Status()> open;  ///< before anything is measured; may be called again
};

Output output_to(const std::string& file) {
    if (file.empty()) {
        return {[](const std::string& text) {
                    std::fputs(text.c_str(), stdout);
                    std::fflush(stdout);
                },
                [] { return Status(); }};
    }
    auto summary = std::make_shared<TextFile>();
    return {[file, summary](const std::string& text) {
                if (!summary->write(text)) fmt::print(stderr, "ior: cannot write {}\n", file);
            },
            [file, summary]() -> Status {
                if (*summary) return {};
                auto made = TextFile::replace("open the summaryFile", file);
                if (!made) return std::move(made.error());
                *summary = std::move(*made);
                fmt::print("Writing output to {}\n", file);
                return {};
            }};
}

/// The one report of all tests. A run that failed has said what it measured until then.
struct SharedReport {
    SharedReport(std::unique_ptr<IorReport> one, std::function<Status()> opens)
        : report(std::move(one)), open(std::move(opens)) {}
    SharedReport(const SharedReport&) = delete;
    SharedReport& operator=(const SharedReport&) = delete;
    ~SharedReport() { finish(); }
    void finish() {
        if (begun && !finished) report->finish();
        finished = true;
    }
    std::unique_ptr<IorReport> report;
    std::function<Status()> open;
    bool begun = false;
    bool finished = false;
};

/// Hands the events of one test to the report of all.
class TestView : public ior::Observer {
  public:
    TestView(std::shared_ptr<SharedReport> report, int test, bool last, IorOptions options)
        : shared_(std::move(report)), test_(test), last_(last), options_(std::move(options)) {}

    Status ready() override { return shared_->open(); }
    void start(const ior::Setup& setup) override {
        shared_->begun = true;
        shared_->report->begin_test(test_, setup);
    }
    void phase(const ior::PhaseResult& result) override {
        shared_->report->row({result, test_});
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
    void name_outliers(const ior::PhaseResult& r) const {
        const Spread* transfer = spread_of(r.seconds, "transfer");
        if (options_.outlier_threshold <= 0 || transfer == nullptr) return;
        const double mean = r.span("transfer").seconds() > 0 ? transfer->mean : 0;
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
};

Result<std::shared_ptr<SharedReport>> report_of(const IorCommand& command,
                                                const std::vector<std::string>& words) {
    const IorOptions& first = command.tests.front();
    IorReportRequest request{command.tests, fmt::format("ior {}", fmt::join(words, " "))};
    const std::string format = lower_case(first.summary_format);
    Output out = output_to(first.summary_file);
    std::unique_ptr<IorReport> report;
    if (format == "default") {
        report = make_ior_text(std::move(request), std::move(out.sink));
    } else if (format == "json") {
        report = make_ior_json(std::move(request), std::move(out.sink));
    } else if (format == "csv") {
        report = make_ior_csv(std::move(request), std::move(out.sink));
    }
    if (report) return std::make_shared<SharedReport>(std::move(report), std::move(out.open));
    return usage_error(
        fmt::format("summaryFormat={}: default, JSON and CSV are known\n", first.summary_format));
}

}  // namespace

Result<ClassicProgram::Translation> translate_ior(const std::vector<std::string>& words,
                                                  const std::vector<std::string>& own) {
    auto command = parse_ior(words);
    if (!command) return command.error();
    ClassicProgram::Translation translation;
    if (command->help) {
        translation.message = ior_help();
        translation.help = true;
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
        translated->arguments.insert(translated->arguments.end(), own.begin(), own.end());
        for (const auto& warning : translated->warnings) {
            if (speaks) fmt::print(stderr, "ior: WARNING: {}\n", warning);
            if (o.warning_as_errors != 0) return usage_error(warning + "\n");
        }
        for (const auto& note : translated->notes) {
            if (speaks) fmt::print(stderr, "ior: note: {}\n", note);
        }
        ior::Test test;
        OptionTable table("ior", "");
        test.parameters.declare(table);
        // The options of the run itself are not part of a test.
        const std::vector<std::string> of_test(translated->arguments.begin() + 2,
                                               translated->arguments.end());
        auto status = table.parse(of_test);
        if (status) status = test.parameters.check();
        if (!status) {
            // A backend that is missing here is not a fault of the command line.
            Error error = status.error();
            if (error.exit_code != ExitCode::usage) error.cause = error.text();
            error.cause += '\n';
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
    return time > 0 ? static_cast<double>(result.calls) / time : 0;
}

double IorRow::latency() const {
    const double calls = static_cast<double>(result.calls) / result.ranks;
    if (calls <= 0) return 0;
    double seconds = 0;
    for (const auto& [part, spread] : result.seconds) {
        if (part == "transfer" || part == "sync") seconds += spread.mean;
    }
    return seconds / calls;
}

std::vector<IorSummary> summaries_of(const IorOptions& options, const ior::RunResult& run) {
    std::vector<IorSummary> all;
    if (options.only_checks()) return all;
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
            s.moved_mib.add(static_cast<double>(phase.bytes) / static_cast<double>(MiB));
            if (!phase.stonewall || options.wear_out == 0) continue;
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

std::string ior_machine() {
    const auto uname = find_uname();
    return uname.system + " " + uname.node;
}

std::string ior_kernel() {
    return find_uname().text();
}

}  // namespace effio
