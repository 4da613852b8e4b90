// SPDX-License-Identifier: BSD-3-Clause
// What hides behind what: docs/definitions/overlap.md. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace effio::overlap {

/// How a rank moves its bytes.
enum class Method : char {
    blocking,     ///< one call that comes back when they are moved
    nonblocking,  ///< a queue of the same backend: of MPI-IO, MPI_File_iwrite_at and MPI_Wait
    uring,        ///< io_uring: the kernel moves them
    thread,       ///< a helper thread makes the blocking call
};
/// What the rank computes meanwhile.
enum class WorkKind : char {
    compute,  ///< multiply-adds in registers
    memory,   ///< a stream over memory past the caches
};
std::string_view name(Method method);
std::string_view name(WorkKind kind);

/// What is measured one after the other in a repetition of a cell.
enum class Treatment : char { io, work, both };
std::string_view name(Treatment treatment);

/// One repetition. Seconds: `io`, `work` and `both` from the first rank's start to the last one's
/// end, the others of the slowest rank's own parts.
struct Times {
    double io = 0;      ///< the operation alone
    double work = 0;    ///< the computation alone
    double both = 0;    ///< the operation during the computation
    double alone = 0;   ///< computing, in `work`
    double during = 0;  ///< computing, in `both`
    double post = 0;    ///< in `both`: the call that begins the operation
    double poll = 0;    ///< in `both`: calls that ask whether it is over
    double wait = 0;    ///< in `both`: the call that waits for it

    /// Share of the time of the operation alone that hides behind the computation. Not clamped:
    /// below 0 the two together take longer than one after the other. None where the operation
    /// takes no time.
    std::optional<double> hidden() const;
    /// Time of the computation during the operation over its time alone.
    std::optional<double> slow_down() const;
    /// The most that can hide: 1, or less where the computation is the shorter one.
    std::optional<double> possible() const;
};
Times mean_of(std::span<const Times> times);

/// Why no more hides: what the greatest part of the time came from that does not.
enum class Limit : char {
    none,    ///< `hides_wholly` of it hides
    length,  ///< the computation was too short, and nearly all that could hide does
    post,    ///< the call that begins the operation moved the bytes
    poll,    ///< they were moved by calls that ask
    wait,    ///< they were left for the wait
    work,    ///< the computation took so much longer
};
inline constexpr double hides_wholly = 0.9;
std::string_view name(Limit limit);
/// Nothing where there is no share.
std::optional<Limit> limit_of(const Times& mean);

/// Default length of the computation, as a multiple of the operation.
inline constexpr double default_work_factor = 2;
/// Seconds of the computation; `io` is the operation alone in the warm-up.
double work_seconds(std::optional<double> asked, double io);

/// Calls that ask, evenly in the pieces of the computation; the product of both fits 64 bits.
struct Polls {
    std::int64_t units = 1;
    std::int64_t polls = 0;
    /// How many of them are due when this many pieces are done.
    std::int64_t due(std::int64_t units_done) const;
};

/// What a cell is.
struct Point {
    Method method = Method::blocking;
    WorkKind work = WorkKind::compute;
    bool write = true;
    std::int64_t transfer = 0;  ///< bytes of a rank
    friend bool operator==(const Point&, const Point&) = default;
};

/// A cell over its repetitions.
struct PointTimes {
    Point point;
    std::vector<Times> times;  ///< of valid repetitions
    double asked_seconds = 0;  ///< of the computation

    Times mean() const { return mean_of(times); }
    /// For each repetition the seconds that hide, over the mean of the operation alone: their mean
    /// is the share of the means, which a single short operation does not change much. Empty where
    /// the operation takes no time.
    std::vector<double> hidden() const;
    /// Why the share is not known; empty if it is. It is known if there are two repetitions, its
    /// interval is within ± `known_within`, and it is between 0 and 1 (can_be_share).
    std::string why_not_known() const;
    bool is_known() const { return why_not_known().empty(); }
    /// hidden(); empty if no share can be stated: one repetition, or outside 0 to 1.
    std::vector<double> stated() const;
    /// Why no more hides; nothing where the share is not known.
    std::optional<Limit> limit() const;
    std::vector<double> slow_downs() const;
    std::vector<double> values(double Times::* what) const;
};

/// Half widths of 95 % intervals beyond this leave open what hides.
inline constexpr double known_within = 0.2;

/// The highest share of those that are known; null if none is.
const PointTimes* best_of(const std::vector<PointTimes>& all);

/// A sentence on how a method does over the sizes of one access and one kind of work.
std::string sentence(std::span<const PointTimes* const> of_a_method);

}  // namespace effio::overlap
