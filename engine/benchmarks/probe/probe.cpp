// SPDX-License-Identifier: BSD-3-Clause
#include "benchmarks/probe/probe.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>

#include "benchmarks/probe/limits.hpp"
#include "core/pattern.hpp"
#include "core/table.hpp"
#include "core/units.hpp"
#include "frame/storage_run.hpp"

namespace effio::probe {
namespace {

using study::Cell;

const char* const one = "one process";
const char* const all = "all processes";
const char* const small_reads = "small reads";

/// A page of each of `reads` equal stretches of a file, in no order.
Addresses small_pages(std::int64_t bytes, std::int64_t reads, std::uint64_t seed) {
    const std::int64_t stretch = bytes / reads;
    auto places = std::make_shared<std::vector<std::int64_t>>();
    for (std::int64_t i = 0; i < reads; ++i) {
        const auto pages = static_cast<std::uint64_t>(stretch / small_read);
        const std::uint64_t page = mix64(seed + static_cast<std::uint64_t>(i)) % pages;
        places->push_back(i * stretch / small_read * small_read +
                          static_cast<std::int64_t>(page) * small_read);
    }
    return Addresses(0, Listed{small_read, std::move(places)}).in(Order::shuffled, seed);
}

/// Limits of one unit.
struct LimitKind {
    std::string_view figure;
    Unit unit;
    const char* meaning;
};
constexpr std::array<LimitKind, 3> limit_kinds{
    {{"bandwidth_limit", Unit::bytes_per_second, "of memory, storage or messages"},
     {"operation_limit", Unit::operations_per_second, "of small reads or of names"},
     {"latency_limit", Unit::seconds, "of messages"}}};

std::string_view figure_of(const Limit& limit) {
    for (const auto& kind : limit_kinds) {
        if (text_of(kind.unit) == limit.metric.unit) return kind.figure;
    }
    return {};  // no limit has another unit
}

const Fields<Limit>& limit_fields() {
    static const Fields<Limit> fields{{"limit", Unit::word, "which one", &Limit::name}};
    return fields;
}

/// Takes the best repetition of each cell as its limit.
class StreamLimits : public study::Observer {
  public:
    explicit StreamLimits(int ranks) : ranks_(ranks) {}

    void end(const std::vector<study::Mean>& means, const std::vector<study::Flow>&) override {
        for (const auto& mean : means) {
            const bool small = mean.cell->pattern == small_reads;
            const double best = mean.rates.count() > 0 ? mean.rates.max() : 0;
            Limit limit;
            limit.metric = small ? Metric{best / small_read, "op/s", true, {}} : Metric::rate(best);
            if (mean.rates.count() == 0) {
                limit.metric = Metric::none(limit.metric.unit, "no valid repetition");
            }
            limit.detail = {processes(mean.cell->ranks), backend(mean.backend),
                            cache(name(mean.whereabouts()))};
            if (small) {
                limit.name = "random reads of 4 KiB";
            } else {
                limit.name = fmt::format("stream {}, {}", mean.pass.name, mean.cell->pattern);
            }
            found_.push_back(std::move(limit));
        }
        // One process is all of them.
        for (std::size_t i = 0; ranks_ == 1 && i < 2 && i < found_.size(); ++i) {
            Limit same = found_[i];
            same.name = same.name.substr(0, same.name.find(',')) + ", " + one;
            found_.push_back(std::move(same));
        }
    }
    const std::vector<Limit>& found() const { return found_; }

  private:
    int ranks_;
    std::vector<Limit> found_;
};

std::string shown(const Metric& metric) {
    if (!metric.reason.empty()) return metric.reason;
    if (metric.unit == "B/s") return format_rate(metric.value);
    if (metric.unit == "s") return format_duration(metric.value);
    constexpr double whole = 9999.5;  // four digits would print it as 1e+04
    return metric.value >= whole ? fmt::format("{:.0f} {}", metric.value, metric.unit)
                                 : fmt::format("{:.4g} {}", metric.value, metric.unit);
}

class Probe : public study::StudyBenchmark<Parameters> {
  public:
    std::string_view name() const override { return "probe"; }
    std::string_view purpose() const override {
        return "The limits of this system in a few seconds: memory, streams past the cache, small "
               "reads, names, messages; other runs are reported as a percentage of them";
    }
    std::string examples() const override {
        return "Examples:\n"
               "  mpiexec -n 64 effio-mpi probe --dir /scratch/me\n"
               "      all limits\n"
               "  mpiexec -n 64 effio-mpi probe --dir /scratch/me --size 1GiB --reads 10000\n"
               "      where storage is fast";
    }
    Ending run(Job& job) override;

  protected:
    void add_figures(ResultInfo& info) const override {
        for (const auto& [figure, unit, meaning] : limit_kinds) {
            info.figures.push_back(
                {std::string(figure), unit, meaning, limit_fields().infos(), limit_details()});
        }
    }
    Result<study::Definition> define(int ranks) const override {
        if (ranks * parameters_.names > std::numeric_limits<int>::max()) {
            return usage_error(fmt::format("--names: {} of each of {} are too many",
                                           parameters_.names, count_of(ranks, "rank")));
        }
        return probe::define(parameters_, ranks);
    }
    /// Memory, files and messages; the removal of the files takes as long as their creation.
    Load further_load(const PlanInput& input) const override {
        constexpr double limits = 6;
        Load load;
        load.seconds = limits * parameters_.time.count;
        load.files = static_cast<double>(parameters_.names) * input.ranks;
        return load;
    }
};

Ending Probe::run(Job& job) {
    Session& session = job.session;
    const int ranks = session.comm.size();
    const auto definition = define(ranks);
    if (!definition) return Ending::from(definition.error());
    StreamLimits streams(ranks);
    Outcome outcome;
    std::vector<Limit> limits;
    const ReportLimit report = [&](Limit limit) { limits.push_back(std::move(limit)); };

    FileSet names{parameters_.prefix + "_name."};
    names.count = static_cast<int>(ranks * parameters_.names);
    names.indexed = true;
    names.digits = 6;
    study::FurtherWork further{
        {names}, [&](const Target& target) {
            memory_limits(job, parameters_, report, outcome);
            name_limits(
                job, parameters_, [&](int i) { return target.path(names, i); }, report, outcome);
            message_limits(job, parameters_, report, outcome);
        }};
    Ending ending = study::run(job, *definition, parameters_, &streams, &further);
    const Agreed agreed = agree(session, session.comm, outcome);
    if (agreed.failed()) add(ending, *agreed.error);
    if (agreed.interrupted && ending.status == ExitCode::done) {
        ending.status = ExitCode::interrupted;
        ending.reason = "stopped by a signal; what was measured before is complete";
    }
    if (!session.comm.is_root()) return ending;
    limits.insert(limits.begin(), streams.found().begin(), streams.found().end());
    Table table({{"limit", Table::Align::left}, {"value", Table::Align::left}});
    for (const Limit& limit : limits) {
        Figure f;
        f.benchmark = "probe";
        f.name = figure_of(limit);
        f.where = limit_fields().json(limit);
        f.metric = limit.metric;
        f.detail = to_json(limit.detail);
        session.results.recorder().figure(f);
        table.row({limit.name, shown(limit.metric)});
    }
    if (!limits.empty()) session.console.print("\nLimits\n" + table.text(2));
    return ending;
}

}  // namespace

void Parameters::declare(OptionTable& table) {
    table.group("Benchmark");
    table.add("size", size, "bytes of each process' stream, in calls of 16 MiB if it is a multiple")
        .letter('s')
        .range(4096, 9e15);
    table.add("reads", reads, "reads of 4 KiB at random places, by each process").range(1, 1e9);
    table.add("names", names, "most files that each process creates, looks up and removes")
        .range(1, 1e6);
    table.add("memory", memory, "bytes copied at a time; more than the caches hold")
        .range(4096, 9e15);
    table
        .add("time", time,
             "time for each limit of memory and of pairs; also the most for creating files")
        .range(1e-3, 1e4);
    table.add("prefix", prefix, "file names begin with this").metavar("NAME").expert();
    declare_common(table);
}

Status Parameters::check() {
    Status rules = check_rules({
        {prefix.empty() || prefix.find('/') != std::string::npos,
         "--prefix is the start of a file name and must not contain '/'; use --dir for the "
         "directory"},
        {size.count % StampedPattern::page != 0,
         fmt::format("--size: {} is not a multiple of 4KiB", format_exact(size))},
        {reads > size.count / small_read,
         fmt::format("--reads: {} of 4KiB are more than the {} of --size", reads,
                     format_exact(size))},
        {storage.keep, "--keep: probe removes its files as a part of it"},
    });
    if (!rules) return rules;
    return check_common();
}

study::Definition define(const Parameters& p, int ranks) {
    study::Definition study;
    study.name = "probe";
    Cell cell;
    cell.content = study::Content::stamped;
    cell.sync = p.fsync;
    if (p.storage.backend.name != "direct" && !is_model(p.storage.backend.name)) {
        cell.past_cache = study::PastCache{.or_own_backend = true};
    }
    cell.file_bytes = p.size.count;
    const std::int64_t bytes = p.size.count;
    const std::int64_t call = Parameters::peak_block(bytes);
    for (const char* who : {all, one}) {
        if (who == one && ranks == 1) continue;
        cell.pattern = who;
        cell.ranks = cell.files = who == one ? 1 : ranks;
        cell.axes = {study::count_axis("processes", cell.ranks), study::size_axis("call", call)};
        cell.file = fmt::format("{}_{}", p.prefix, who == one ? "one" : "all");
        cell.data = study::Pieces{
            [=](int /*rank*/) { return Addresses(0, Strides{call, {{bytes / call, call}}}); }};
        study.add(cell, {"write", "read"});
        if (who == one) continue;
        cell.pattern = small_reads;
        cell.axes.back() = study::size_axis("call", small_read);
        cell.counts = study::Counts::calls;
        cell.data = study::Pieces{[=, reads = p.reads](int rank) {
            return small_pages(bytes, reads, mix64(static_cast<std::uint64_t>(rank)));
        }};
        study.add(cell, {"read"});
        cell.counts = study::Counts::visit;
    }
    study.title = fmt::format("Probe: streams of {}, {} small reads, up to {} names a process",
                              shown_size(p.size), p.reads, p.names);
    study.facts = {{"size_bytes", Unit::bytes, "--size, in whole calls", bytes}};
    return study;
}

std::unique_ptr<Benchmark> make_benchmark() {
    return std::make_unique<Probe>();
}

}  // namespace effio::probe
