// SPDX-License-Identifier: BSD-3-Clause
// b_eff_io's events as lines of the result file.
#include <iterator>

#include "benchmarks/b_eff_io/views.hpp"
#include "core/fields.hpp"
#include "frame/round_figures.hpp"
#include "frame/storage_run.hpp"
#include "frame/until_ci.hpp"

namespace effio::b_eff_io {
namespace {

/// Where a result belongs; `access` and `type` where it has them.
struct Place {
    std::size_t partition = 0;
    std::int64_t ranks = 0;
    std::string_view access = {};
    std::string_view type = {};
};

const Fields<Place>& place_fields() {
    using P = Place;
    static const Fields<P> fields{
        {"partition", Unit::count, "from 0, in the order of --partitions", &P::partition},
        {"ranks", Unit::count, "of the partition", &P::ranks},
        Field<P>("access", Unit::word, "write, rewrite or read", &P::access)
            .only_if([](const P& p) { return !p.access.empty(); }),
        Field<P>("pattern", Unit::word, "of the type", &P::type).only_if([](const P& p) {
            return !p.type.empty();
        })};
    return fields;
}

const Fields<RowResult>& row_place_fields() {
    using R = RowResult;
    static const Fields<R> fields{
        {"partition", Unit::count, "from 0, in the order of --partitions", &R::partition},
        {"ranks", Unit::count, "of the partition", &R::ranks},
        {"row", Unit::count, "number in the table of the definition",
         [](const R& r) { return r.row.number; }},
        {"position", Unit::count, "within the type", [](const R& r) { return r.row.position; }},
        {"chunk_bytes", Unit::bytes, "contiguous in the file",
         [](const R& r) { return r.row.chunk; }},
        {"memory_chunk_bytes", Unit::bytes, "contiguous in memory: of one call",
         [](const R& r) { return r.row.memory; }},
        {"is_lmax", Unit::flag, "the chunk is the largest, Lmax",
         [](const R& r) { return r.row.is_lmax; }},
        {"is_fill_up", Unit::flag, "the row only fills up the segment",
         [](const R& r) { return r.row.is_fill_up; }},
        {"time_units", Unit::count, "scheduled for the row",
         [](const R& r) { return r.row.units; }}};
    return fields;
}

const Fields<RowTimes>& root_fields() {
    using T = RowTimes;
    static const Fields<T> fields{
        {"total", Unit::seconds, "of the row", &T::total},
        {"calls", Unit::seconds, "without barriers, broadcasts and sync", &T::calls},
        {"barrier", Unit::seconds, "in barriers", &T::barrier},
        {"broadcast", Unit::seconds, "in broadcasts of the vote", &T::broadcast},
        {"sync", Unit::seconds, "in MPI_File_sync", &T::sync},
        {"last_call", Unit::seconds, "the last call with stamping or checking", &T::last_call},
        {"last_vote", Unit::seconds, "the barrier and broadcast after it", &T::last_vote}};
    return fields;
}

const Fields<RowResult>& row_fields() {
    using R = RowResult;
    static const Fields<R> fields{
        {"file", Unit::word, "short name; of separated files rank 0's", &R::file},
        {"counted_seconds", Unit::seconds, "over which the rate counts the bytes",
         [](const R& r) { return r.span.seconds; }},
        {"clock", Unit::word, "root, or common where the ranks differ too much",
         [](const R& r) { return r.span.by_common_clock ? "common" : "root"; }},
        {"scheduled_seconds", Unit::seconds, "for the row", &R::scheduled},
        {"calls_per_rank", Unit::count, "done", &R::repetitions},
        {"calls_allowed_by_cap", Unit::count, "0: not limited", &R::cap_calls},
        {"root_seconds", root_fields(), "of the root", &R::times},
        {"batch_means", batch_means_fields(Unit::bytes_per_second),
         "interval of the rate within the row", [](const R& r) { return BatchMeans(r.batches); }},
        {"sets_view", Unit::flag, "the row starts with MPI_File_set_view", &R::sets_view}};
    return fields;
}

const Fields<TypeResult>& type_fields() {
    using T = TypeResult;
    static const Fields<T> fields{
        {"bytes", Unit::bytes, "moved", &T::bytes},
        {"seconds", Unit::seconds, "open, rows and close", &T::seconds},
        {"open_seconds", Unit::seconds, "of the open", &T::open},
        {"close_seconds", Unit::seconds, "of the close", &T::close},
        {"weighted_bandwidth_bytes_per_second", Unit::bytes_per_second,
         "mean of the rows' rates, weighted by their time units", &T::weighted_rate},
        {"segment_bytes", Unit::bytes, "of the segmented types", &T::segment},
        {"verified_bytes", Unit::bytes, "that were compared", &T::verified_bytes}};
    return fields;
}

const Fields<AccessResult>& access_fields() {
    using A = AccessResult;
    static const Fields<A> fields{
        {"bytes", Unit::bytes, "moved", &A::bytes},
        {"seconds", Unit::seconds, "of all types", &A::seconds},
        {"bandwidth_bytes_per_second", Unit::bytes_per_second, "bytes over these seconds",
         &A::rate},
        {"weighted_bandwidth_bytes_per_second", Unit::bytes_per_second,
         "mean of the types, weighted as in the definition", &A::weighted_rate},
        {"errors", Unit::count, "of the partition up to now", &A::errors}};
    return fields;
}

/// What a judged figure is made from.
struct Judged {
    const RunResult& run;
    std::size_t partition = 0;

    const PartitionResult& result() const { return run.partitions[partition]; }
};

const Fields<Judged>& judged_fields() {
    using J = Judged;
    static const Fields<J> fields{
        {"criteria", criterion_fields(), "rules of official runs",
         [](const J& j) { return j.run.criteria(j.partition); }},
        {"partition_seconds_scheduled", Unit::seconds, "all rounds together",
         [](const J& j) { return j.run.setup.scheduled_seconds(); }},
        {"errors", Unit::count, "failed calls and wrong data",
         [](const J& j) { return j.result().errors; }},
        {"rows_cut_short_by_cap", Unit::count, "by the cap on bytes",
         [](const J& j) { return j.result().rows_cut_short(); }},
        {"rows_by_common_clock", Unit::count, "whose ranks differ too much for the root's clock",
         [](const J& j) { return j.result().rows_by_common_clock(); }}};
    return fields;
}

const Fields<Setup>& pointer_fields() {
    static const Fields<Setup> fields{
        {"used", Unit::flag, "by type 1", &Setup::shared_pointer},
        {"note", Unit::word, "what serves it, or why it is not used", &Setup::shared_pointer_note}};
    return fields;
}

const Fields<Setup>& balance_fields() {
    static const Fields<Setup> fields{
        {"total_memory_bytes", Unit::bytes, "of the system",
         [](const Setup& s) { return s.total_memory_mib * MiB; }},
        {"meaning", Unit::word, "of the figure", [](const Setup&) {
             return "time to write the total memory at b_eff_io; the rule of thumb for a balanced "
                    "system is 600 s";
         }}};
    return fields;
}

const Fields<Setup>& setup_fields() {
    using S = Setup;
    static const Fields<S> fields{
        {"memory_per_rank_mib", Unit::count, "MiB of a rank", &S::memory_mib},
        {"total_memory_mib", Unit::count, "MiB of the system", &S::total_memory_mib},
        {"lmax_bytes", Unit::bytes, "largest chunk", &S::lmax},
        {"partitions", Unit::count, "ranks of each", &S::partitions},
        {"rounds", Unit::count, "planned", [](const S& s) { return s.parameters.rounds; }},
        {"partition_seconds", Unit::seconds, "scheduled, all rounds together",
         &S::scheduled_seconds},
        {"time_units", Unit::count, "of a partition", [](const S& s) { return s.budget.units; }},
        {"unit_seconds", Unit::seconds, "of a time unit",
         [](const S& s) { return s.budget.unit_seconds; }},
        {"quick_look", Unit::flag, "a quick check: short, and not valid",
         [](const S& s) { return s.parameters.quick_look; }},
        {"cap_bytes", Unit::bytes, "that the run may use", &S::cap_bytes},
        {"cap_reason", Unit::word, "source of this limit", &S::cap_reason}};
    return fields;
}

/// Of the figure of the whole run, in addition to those of its best partition.
FieldInfo official_share_field() {
    FieldInfo field{"official_time_share", Unit::number, "of half an hour for each partition"};
    field.sometimes = true;
    return field;
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
        f.detail = pointer_fields().json(setup);
        recorder_.figure(f);
    }

    void row(const RowResult& row) override { recorder_.measurement(to_measurement(row, nodes_)); }

    void type(const TypeResult& t) override {
        Figure f = figure("type_bandwidth", {t.partition, t.ranks, name(t.access), name(t.type)},
                          Metric::rate(t.rate()));
        f.detail = type_fields().json(t);
        add_interval(f, t.estimate);
        recorder_.figure(f);
    }

    void access(const AccessResult& a) override {
        Figure f = figure("access_bandwidth", {a.partition, a.ranks, name(a.access)},
                          Metric::rate(a.average));
        f.detail = access_fields().json(a);
        add_interval(f, a.estimate);
        recorder_.figure(f);
    }

    void end(const RunResult& run) override {
        for (std::size_t i = 0; i < run.partitions.size(); ++i) {
            const auto& p = run.partitions[i];
            if (!p.complete()) continue;
            const std::string bad =
                p.all_rows_valid() ? "" : "a call, a sync or a size check failed in this partition";
            const auto add_average = [&](const char* what, double value, const Formula& formula) {
                Figure f = judged(what, run, i, value, bad);
                add_interval(f, run.estimated(formula).value_or(Estimate{}));
                recorder_.figure(f);
            };
            add_average("write_average", p.write_average(),
                        of_partition(i, &Pooled::write_average));
            add_average("b_eff_io_partition", p.effective_bandwidth(),
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
        add_interval(whole, run.estimated(best_partition).value_or(Estimate{}));
        whole.detail[official_share_field().name] = run.official_time_share();
        recorder_.figure(whole);
        Figure balance = figure("balance_time", {*best, run.partitions[*best].ranks},
                                Metric::time(static_cast<double>(run.setup.total_memory_mib) *
                                             static_cast<double>(MiB) / value));
        balance.detail = balance_fields().json(run.setup);
        recorder_.figure(balance);
    }

  private:
    static Figure figure(const char* what, const Place& place, Metric metric) {
        Figure f;
        f.benchmark = "b-eff-io";
        f.name = what;
        f.where = place_fields().json(place);
        f.metric = std::move(metric);
        return f;
    }

    static void add_interval(Figure& f, const Estimate& estimate) {
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
        Figure f = figure(what, {i, p.ranks},
                          bad.empty() ? Metric::rate(value) : Metric::none("B/s", bad));
        f.valid = run.valid(i);
        for (const auto& c : run.criteria(i)) {
            if (!c.reached) f.reasons.push_back("not reached: " + c.text);
        }
        f.detail = judged_fields().json({run, i});
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
    m.where = row_place_fields().json(row);
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
    m.detail = row_fields().json(row);
    return m;
}

Json describe(const Setup& setup) {
    return setup_fields().json(setup);
}

ResultInfo result_info() {
    ResultInfo info{
        row_place_fields().infos(),
        row_fields().infos(),
        {},
        {object_of("b-eff-io", "memory, time and limits of the run", setup_fields().infos())}};
    const FieldInfos place = place_fields().infos();
    const auto add = [&](const char* name, Unit unit, const char* meaning, FieldInfos detail,
                         bool with_interval = true) {
        if (with_interval) detail.push_back(interval_field());
        info.figures.push_back({name, unit, meaning, place, std::move(detail)});
    };
    add("type_bandwidth", Unit::bytes_per_second,
        "bytes of a pattern type in an access over its time with open and close",
        type_fields().infos());
    add("access_bandwidth", Unit::bytes_per_second,
        "mean of the types in an access; scatter counts twice", access_fields().infos());
    add("write_average", Unit::bytes_per_second,
        "mean of the write types and, for scatter, rewrite", judged_fields().infos());
    add("b_eff_io_partition", Unit::bytes_per_second,
        "geometric mean of writing and reading of a partition", judged_fields().infos());
    FieldInfos whole = judged_fields().infos();
    whole.push_back(official_share_field());
    add("b_eff_io", Unit::bytes_per_second, "the number of the run: that of the best partition",
        std::move(whole));
    auto& best = info.figures.back();  // nothing but the reason, if no partition is complete
    best.where = if_known(std::move(best.where));
    best.detail = if_known(std::move(best.detail));
    add("balance_time", Unit::seconds, "time to write the total memory at b_eff_io",
        balance_fields().infos(), false);
    info.figures.push_back({"shared_file_pointer",
                            Unit::number,
                            "1: type shared used it; 0: individual pointers replaced it",
                            {},
                            pointer_fields().infos()});
    info.figures.push_back(until_ci_info());
    return info;
}

std::unique_ptr<Observer> make_record_view(Recorder& recorder) {
    return std::make_unique<RecordView>(recorder);
}

}  // namespace effio::b_eff_io
