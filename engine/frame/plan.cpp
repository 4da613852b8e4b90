// SPDX-License-Identifier: BSD-3-Clause
#include "frame/plan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "core/units.hpp"
#include "parallel/system.hpp"

namespace effio {
namespace {

/// The smaller value of each member.
Load lower_load(const Load& a, const Load& b) {
    return {std::min(a.written, b.written), std::min(a.read, b.read),
            std::min(a.seconds, b.seconds), std::min(a.on_storage, b.on_storage),
            std::min(a.files, b.files)};
}

Load upper_load(const Load& a, const Load& b) {
    return {std::max(a.written, b.written), std::max(a.read, b.read),
            std::max(a.seconds, b.seconds), std::max(a.on_storage, b.on_storage),
            std::max(a.files, b.files)};
}

/// The load of two at the same time: the sums.
Load side_by_side(const Load& a, const Load& b, double seconds) {
    return {a.written + b.written, a.read + b.read, seconds, a.on_storage + b.on_storage,
            a.files + b.files};
}

std::string range_text(double least, double expected, double most, std::string (*text)(double)) {
    std::string middle = text(expected);
    if (text(least) == middle && text(most) == middle) return middle;
    return fmt::format("{} ({} to {})", middle, text(least), text(most));
}

/// One number of an estimate under its assumptions.
struct PlannedRange {
    double least = 0;
    double expected = 0;
    double most = 0;
};

Field<Estimate> range_field(const char* name, Unit unit, const char* meaning, double Load::* what) {
    using R = PlannedRange;
    const Fields<R> fields{{"least", unit, "under the most favorable assumption", &R::least},
                           {"expected", unit, "at the assumed rate", &R::expected},
                           {"most", unit, "under the least favorable assumption", &R::most}};
    return {name, fields, meaning, [what](const Estimate& e) {
                return R{e.least().*what, e.expected().*what, e.most().*what};
            }};
}

const Fields<Estimate>& estimate_fields() {
    using E = Estimate;
    static const Fields<E> fields{
        range_field("bytes_written", Unit::bytes, "by the calls of all ranks", &Load::written),
        range_field("bytes_read", Unit::bytes, "by the calls of all ranks", &Load::read),
        {"warm_up_bytes_written", Unit::bytes, "included in bytes_written",
         [](const E& e) { return e.warm_up().written; }},
        {"warm_up_bytes_read", Unit::bytes, "included in bytes_read",
         [](const E& e) { return e.warm_up().read; }},
        {"warm_up_seconds", Unit::seconds, "included in seconds",
         [](const E& e) { return e.warm_up().seconds; }},
        {"bytes_on_storage", Unit::bytes, "the most at any one time",
         [](const E& e) { return e.most().on_storage; }},
        {"files", Unit::count, "the most at any one time",
         [](const E& e) { return e.most().files; }},
        range_field("seconds", Unit::seconds, "of the whole run", &Load::seconds),
        {"assumes", Unit::word, "what the ranges assume", &E::assumption}};
    return fields;
}

Fact directories_fact(const std::vector<std::string>& paths) {
    return {"needed_directories", Unit::word, "that must exist on every node", paths};
}

Fact fits_fact(const std::optional<bool>& fits) {
    return {"fits", Unit::flag, "into the bytes that --plan-free names", fits};
}

std::string duration_text(double seconds) {
    return format_duration(seconds);
}

}  // namespace

double PlanInput::node_memory() const {
    if (memory_bytes) return *memory_bytes;
    static const auto here = static_cast<double>(find_memory().total_bytes);  // once for many plans
    return here;
}

double PlanInput::nodes() const {
    return std::ceil(static_cast<double>(ranks) / std::max(ranks_per_node, 1));
}

Load& Load::operator+=(const Load& other) {
    written += other.written;
    read += other.read;
    seconds += other.seconds;
    on_storage = std::max(on_storage, other.on_storage);
    files = std::max(files, other.files);
    return *this;
}

Load Load::times(double count) const {
    return {count * written, count * read, count * seconds, on_storage, files};
}

Estimate::Estimate(const Repeated& repeated, const std::function<Load(const Assumed&)>& one,
                   const Load& warm_up)
    : warm_up_(warm_up) {
    static const UntilCiOptions fixed;
    const UntilCiOptions& until_ci = repeated.until_ci != nullptr ? *repeated.until_ci : fixed;
    bool first = true;
    for (const Assumed assumed :
         {Assumed{}, Assumed{slow}, Assumed{fast}, Assumed{slow, true}, Assumed{fast, true}}) {
        const Load once = one(assumed);
        const auto span = until_ci.predict(repeated.repetitions, repeated.noun, once.seconds);
        const auto within = [&](double count) {
            if (repeated.limit_seconds <= 0 || once.seconds <= 0) return count;
            return std::min(count, std::max(1.0, std::ceil(repeated.limit_seconds / once.seconds)));
        };
        Load fewest = once.times(within(span.least_repetitions));
        Load most = once.times(within(span.most_repetitions));
        for (Load* load : {&fewest, &most}) *load += warm_up.times(1);
        if (first) {
            repetitions_ = span.repetitions;
            if (until_ci.on()) until_ci_ = span;
            least_ = fewest;
            expected_ = most_ = most;
        }
        least_ = lower_load(least_, lower_load(fewest, most));
        most_ = upper_load(most_, most);
        first = false;
    }
}

void Estimate::assume_storage(double rate) {
    assume(fmt::format("storage delivers {} to {} in all", format_rate(slow * rate),
                       format_rate(fast * rate)));
}

void Estimate::assume_network(double rate) {
    assume(fmt::format("the network delivers {} to {} to each rank", format_rate(slow * rate),
                       format_rate(fast * rate)));
}

void Estimate::then(const Estimate& other, double times) {
    least_ += other.least_.times(times);
    expected_ += other.expected_.times(times);
    most_ += other.most_.times(times);
    warm_up_ += other.warm_up_.times(times);
    if (assumption_.empty()) assumption_ = other.assumption_;
}

Estimate Estimate::together(const std::vector<Estimate>& all) {
    Estimate sum;
    for (const auto& one : all) {
        sum.least_ =
            side_by_side(sum.least_, one.least_, std::max(sum.least_.seconds, one.least_.seconds));
        sum.expected_ = side_by_side(sum.expected_, one.expected_,
                                     sum.expected_.seconds + one.expected_.seconds);
        sum.most_ = side_by_side(sum.most_, one.most_, sum.most_.seconds + one.most_.seconds);
        sum.warm_up_ = side_by_side(sum.warm_up_, one.warm_up_, 0);
        if (sum.assumption_.empty()) sum.assumption_ = one.assumption_;
    }
    return sum;
}

std::string Estimate::text() const {
    std::string text =
        fmt::format("written: {}; read: {}",
                    range_text(least_.written, expected_.written, most_.written, &format_size),
                    range_text(least_.read, expected_.read, most_.read, &format_size));
    if (warm_up_.written > 0 || warm_up_.read > 0) {
        text += fmt::format(", of these {} and {} to warm up", format_size(warm_up_.written),
                            format_size(warm_up_.read));
    }
    return text +
           fmt::format("\non storage at a time: at most {} in {}\nexpected duration: {}{}\n",
                       format_size(most_.on_storage),
                       count_of(static_cast<std::int64_t>(most_.files), "file"),
                       range_text(least_.seconds, expected_.seconds, most_.seconds, &duration_text),
                       assumption_.empty() ? "" : ", if " + assumption_);
}

Json Estimate::to_json() const {
    return estimate_fields().json(*this);
}

std::string text_of(const Plan& plan, const PlanInput& input) {
    if (!input.free_bytes || plan.estimate.most().on_storage <= *input.free_bytes) return plan.text;
    return fmt::format("{}\n--plan-free: {} on storage are more than the {} that are free\n",
                       plan.text, format_size(plan.estimate.most().on_storage),
                       format_size(*input.free_bytes));
}

const Json& Plan::operator[](std::string_view name) const {
    const auto found = std::find_if(facts.begin(), facts.end(),
                                    [&](const Fact& fact) { return fact.info.name == name; });
    return found->value;
}

Json data_of(const Plan& plan, const PlanInput& input,
             const std::vector<std::string>& needed_directories) {
    Json data = to_json(plan.facts);
    if (const auto& until_ci = plan.estimate.until_ci()) {
        data["until_ci"] = planned_until_ci_fields().json(*until_ci);
    }
    std::optional<bool> fits;
    if (input.free_bytes) fits = plan.estimate.most().on_storage <= *input.free_bytes;
    data["estimate"] = plan.estimate.to_json();
    data["estimate"].update(to_json(Facts{fits_fact(fits)}));
    data.update(to_json(Facts{directories_fact(needed_directories)}));
    return data;
}

FieldInfos info_of(const Plan& plan) {
    FieldInfos all = infos_of(plan.facts);
    all.push_back(object_of("until_ci", "with --until-ci", planned_until_ci_fields().infos()));
    all.back().sometimes = true;
    FieldInfos estimate = estimate_fields().infos();
    estimate.push_back(fits_fact({}).info);
    all.push_back(object_of("estimate", "what the run takes", std::move(estimate)));
    all.push_back(directories_fact({}).info);
    return all;
}

}  // namespace effio
