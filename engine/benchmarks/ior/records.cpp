// SPDX-License-Identifier: BSD-3-Clause
// IOR's events as lines of the result file.
#include <fmt/format.h>

#include "benchmarks/ior/views.hpp"
#include "core/fields.hpp"
#include "core/units.hpp"
#include "frame/round_figures.hpp"
#include "frame/storage_run.hpp"
#include "frame/until_ci.hpp"

namespace effio::ior {
namespace {

constexpr const char* nothing_moved = "nothing was moved";

const Fields<Geometry>& place_fields() {
    using G = Geometry;
    static const Fields<G> fields{
        {"files", Unit::word, "shared or per-process", [](const G& g) { return name(g.files); }},
        {"transfer_bytes", Unit::bytes, "of a call", &G::transfer},
        {"block_bytes", Unit::bytes, "consecutive bytes of a worker in a segment", &G::block},
        {"segments", Unit::count, "of a file", &G::segments},
        {"workers", Unit::count, "threads of all ranks", &G::workers}};
    return fields;
}

const Fields<StonewallResult>& stonewall_fields() {
    using S = StonewallResult;
    static const Fields<S> fields{
        {"first_done_seconds", Unit::seconds, "when the first worker stopped",
         [](const S& s) { return s.wall.first_seconds; }},
        {"last_done_seconds", Unit::seconds, "when the last worker stopped",
         [](const S& s) { return s.wall.last_seconds; }},
        {"tail_seconds", Unit::seconds, "from the first stop of a worker to the last",
         &S::tail_seconds},
        {"workers", Unit::count, "threads of all ranks", [](const S& s) { return s.wall.workers; }},
        {"workers_stopped_by_time", Unit::count, "workers that the time stopped",
         [](const S& s) { return s.wall.timed_out; }},
        {"min_transfers", Unit::count, "by the slowest worker",
         [](const S& s) { return s.wall.min_done; }},
        {"mean_transfers", Unit::number, "mean of the workers",
         [](const S& s) { return s.wall.mean_done; }},
        {"max_transfers", Unit::count, "by the fastest worker",
         [](const S& s) { return s.wall.max_done; }},
        {"total_bytes", Unit::number, "moved by all workers when the time was up", &S::total_bytes},
        {"rate_until_last_done_bytes_per_second", Unit::bytes_per_second,
         "these bytes until the last worker stopped", [](const S& s) {
             return s.wall.last_seconds > 0 ? s.total_bytes() / s.wall.last_seconds : 0.0;
         }}};
    return fields;
}

const Fields<SteadyRule::Verdict>& steady_fields() {
    using V = SteadyRule::Verdict;
    static const Fields<V> fields{
        {"reached", Unit::flag, "the rate became steady", &V::steady},
        {"mean_bytes_per_second", Unit::bytes_per_second, "over the last window", &V::mean},
        {"range_bytes_per_second", Unit::bytes_per_second, "largest - smallest in it", &V::range},
        {"drift_bytes_per_second", Unit::bytes_per_second, "of the fitted line over it",
         &V::drift}};
    return fields;
}

const Fields<MixResult>& mix_fields() {
    using M = MixResult;
    const auto times = [](const std::optional<Histogram>& calls) {
        return calls ? effio::to_json(*calls) : Json(nullptr);
    };
    static const Fields<M> fields{
        {"asked_read_percent", Unit::per_cent, "of the transfers",
         [](const M& m) { return 100 * m.asked_share; }},
        {"read_operations", Unit::count, "done", &M::read_operations},
        {"write_operations", Unit::count, "done", &M::write_operations},
        {"read_bytes", Unit::bytes, "moved", &M::read_bytes},
        {"write_bytes", Unit::bytes, "moved", &M::write_bytes},
        Field<M>("read_call_times", Unit::object, "a histogram, as `call_times`",
                 [times](const M& m) { return times(m.reads); })
            .or_null(),
        Field<M>("write_call_times", Unit::object, "a histogram, as `call_times`",
                 [times](const M& m) { return times(m.writes); })
            .or_null()};
    return fields;
}

const Fields<TimeSeries>& series_fields() {
    static const Fields<TimeSeries> fields{
        {"slice_seconds", Unit::seconds, "length of a slice", &TimeSeries::width},
        {"bytes", Unit::number, "moved in each slice", &TimeSeries::slices}};
    return fields;
}

const Fields<RankValue>& slowest_fields() {
    static const Fields<RankValue> fields{
        {"rank", Unit::count, "number of the rank", &RankValue::rank},
        {"host", Unit::word, "its node", &RankValue::host},
        {"transfer_seconds", Unit::seconds, "in its calls", &RankValue::value}};
    return fields;
}

const Fields<RankDetail>& rank_fields() {
    static const Fields<RankDetail> fields{
        {"bytes", Unit::number, "moved", &RankDetail::bytes},
        {"total_seconds", Unit::seconds, "of the phase", &RankDetail::total},
        {"transfer_seconds", Unit::seconds, "in its calls", &RankDetail::transfer}};
    return fields;
}

Json span_seconds(const PhaseResult& r) {
    Json spans = Json::object();
    for (const auto& s : r.spans) spans[s.name] = s.seconds();
    return spans;
}

const Fields<PhaseResult>& detail_fields() {
    using P = PhaseResult;
    static const Fields<P> fields(
        visit_fields(),
        {{"planned_bytes", Unit::bytes, "of all ranks",
          [](const P& r) { return r.geometry.total_bytes(); }},
         {"data_seed", Unit::count, "of the bytes, as --seed takes it", &P::data_seed},
         Field<P>("span_seconds", Unit::seconds,
                  "of each part, from the first rank's start to the last one's end", span_seconds)
             .by_name(),
         {"transfer_rate_bytes_per_second", Unit::bytes_per_second, "without open, sync and close",
          &P::transfer_rate},
         {"operations_per_second", Unit::operations_per_second, "calls over the transfer part",
          &P::operation_rate},
         {"rank_bytes", spread_fields(Unit::number), "moved by a rank", &P::rank_bytes},
         {"rank_rate_bytes_per_second", spread_fields(Unit::bytes_per_second),
          "of a rank in the transfer part", &P::rank_rate},
         {"stonewall", stonewall_fields(), "how far the workers were when the time was up",
          &P::stonewall},
         {"steady", steady_fields(), "whether the rate became steady", &P::steady},
         {"time_series", series_fields(), "since the start of the transfers", &P::series},
         {"batch_means", batch_means_fields(Unit::bytes_per_second),
          "interval of the rate within the phase",
          [](const P& r) { return BatchMeans(r.batches); }},
         {"mix", mix_fields(), "of a mixed phase", &P::mix},
         {"verify_seconds", Unit::seconds, "of the pass that compares", &P::verify_seconds},
         {"ranks_on_own_node", Unit::count, "that read data written on the same node",
          &P::ranks_on_own_node},
         {"transfers_not_direct", Unit::count,
          "transfers that the backend moved by other calls than its own", &P::detours},
         {"remark", Unit::word, "what to know of the number", &P::remarked},
         {"slowest_ranks", slowest_fields(), "slowest first, with --slowest", &P::slowest},
         {"rank_details", rank_fields(), "of each rank, with --rank-details", &P::rank_details}});
    return fields;
}

struct Removal {
    std::int64_t repetition = 0;  ///< from 0
};
const Fields<Removal>& removal_fields() {
    static const Fields<Removal> fields{{"repetition", Unit::count, "from 1",
                                         [](const Removal& r) { return number_of(r.repetition); }}};
    return fields;
}

/// Where a mean belongs.
struct MeanPlace {
    Access access = Access::write;
    std::int64_t transfer = 0;
};
const Fields<MeanPlace>& mean_place_fields() {
    using M = MeanPlace;
    static const Fields<M> fields{{"access", Unit::word, "write, mixed or read",
                                   [](const M& m) { return ior::name(m.access); }},
                                  {"transfer_bytes", Unit::bytes, "of a call", &M::transfer}};
    return fields;
}

/// What a mean of steady rates is made from.
struct Steadiness {
    std::int64_t unsteady = 0;
    const Parameters& parameters;
};
const Fields<Steadiness>& steadiness_fields() {
    using S = Steadiness;
    static const Fields<S> fields{
        {"repetitions_not_steady", Unit::count, "that a limit ended", &S::unsteady},
        {"window_slices", Unit::count, "--steady-window",
         [](const S& s) { return s.parameters.steady_window; }},
        {"slice_seconds", Unit::seconds, "--steady-slice",
         [](const S& s) { return s.parameters.steady_slice.count; }},
        {"tolerance", Unit::number, "--steady-tolerance",
         [](const S& s) { return s.parameters.steady_tolerance; }}};
    return fields;
}

struct RanksOnNode {
    int min = 0;
    int max = 0;
};
const Fields<Setup>& setup_fields() {
    using S = Setup;
    static const Fields<RanksOnNode> on_node{{"min", Unit::count, "smallest", &RanksOnNode::min},
                                             {"max", Unit::count, "largest", &RanksOnNode::max}};
    static const Fields<S> fields{
        {"ranks", Unit::count, "that take part", &S::ranks},
        {"nodes", Unit::count, "nodes of the ranks", &S::nodes},
        {"ranks_on_node", on_node, "over the nodes",
         [](const S& s) { return RanksOnNode{s.min_ranks_on_node, s.max_ranks_on_node}; }},
        {"path", Unit::word, "of the shared file or the first file", &S::path},
        {"library", Unit::word, "of the backend, with its version", &S::backend_version},
        {"cap_bytes", Unit::bytes, "that the run may use", &S::cap_bytes},
        {"cap_reason", Unit::word, "source of this limit", &S::cap_reason}};
    return fields;
}

class RecordView : public Observer {
  public:
    explicit RecordView(Recorder& recorder) : recorder_(recorder) {}

    void phase(const PhaseResult& phase) override { recorder_.measurement(to_measurement(phase)); }

    void removed(std::int64_t repetition, double seconds) override {
        Figure f;
        f.benchmark = "ior";
        f.name = "removal_time";
        f.where = removal_fields().json({repetition});
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
        f.where = mean_place_fields().json({access, transfer});
        f.metric = Metric::rate(0);
        f.valid = unsteady == 0 && !rates.empty();
        if (unsteady > 0) f.reasons.emplace_back("a limit came before the rate was steady");
        f.detail = steadiness_fields().json({unsteady, run.setup.parameters});
        recorder_.figure(mean_of(std::move(f), rates, "the rate became steady in no repetition"));
    }

    Recorder& recorder_;
};

}  // namespace

UntilCi::Subject bandwidth_of(Access access, std::int64_t transfer) {
    return {fmt::format("{}_bandwidth", name(access)), mean_place_fields().json({access, transfer}),
            "B/s", fmt::format("{}, transfer {}", name(access), shown_size(Bytes{transfer}))};
}

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
    m.where = place_fields().json(r.geometry);
    m.ranks = r.ranks;
    m.nodes = r.nodes;
    m.repetition = r.repetition;
    if (r.valid && r.bytes == 0) m.rate = Metric::none("B/s", nothing_moved);
    m.stopped_by = effio::name(r.stopped);
    m.detail = detail_fields().json(r);
    return m;
}

Json describe(const Setup& setup) {
    return setup_fields().json(setup);
}

ResultInfo result_info() {
    ResultInfo info{
        place_fields().infos(),
        detail_fields().infos(),
        {},
        {object_of("ior", "ranks, place and limits of the run", setup_fields().infos())}};
    info.figures.push_back(
        {"removal_time", Unit::seconds, "of the files of a repetition", removal_fields().infos()});
    for (const Access access : phases_in_order) {
        FieldInfos of_steady = steadiness_fields().infos();
        of_steady.push_back(interval_field());
        info.figures.push_back({bandwidth_of(access, 0).figure,
                                Unit::bytes_per_second,
                                "mean over the repetitions",
                                mean_place_fields().infos(),
                                {interval_field()}});
        info.figures.push_back({std::string(name(access)) + "_steady_rate", Unit::bytes_per_second,
                                "mean of the steady rates", mean_place_fields().infos(),
                                std::move(of_steady)});
    }
    info.figures.push_back(until_ci_info());
    return info;
}

std::unique_ptr<Observer> make_record_view(Recorder& recorder) {
    return std::make_unique<RecordView>(recorder);
}

}  // namespace effio::ior
