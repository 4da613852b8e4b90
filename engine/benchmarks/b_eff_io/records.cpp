// SPDX-License-Identifier: BSD-3-Clause
// b_eff_io's events as lines of the result file.
#include <iterator>

#include "benchmarks/b_eff_io/views.hpp"
#include "benchmarks/round_figures.hpp"
#include "benchmarks/storage_run.hpp"

namespace effio::b_eff_io {
namespace {

Json place(std::size_t partition, std::int64_t ranks) {
    return Json{{"partition", partition}, {"ranks", ranks}};
}

class RecordView : public Observer {
  public:
    explicit RecordView(Recorder& recorder) : recorder_(recorder) {}

    void start(const Setup& setup) override {
        nodes_ = setup.nodes;
        Figure f;
        f.benchmark = "b-eff-io";
        f.name = "shared_file_pointer";
        f.metric = {setup.shared_pointer ? 1.0 : 0.0, "1", true, {}};
        f.detail = Json{{"used", setup.shared_pointer}, {"note", setup.shared_pointer_note}};
        recorder_.figure(f);
    }

    void row(const RowResult& row) override { recorder_.measurement(to_measurement(row, nodes_)); }

    void type(const TypeResult& t) override {
        Figure f = figure("type_bandwidth", t.partition, t.ranks, Metric::rate(t.rate()));
        f.where["access"] = name(t.access);
        f.where["pattern"] = name(t.type);
        f.detail = Json{{"bytes", t.bytes},
                        {"seconds", t.seconds},
                        {"open_seconds", t.open},
                        {"close_seconds", t.close},
                        {"weighted_bandwidth_bytes_per_second", t.weighted_rate},
                        {"segment_bytes", t.segment},
                        {"verified_bytes", t.verified_bytes}};
        tell_interval(f, t.estimate);
        recorder_.figure(f);
    }

    void access(const AccessResult& a) override {
        Figure f = figure("access_bandwidth", a.partition, a.ranks, Metric::rate(a.average));
        f.where["access"] = name(a.access);
        f.detail = Json{{"bytes", a.bytes},
                        {"seconds", a.seconds},
                        {"bandwidth_bytes_per_second", a.rate()},
                        {"weighted_bandwidth_bytes_per_second", a.weighted_rate},
                        {"errors", a.errors}};
        tell_interval(f, a.estimate);
        recorder_.figure(f);
    }

    void end(const RunResult& run) override {
        for (std::size_t i = 0; i < run.partitions.size(); ++i) {
            const auto& p = run.partitions[i];
            if (!p.complete()) continue;
            const std::string bad =
                p.all_rows_valid() ? "" : "a call, a sync or a size check failed in this partition";
            const auto tell = [&](const char* what, double value, const Formula& formula) {
                Figure f = judged(what, run, i, value, bad);
                tell_interval(f, run.estimated(formula).value_or(Estimate{}));
                recorder_.figure(f);
            };
            tell("write_average", p.write_average(), of_partition(i, &Pooled::write_average));
            tell("b_eff_io_partition", p.effective_bandwidth(),
                 of_partition(i, &Pooled::effective_bandwidth));
        }
        const auto best = run.best();
        if (!best) {
            Figure f;
            f.benchmark = "b-eff-io";
            f.name = "b_eff_io";
            f.metric = Metric::none("B/s", "no partition was measured completely");
            f.valid = false;
            f.reasons = {"no partition was measured completely"};
            recorder_.figure(f);
            return;
        }
        const double value = run.partitions[*best].effective_bandwidth();
        Figure whole = judged("b_eff_io", run, *best, value, "");
        tell_interval(whole, run.estimated(best_partition).value_or(Estimate{}));
        whole.detail["official_time_share"] = run.official_time_share();
        recorder_.figure(whole);
        Figure balance = figure("balance_time", *best, run.partitions[*best].ranks,
                                Metric::time(static_cast<double>(run.setup.total_memory_mib) *
                                             static_cast<double>(MiB) / value));
        balance.detail = Json{{"total_memory_bytes", run.setup.total_memory_mib * MiB},
                              {"meaning",
                               "time to write the total memory at b_eff_io; the rule of "
                               "thumb for a balanced system is 600 s"}};
        recorder_.figure(balance);
    }

  private:
    static Figure figure(const char* what, std::size_t partition, std::int64_t ranks,
                         Metric metric) {
        Figure f;
        f.benchmark = "b-eff-io";
        f.name = what;
        f.where = place(partition, ranks);
        f.metric = std::move(metric);
        return f;
    }

    static void tell_interval(Figure& f, const Estimate& estimate) {
        if (!f.metric.reason.empty()) {
            f.detail["interval"] = no_interval(f.metric.reason);
        } else if (!estimate.interval) {
            f.detail["interval"] =
                no_interval("an interval needs five complete rounds (--rounds or --until-ci)");
            if (estimate.values.size() > 1) {
                f.samples = SampleSummary{.count = std::ssize(estimate.values)};
            }
        } else {
            set_interval(f, *estimate.interval, "leaving one round out");
        }
    }

    static Figure judged(const char* what, const RunResult& run, std::size_t i, double value,
                         const std::string& bad) {
        const auto& p = run.partitions[i];
        Figure f =
            figure(what, i, p.ranks, bad.empty() ? Metric::rate(value) : Metric::none("B/s", bad));
        f.valid = run.valid(i);
        Json criteria = Json::array();
        for (const auto& c : run.criteria(i)) {
            criteria.push_back(Json{{"text", c.text}, {"reached", c.reached}});
            if (!c.reached) f.reasons.push_back("not reached: " + c.text);
        }
        f.detail = Json{{"criteria", std::move(criteria)},
                        {"partition_seconds_scheduled", run.setup.scheduled_seconds()},
                        {"errors", p.errors},
                        {"rows_cut_short_by_cap", p.rows_cut_short()},
                        {"rows_by_common_clock", p.rows_by_common_clock()}};
        return f;
    }

    Recorder& recorder_;
    int nodes_ = 1;
};

}  // namespace

Measurement to_measurement(const RowResult& row, int nodes) {
    Measurement m;
    m.benchmark = "b-eff-io";
    m.pattern = name(row.row.type);
    m.access = name(row.access);
    m.where = place(row.partition, row.ranks);
    m.where["row"] = row.row.number;
    m.where["position"] = row.row.position;
    m.where["chunk_bytes"] = row.row.chunk;
    m.where["memory_chunk_bytes"] = row.row.memory;
    m.where["is_lmax"] = row.row.is_lmax;
    m.where["is_fill_up"] = row.row.is_fill_up;
    m.where["time_units"] = row.row.units;
    m.ranks = static_cast<int>(row.ranks);
    m.nodes = nodes;
    m.repetition = row.round;
    m.bytes = row.bytes;
    m.operations = row.ranks * row.repetitions;
    m.seconds = row.spreads;
    m.ended = row.ended;
    m.valid = row.valid;
    if (row.valid) {
        m.rate = Metric::rate(row.rate());
    } else {
        m.invalid_reason = row.error_list.empty() ? "failed" : row.error_list.front().text();
        m.rate = Metric::none("B/s", "INVALID: " + m.invalid_reason);
    }
    m.stopped_by = name(row.stopped);
    m.call_times = row.call_times;
    set_hints(m, row.asked, row.granted);
    m.error_count = row.errors;
    m.errors = row.error_list;
    m.cache = row.cache;
    m.detail = Json{{"file", row.file},
                    {"counted_seconds", row.span.seconds},
                    {"clock", row.span.by_common_clock ? "common" : "root"},
                    {"scheduled_seconds", row.scheduled},
                    {"calls_per_rank", row.repetitions},
                    {"calls_allowed_by_cap", row.cap_calls},
                    {"root_seconds", Json{{"total", row.times.total},
                                          {"calls", row.times.calls()},
                                          {"barrier", row.times.barrier},
                                          {"broadcast", row.times.broadcast},
                                          {"sync", row.times.sync},
                                          {"last_call", row.times.last_call},
                                          {"last_vote", row.times.last_vote}}},
                    {"batch_means", batch_means(row.batches, "B/s")},
                    {"sets_view", row.sets_view}};
    return m;
}

Json describe(const Setup& s) {
    Json partitions = Json::array();
    for (const auto n : s.partitions) partitions.push_back(n);
    return Json{{"memory_per_rank_mib", s.memory_mib},
                {"total_memory_mib", s.total_memory_mib},
                {"lmax_bytes", s.lmax},
                {"partitions", std::move(partitions)},
                {"rounds", s.parameters.rounds},
                {"partition_seconds", s.scheduled_seconds()},
                {"time_units", s.budget.units},
                {"unit_seconds", s.budget.unit_seconds},
                {"quick_look", s.parameters.quick_look},
                {"cap_bytes", s.cap_bytes},
                {"cap_reason", s.cap_reason}};
}

std::unique_ptr<Observer> make_record_view(Recorder& recorder) {
    return std::make_unique<RecordView>(recorder);
}

}  // namespace effio::b_eff_io
