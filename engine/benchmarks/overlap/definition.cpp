// SPDX-License-Identifier: BSD-3-Clause
#include "benchmarks/overlap/definition.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "core/certainty.hpp"
#include "core/stats.hpp"
#include "core/units.hpp"

namespace effio::overlap {
namespace {

/// What the calls of a method are called where a sentence needs it.
std::string begins_by(Method method, bool write) {
    switch (method) {
        case Method::nonblocking:
            return write ? "the nonblocking write" : "the nonblocking read";
        case Method::uring:
            return "io_uring's submission";
        case Method::thread:
            return "handing it to the thread";
        case Method::blocking:
            break;
    }
    return write ? "the blocking write" : "the blocking read";
}

std::string why(const Point& point, Limit limit, const Times& mean) {
    switch (limit) {
        case Limit::none:
            return "the computation hides it";
        case Limit::length:
            return "all that can hide behind so short a computation does";
        case Limit::post:
            return point.method == Method::blocking
                       ? "the call comes back when the bytes are moved"
                       : fmt::format("{} already takes the time",
                                     begins_by(point.method, point.write));
        case Limit::poll:
            return "the time passes in the calls that ask whether the bytes are there";
        case Limit::wait:
            return "the bytes are left for the wait: the transfer does not continue, or not as "
                   "fast, "
                   "while the rank computes";
        case Limit::work:
            break;
    }
    return fmt::format("the transfer takes time from the computation, which takes {:.0f} % longer",
                       100 * (mean.slow_down().value_or(1) - 1));
}

}  // namespace

std::string_view name(Method method) {
    constexpr std::array<std::string_view, 4> names{"blocking", "nonblocking", "uring", "thread"};
    return names.at(static_cast<std::size_t>(method));
}

std::string_view name(WorkKind kind) {
    return kind == WorkKind::compute ? "compute" : "memory";
}

std::string_view name(Treatment treatment) {
    constexpr std::array<std::string_view, 3> names{"I/O alone", "computation alone", "both"};
    return names.at(static_cast<std::size_t>(treatment));
}

std::string_view name(Limit limit) {
    constexpr std::array<std::string_view, 6> names{"none", "length", "post",
                                                    "poll", "wait",   "work"};
    return names.at(static_cast<std::size_t>(limit));
}

namespace {

/// What hides of an operation, as a share of `io` seconds. Smaller shares than 1e-9 are what
/// arithmetic leaves of equal times.
double share_of(const Times& one, double io) {
    constexpr double parts = 1e9;
    return std::round((one.io + one.work - one.both) / io * parts) / parts;
}

/// The value of the figure of a place that has repetitions.
double mean_share(const PointTimes& of) {
    return samples_of(of.hidden()).mean();
}

}  // namespace

std::optional<double> Times::hidden() const {
    if (!(io > 0)) return {};
    return share_of(*this, io);
}

std::optional<double> Times::slow_down() const {
    if (!(alone > 0)) return {};
    return during / alone;
}

std::optional<double> Times::possible() const {
    if (!(io > 0)) return {};
    return std::min(1.0, work / io);
}

Times mean_of(std::span<const Times> times) {
    Times mean;
    if (times.empty()) return mean;
    for (double Times::* part : {&Times::io, &Times::work, &Times::both, &Times::alone,
                                 &Times::during, &Times::post, &Times::poll, &Times::wait}) {
        for (const Times& one : times) mean.*part += one.*part;
        mean.*part /= static_cast<double>(times.size());
    }
    return mean;
}

std::optional<Limit> limit_of(const Times& mean) {
    const auto hidden = mean.hidden();
    if (!hidden) return {};
    if (*hidden >= hides_wholly) return Limit::none;
    const double possible = *mean.possible();
    if (possible < hides_wholly && *hidden >= hides_wholly * possible) return Limit::length;
    // What is left of the operation when a shorter computation is over has to be waited for.
    const double beyond = std::max(0.0, mean.io - mean.work);
    const std::array<std::pair<double, Limit>, 4> parts{std::pair{mean.post, Limit::post},
                                                        {mean.poll, Limit::poll},
                                                        {mean.wait - beyond, Limit::wait},
                                                        {mean.during - mean.alone, Limit::work}};
    return std::max_element(parts.begin(), parts.end(),
                            [](const auto& a, const auto& b) { return a.first < b.first; })
        ->second;
}

double work_seconds(std::optional<double> asked, double io) {
    return asked ? *asked : default_work_factor * io;
}

std::int64_t Polls::due(std::int64_t units_done) const {
    return std::min(polls, units_done * (polls + 1) / units);
}

std::vector<double> PointTimes::hidden() const {
    const double io = mean().io;
    if (!(io > 0)) return {};
    std::vector<double> all;
    for (const Times& one : times) all.push_back(share_of(one, io));
    return all;
}

std::string PointTimes::why_not_known() const {
    const auto shares = hidden();
    if (shares.empty()) return "the operation takes no time";
    const auto range = range95(shares);
    if (!range) return "the share needs at least two repetitions";
    if (!can_be_share(*range)) return "the share is outside 0 to 1 by more than its interval";
    if (is_known_within(shares, known_within)) return {};
    return fmt::format("the share is not known within ± {:.0f} %", 100 * known_within);
}

std::vector<double> PointTimes::stated() const {
    const auto shares = hidden();
    const auto range = range95(shares);
    return range && can_be_share(*range) ? shares : std::vector<double>();
}

std::optional<Limit> PointTimes::limit() const {
    return is_known() ? limit_of(mean()) : std::nullopt;
}

std::vector<double> PointTimes::slow_downs() const {
    std::vector<double> all;
    for (const Times& one : times) {
        if (const auto value = one.slow_down()) all.push_back(*value);
    }
    return all;
}

std::vector<double> PointTimes::values(double Times::* what) const {
    std::vector<double> all;
    for (const Times& one : times) all.push_back(one.*what);
    return all;
}

const PointTimes* best_of(const std::vector<PointTimes>& all) {
    const PointTimes* best = nullptr;
    for (const PointTimes& s : all) {
        if (!s.is_known()) continue;
        if (best == nullptr || mean_share(s) > mean_share(*best)) best = &s;
    }
    return best;
}

std::string sentence(std::span<const PointTimes* const> of_a_method) {
    const PointTimes* best = nullptr;
    const PointTimes* worst = nullptr;
    const PointTimes* any = nullptr;
    for (const PointTimes* s : of_a_method) {
        if (s->hidden().empty()) continue;
        any = s;
        if (!s->is_known()) continue;
        if (best == nullptr || mean_share(*s) > mean_share(*best)) best = s;
        if (worst == nullptr || mean_share(*s) < mean_share(*worst)) worst = s;
    }
    if (any == nullptr) return {};
    const auto described = [&](const PointTimes& s) {
        const Times mean = s.mean();
        const double percent = 100 * mean_share(s);
        return fmt::format("{} of {} hides ({})",
                           percent <= -0.5 ? "nothing" : fmt::format("{:.0f} %", std::abs(percent)),
                           shown_size(Bytes{s.point.transfer}),
                           why(s.point, *limit_of(mean), mean));
    };
    std::string text = fmt::format("{} {} alongside {} work: ", name(any->point.method),
                                   any->point.write ? "write" : "read", name(any->point.work));
    if (best == nullptr && any->times.size() < 2) {
        return text + "the share that hides needs at least two repetitions";
    }
    if (best == nullptr) {
        return text + fmt::format(
                          "no share is known within ± {:.0f} %; more repetitions, or a "
                          "machine that is quiet, would show it",
                          100 * known_within);
    }
    text += described(*best);
    // Sizes that are distinguished must differ by more than a tenth.
    if (mean_share(*best) - mean_share(*worst) > 1 - hides_wholly) {
        text += fmt::format(", but {}", described(*worst));
    }
    return text;
}

}  // namespace effio::overlap
