// SPDX-License-Identifier: BSD-3-Clause
// IOR's events as lines of the result file.
#include "benchmarks/ior/views.hpp"
#include "benchmarks/round_figures.hpp"
#include "benchmarks/storage_run.hpp"

namespace effio::ior {
namespace {

constexpr const char* nothing_moved = "nothing was moved";

Json place(const Geometry& g) {
    return Json{{"files", name(g.files)},
                {"transfer_bytes", g.transfer},
                {"block_bytes", g.block},
                {"segments", g.segments},
                {"workers", g.workers}};
}

Json to_json(const StonewallResult& s) {
    return Json{{"first_done_seconds", s.wall.first_seconds},
                {"last_done_seconds", s.wall.last_seconds},
                {"tail_seconds", s.tail_seconds()},
                {"workers", s.wall.workers},
                {"workers_stopped_by_time", s.wall.timed_out},
                {"min_transfers", s.wall.min_done},
                {"mean_transfers", s.wall.mean_done},
                {"max_transfers", s.wall.max_done},
                {"total_bytes", s.total_bytes()},
                {"rate_until_last_done_bytes_per_second",
                 s.wall.last_seconds > 0 ? s.total_bytes() / s.wall.last_seconds : 0.0}};
}

Json to_json(const SteadyRule::Verdict& v) {
    return Json{{"reached", v.steady},
                {"mean_bytes_per_second", v.mean},
                {"range_bytes_per_second", v.range},
                {"drift_bytes_per_second", v.drift}};
}

Json to_json(const MixResult& m) {
    const auto times = [](const std::optional<Histogram>& calls) {
        return calls ? effio::to_json(*calls) : Json(nullptr);
    };
    return Json{{"asked_read_percent", 100 * m.asked_share},
                {"read_operations", m.read_operations},
                {"write_operations", m.write_operations},
                {"read_bytes", m.read_bytes()},
                {"write_bytes", m.write_bytes()},
                {"read_call_times", times(m.reads)},
                {"write_call_times", times(m.writes)}};
}

class RecordView : public Observer {
  public:
    explicit RecordView(Recorder& recorder) : recorder_(recorder) {}

    void phase(const PhaseResult& phase) override { recorder_.measurement(to_measurement(phase)); }

    void removed(std::int64_t repetition, double seconds) override {
        Figure f;
        f.benchmark = "ior";
        f.name = "removal_time";
        f.where = Json{{"repetition", number_of(repetition)}};
        f.metric = Metric::time(seconds);
        recorder_.figure(f);
    }

    void end(const RunResult& run) override {
        const auto& p = run.setup.parameters;
        for (const Access access : phases_in_order) {
            if (!p.does(access)) continue;
            for (const Bytes transfer : p.transfers) bandwidth(run, access, transfer.count);
        }
    }

  private:
    void bandwidth(const RunResult& run, Access access, std::int64_t transfer) {
        const auto rates = rates_of(run, access, transfer);
        Figure f;
        f.benchmark = "ior";
        const auto subject = bandwidth_of(access, transfer);
        f.name = subject.figure;
        f.where = subject.where;
        f.metric = Metric::rate(0);
        recorder_.figure(mean_of(std::move(f), rates,
                                 run.setup.parameters.segments == 0 ? nothing_moved
                                 : run.interrupted ? "interrupted before it was measured"
                                 : run.out_of_time ? "left out: --time-limit was over"
                                                   : "no repetition was valid"));
        if (run.setup.parameters.steady) steady(run, access, transfer);
    }

    void steady(const RunResult& run, Access access, std::int64_t transfer) {
        std::vector<double> rates;
        std::int64_t unsteady = 0;
        for (const auto& phase : run.phases) {
            if (phase.access != access || phase.transfer != transfer || !phase.valid) continue;
            if (phase.steady && phase.steady->steady) {
                rates.push_back(phase.steady->mean);
            } else {
                ++unsteady;
            }
        }
        Figure f;
        f.benchmark = "ior";
        f.name = std::string(ior::name(access)) + "_steady_rate";
        f.where = Json{{"access", ior::name(access)}, {"transfer_bytes", transfer}};
        f.metric = Metric::rate(0);
        f.valid = unsteady == 0 && !rates.empty();
        if (unsteady > 0) f.reasons.emplace_back("a limit came before the rate was steady");
        f.detail = Json{{"repetitions_not_steady", unsteady},
                        {"window_slices", run.setup.parameters.steady_window},
                        {"slice_seconds", run.setup.parameters.steady_slice.count},
                        {"tolerance", run.setup.parameters.steady_tolerance}};
        recorder_.figure(mean_of(std::move(f), rates, "the rate became steady in no repetition"));
    }

    Recorder& recorder_;
};

}  // namespace

std::vector<double> rates_of(const RunResult& run, Access access, std::int64_t transfer) {
    std::vector<double> rates;
    for (const auto& phase : run.phases) {
        if (phase.access == access && phase.transfer == transfer && phase.valid &&
            phase.bytes > 0) {
            rates.push_back(phase.rate);
        }
    }
    return rates;
}

Measurement to_measurement(const PhaseResult& r) {
    Measurement m = r.to_measurement();
    m.benchmark = "ior";
    m.pattern =
        std::string(ior::name(r.geometry.files)) + " " + std::string(name(r.geometry.order));
    m.access = ior::name(r.access);
    m.where = place(r.geometry);
    m.ranks = r.ranks;
    m.nodes = r.nodes;
    m.repetition = r.repetition;
    if (r.valid && r.bytes == 0) m.rate = Metric::none("B/s", nothing_moved);
    m.stopped_by = effio::name(r.stopped);
    Json spans = Json::object();
    for (const auto& s : r.spans) spans[s.name] = s.seconds();
    Json slowest = Json::array();
    for (const auto& s : r.slowest) {
        slowest.push_back(Json{{"rank", s.rank}, {"host", s.host}, {"transfer_seconds", s.value}});
    }
    Json ranks = Json::array();
    for (const auto& rank : r.rank_details) {
        ranks.push_back(Json{{"bytes", rank.bytes},
                             {"total_seconds", rank.total},
                             {"transfer_seconds", rank.transfer}});
    }
    m.detail.update(Json{
        {"planned_bytes", r.geometry.total_bytes()},
        {"data_seed", r.data_seed},
        {"span_seconds", std::move(spans)},
        {"transfer_rate_bytes_per_second", r.transfer_rate()},
        {"operations_per_second", r.operation_rate()},
        {"rank_bytes", r.rank_bytes.to_json()},
        {"rank_rate_bytes_per_second", r.rank_rate.to_json()},
        {"stonewall", r.stonewall ? to_json(*r.stonewall) : Json(nullptr)},
        {"steady", r.steady ? to_json(*r.steady) : Json(nullptr)},
        {"time_series", r.series.to_json()},
        {"batch_means", batch_means(r.batches, "B/s")},
        {"mix", r.mix ? to_json(*r.mix) : Json(nullptr)},
        {"verify_seconds", r.verify_seconds},
        {"ranks_on_own_node", r.ranks_on_own_node},
        {"transfers_not_direct", r.detours},
        {"remark", r.remarked},
        {"slowest_ranks", std::move(slowest)},
        {"rank_details", std::move(ranks)},
    });
    return m;
}

Json describe(const Setup& s) {
    return Json{{"ranks", s.ranks},
                {"nodes", s.nodes},
                {"ranks_on_node", Json{{"min", s.min_ranks_on_node}, {"max", s.max_ranks_on_node}}},
                {"path", s.path},
                {"library", s.backend_version},
                {"cap_bytes", s.cap_bytes},
                {"cap_reason", s.cap_reason}};
}

std::unique_ptr<Observer> make_record_view(Recorder& recorder) {
    return std::make_unique<RecordView>(recorder);
}

}  // namespace effio::ior
