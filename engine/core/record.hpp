// SPDX-License-Identifier: BSD-3-Clause
// The result schema and its JSON Lines writer. `docs/results.md` explains every member;
// `schemas/result-1.json` is the same as a JSON Schema, and tests hold each run against it.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/clock.hpp"
#include "core/error.hpp"
#include "core/evidence.hpp"
#include "core/json.hpp"
#include "core/named.hpp"
#include "core/stats.hpp"

namespace effio {

inline constexpr std::string_view result_schema = "effio-result/1.3";

/// Results and everything that people read count repetitions, rounds and iterations from 1.
constexpr std::int64_t number_of(std::int64_t index) {
    return index + 1;
}

/// A figure with its unit and direction; a value that is not finite is null and carries a reason.
struct Metric {
    double value = 0;
    std::string unit;
    bool higher_is_better = true;
    std::string reason;  ///< why there is no value; non-empty makes the value null

    static Metric rate(double bytes_per_second) { return {bytes_per_second, "B/s", true, {}}; }
    static Metric time(double seconds) { return {seconds, "s", false, {}}; }
    static Metric none(std::string unit, std::string reason, bool higher_is_better = true) {
        return {0, std::move(unit), higher_is_better, std::move(reason)};
    }
    Json to_json() const;
};

/// Minimum, mean and maximum over the ranks that took part.
struct Spread {
    double min = 0;
    double mean = 0;
    double max = 0;
    Json to_json() const { return Json{{"min", min}, {"mean", mean}, {"max", max}}; }
};

/// Parts of a measured interval with their times over the ranks, in seconds.
using PartTimes = std::vector<Named<Spread>>;
/// Null if the part does not exist.
const Spread* spread_of(const PartTimes& seconds, std::string_view part);
/// Seconds of the slowest rank; 0 if the part does not exist.
double longest(const PartTimes& seconds, std::string_view part);

/// One measured cell. Everything in seconds and bytes.
struct Measurement {
    std::string benchmark;
    std::string pattern;          ///< e.g. "scatter"
    std::string access;           ///< "write", "rewrite", "read", or an operation's name
    Json where = Json::object();  ///< benchmark-specific coordinates (partition, chunk, ...)
    int ranks = 0;
    int nodes = 0;
    std::int64_t repetition = 0;  ///< from 0; results count from 1
    std::int64_t bytes = 0;       ///< moved by all ranks
    std::int64_t operations = 0;  ///< calls by all ranks
    PartTimes seconds;            ///< by part, over ranks; "total" first
    /// When it ended, by the clock that the recorder knows; without it, when it is recorded.
    std::optional<double> ended;
    Metric rate;  ///< bandwidth or operations per second
    bool valid = true;
    std::string invalid_reason;
    std::string stopped_by;  ///< what ended the loop: "count", "time", "cap", ...
    std::optional<Histogram> call_times;
    /// With a rate limit: from the time at which each call was due to its end.
    std::optional<Histogram> response_times;
    Json hints_asked = Json::object();
    Json hints_granted = Json::object();
    /// The library hands back keys that it cannot know; nothing where no hint was asked.
    std::optional<bool> hints_echoed;
    std::int64_t verified_bytes = 0;
    std::int64_t error_count = 0;  ///< failed calls and wrong data, all ranks
    std::vector<Error> errors;     ///< the first few, with rank and place
    std::optional<CacheEvidence> cache;
    /// Measured in pieces with other measurements in between, or reported at the end of the run: it
    /// has no start and end.
    bool scattered = false;
    Json detail = Json::object();  ///< further numbers; names end in their unit

    Json to_json() const;
};

/// What a mean is based on, in the unit of its figure.
struct SampleSummary {
    std::int64_t count = 0;
    std::optional<double> min = {};
    std::optional<double> max = {};
    std::optional<double> deviation = {};  ///< with n-1
    std::optional<double> low95 = {};      ///< the 95 % confidence interval of the mean; needs two
    std::optional<double> high95 = {};
    Json to_json() const;
};

/// A number derived from measurements.
struct Figure {
    std::string benchmark;
    std::string name;             ///< e.g. "b_eff_io"
    Json where = Json::object();  ///< what it belongs to (partition, access, ...)
    Metric metric;
    std::optional<bool> valid;  ///< by the benchmark's own rules, where it has some
    std::vector<std::string> reasons;
    std::optional<SampleSummary> samples;  ///< of a mean
    Json detail = Json::object();

    Json to_json() const;
};

struct End {
    ExitCode status = ExitCode::done;
    std::string reason;  ///< why, where the status is not "done"
    std::vector<Error> errors;
    Json detail = Json::object();

    Json to_json() const;
};

Json to_json(const Error& error);
/// Percentiles, extremes, count and the non-empty buckets as [begin_ns, count] pairs.
Json to_json(const Histogram& histogram);

/// Takes complete lines, in order; each is safe once `line` returns.
class LineSink {
  public:
    virtual ~LineSink() = default;
    virtual void line(std::string_view text) = 0;

  protected:
    LineSink() = default;
    LineSink(const LineSink&) = default;
    LineSink& operator=(const LineSink&) = default;
};

/// The stream of records of one run. Safe to use from the watchdog's thread; nothing follows `end`.
class Recorder {
  public:
    explicit Recorder(std::unique_ptr<LineSink> sink) : sink_(std::move(sink)) {}

    void run(Json header);
    /// The run begins to measure, at `start` of the clock, which must outlive the recorder's
    /// measurements: from now on each of them says when it was (`span`). It ends when it is
    /// reported here, which its benchmark does at once, and began its total time before.
    void starts(const Clock& clock, double start);
    void measurement(const Measurement& measurement);
    void figure(const Figure& figure);
    void end(const End& end);
    bool ended() const;

  private:
    void write(std::string_view kind, Json body);

    mutable std::mutex mutex_;
    std::unique_ptr<LineSink> sink_;
    const Clock* clock_ = nullptr;
    double start_ = 0;
    std::int64_t sequence_ = 0;
    bool ended_ = false;
};

}  // namespace effio
