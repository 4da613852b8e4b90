// SPDX-License-Identifier: BSD-3-Clause
// What the library comparison finds out.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "benchmarks/array_run.hpp"
#include "benchmarks/libraries/definition.hpp"

namespace effio::libraries {

/// One measured cell: which library, with which hints, on how many processes, at which size.
struct Point {
    std::string library;
    std::string hints;  ///< name of the set
    std::int64_t edge = 0;
    std::int64_t processes = 0;
    friend bool operator==(const Point&, const Point&) = default;
};

struct Cell {
    Point point;
    std::int64_t repetition = 0;
    ArrayRun run;
};

/// The repetitions of one point in one direction.
struct Series {
    Point point;
    bool write = true;
    std::vector<double> rates;    ///< by the definition
    std::vector<double> synced;   ///< until the data are on storage
    std::vector<double> seconds;  ///< by the definition
    double rate() const;          ///< means
    double synced_rate() const;
    double mean_seconds() const;
};

/// What follows from all cells.
class Comparison {
  public:
    void add(const Cell& cell);
    const std::vector<Series>& series() const { return series_; }
    const Series* find(const Point& point, bool write) const;

    /// Time of a library over that of one file per process, minus one: 0.2 = 20 % longer. Nothing
    /// where one of them was not measured.
    std::optional<double> overhead(const Series& of) const;
    /// The file-per-process form that overheads are taken against.
    static const std::vector<std::string>& bases();
    /// Rate with a set over the rate without hints, minus one.
    std::optional<double> hint_gain(const Series& of) const;
    /// The same on average over all numbers of processes that were measured.
    std::optional<double> mean_hint_gain(const Point& point, bool write) const;
    /// Seconds that a library takes beyond the layer below it; the lowest layer's own seconds.
    /// Without hints.
    struct Layer {
        std::string library;
        std::string below;  ///< empty: the lowest
        double seconds = 0;
        double own_seconds = 0;
    };
    std::optional<Layer> layer(const Series& of) const;

  private:
    std::vector<Series> series_;
};

}  // namespace effio::libraries
