// SPDX-License-Identifier: BSD-3-Clause
#include "core/record.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "core/or_null.hpp"

namespace effio {
namespace {

Json json_list(const std::vector<Error>& errors) {
    Json list = Json::array();
    for (const auto& error : errors) list.push_back(effio::to_json(error));
    return list;
}

}  // namespace

const Spread* spread_of(const PartTimes& seconds, std::string_view part) {
    for (const auto& [name, spread] : seconds) {
        if (name == part) return &spread;
    }
    return nullptr;
}

double longest(const PartTimes& seconds, std::string_view part) {
    const Spread* found = spread_of(seconds, part);
    return found != nullptr ? found->max : 0;
}

Json Metric::to_json() const {
    Json out;
    const bool known = reason.empty() && std::isfinite(value);
    out["value"] = known ? Json(value) : Json(nullptr);
    out["unit"] = unit;
    out["better"] = higher_is_better ? "higher" : "lower";
    if (!known) out["reason"] = reason.empty() ? "not a finite number" : reason;
    return out;
}

Json to_json(const Error& error) {
    Json out;
    out["status"] = name(error.exit_code);
    out["operation"] = error.operation;
    out["cause"] = error.cause;
    out["path"] = error.path.empty() ? Json(nullptr) : Json(error.path);
    out["offset_bytes"] = or_null(error.offset);
    out["errno"] = error.system_code == 0 ? Json(nullptr) : Json(error.system_code);
    out["mpi_class"] = error.mpi_class == 0 ? Json(nullptr) : Json(error.mpi_class);
    out["rank"] = error.rank < 0 ? Json(nullptr) : Json(error.rank);
    out["host"] = error.host.empty() ? Json(nullptr) : Json(error.host);
    return out;
}

Json to_json(const Histogram& histogram) {
    constexpr std::array<std::pair<const char*, double>, 5> quantiles{
        {{"p50", 0.5}, {"p90", 0.9}, {"p99", 0.99}, {"p99.9", 0.999}, {"p99.99", 0.9999}}};
    Json out;
    out["unit"] = "s";
    out["count"] = histogram.count();
    out["min"] = histogram.min_seconds();
    out["mean"] = histogram.mean_seconds();
    for (const auto& [label, q] : quantiles) out[label] = histogram.quantile_seconds(q);
    out["max"] = histogram.max_seconds();
    Json buckets = Json::array();
    const auto counts = histogram.counts();
    for (std::size_t i = 0; i < counts.size(); ++i) {
        if (counts[i] == 0) continue;
        buckets.push_back(Json::array({Histogram::bucket_begin_ns(i), counts[i]}));
    }
    out["buckets_begin_ns_count"] = std::move(buckets);
    return out;
}

Json Measurement::to_json() const {
    Json out;
    out["benchmark"] = benchmark;
    out["pattern"] = pattern;
    out["access"] = access;
    out["where"] = where;
    out["ranks"] = ranks;
    out["nodes"] = nodes;
    out["repetition"] = number_of(repetition);
    out["bytes"] = bytes;
    out["operations"] = operations;
    Json parts = Json::object();
    for (const auto& [part, spread] : seconds) parts[part] = spread.to_json();
    out["seconds"] = std::move(parts);
    out["rate"] = rate.to_json();
    out["valid"] = valid;
    if (!valid) out["invalid_reason"] = invalid_reason;
    out["stopped_by"] = stopped_by;
    out["call_times"] = call_times ? effio::to_json(*call_times) : Json(nullptr);
    if (response_times) out["response_times"] = effio::to_json(*response_times);
    out["hints_asked"] = hints_asked;
    out["hints_granted"] = hints_granted;
    out["hints_echoed"] = or_null(hints_echoed);
    out["verified_bytes"] = verified_bytes;
    out["error_count"] = error_count;
    out["errors"] = json_list(errors);
    out["cache"] = cache ? cache->to_json() : Json(nullptr);
    out["detail"] = detail;
    return out;
}

Json SampleSummary::to_json() const {
    return Json{{"count", count},          {"min", or_null(min)},
                {"max", or_null(max)},     {"deviation", or_null(deviation)},
                {"low95", or_null(low95)}, {"high95", or_null(high95)}};
}

Json Figure::to_json() const {
    Json out;
    out["benchmark"] = benchmark;
    out["name"] = name;
    out["where"] = where;
    out["metric"] = metric.to_json();
    out["valid"] = or_null(valid);
    out["reasons"] = reasons;
    if (samples) out["samples"] = samples->to_json();
    out["detail"] = detail;
    return out;
}

Json End::to_json() const {
    Json out;
    out["status"] = name(status);
    out["exit_code"] = static_cast<int>(status);
    out["reason"] = reason;
    out["errors"] = json_list(errors);
    out["detail"] = detail;
    return out;
}

void Recorder::write(std::string_view kind, Json body) {
    const std::lock_guard lock(mutex_);
    if (ended_) return;
    Json line;
    line["schema"] = result_schema;
    line["kind"] = kind;
    line["seq"] = sequence_++;
    for (auto& [key, value] : body.items()) line[key] = std::move(value);
    ended_ = kind == "end";
    // Bytes from outside (paths, host names) need not be UTF-8; a result line always is.
    if (sink_) sink_->line(json_line(line) + "\n");
}

void Recorder::run(Json header) {
    write("run", std::move(header));
}
void Recorder::starts(const Clock& clock, double start) {
    const std::lock_guard lock(mutex_);
    clock_ = &clock;
    start_ = start;
}
void Recorder::measurement(const Measurement& m) {
    Json line = m.to_json();
    // Only the thread that measures reads the clock.
    if (clock_ != nullptr && !m.scattered) {
        const double end = std::max((m.ended ? *m.ended : clock_->now()) - start_, 0.0);
        const double begin = std::max(end - longest(m.seconds, "total"), 0.0);
        line["span"] = Json{{"begin_seconds", begin}, {"end_seconds", end}};
    }
    write("measurement", std::move(line));
}
void Recorder::figure(const Figure& f) {
    write("figure", f.to_json());
}
void Recorder::end(const End& e) {
    write("end", e.to_json());
}

bool Recorder::ended() const {
    const std::lock_guard lock(mutex_);
    return ended_;
}

}  // namespace effio
