// SPDX-License-Identifier: BSD-3-Clause
// An amount by time, and the rule that calls a rate steady.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "core/json.hpp"

namespace effio {

/// How much was done in each slice of time since a start. Slices are a second wide at first, or
/// `fine` of it; when they would become more than `most_slices`, neighbors are merged and the
/// width doubles.
class TimeSeries {
  public:
    static constexpr std::size_t most_slices = 4096;
    static constexpr double fine = 1.0 / 64;

    TimeSeries() = default;
    static TimeSeries finely() { return {fine, {}}; }
    TimeSeries(double width, std::vector<double> slices)
        : width_(width), slices_(std::move(slices)) {}

    /// `amount` was done evenly between `from` and `to`, seconds since the start.
    void add(double from, double to, double amount);
    /// Seconds of a slice: a power of two.
    double width() const { return width_; }
    const std::vector<double>& slices() const { return slices_; }
    /// All was done `seconds` later: moved by whole slices, because nothing is known within one.
    void delay(double seconds);
    /// Merges slices until they are at least `width` wide.
    void widen_to(double width);
    /// The same in slices of a second at least, for results.
    TimeSeries in_seconds() const;
    /// {"slice_seconds", "bytes"}; the last slice may be cut short by the end.
    Json to_json() const { return Json{{"slice_seconds", width_}, {"bytes", slices_}}; }

  private:
    void widen();

    double width_ = 1;
    std::vector<double> slices_;
};

/// When a rate is called steady. Over the last `window` rates with mean m:
///     max - min <= 2 * tolerance * m,
///     |slope of the least-squares line| * (window - 1) <= tolerance * m.
/// With a tolerance of 0.1 these are the bounds of the steady state in SNIA's Solid State Storage
/// Performance Test Specification (range within 20 %, slope within 10 % of the average).
class SteadyRule {
  public:
    struct Settings {
        int window = 10;
        double tolerance = 0.1;
    };
    struct Verdict {
        double mean = 0;
        double range = 0;  ///< max - min
        double drift = 0;  ///< change of the line from the first to the last rate, signed
        bool steady = false;
    };

    explicit SteadyRule(Settings settings) : settings_(settings) {}

    /// The next rate; true if the window that ends with it is steady.
    bool add(double rate);
    /// About the last window; nothing before `window` rates are known.
    std::optional<Verdict> verdict() const;
    const Settings& settings() const { return settings_; }

  private:
    Settings settings_;
    std::vector<double> rates_;  ///< the last `window` of them, oldest first
};

}  // namespace effio
