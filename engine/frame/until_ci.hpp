// SPDX-License-Identifier: BSD-3-Clause
// Repeats until the intervals of confidence are as narrow as asked (docs/reading.md, How many
// repetitions).
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/fields.hpp"
#include "core/json.hpp"
#include "core/record.hpp"
#include "core/rounds.hpp"
#include "core/sequential.hpp"
#include "core/stats.hpp"
#include "frame/until_ci_options.hpp"
#include "parallel/session.hpp"

namespace effio {

/// Is given the rates of each repetition and answers whether there is another. Without
/// --until-ci there always is: the benchmark's own number ends the loop.
class UntilCi {
  public:
    /// A figure that counts, by the name and place that it has in the result.
    struct Subject {
        std::string figure;
        Json where = Json::object();
        std::string unit;  ///< "B/s", "op/s" or "s"
        std::string text;  ///< for people
    };
    /// Why there is no other repetition.
    enum class Stop : char {
        none,         ///< there is, or the run itself ended: a signal, an error, a separate limit
        precise,      ///< every interval is as narrow as asked
        time,         ///< --until-ci-limit is over
        repetitions,  ///< the most there may be are done
        nothing,      ///< no figure has a value, and more repetitions would give none
    };
    /// One figure over the repetitions.
    struct Series {
        Subject subject;
        std::vector<double> values;

        Samples samples() const { return samples_of(values); }
        /// Interval for a fixed number of values; empty below five.
        std::optional<RoundsInterval> interval() const { return interval_of_rounds(values); }
        /// Half width of the sequential interval, divided by the mean; empty below two values.
        std::optional<double> half_width() const;
        struct Halves {
            Samples first;
            Samples second;
        };
        /// The two halves of the values, without the one in the middle.
        Halves halves() const;
        /// That the halves' means differ so by chance; 1 below four values.
        double chance() const;
    };

    /// `begin` is a clock reading, `most` the greatest number of repetitions.
    UntilCi(UntilCiOptions options, std::int64_t most, double begin)
        : options_(options), most_(most), begin_(begin) {}

    /// A valid rate; the root's alone count.
    void add(const Subject& subject, double rate);
    /// Sets a composed value: all values anew, whose mean it is (`values_by_leaving_out`).
    void set(const Subject& subject, std::vector<double> values);
    /// Root: the figure has no interval yet that is as narrow as asked. True of one that is not
    /// known.
    bool is_wide(std::string_view figure) const;
    /// Which of these figures want a further value, as the root has it: all of them without
    /// --until-ci and before the least repetitions are done, later those without an interval that
    /// is as narrow as asked. Collective; of the same number of figures on all ranks.
    std::vector<char> wanted(const Comm& comm, std::span<const Subject> figures) const;
    /// How many repetitions there will be as it looks now, for what shows people how far the run
    /// has come: the half width shrinks with their root. At least one more than are done, at most
    /// the most; without --until-ci the most. The root's.
    std::int64_t expected() const;
    /// Collective, once after each complete repetition: the root decides by its samples and its
    /// clock, so that no rank continues alone.
    bool another(const Comm& comm, double now);
    /// What the root decides after `done` repetitions and `seconds`.
    Stop decide(std::int64_t done, double seconds) const;

    std::int64_t done() const { return done_; }
    std::int64_t most() const { return most_; }
    Stop stop() const { return stop_; }
    double seconds() const { return seconds_; }
    /// Wider than asked, or with too few values to say; the widest first.
    std::vector<const Series*> wide() const;
    /// Whose halves differ by more than chance: a twentieth is shared by all figures.
    std::vector<const Series*> drifting() const;
    /// Series whose values have outliers or two modes.
    std::vector<const Series*> odd() const;
    /// Whose values are so autocorrelated that they are too few to say how precise their mean is.
    std::vector<const Series*> correlated() const;
    /// The figure `until_ci` (docs/results.md).
    Figure figure(std::string_view benchmark) const;
    /// Lines for the console.
    std::string text() const;
    /// On the root: the figure into the result, the text to the console. Nothing without
    /// --until-ci. `group` is whose figures these are, if the run has several series.
    void report(Session& session, std::string_view benchmark,
                const Json& group = Json::object()) const;

  private:
    static double width_of(const Series& series);
    bool wants(const Subject& subject) const;
    bool drifts(const Series& series) const;
    /// The interval is as narrow as requested.
    bool within(const Series& series) const;
    /// The same, without drift, outliers or two modes, and with enough independent values: the
    /// series needs no further value.
    bool narrow(const Series& series) const;
    Series& series_of(const Subject& subject);
    std::string why() const;

    UntilCiOptions options_;
    std::int64_t most_;
    double begin_;
    std::int64_t done_ = 0;
    double seconds_ = 0;
    Stop stop_ = Stop::none;
    std::vector<Series> series_;  ///< in the order of their first value
};

/// Describes the figure; `where`: coordinates, if a benchmark repeats parts of a run separately.
FigureInfo until_ci_info(FieldInfos where = {});

}  // namespace effio
