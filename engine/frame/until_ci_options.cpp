// SPDX-License-Identifier: BSD-3-Clause
#include "frame/until_ci_options.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace effio {

void UntilCiOptions::declare(OptionTable& table) {
    table
        .add("until-ci", share,
             "repeat until the 95 % interval of each mean rate is within ± this share of the mean "
             "(such as 5%), without drift, outliers or two modes, and has enough independent "
             "values; the number of repetitions is then a maximum (default 100, at least 10)")
        .automatic("the number of repetitions is fixed");
    table
        .add("until-ci-least", at_least,
             "with --until-ci: repeat for at least this long, to detect slow changes")
        .range(0, 1e9)
        .automatic("10s");
    table
        .add("until-ci-limit", limit,
             "with --until-ci: start no repetition after this time; 0 = no limit")
        .range(0, 1e9)
        .automatic("10min");
}

void UntilCiOptions::declare_rounds(OptionTable& table, std::int64_t& rounds,
                                    const std::string& help) {
    table.add("rounds", rounds, help).range(1, 10000).notes(most_given);
    declare(table);
}

Status UntilCiOptions::check(std::int64_t& most, std::string_view name, std::int64_t unasked) {
    if (!on()) {
        return check_rules({
            {limit.has_value(), "--until-ci-limit needs --until-ci"},
            {at_least.has_value(), "--until-ci-least needs --until-ci"},
        });
    }
    if (!most_given) most = unasked;
    return check_most(most, name);
}

Status UntilCiOptions::check_most(std::int64_t most, std::string_view name) const {
    if (!on() || most >= least) return {};
    return usage_error(fmt::format(
        "{} {}: with --until-ci this is the maximum and must be at least {}", name, most, least));
}

UntilCiOptions::Span UntilCiOptions::predict(std::int64_t most, std::string_view noun,
                                             double one_seconds) const {
    Span span;
    span.repetitions = count_of(most, noun);
    span.least_repetitions = span.most_repetitions = static_cast<double>(most);
    span.least_seconds = span.most_seconds = span.most_repetitions * one_seconds;
    span.duration = format_duration(span.most_seconds);
    if (!on()) return span;
    // What has begun within the limit is finished.
    double within_limit = static_cast<double>(most);
    if (limit_seconds() > 0 && one_seconds > 0) {
        within_limit =
            std::min(within_limit, std::max(1.0, std::ceil(limit_seconds() / one_seconds)));
    }
    span.most_repetitions = within_limit;
    span.most_seconds = within_limit * one_seconds;
    double needed = static_cast<double>(least);
    if (one_seconds > 0) needed = std::max(needed, std::ceil(least_seconds() / one_seconds));
    span.least_repetitions = std::min(within_limit, needed);
    span.least_seconds = span.least_repetitions * one_seconds;
    span.duration = fmt::format("{} to {}", format_duration(span.least_seconds),
                                format_duration(span.most_seconds));
    span.repetitions = fmt::format(
        "at least {} and at most {}, until all 95 % intervals are within {}{}", least,
        count_of(most, noun), format_share(share->count),
        limit_seconds() > 0 ? fmt::format(" or {} are over", format_duration(limit_seconds()))
                            : "");
    span.share = share->count;
    span.limit_seconds = limit_seconds();
    return span;
}

const Fields<UntilCiOptions::Span>& planned_until_ci_fields() {
    using S = UntilCiOptions::Span;
    static const Fields<S> fields{
        {"share", Unit::number, "within which all intervals must be", &S::share},
        {"limit_seconds", Unit::seconds, "no repetition starts later; 0: no limit",
         &S::limit_seconds},
        {"least_repetitions", Unit::count, "that decide, at the assumed rate",
         &S::least_repetitions},
        {"most_repetitions", Unit::count, "if the intervals stay wide", &S::most_repetitions},
        {"least_seconds", Unit::seconds, "of the repetitions", &S::least_seconds},
        {"most_seconds", Unit::seconds, "of the repetitions", &S::most_seconds}};
    return fields;
}

}  // namespace effio
