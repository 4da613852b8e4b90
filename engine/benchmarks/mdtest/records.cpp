// SPDX-License-Identifier: BSD-3-Clause
// mdtest's events as lines of the result file.
#include "benchmarks/mdtest/result.hpp"

#include <fmt/format.h>

#include "benchmarks/rank_csv.hpp"
#include "benchmarks/round_figures.hpp"

namespace effio::mdtest {
namespace {

constexpr const char* per_second = "op/s";

Json place_of(const Phase& phase, int ranks, bool unique) {
    return Json{
        {"thing", name(phase.thing)}, {"phase", phase.title}, {"ranks", ranks}, {"unique", unique}};
}

const char* checked(const PhaseResult& r) {
    if (r.of_timed_reads == 0) return "every byte of a second read";
    return r.of_timed_reads == r.verified_bytes
               ? "every byte of the timed reads"
               : "every byte of the timed reads as far as memory holds them; the rest by a second "
                 "read";
}

Json detail_of(const PhaseResult& r) {
    Json slowest = Json::array();
    for (const auto& s : r.slowest) {
        slowest.push_back(Json{{"rank", s.rank}, {"host", s.host}, {"work_seconds", s.value}});
    }
    Json detail{{"failed_operations", r.failed},
                {"slowest_ranks", std::move(slowest)},
                {"batch_means", batch_means(r.batches, per_second)},
                {"rate_over_time", Json{{"slice_seconds", r.over_time.width()},
                                        {"operations", r.over_time.slices()}}}};
    if (r.verified_bytes > 0) {
        detail["verification"] = Json{{"checked", checked(r)},
                                      {"timed_read_bytes", r.of_timed_reads},
                                      {"second_read_bytes", r.verified_bytes - r.of_timed_reads}};
    }
    if (r.phase->action == Action::list) detail["entries"] = r.entries;
    if (r.phase->action == Action::find) {
        detail["found"] = r.found;
        detail["expected"] = r.expected ? Json(*r.expected) : Json(nullptr);
    }
    if (!r.rank_details.empty()) {
        Json ranks = Json::array();
        for (const auto& rank : r.rank_details) {
            ranks.push_back(Json{{"operations", rank.operations},
                                 {"failed_operations", rank.failed},
                                 {"work_seconds", rank.work},
                                 {"total_seconds", rank.total}});
        }
        detail["rank_details"] = std::move(ranks);
    }
    if (r.wall) {
        detail["stonewall"] = Json{{"workers", r.wall->workers},
                                   {"workers_stopped", r.wall->timed_out},
                                   {"min_items", r.wall->min_done},
                                   {"mean_items", r.wall->mean_done},
                                   {"max_items", r.wall->max_done},
                                   {"first_stop_seconds", r.wall->first_seconds},
                                   {"last_stop_seconds", r.wall->last_seconds}};
    }
    return detail;
}

class RecordView : public Observer {
  public:
    explicit RecordView(Recorder& recorder) : recorder_(recorder) {}

    void phase(const PhaseResult& r) override { recorder_.measurement(to_measurement(r)); }

    void counted(const DiskCount& c) override {
        Figure f;
        f.benchmark = "mdtest";
        f.name = "on_disk";
        f.where = Json{{"thing", name(c.thing)},
                       {"repetition", number_of(c.iteration)},
                       {"ranks", c.ranks},
                       {"unique", c.unique},
                       {"after_removal", c.after_removal}};
        f.metric = {static_cast<double>(c.found), "1", true, {}};
        f.valid = c.right();
        if (!c.right()) f.reasons.emplace_back("the directories hold another number of names");
        f.detail = Json{{"expected", c.expected}};
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
            if (s.invalid > 0) {
                f.reasons.push_back(count_of(s.invalid, "iteration") + " without a rate");
            }
            f.metric = {0, per_second, true, {}};
            if (!s.values.empty()) f.detail = Json{{"mean_seconds", s.seconds.mean()}};
            recorder_.figure(
                mean_of(std::move(f), s.values, "no iteration has a rate", "iteration"));
        }
    }

  private:
    Recorder& recorder_;
};

}  // namespace

UntilCi::Subject subject_of(const Phase& phase, int ranks, bool unique) {
    Json where = place_of(phase, ranks, unique);
    where["access"] = phase.access;
    return {"rate", std::move(where), per_second,
            fmt::format("{}, {}{}", phase.title, count_of(ranks, "rank"),
                        unique ? ", a tree for each" : "")};
}

const char* const rank_csv_header =
    "thing,operation,repetition,ranks,tree,rank,operations,failed,work(s),total(s),work-rate(op/s),"
    "rate(op/s)";

std::string rank_csv_lines(const PhaseResult& r) {
    std::string lines;
    int rank = 0;
    for (const auto& d : r.rank_details) {
        lines += fmt::format("{},{},{},{},{},{},{},{},{:.9f},{:.9f},", name(r.phase->thing),
                             r.phase->access, number_of(r.iteration), r.ranks,
                             r.unique ? "unique" : "shared", rank++, d.operations, d.failed, d.work,
                             d.total);
        const auto done = static_cast<double>(d.operations);
        // A phase that is not valid has no rate.
        lines += r.valid
                     ? fmt::format("{:.3f},{:.3f}\n", rate_of(done, d.work), rate_of(done, d.total))
                     : ",\n";
    }
    return lines;
}

Measurement to_measurement(const PhaseResult& r) {
    Measurement m;
    m.benchmark = "mdtest";
    m.pattern = name(r.phase->thing);
    m.access = r.phase->access;
    m.where = place_of(*r.phase, r.ranks, r.unique);
    m.ranks = r.ranks;
    m.nodes = r.nodes;
    m.repetition = r.iteration;
    m.bytes = r.bytes;
    m.operations = r.operations;
    m.seconds = r.seconds;
    m.valid = r.valid;
    m.invalid_reason = r.invalid_reason;
    if (!r.valid) {
        m.rate = Metric::none(per_second, "INVALID: " + r.invalid_reason);
    } else if (r.total_seconds() <= 0) {
        m.rate = Metric::none(per_second, "no time passed");
    } else {
        m.rate = {r.rate(), per_second, true, {}};
    }
    m.stopped_by = name(r.stopped);
    m.call_times = r.call_times;
    m.verified_bytes = r.verified_bytes;
    m.cache = r.cache;
    m.error_count = r.error_count;
    m.errors = r.errors;
    m.detail = detail_of(r);
    return m;
}

Json describe(const Setup& s) {
    const Workload& w = s.workload;
    return Json{{"branching", w.tree.branching},
                {"depth", w.tree.depth},
                {"directories_per_tree", w.tree.directories()},
                {"directories_with_items", w.holders()},
                {"test_directories", w.loops},
                {"items_per_directory", w.per_directory},
                {"items_per_rank", w.items},
                {"files_per_rank", s.files},
                {"unique", w.unique},
                {"leaf_only", w.leaf_only},
                {"iterations", s.parameters.iterations},
                {"notes", s.notes}};
}

std::unique_ptr<Observer> make_record_view(Recorder& recorder) {
    return std::make_unique<RecordView>(recorder);
}

}  // namespace effio::mdtest
