// SPDX-License-Identifier: BSD-3-Clause
// What the library comparison finds out.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "benchmarks/libraries/definition.hpp"
#include "core/rounds.hpp"
#include "frame/study/result.hpp"

namespace effio::libraries {

/// One measured cell: which library, with which hints, on how many processes, at which size.
struct Point {
    std::string library;
    std::string hints;  ///< name of the set
    std::int64_t edge = 0;
    std::int64_t processes = 0;
    friend bool operator==(const Point&, const Point&) = default;
};

/// The repetitions of one point in one direction.
struct PointMean {
    Point point;
    bool write = true;
    const study::Mean* mean = nullptr;
    double seconds() const { return mean->seconds.mean(); }  ///< that the rate counts
};

/// Rate with a set of hints over the rate without, minus one: 0.5 = half as fast again. Each
/// repetition compares its own two; the mean is the geometric one, so that equal sets gain nothing
/// on average, and the interval is that of Student's t of the logarithms.
struct Gain {
    std::int64_t repetitions = 0;
    double mean = 0;
    double low95 = 0;
    double high95 = 0;
    /// The interval leaves out 0: a difference that is more than scatter.
    bool found() const { return low95 > 0 || high95 < 0; }
};

/// A value composed of the means of two series, and the same without each repetition.
struct Composed {
    double value = 0;
    std::vector<LeftOut> without;
};

/// What follows from all means, which must outlive it.
class Comparison {
  public:
    explicit Comparison(const std::vector<study::Mean>& means);
    const std::vector<PointMean>& series() const { return series_; }
    const PointMean* find(const Point& point, bool write) const;

    /// The form of one file per process that all overheads are taken against: the study's, else the
    /// other; empty where neither was measured.
    std::string_view base() const;
    /// Mean rate of the base over that of a library, minus one: 1 = half the rate. Nothing where
    /// one of them was not measured.
    std::optional<Composed> overhead(const PointMean& of) const;
    /// The series of writing with the highest rate, until on storage where files were flushed; of
    /// those whose bytes reached storage, if there are any.
    const PointMean* fastest_write() const;
    /// Empty if fewer than five repetitions measured both, because they have no interval.
    std::optional<Gain> hint_gain(const PointMean& of) const;
    /// The same of each repetition's mean over all numbers of processes.
    std::optional<Gain> mean_hint_gain(const Point& point, bool write) const;
    /// Seconds that a library takes beyond the layer below it; the lowest layer's own seconds.
    /// Without hints.
    struct Layer {
        std::string library;
        std::string below;  ///< empty: the lowest
        double seconds = 0;
        Composed own;  ///< seconds
    };
    std::optional<Layer> layer(const PointMean& of) const;

  private:
    /// For each repetition, the logarithm of the rate with the set over that without.
    std::map<std::int64_t, double> log_ratios(const PointMean& of) const;

    std::vector<PointMean> series_;
};

}  // namespace effio::libraries
