// SPDX-License-Identifier: BSD-3-Clause
#include "core/record.hpp"

#include <gtest/gtest.h>

#include <cerrno>
#include <cmath>
#include <limits>
#include <thread>
#include <vector>

namespace effio {
namespace {

class Lines : public LineSink {
  public:
    explicit Lines(std::vector<std::string>& lines) : lines_(lines) {}
    void line(std::string_view text) override { lines_.emplace_back(text); }

  private:
    std::vector<std::string>& lines_;
};

struct Recorded {
    std::vector<std::string> lines;
    Recorder recorder{std::make_unique<Lines>(lines)};
    Json at(std::size_t i) const { return parse_json(lines.at(i)); }
};

TEST(Record, every_line_has_schema_kind_and_number) {
    Recorded r;
    r.recorder.run(Json{{"benchmark", "b"}});
    r.recorder.measurement({});
    r.recorder.figure({});
    r.recorder.end({});
    ASSERT_EQ(r.lines.size(), 4U);
    const std::vector<std::string> kinds{"run", "measurement", "figure", "end"};
    for (std::size_t i = 0; i < 4; ++i) {
        EXPECT_EQ(r.lines[i].back(), '\n');
        EXPECT_EQ(r.lines[i].find('\n'), r.lines[i].size() - 1);
        EXPECT_EQ(r.at(i)["schema"], "effio-result/1.3");
        EXPECT_EQ(r.at(i)["kind"], kinds[i]);
        EXPECT_EQ(r.at(i)["seq"], i);
    }
    EXPECT_EQ(r.at(0)["benchmark"], "b");
}

/// A measurement of 3 s that is reported 5 s after the start of the run, at 10 s of the clock.
TEST(Record, a_measurement_says_when_it_was) {
    Recorded r;
    Measurement m;
    m.seconds = {{"total", {1, 2, 3}}};
    r.recorder.measurement(m);
    Clock clock(Clock::Kind::virtual_time);
    clock.advance(15);
    r.recorder.starts(clock, 10);
    r.recorder.measurement(m);
    m.seconds = {{"total", {7, 7, 7}}};
    r.recorder.measurement(m);
    m.scattered = true;
    r.recorder.measurement(m);
    m.scattered = false;
    m.seconds = {{"total", {1, 1, 1}}};
    m.ended = 14;  // and then looked at caches for a second
    r.recorder.measurement(m);
    EXPECT_FALSE(r.at(0).contains("span"));
    EXPECT_EQ(r.at(1)["span"], (Json{{"begin_seconds", 2.0}, {"end_seconds", 5.0}}));
    EXPECT_EQ(r.at(2)["span"]["begin_seconds"], 0.0);
    EXPECT_FALSE(r.at(3).contains("span"));
    EXPECT_EQ(r.at(4)["span"], (Json{{"begin_seconds", 3.0}, {"end_seconds", 4.0}}));
}

TEST(Record, nothing_follows_the_end) {
    Recorded r;
    EXPECT_FALSE(r.recorder.ended());
    r.recorder.end({ExitCode::hung, "stuck", {io_error("open", "/f", "gone")}, {}});
    EXPECT_TRUE(r.recorder.ended());
    r.recorder.end({});
    r.recorder.figure({});
    ASSERT_EQ(r.lines.size(), 1U);
    EXPECT_EQ(r.at(0)["status"], "hung");
    EXPECT_EQ(r.at(0)["exit_code"], 5);
    EXPECT_EQ(r.at(0)["reason"], "stuck");
    EXPECT_EQ(r.at(0)["errors"][0]["path"], "/f");
}

TEST(Record, a_value_that_is_not_finite_is_null_and_has_a_reason) {
    const double infinity = std::numeric_limits<double>::infinity();
    EXPECT_EQ(Metric::rate(2.5).to_json(),
              parse_json(R"({"value": 2.5, "unit": "B/s", "better": "higher"})"));
    EXPECT_EQ(Metric::time(1).to_json()["better"], "lower");
    for (const double bad : {infinity, -infinity, std::nan("")}) {
        EXPECT_EQ(Metric::time(bad).to_json(),
                  parse_json(R"({"value": null, "unit": "s", "better": "lower",
                                  "reason": "not a finite number"})"));
    }
    EXPECT_EQ(Metric::none("B/s", "a call failed").to_json(),
              parse_json(R"({"value": null, "unit": "B/s", "better": "higher",
                              "reason": "a call failed"})"));
}

TEST(Record, an_error_says_what_is_known_and_null_for_the_rest) {
    Error e = system_error("pwrite", "/d/f", ENOSPC, 4096);
    e.rank = 0;
    e.host = "n07";
    EXPECT_EQ(to_json(e), parse_json(R"({"status": "io_error", "operation": "pwrite",
        "cause": "No space left on device", "path": "/d/f", "offset_bytes": 4096, "errno": 28,
        "mpi_class": null, "rank": 0, "host": "n07"})"));
    EXPECT_EQ(to_json(usage_error("bad")), parse_json(R"({"status": "usage", "operation": "",
        "cause": "bad", "path": null, "offset_bytes": null, "errno": null, "mpi_class": null,
        "rank": null, "host": null})"));
}

TEST(Record, a_measurement_has_all_its_parts) {
    Measurement m;
    m.benchmark = "b_eff_io";
    m.pattern = "scatter";
    m.access = "read";
    m.where = Json{{"row", 5}};
    m.ranks = 4;
    m.nodes = 2;
    m.repetition = 1;
    m.bytes = 4096;
    m.operations = 8;
    m.seconds = {{"total", {1, 2, 3}}, {"sync", {0, 0.5, 1}}};
    m.rate = Metric::rate(4096);
    m.valid = false;
    m.invalid_reason = "sync failed";
    m.stopped_by = "time";
    m.call_times.emplace();
    m.call_times->add_nanoseconds(70);
    m.call_times->add_nanoseconds(70);
    m.cache.emplace();
    m.cache->process_read = 10;
    m.cache->methods = {"dropped", "other nodes"};
    m.cache->resident_after = 0.5;
    m.cache->client = "nfs";
    m.cache->unwritten = 7;
    m.cache->reason = "why";
    m.error_count = 3;
    m.errors = {usage_error("x")};
    const Json j = m.to_json();
    EXPECT_EQ(j["seconds"], parse_json(R"({"total": {"min": 1.0, "mean": 2.0, "max": 3.0},
                                            "sync": {"min": 0.0, "mean": 0.5, "max": 1.0}})"));
    EXPECT_EQ(j["seconds"].items().begin().key(), "total");
    EXPECT_EQ(j["rate"]["value"], 4096);
    EXPECT_EQ(j["invalid_reason"], "sync failed");
    EXPECT_EQ(j["error_count"], 3);
    EXPECT_EQ(j["errors"].size(), 1U);
    EXPECT_EQ(j["call_times"]["count"], 2);
    EXPECT_EQ(j["call_times"]["p50"], 70e-9);
    EXPECT_EQ(j["call_times"]["buckets_begin_ns_count"], parse_json("[[70, 2]]"));
    EXPECT_EQ(j["cache"]["process_read_bytes"], 10);
    EXPECT_EQ(j["cache"]["device_read_bytes"], nullptr);
    EXPECT_EQ(j["cache"]["methods"], parse_json(R"(["dropped", "other nodes"])"));
    EXPECT_EQ(j["cache"]["resident_before_fraction"], nullptr);
    EXPECT_EQ(j["cache"]["resident_after_fraction"], 0.5);
    EXPECT_EQ(j["cache"]["client"], "nfs");
    EXPECT_EQ(j["cache"]["client_read_bytes"], nullptr);
    EXPECT_EQ(j["cache"]["unwritten_bytes"], 7);
    EXPECT_EQ(j["cache"]["others_bytes"], nullptr);
    EXPECT_EQ(j["cache"]["reason"], "why");
    EXPECT_EQ(CacheEvidence().to_json()["client"], nullptr);
    EXPECT_EQ(j["cache"]["verdict"], "unknown");
    EXPECT_EQ(j["cache"]["storage_fraction"], nullptr);
    EXPECT_FALSE(j["cache"].contains("hole_fraction"));
    EXPECT_FALSE(j.contains("response_times"));
    m.cache->holes = 0.25;
    m.cache->storage_fraction = 0.5;
    m.response_times.emplace();
    m.response_times->add_nanoseconds(70);
    EXPECT_EQ(m.to_json()["cache"]["hole_fraction"], 0.25);
    EXPECT_EQ(m.to_json()["cache"]["storage_fraction"], 0.5);
    EXPECT_EQ(m.to_json()["response_times"]["count"], 1);
    EXPECT_FALSE(Measurement().to_json().contains("invalid_reason"));
    EXPECT_EQ(Measurement().to_json()["cache"], nullptr);
    EXPECT_EQ(Measurement().to_json()["call_times"], nullptr);
}

TEST(Record, a_figure_without_rules_is_neither_valid_nor_not) {
    Figure f;
    f.name = "b_eff_io";
    f.metric = Metric::rate(5);
    EXPECT_EQ(f.to_json()["valid"], nullptr);
    f.valid = false;
    f.reasons = {"too short"};
    EXPECT_EQ(f.to_json()["valid"], false);
    EXPECT_EQ(f.to_json()["reasons"], parse_json(R"(["too short"])"));
}

TEST(Record, bytes_that_are_not_utf8_do_not_break_a_line) {
    Recorded r;
    r.recorder.run(Json{{"path", "/data/\xff\xfe\"\n"}});
    ASSERT_EQ(r.lines.size(), 1U);
    EXPECT_EQ(r.at(0)["path"], "/data/\uFFFD\uFFFD\"\n");
}

TEST(Record, lines_of_several_threads_do_not_mix) {
    Recorded r;
    constexpr int each = 200;
    {
        std::vector<std::jthread> writers;
        for (int t = 0; t < 4; ++t) {
            writers.emplace_back([&r, t] {
                for (int i = 0; i < each; ++i) {
                    Figure f;
                    f.name = std::to_string(t);
                    r.recorder.figure(f);
                }
            });
        }
    }
    ASSERT_EQ(r.lines.size(), 4U * each);
    for (std::size_t i = 0; i < r.lines.size(); ++i) EXPECT_EQ(r.at(i)["seq"], i);
}

}  // namespace
}  // namespace effio
