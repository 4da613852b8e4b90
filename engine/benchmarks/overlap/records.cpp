// SPDX-License-Identifier: BSD-3-Clause
// overlap as lines of the result file.
#include <fmt/format.h>

#include "benchmarks/overlap/views.hpp"
#include "core/fields.hpp"
#include "core/units.hpp"
#include "frame/round_figures.hpp"
#include "frame/storage_run.hpp"
#include "frame/until_ci.hpp"

namespace effio::overlap {
namespace {

const Fields<Point>& cell_fields() {
    using P = Point;
    static const Fields<P> fields{
        {"method", Unit::word, "how a rank moves its bytes",
         [](const P& p) { return name(p.method); }},
        {"work", Unit::word, "what it computes meanwhile", [](const P& p) { return name(p.work); }},
        {"transfer_bytes", Unit::bytes, "of a rank", &P::transfer}};
    return fields;
}

const Fields<Point>& point_fields() {
    static const Fields<Point> fields(
        cell_fields(), {{"access", Unit::word, "write or read",
                         [](const Point& p) { return p.write ? "write" : "read"; }}});
    return fields;
}

const Fields<CellResult>& detail_fields() {
    using C = CellResult;
    static const Fields<C> fields{
        {"io_seconds", Unit::seconds, "the operation alone", [](const C& c) { return c.times.io; }},
        {"work_seconds", Unit::seconds, "the computation alone",
         [](const C& c) { return c.times.work; }},
        {"both_seconds", Unit::seconds, "the operation during the computation",
         [](const C& c) { return c.times.both; }},
        {"work_alone_seconds", Unit::seconds, "computing, without the operation",
         [](const C& c) { return c.times.alone; }},
        {"work_during_io_seconds", Unit::seconds, "computing, during the operation",
         [](const C& c) { return c.times.during; }},
        {"asked_work_seconds", Unit::seconds, "planned for the computation", &C::asked_seconds},
        {"hidden_share", Unit::number, "of the operation's time that hides",
         [](const C& c) { return c.valid ? c.times.hidden() : std::nullopt; }},
        {"work_slowdown", Unit::number, "of the computation during the operation",
         [](const C& c) { return c.valid ? c.times.slow_down() : std::nullopt; }},
        {"polls", Unit::count, "by all ranks", &C::polls}};
    return fields;
}

/// What the hidden share is made from.
struct Hidden {
    const PointTimes& series;
    Times mean;

    std::optional<std::string_view> limit() const {
        const auto found = series.limit();
        return found ? std::optional(name(*found)) : std::nullopt;
    }
};

const Fields<Hidden>& hidden_fields() {
    using H = Hidden;
    static const Fields<H> fields{
        {"limit", Unit::word, "why no more hides; null: the share is not known", &H::limit},
        {"possible_share", Unit::number, "the most that can hide",
         [](const H& h) { return h.mean.possible(); }},
        {"asked_work_seconds", Unit::seconds, "planned for the computation",
         [](const H& h) { return h.series.asked_seconds; }},
        {"post_seconds", Unit::seconds, "in the call that starts the operation",
         [](const H& h) { return h.mean.post; }},
        {"poll_seconds", Unit::seconds, "in calls that ask whether it is over",
         [](const H& h) { return h.mean.poll; }},
        {"wait_seconds", Unit::seconds, "in the call that waits for it",
         [](const H& h) { return h.mean.wait; }}};
    return fields;
}

const Fields<Times>& slow_down_fields() {
    static const Fields<Times> fields{
        {"alone_seconds", Unit::seconds, "computing, without the operation", &Times::alone},
        {"during_io_seconds", Unit::seconds, "computing, during the operation", &Times::during}};
    return fields;
}

/// What the headline is made from.
struct Headline {
    const std::vector<std::string>& left_out;
    const PointTimes* best = nullptr;
};

const Fields<Headline>& headline_fields() {
    using H = Headline;
    static const Fields<H> fields{
        {"left_out", Unit::word, "methods that could not be measured, and why",
         [](const H& h) -> const std::vector<std::string>& { return h.left_out; }},
        Field<H>("best", point_fields(), "where the share is", [](const H& h) {
            return h.best->point;
        }).only_if([](const H& h) { return h.best != nullptr; })};
    return fields;
}

const Fields<MethodStorage>& method_fields() {
    using C = MethodStorage;
    static const Fields<C> fields{
        {"method", Unit::word, "as in --methods", [](const C& c) { return name(c.method); }},
        {"backend", backend_fields(), "backend that the method uses",
         [](const C& c) {
             return BackendOfRun{std::string(c.storage->name()), c.storage->describe()};
         }},
        {"file", Unit::word, "start of the names of its files",
         [](const C& c) { return c.files.stem; }}};
    return fields;
}

const Fields<Work>& work_fields() {
    static const Fields<Work> fields{
        {"kind", Unit::word, "as in --work", [](const Work& w) { return name(w.kind()); }},
        {"piece_seconds", Unit::seconds, "that the smallest piece of the work takes",
         &Work::piece_seconds}};
    return fields;
}

struct SetUp {
    const std::vector<MethodStorage>& methods;
    const std::vector<Work>& works;
    const std::vector<std::string>& left_out;
    const ByteCap& cap;
};

const Fields<SetUp>& set_fields() {
    using S = SetUp;
    static const Fields<S> fields{
        {"methods", method_fields(), "that are measured",
         [](const S& s) -> const std::vector<MethodStorage>& { return s.methods; }},
        {"work", work_fields(), "kinds of computation",
         [](const S& s) -> const std::vector<Work>& { return s.works; }},
        {"left_out", Unit::word, "methods that are not measured, and why",
         [](const S& s) -> const std::vector<std::string>& { return s.left_out; }},
        {"cap", cap_fields(), "limit on the bytes that the run may use",
         [](const S& s) -> const ByteCap& { return s.cap; }}};
    return fields;
}

class RecordView : public Observer {
  public:
    explicit RecordView(Recorder& recorder) : recorder_(recorder) {}

    void left_out(const std::string& why) override { left_out_.push_back(why); }
    void cell(const CellResult& cell) override { recorder_.measurement(cell.to_measurement()); }

    void end(const std::vector<PointTimes>& all) override {
        for (const PointTimes& s : all) {
            hidden(s);
            slow_down(s);
            recorder_.figure(
                mean_of(figure("io_seconds", s, Metric::time(0)), s.values(&Times::io), missing));
            recorder_.figure(mean_of(figure("work_seconds", s, Metric::time(0)),
                                     s.values(&Times::work), missing));
            recorder_.figure(mean_of(figure("both_seconds", s, Metric::time(0)),
                                     s.values(&Times::both), missing));
        }
        Figure f;
        f.benchmark = "overlap";
        f.name = "overlap";
        f.metric = {0, "1", true, {}};
        const PointTimes* best = best_of(all);
        f = mean_of(std::move(f), best != nullptr ? best->hidden() : std::vector<double>(),
                    fmt::format("no share is known within ± {:.0f} %", 100 * known_within));
        f.detail.update(headline_fields().json({left_out_, best}));
        recorder_.figure(f);
    }

  private:
    static constexpr const char* missing = "no repetition is valid";

    static Figure figure(const char* name, const PointTimes& of, Metric metric) {
        Figure f;
        f.benchmark = "overlap";
        f.name = name;
        f.where = where_of(of.point);
        f.metric = std::move(metric);
        return f;
    }

    void hidden(const PointTimes& s) {
        const auto stated = s.stated();
        Figure f =
            mean_of(figure("hidden_share", s, {0, "1", true, {}}), stated, s.why_not_known());
        f.detail.update(hidden_fields().json({s, s.mean()}));
        recorder_.figure(f);
    }

    void slow_down(const PointTimes& s) {
        Figure f = mean_of(figure("work_slowdown", s, {0, "1", false, {}}), s.slow_downs(),
                           "the computation takes no time");
        f.detail.update(slow_down_fields().json(s.mean()));
        recorder_.figure(f);
    }

    Recorder& recorder_;
    std::vector<std::string> left_out_;
};

}  // namespace

Json where_of(const Point& point) {
    return point_fields().json(point);
}

std::string text_of(const Point& point, std::string_view figure) {
    return fmt::format("{} of {} {} {} alongside {} work", figure, name(point.method),
                       point.write ? "write" : "read", shown_size(Bytes{point.transfer}),
                       name(point.work));
}

std::array<NamedNumber, 2> timed_figures(const Times& times) {
    return {NamedNumber{"io_seconds", times.io}, NamedNumber{"both_seconds", times.both}};
}

Measurement CellResult::to_measurement() const {
    Measurement m;
    m.benchmark = "overlap";
    m.pattern = name(point.method);
    m.access = point.write ? "write" : "read";
    m.where = cell_fields().json(point);
    m.ranks = ranks;
    m.nodes = nodes;
    m.repetition = repetition;
    m.bytes = bytes;
    m.operations = ranks;
    m.seconds = seconds;
    m.ended = ended;
    m.valid = valid;
    if (valid) {
        m.rate = Metric::rate(times.both > 0 ? static_cast<double>(bytes) / times.both : 0);
        if (!(times.both > 0)) m.rate = Metric::none("B/s", "it took no time");
        m.stopped_by = "count";
    } else {
        m.rate = Metric::none("B/s", "an operation failed");
        m.invalid_reason = "an operation failed";
        m.stopped_by = "error";
    }
    m.verified_bytes = verified_bytes;
    m.error_count = error_count;
    m.errors = errors;
    m.cache = cache;
    m.detail = detail_fields().json(*this);
    return m;
}

Json describe(const std::vector<MethodStorage>& methods, const std::vector<Work>& works,
              const std::vector<std::string>& left_out, const ByteCap& cap) {
    return set_fields().json({methods, works, left_out, cap});
}

ResultInfo result_info() {
    ResultInfo info{
        cell_fields().infos(),
        detail_fields().infos(),
        {},
        {object_of("overlap", "methods and kinds of work of the run", set_fields().infos())}};
    const FieldInfos place = point_fields().infos();
    const auto add = [&](const char* name, Unit unit, const char* meaning, FieldInfos detail = {}) {
        detail.insert(detail.begin(), interval_field());
        info.figures.push_back({name, unit, meaning, place, std::move(detail)});
    };
    add("hidden_share", Unit::number, "of the operation's time that hides",
        hidden_fields().infos());
    add("work_slowdown", Unit::number, "of the computation during the operation",
        slow_down_fields().infos());
    add("io_seconds", Unit::seconds, "the operation alone");
    add("work_seconds", Unit::seconds, "the computation alone");
    add("both_seconds", Unit::seconds, "the operation during the computation");
    add("overlap", Unit::number, "the highest share that is known", headline_fields().infos());
    info.figures.back().where = {};
    info.figures.push_back(until_ci_info());
    return info;
}

std::unique_ptr<Observer> make_record_view(Recorder& recorder) {
    return std::make_unique<RecordView>(recorder);
}

}  // namespace effio::overlap
