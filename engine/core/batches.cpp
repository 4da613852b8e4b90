// SPDX-License-Identifier: BSD-3-Clause
#include "core/batches.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/units.hpp"

namespace effio {

Batches batches_of(const TimeSeries& series, double seconds, double calls) {
    Batches found;
    const double width = series.width();
    const auto slices_in = [&](double span) { return std::ceil(span / width - 1e-9); };
    if (!(seconds > 0) || !(calls > 0)) {
        found.none = "nothing was done";
        return found;
    }
    const double of_calls = slices_in(Batches::least_calls * seconds / calls);
    const double of_most = slices_in(seconds / static_cast<double>(Batches::most));
    const double together = std::max({of_calls, of_most, 1.0});
    const double count = std::floor(seconds / (together * width) + 1e-9);
    if (count < static_cast<double>(Batches::least)) {
        // One call of four workers is a quarter of a call of each.
        const std::string had =
            calls < 10 ? fmt::format("{:.2g}", calls) : fmt::format("{:.0f}", calls);
        found.none = fmt::format(
            "it takes {} slices of at least {} and {:.0f} calls of each worker; the pass had {} "
            "calls in {}",
            Batches::least, format_duration(width), Batches::least_calls, had,
            format_duration(seconds));
        return found;
    }
    found.seconds = together * width;
    const auto n = static_cast<std::size_t>(together);
    const auto& slices = series.slices();
    for (std::size_t batch = 0; batch < static_cast<std::size_t>(count); ++batch) {
        double amount = 0;
        for (std::size_t i = batch * n; i < (batch + 1) * n && i < slices.size(); ++i) {
            amount += slices[i];
        }
        found.rates.push_back(amount / found.seconds);
    }
    return found;
}

void CallMarks::keep(double now) {
    if (marks_.size() == most_marks) {
        // Every second one stays: mark 2i+1 becomes mark i.
        for (std::size_t i = 0; i < most_marks / 2; ++i) marks_[i] = marks_[2 * i + 1];
        marks_.resize(most_marks / 2);
        each_ *= 2;
        if (next_ % each_ != 0) {
            next_ += each_ / 2;
            return;
        }
    }
    marks_.push_back(now);
    next_ += each_;
}

Batches CallMarks::batches(double amount) const {
    Batches found;
    const auto marks = static_cast<std::int64_t>(marks_.size());
    const auto enough =
        static_cast<std::int64_t>(std::ceil(Batches::least_calls / static_cast<double>(each_)));
    const std::int64_t of_most = (marks + Batches::most - 1) / Batches::most;
    const std::int64_t together = std::max(enough, of_most);
    const std::int64_t count = together > 0 ? marks / together : 0;
    if (count < Batches::least) {
        found.none =
            fmt::format("it takes {} slices of at least {:.0f} calls; the pass had {}",
                        Batches::least, Batches::least_calls, count_of(marks * each_, "call"));
        return found;
    }
    // Slices of equal time: the mean of their rates is all calls over all of the time. Slices of
    // equally many calls would have a mean rate that is too high wherever their lengths differ.
    const double span = marks_.back() - start_;
    const double width = span / static_cast<double>(count);
    found.seconds = width;
    std::size_t next = 0;  // the first mark that is not before the end of the slice
    double mark_begin = start_;
    double before = 0;  // calls that were over at the end of the slice before
    for (std::int64_t slice = 1; slice <= count; ++slice) {
        const double end = slice == count ? span : width * static_cast<double>(slice);
        while (next + 1 < marks_.size() && marks_[next] - start_ < end) mark_begin = marks_[next++];
        // Between two marks calls are taken to be equally long.
        const double length = marks_[next] - mark_begin;
        const double part =
            length > 0 ? std::clamp((start_ + end - mark_begin) / length, 0.0, 1.0) : 1;
        const double over = (static_cast<double>(next) + part) * static_cast<double>(each_);
        found.rates.push_back(width > 0 ? amount * (over - before) / width : 0);
        before = over;
    }
    return found;
}

}  // namespace effio
