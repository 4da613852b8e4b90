// SPDX-License-Identifier: BSD-3-Clause
// overlap as lines of the result file.
#include <fmt/format.h>

#include "benchmarks/overlap/views.hpp"
#include "benchmarks/round_figures.hpp"

namespace effio::overlap {
namespace {

class RecordView : public Observer {
  public:
    explicit RecordView(Recorder& recorder) : recorder_(recorder) {}

    void left_out(const std::string& why) override { left_out_.push_back(why); }
    void cell(const Cell& cell) override { recorder_.measurement(cell.to_measurement()); }

    void end(const std::vector<Series>& all) override {
        for (const Series& s : all) {
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
        const Series* best = best_of(all);
        f = mean_of(std::move(f), best != nullptr ? best->hidden() : std::vector<double>(),
                    fmt::format("no share is known within ± {:.0f} %", 100 * known_within));
        f.detail["left_out"] = left_out_;
        if (best != nullptr) f.detail["best"] = where_of(best->point);
        recorder_.figure(f);
    }

  private:
    static constexpr const char* missing = "no repetition is valid";

    static Figure figure(const char* name, const Series& of, Metric metric) {
        Figure f;
        f.benchmark = "overlap";
        f.name = name;
        f.where = where_of(of.point);
        f.metric = std::move(metric);
        return f;
    }

    void hidden(const Series& s) {
        const auto stated = s.stated();
        Figure f =
            mean_of(figure("hidden_share", s, {0, "1", true, {}}), stated, s.why_not_known());
        const Times mean = s.mean();
        const auto limit = stated.empty() ? std::nullopt : limit_of(mean);
        const auto possible = mean.possible();
        f.detail.update(Json{{"limit", limit ? Json(name(*limit)) : Json(nullptr)},
                             {"possible_share", possible ? Json(*possible) : Json(nullptr)},
                             {"asked_work_seconds", s.asked_seconds},
                             {"post_seconds", mean.post},
                             {"poll_seconds", mean.poll},
                             {"wait_seconds", mean.wait}});
        recorder_.figure(f);
    }

    void slow_down(const Series& s) {
        Figure f = mean_of(figure("work_slowdown", s, {0, "1", false, {}}), s.slow_downs(),
                           "the computation takes no time");
        const Times mean = s.mean();
        f.detail.update(Json{{"alone_seconds", mean.alone}, {"beside_seconds", mean.beside}});
        recorder_.figure(f);
    }

    Recorder& recorder_;
    std::vector<std::string> left_out_;
};

}  // namespace

Json where_of(const Point& point) {
    return Json{{"way", name(point.way)},
                {"work", name(point.work)},
                {"transfer_bytes", point.transfer},
                {"access", point.write ? "write" : "read"}};
}

std::string text_of(const Point& point, std::string_view figure) {
    return fmt::format("{} of {} {} {} beside {} work", figure, name(point.way),
                       point.write ? "write" : "read", format_exact(Bytes{point.transfer}),
                       name(point.work));
}

std::array<std::pair<std::string_view, double>, 2> timed_figures(const Times& times) {
    return {std::pair{std::string_view("io_seconds"), times.io},
            {std::string_view("both_seconds"), times.both}};
}

Measurement Cell::to_measurement() const {
    Measurement m;
    m.benchmark = "overlap";
    m.pattern = name(point.way);
    m.access = point.write ? "write" : "read";
    m.where = where_of(point);
    m.where.erase("access");
    m.ranks = ranks;
    m.nodes = nodes;
    m.repetition = repetition;
    m.bytes = bytes;
    m.operations = ranks;
    m.seconds = seconds;
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
    const auto number = [this](const std::optional<double>& value) {
        return valid && value ? Json(*value) : Json(nullptr);
    };
    m.detail = Json{{"io_seconds", times.io},
                    {"work_seconds", times.work},
                    {"both_seconds", times.both},
                    {"work_alone_seconds", times.alone},
                    {"work_beside_seconds", times.beside},
                    {"asked_work_seconds", asked_seconds},
                    {"hidden_share", number(times.hidden())},
                    {"work_slowdown", number(times.slow_down())},
                    {"polls", polls}};
    return m;
}

std::unique_ptr<Observer> make_record_view(Recorder& recorder) {
    return std::make_unique<RecordView>(recorder);
}

}  // namespace effio::overlap
