// SPDX-License-Identifier: BSD-3-Clause
// IOR's JSON and CSV, with every key of the original, complete numbers and valid at any end of the
// run (docs/definitions/ior.md).
#include <fmt/format.h>

#include <array>
#include <cmath>

#include "classic/ior.hpp"
#include "core/json.hpp"
#include "core/units.hpp"
#include "parallel/local_time.hpp"
#include "parallel/system.hpp"

namespace effio {
namespace {

double kib(std::int64_t bytes) {
    return static_cast<double>(bytes) / static_cast<double>(KiB);
}
double mib_rate(const ior::PhaseResult& r) {
    return r.rate() / static_cast<double>(MiB);
}

/// Without a fraction where there is none.
Json whole(double value) {
    const auto rounded = std::llround(value);
    return static_cast<double>(rounded) == value ? Json(rounded) : Json(value);
}

std::string ior_platform() {
    const auto uname = find_uname();
    return fmt::format("{}({})", uname.node, uname.system);
}

Json parameters(int test, const IorOptions& o, const ior::Setup& s) {
    const std::string type = lower_case(o.data_type.empty() ? "t" : o.data_type.substr(0, 1));
    const auto number = static_cast<int>(std::string_view("toir").find(type));
    return Json{{"testID", test},
                {"refnum", o.ref_num},
                {"api", o.api},
                {"platform", o.platform.empty() ? ior_platform() : o.platform},
                {"testFileName", o.test_file},
                {"deadlineForStonewall", o.deadline},
                {"stoneWallingWearOut", o.wear_out},
                {"maxTimeDuration", o.max_duration},
                {"outlierThreshold", o.outlier_threshold},
                {"options", "(null)"},
                {"dryRun", o.dry_run},
                {"nodes", ior_nodes(s)},
                {"memoryPerTask", o.memory_per_task},
                {"memoryPerNode", s.parameters.hold_memory ? s.parameters.hold_memory->count : 0},
                {"tasksPerNode", ior_tasks_on_node(s)},
                {"repetitions", o.repetitions},
                {"multiFile", o.multi_file},
                {"interTestDelay", whole(o.delay)},
                {"fsync", o.fsync},
                {"fsyncperwrite", o.fsync_per_write},
                {"useExistingTestFile", o.use_existing},
                {"uniqueDir", o.unique_dir},
                {"singleXferAttempt", o.single_attempt},
                {"readFile", s.parameters.reads() ? 1 : 0},
                {"writeFile", s.parameters.writes() ? 1 : 0},
                {"filePerProc", o.file_per_proc},
                {"reorderTasks", o.reorder},
                {"reorderTasksRandom", o.reorder_random},
                {"reorderTasksRandomSeed", o.reorder_seed},
                {"randomOffset", o.random_offset},
                {"checkWrite", o.check_write},
                {"checkRead", o.check_read},
                {"dataPacketType", number},
                {"keepFile", o.keep},
                {"keepFileWithError", o.keep_with_error},
                {"warningAsErrors", o.warning_as_errors},
                {"verbose", o.verbose},
                {"data packet type", type},
                {"setTimeStampSignature/incompressibleSeed", o.signature},
                {"collective", o.collective},
                {"segmentCount", o.segments},
                {"transferSize", o.transfer},
                {"blockSize", o.block}};
}

Json human_options(const IorOptions& o, const ior::Setup& s) {
    Json all = Json::object();
    for (auto& [key, value] : ior_options_shown(o, s)) all[key] = std::move(value);
    return all;
}

class JsonReport : public IorReport {
  public:
    JsonReport(IorReportRequest request, IorSink out)
        : request_(std::move(request)), out_(std::move(out)) {
        all_ = Json{{"Version", "4.1.0+effio-" + engine_version()},
                    {"Began", now_as_ctime()},
                    {"Command line", request_.command_line},
                    {"Machine", ior_machine()},
                    {"tests", Json::array()},
                    {"summary", Json::array()}};
    }

    void begin_test(int test, const ior::Setup& setup) override {
        const IorOptions& o = request_.tests[static_cast<std::size_t>(test)];
        Json entry{{"TestID", test}, {"StartTime", now_as_ctime()}, {"Path", ior_path(o, setup)}};
        if (setup.file_system) {
            const auto& fs = *setup.file_system;
            entry["Capacity"] = fmt::format(
                "{:.1f} GiB", static_cast<double>(fs.total_bytes) / static_cast<double>(GiB));
            entry["Used Capacity"] = used_space(fs);
            entry["Inodes"] = fmt::format(
                "{:.1f} Mi", static_cast<double>(fs.total_inodes) / static_cast<double>(MiB));
            entry["Used Inodes"] = used_inodes(fs);
        }
        entry["Parameters"] = parameters(test, o, setup);
        entry["Options"] = human_options(o, setup);
        entry["Results"] = Json::array();
        all_["tests"].push_back(std::move(entry));
    }

    void row(const IorRow& row) override {
        const auto& r = row.result;
        if (request_.tests[static_cast<std::size_t>(row.test)].only_checks() &&
            r.error_count == 0) {
            return;
        }
        Json entry{{"access", name(r.access)},
                   {"bwMiB", r.valid ? Json(mib_rate(r)) : Json(nullptr)},
                   {"blockKiB", kib(r.geometry.block)},
                   {"xferKiB", kib(r.geometry.transfer)},
                   {"iops", row.iops()},
                   {"latency", row.latency()},
                   {"openTime", r.span("open").seconds()},
                   {"wrRdTime", row.wr_rd()},
                   {"closeTime", r.span("close").seconds()},
                   {"totalTime", r.total()},
                   {"iteration", r.repetition},
                   {"signature", r.data_seed},
                   {"errors", r.error_count}};
        if (!r.errors.empty()) entry["firstError"] = r.errors[0].text();
        if (!r.remarked.empty()) entry["note"] = r.remarked;
        if (r.stonewall) {
            const auto& s = *r.stonewall;
            entry["stonewall"] =
                Json{{"minPairs", s.wall.min_done},       {"maxPairs", s.wall.max_done},
                     {"minBytes", s.min_bytes()},         {"meanBytes", s.mean_bytes()},
                     {"firstDone", s.wall.first_seconds}, {"lastDone", s.wall.last_seconds}};
        }
        all_["tests"].back()["Results"].push_back(std::move(entry));
    }

    void removed(int test, std::int64_t repetition, double seconds) override {
        if (request_.tests[static_cast<std::size_t>(test)].verbose < 1) return;
        all_["tests"].back()["Results"].push_back(
            Json{{"access", "remove"}, {"totalTime", seconds}, {"iteration", repetition}});
    }

    void end_test(int test, const ior::RunResult& run) override {
        const IorOptions& o = request_.tests[static_cast<std::size_t>(test)];
        Json most = Json::object();
        for (const auto& s : summaries_of(o, run)) {
            const auto figure = [](const Samples& all, double value) {
                return all.count() > 0 ? Json(value) : Json(nullptr);
            };
            const Samples& bw = s.mib_per_second;
            const Samples& ops = s.operations_per_second;
            const std::string word(name(s.access));
            most[word + "MiB"] = figure(bw, bw.max());
            most[word + "MB"] = figure(bw, bw.max() * static_cast<double>(MiB) / MB_per_s);
            Json entry{{"operation", word},
                       {"API", o.api},
                       {"TestID", test},
                       {"ReferenceNumber", o.ref_num},
                       {"segmentCount", o.segments},
                       {"blockSize", o.block},
                       {"transferSize", o.transfer},
                       {"numTasks", run.setup.ranks},
                       {"tasksPerNode", ior_tasks_on_node(run.setup)},
                       {"repetitions", o.repetitions},
                       {"filePerProc", o.file_per_proc},
                       {"reorderTasks", o.reorder},
                       {"taskPerNodeOffset", o.task_offset},
                       {"reorderTasksRandom", o.reorder_random},
                       {"reorderTasksRandomSeed", o.reorder_seed},
                       {"bwMaxMIB", figure(bw, bw.max())},
                       {"bwMinMIB", figure(bw, bw.min())},
                       {"bwMeanMIB", figure(bw, bw.mean())},
                       {"bwStdMIB", figure(bw, bw.population_deviation())},
                       {"OPsMax", figure(ops, ops.max())},
                       {"OPsMin", figure(ops, ops.min())},
                       {"OPsMean", figure(ops, ops.mean())},
                       {"OPsSD", figure(ops, ops.population_deviation())},
                       {"MeanTime", figure(s.seconds, s.seconds.mean())},
                       {"xsizeMiB", figure(s.moved_mib, s.moved_mib.mean())}};
            if (s.stonewall_seconds) {
                entry["StoneWallTime"] = *s.stonewall_seconds;
                entry["StoneWallbwMeanMIB"] = *s.stonewall_mib;
            }
            all_["summary"].push_back(std::move(entry));
        }
        all_["tests"].back()["max"] = std::move(most);
    }

    void finish() override {
        all_["Finished"] = now_as_ctime();
        out_(json_lines(all_) + "\n");
    }

  private:
    IorReportRequest request_;
    IorSink out_;
    Json all_;
};

class CsvReport : public IorReport {
  public:
    CsvReport(IorReportRequest request, IorSink out)
        : request_(std::move(request)), out_(std::move(out)) {}

    void begin_test(int, const ior::Setup&) override {
        out_(
            "access,bw(MiB/s),IOPS,Latency,block(KiB),xfer(KiB),open(s),wr/rd(s),close(s),total(s),"
            "numTasks,iter\n");
    }
    void row(const IorRow& row) override {
        const auto& r = row.result;
        if (!r.valid || options(row.test).only_checks()) return;
        const std::array numbers{mib_rate(r),
                                 row.iops(),
                                 row.latency(),
                                 kib(r.geometry.block),
                                 kib(r.geometry.transfer),
                                 r.span("open").seconds(),
                                 row.wr_rd(),
                                 r.span("close").seconds(),
                                 r.total()};
        out_(fmt::format("{},{:.4f},{},{}\n", name(r.access), fmt::join(numbers, ","), r.ranks,
                         r.repetition));
    }
    void removed(int, std::int64_t, double) override {}
    void end_test(int, const ior::RunResult&) override {}
    void finish() override {}

  private:
    const IorOptions& options(int test) const {
        return request_.tests[static_cast<std::size_t>(test)];
    }

    IorReportRequest request_;
    IorSink out_;
};

}  // namespace

std::unique_ptr<IorReport> make_ior_json(IorReportRequest request, IorSink out) {
    return std::make_unique<JsonReport>(std::move(request), std::move(out));
}

std::unique_ptr<IorReport> make_ior_csv(IorReportRequest request, IorSink out) {
    return std::make_unique<CsvReport>(std::move(request), std::move(out));
}

}  // namespace effio
