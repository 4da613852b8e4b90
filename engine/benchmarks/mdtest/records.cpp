// SPDX-License-Identifier: BSD-3-Clause
// mdtest's events as lines of the result file.
#include "benchmarks/mdtest/result.hpp"

#include <fmt/format.h>

#include "core/fields.hpp"
#include "frame/rank_csv.hpp"
#include "frame/round_figures.hpp"
#include "frame/until_ci.hpp"

namespace effio::mdtest {
namespace {

constexpr const char* per_second = "op/s";

/// Where a rate belongs.
struct PhasePlace {
    const Phase& phase;
    int ranks = 1;
    bool unique = false;
};

const Fields<PhasePlace>& place_fields() {
    static const Fields<PhasePlace> fields{
        {"thing", Unit::word, "tree, directory or file",
         [](const PhasePlace& p) { return name(p.phase.thing); }},
        {"phase", Unit::word, "title of the phase",
         [](const PhasePlace& p) { return p.phase.title; }},
        {"ranks", Unit::count, "that took part", &PhasePlace::ranks},
        {"unique", Unit::flag, "each rank has its own tree", &PhasePlace::unique}};
    return fields;
}

const Fields<PhasePlace>& rate_place_fields() {
    static const Fields<PhasePlace> fields(
        place_fields(),
        {{"access", Unit::word, "operation", [](const PhasePlace& p) { return p.phase.access; }}});
    return fields;
}

const char* checked(const PhaseResult& r) {
    if (r.of_timed_reads == 0) return "every byte of a second read";
    return r.of_timed_reads == r.verified_bytes
               ? "every byte of the timed reads"
               : "every byte of the timed reads as far as memory holds them; the rest by a second "
                 "read";
}

const Fields<RankValue>& slowest_fields() {
    static const Fields<RankValue> fields{
        {"rank", Unit::count, "number of the rank", &RankValue::rank},
        {"host", Unit::word, "its node", &RankValue::host},
        {"work_seconds", Unit::seconds, "to the end of its last call", &RankValue::value}};
    return fields;
}

const Fields<RankDetail>& rank_fields() {
    static const Fields<RankDetail> fields{
        {"operations", Unit::count, "without an error", &RankDetail::operations},
        {"failed_operations", Unit::count, "with an error", &RankDetail::failed},
        {"work_seconds", Unit::seconds, "to the end of its last call", &RankDetail::work},
        {"total_seconds", Unit::seconds, "to the end of the closing barrier", &RankDetail::total}};
    return fields;
}

const Fields<Wall>& wall_fields() {
    static const Fields<Wall> fields{
        {"workers", Unit::count, "threads of all ranks", &Wall::workers},
        {"workers_stopped", Unit::count, "workers that the time stopped", &Wall::timed_out},
        {"min_items", Unit::count, "done by the slowest worker", &Wall::min_done},
        {"mean_items", Unit::number, "mean of the workers", &Wall::mean_done},
        {"max_items", Unit::count, "done by the fastest worker; all continue to this number",
         &Wall::max_done},
        {"first_stop_seconds", Unit::seconds, "when the first worker stopped",
         &Wall::first_seconds},
        {"last_stop_seconds", Unit::seconds, "when the last worker stopped", &Wall::last_seconds}};
    return fields;
}

const Fields<TimeSeries>& over_time_fields() {
    static const Fields<TimeSeries> fields{
        {"slice_seconds", Unit::seconds, "length of a slice", &TimeSeries::width},
        {"operations", Unit::number, "in each slice", &TimeSeries::slices}};
    return fields;
}

const Fields<PhaseResult>& verification_fields() {
    using P = PhaseResult;
    static const Fields<P> fields{
        {"checked", Unit::word, "what was compared", checked},
        {"timed_read_bytes", Unit::bytes, "as the timed calls read them", &P::of_timed_reads},
        {"second_read_bytes", Unit::bytes, "as an untimed read found them",
         [](const P& r) { return r.verified_bytes - r.of_timed_reads; }}};
    return fields;
}

const Fields<PhaseResult>& detail_fields() {
    using P = PhaseResult;
    using F = Field<P>;
    const auto searches = [](const P& r) { return r.phase->action == Action::find; };
    static const Fields<P> fields{
        {"failed_operations", Unit::count, "calls that failed", &P::failed},
        {"slowest_ranks", slowest_fields(), "slowest first", &P::slowest},
        {"batch_means", batch_means_fields(Unit::operations_per_second),
         "interval of the rate within the phase", [](const P& r) { return BatchMeans(r.batches); }},
        {"rate_over_time", over_time_fields(), "operations by slice of time", &P::over_time},
        F("verification", verification_fields(), "data that were compared").only_if([](const P& r) {
            return r.verified_bytes > 0;
        }),
        F("entries", Unit::count, "names that were listed", &P::entries).only_if([](const P& r) {
            return r.phase->action == Action::list;
        }),
        F("found", Unit::count, "names that the search found", &P::found).only_if(searches),
        F("expected", Unit::count, "names that it should find; null: not counted", &P::expected)
            .only_if(searches),
        F("rank_details", rank_fields(), "of each rank, with --rank-details", &P::rank_details)
            .only_if([](const P& r) { return !r.rank_details.empty(); }),
        F("stonewall", wall_fields(), "how far the workers were when the time was up",
          [](const P& r) {
              return *r.wall;
          }).only_if([](const P& r) { return r.wall.has_value(); })};
    return fields;
}

const Fields<DiskCount>& count_place_fields() {
    using C = DiskCount;
    static const Fields<C> fields{
        {"thing", Unit::word, "directory or file", [](const C& c) { return name(c.thing); }},
        {"repetition", Unit::count, "from 1", [](const C& c) { return number_of(c.iteration); }},
        {"ranks", Unit::count, "that took part", &C::ranks},
        {"unique", Unit::flag, "each rank has its own tree", &C::unique},
        {"after_removal", Unit::flag, "counted after the removal", &C::after_removal}};
    return fields;
}

const Fields<DiskCount>& count_detail_fields() {
    static const Fields<DiskCount> fields{
        {"expected", Unit::count, "names that were made and not removed", &DiskCount::expected}};
    return fields;
}

const Fields<PhaseSummary>& mean_fields() {
    static const Fields<PhaseSummary> fields{
        {"mean_seconds", Unit::seconds, "mean time of the valid iterations",
         [](const PhaseSummary& s) { return s.seconds.mean(); }}};
    return fields;
}

const Fields<Setup>& setup_fields() {
    using S = Setup;
    static const Fields<S> fields{
        {"branching", Unit::count, "directories in a directory",
         [](const S& s) { return s.workload.tree.branching; }},
        {"depth", Unit::count, "levels below the top",
         [](const S& s) { return s.workload.tree.depth; }},
        {"directories_per_tree", Unit::count, "of all levels",
         [](const S& s) { return s.workload.tree.directories(); }},
        {"directories_with_items", Unit::count, "of a tree",
         [](const S& s) { return s.workload.holders(); }},
        {"test_directories", Unit::count, "one after the other",
         [](const S& s) { return s.workload.loops; }},
        {"items_per_directory", Unit::count, "of each rank",
         [](const S& s) { return s.workload.per_directory; }},
        {"items_per_rank", Unit::count, "in all directories",
         [](const S& s) { return s.workload.items; }},
        {"files_per_rank", Unit::count, "items, or what the stonewall file says", &S::files},
        {"unique", Unit::flag, "each rank has its own tree",
         [](const S& s) { return s.workload.unique; }},
        {"leaf_only", Unit::flag, "items are in the lowest directories only",
         [](const S& s) { return s.workload.leaf_only; }},
        {"iterations", Unit::count, "planned", [](const S& s) { return s.parameters.iterations; }},
        {"notes", Unit::word, "what to know before reading the numbers", &S::notes}};
    return fields;
}

class RecordView : public Observer {
  public:
    explicit RecordView(Recorder& recorder) : recorder_(recorder) {}

    void phase(const PhaseResult& r) override { recorder_.measurement(to_measurement(r)); }

    void counted(const DiskCount& c) override {
        Figure f;
        f.benchmark = "mdtest";
        f.name = "on_disk";
        f.where = count_place_fields().json(c);
        f.metric = {static_cast<double>(c.found), "1", true, {}};
        f.valid = c.right();
        if (!c.right()) f.reasons.emplace_back("the directories hold another number of names");
        f.detail = count_detail_fields().json(c);
        recorder_.figure(f);
    }

    void end(const RunResult& run) override {
        for (const PhaseSummary& s : run.phases) {
            Figure f;
            f.benchmark = "mdtest";
            const auto subject = subject_of(*s.phase, s.ranks, s.unique);
            f.name = subject.figure;
            f.where = subject.where;
            f.valid = s.invalid == 0;
            const std::string missing = "no iteration has a rate: " + s.why_invalid;
            if (s.values.empty()) {
                f.reasons.push_back(missing);
            } else if (s.invalid > 0) {
                f.reasons.push_back(fmt::format("{} without a rate, the first: {}",
                                                count_of(s.invalid, "iteration"), s.why_invalid));
            }
            f.metric = {0, per_second, true, {}};
            if (!s.values.empty()) f.detail = mean_fields().json(s);
            recorder_.figure(mean_of(std::move(f), s.values, missing, "iteration"));
        }
    }

  private:
    Recorder& recorder_;
};

}  // namespace

UntilCi::Subject subject_of(const Phase& phase, int ranks, bool unique) {
    return {"rate", rate_place_fields().json({phase, ranks, unique}), per_second,
            fmt::format("{}, {}{}", phase.title, count_of(ranks, "rank"),
                        unique ? ", a tree for each" : "")};
}

namespace {

class PhaseTable : public RankTable {
  public:
    std::string header() const override {
        return "thing,operation,repetition,ranks,tree,rank,operations,failed,work(s),total(s),"
               "work-rate(op/s),rate(op/s)";
    }
    std::string phase(const PhaseResult& r) override {
        std::string lines;
        int rank = 0;
        for (const auto& d : r.rank_details) {
            lines += fmt::format("{},{},{},{},{},{},{},{},{:.9f},{:.9f},", name(r.phase->thing),
                                 r.phase->access, number_of(r.iteration), r.ranks,
                                 r.unique ? "unique" : "shared", rank++, d.operations, d.failed,
                                 d.work, d.total);
            const auto done = static_cast<double>(d.operations);
            // A phase that is not valid has no rate.
            lines += r.valid ? fmt::format("{:.3f},{:.3f}\n", rate_of(done, d.work),
                                           rate_of(done, d.total))
                             : ",\n";
        }
        return lines;
    }
};

}  // namespace

std::unique_ptr<RankTable> make_rank_table() {
    return std::make_unique<PhaseTable>();
}

Measurement to_measurement(const PhaseResult& r) {
    Measurement m;
    m.benchmark = "mdtest";
    m.pattern = name(r.phase->thing);
    m.access = r.phase->access;
    m.where = place_fields().json({*r.phase, r.ranks, r.unique});
    m.ranks = r.ranks;
    m.nodes = r.nodes;
    m.repetition = r.iteration;
    m.bytes = r.bytes;
    m.operations = r.operations;
    m.seconds = r.seconds;
    m.ended = r.ended;  // what is verified or looked at afterwards is not part of it
    m.valid = r.valid;
    m.invalid_reason = r.invalid_reason;
    m.rate = r.has_rate() ? Metric{r.rate(), per_second, true, {}}
                          : Metric::none(per_second, r.why_no_rate());
    m.stopped_by = name(r.stopped);
    m.call_times = r.call_times;
    m.verified_bytes = r.verified_bytes;
    m.cache = r.cache;
    m.error_count = r.error_count;
    m.errors = r.errors;
    m.detail = detail_fields().json(r);
    return m;
}

Json describe(const Setup& setup) {
    return setup_fields().json(setup);
}

ResultInfo result_info() {
    FieldInfos of_mean = mean_fields().infos();
    of_mean.front().sometimes = true;
    of_mean.push_back(interval_field());
    return {place_fields().infos(),
            detail_fields().infos(),
            {{"rate", Unit::operations_per_second, "mean rate of a phase over the iterations",
              rate_place_fields().infos(), std::move(of_mean)},
             {"on_disk", Unit::count, "names that were found on disk", count_place_fields().infos(),
              count_detail_fields().infos()},
             until_ci_info(place_fields().infos())},
            {object_of("mdtest", "trees and items of the run", setup_fields().infos())}};
}

std::unique_ptr<Observer> make_record_view(Recorder& recorder) {
    return std::make_unique<RecordView>(recorder);
}

}  // namespace effio::mdtest
