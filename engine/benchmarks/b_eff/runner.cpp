// SPDX-License-Identifier: BSD-3-Clause
#include "benchmarks/b_eff/runner.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "core/units.hpp"
#include "frame/ending.hpp"

namespace effio::b_eff {
namespace {

/// Shorter messages get one loop before the timed ones.
constexpr int first_cold_length = 18;
/// The two longest lengths may be cut short; the choice is made from the one before.
constexpr int first_short_length = 19;
constexpr int last_length = length_count - 1;
constexpr int short_cut_repetitions = 2;

constexpr double infinite = std::numeric_limits<double>::infinity();

std::vector<Method> methods_of(const Parameters& parameters) {
    std::vector<Method> methods;
    for (const Method m : {Method::sendrecv, Method::alltoallv, Method::nonblocking}) {
        if (parameters.uses(m)) methods.push_back(m);
    }
    return methods;
}

Comm make_line(const Comm& world) {
    const std::array<int, 1> extents{world.size()};
    return *world.cartesian(extents, true);
}

std::size_t slot(std::size_t pattern, int method) {
    return pattern * method_count + static_cast<std::size_t>(method);
}

std::array<std::int64_t, method_count> counts_of(const LoopLengths& loops) {
    std::array<std::int64_t, method_count> counts{};
    for (std::size_t i = 0; i < counts.size(); ++i) counts[i] = loops[i];
    return counts;
}

}  // namespace

Runner::Runner(Job& job, const ExchangeMaker& exchanges, RunResult& run,
               std::vector<Observer*> observers)
    : session_(job.session),
      node_(job.topology.node),
      exchanges_(exchanges),
      run_(run),
      setup_(run.setup),
      notify_(session_, std::move(observers)),
      line_(make_line(session_.comm)),
      messages_(run.setup.lmax, run.setup.parameters.network.verify),
      chosen_(run.pattern_count(), -1),
      own_rates_(run.pattern_count() * method_count),
      loop_(session_) {}

Ending Runner::measure() {
    if (run_.round == 0) notify_([&](Observer& o) { o.start(setup_); });
    session_.comm.barrier();
    const double begin = session_.clock.now();
    for (int repetition = 0; repetition < run_.repetitions() && !loop_.stops(); ++repetition) {
        std::fill(chosen_.begin(), chosen_.end(), -1);
        LoopLengths loops(session_.comm, method_count, setup_.parameters.loop_seconds());
        PerMethod seconds{};
        calibrate(loops, seconds);
        for (int length = 0; length < length_count && !loop_.stops(); ++length) {
            if (length > 0) loops.next(seconds, setup_.lengths.growth(length));
            // The time of the pre-pass belongs to the first length's.
            if (length > 0) seconds.fill(0);
            if (length == first_short_length) decide_short_cut(repetition, length, loops);
            if (!measure_length(repetition, length, loops, seconds)) break;
            notify_([&](Observer& o) { o.length(run_, {repetition, length}); });
        }
    }
    run_.loop_seconds += session_.comm.max(session_.clock.now() - begin);
    run_.complete = !loop_.stops();

    const Agreed agreed = agree(session_, session_.comm, outcome_);
    run_.errors = agreed.error_count;
    if (run_.complete) notify_([&](Observer& o) { o.round_end(run_); });
    return ending_of_messages(agreed, loop_.stops(), "lengths");
}

/// A pass over the shortest length, measured only to know how long its loops should be.
void Runner::calibrate(LoopLengths& loops, PerMethod& seconds) {
    session_.progress.begin({.title = "find the loop lengths", .path = {}, .ranks = setup_.ranks});
    std::array<std::int64_t, method_count> counts{};
    counts.fill(LoopLengths::first);
    RankResult own(run_.pattern_count());
    for (std::size_t pattern = 0; pattern < run_.pattern_count(); ++pattern) {
        measure_pattern(pattern, 0, counts, own);
        for (int m = 0; m < method_count; ++m) {
            seconds[static_cast<std::size_t>(m)] += own.seconds[slot(pattern, m)];
        }
    }
    loops.start(seconds);
}

void Runner::begin_step(int repetition, int length) {
    const double round = run_.repetitions() * length_count;
    const double all = round * static_cast<double>(run_.rounds_expected);
    const double before = round * run_.round + repetition * length_count + length;
    Progress::Step step;
    step.title =
        fmt::format("repetition {} of {}, messages of {}", repetition + 1, run_.repetitions(),
                    format_size(static_cast<double>(setup_.lengths[length])));
    step.ranks = setup_.ranks;
    step.plan_done = before / all;
    step.plan_seconds_left = (all - before) * setup_.parameters.loop_seconds() *
                             static_cast<double>(setup_.parameters.methods.size());
    session_.progress.begin(step);
}

/// False if a signal stopped it; then nothing of this length is kept.
bool Runner::measure_length(int repetition, int length, const LoopLengths& loops,
                            PerMethod& seconds) {
    if (length == last_length && last_length_twice_ && repetition >= short_cut_repetitions) {
        copy_last_length(repetition);
        return true;
    }
    begin_step(repetition, length);
    const auto counts = counts_of(loops);
    RankResult own(run_.pattern_count());
    for (std::size_t pattern = 0; pattern < run_.pattern_count(); ++pattern) {
        if (!loop_.go_on(session_.comm)) return false;
        measure_pattern(pattern, length, counts, own);
        for (int m = 0; m < method_count; ++m) {
            seconds[static_cast<std::size_t>(m)] += own.seconds[slot(pattern, m)];
        }
    }
    collect(repetition, length, counts, own);
    if (session_.comm.is_root()) {
        note_loops(repetition, length, counts, own);
        copy_to_other_methods(repetition, length);
    }
    return true;
}

bool Runner::measures(std::size_t pattern, int method) const {
    const int only = chosen_[pattern];
    return run_.uses(method) && setup_.patterns[pattern].has_method(method) &&
           (only < 0 || only == method);
}

void Runner::measure_pattern(std::size_t pattern, int length, std::span<const std::int64_t> loops,
                             RankResult& own) {
    const Pattern& p = setup_.patterns[pattern];
    std::vector<Method> methods;
    for (const Method m : methods_of(setup_.parameters)) {
        if (measures(pattern, static_cast<int>(m))) methods.push_back(m);
    }
    PatternRank rank(session_.comm, line_, p, setup_.seed, exchanges_, methods);
    for (const Method method : methods) {
        const auto m = static_cast<std::size_t>(method);
        const std::size_t at = slot(pattern, static_cast<int>(method));
        session_.progress.call(call_name(method));
        session_.comm.barrier();
        if (!rank.calls(method)) continue;
        const double seconds = time_loops(rank, method, length, loops[m], own.received[at]);
        if (rank.partners().empty()) continue;
        own.seconds[at] = seconds;
        own.steps[at] = static_cast<int>(rank.partners().size());
        session_.progress.moved(setup_.lengths[length] * loops[m] * own.steps[at]);
    }
    if (run_.node_steps[pattern].within + run_.node_steps[pattern].between == 0) {
        count_node_steps(pattern, rank);
    }
}

/// The timed interval of one experiment: `loops` loops with setting and checking the marks.
double Runner::time_loops(PatternRank& rank, Method method, int length, std::int64_t loops,
                          Received& received) {
    const bool warms_up = length < first_cold_length;
    const Messages::Loops series{rank.partners(), setup_.lengths[length],
                                 loops + (warms_up ? 1 : 0), rank.position()};
    messages_.prepare_all(series);
    if (warms_up) loop(rank, method, length, received.errors);
    double seconds = 0;
    {
        const Lap lap(session_.clock, seconds);
        FixedCount count(loops);
        do {
            loop(rank, method, length, received.errors);
        } while (count.go_on());
    }
    const Messages::Checked checked = messages_.check_all(series);
    received.verified += checked.messages;
    note_wrong(checked.wrong, method, rank.pattern(), received.errors);
    return seconds;
}

void Runner::loop(PatternRank& rank, Method method, int length, double& errors) {
    const auto steps = messages_.next(rank.partners(), length, setup_.lengths[length]);
    rank.exchange().run(method, steps);
    if (const int wrong = messages_.check(length); wrong > 0) [[unlikely]] {
        note_wrong(wrong, method, rank.pattern(), errors);
    }
}

void Runner::note_wrong(int count, Method method, const Pattern& pattern, double& errors) {
    if (count == 0) return;
    errors += count;
    outcome_.error_count += count - 1;
    const WrongMessage& w = *messages_.first_wrong();
    const std::string byte = w.place == 0             ? "first byte"
                             : w.place + 1 == w.bytes ? "last byte"
                                                      : fmt::format("byte {}", w.place);
    Error error;
    error.exit_code = ExitCode::data_errors;
    error.operation = call_name(method);
    error.cause = fmt::format(
        "wrong data in a message of {} B from position {} of pattern {} ({}): {} expected "
        "{:#04x}, found {:#04x}",
        w.bytes, w.from, pattern.number, pattern.name, byte, w.expected, w.found);
    outcome_.fail(session_.signed_error(std::move(error)));
}

void Runner::count_node_steps(std::size_t pattern, PatternRank& rank) {
    std::array<std::int64_t, 2> counts{};
    for (const SureNumber& number : rank.partner_nodes(node_)) {
        if (!number.is_whole()) {
            outcome_.fail(session_.signed_error(
                number.wrong_error(fmt::format("a partner in pattern {}", rank.pattern().number),
                                   "number of its node")));
        }
        const std::int64_t node = number.value();
        if (node >= 0) ++counts.at(node == node_ ? 0 : 1);
    }
    session_.comm.sum(std::span<std::int64_t>(counts));
    run_.node_steps[pattern] = {counts[0], counts[1]};
}

/// Reduces what each rank measured to one value for all: the slowest rank counts.
void Runner::collect(int repetition, int length, std::span<const std::int64_t> loops,
                     const RankResult& own) {
    const std::size_t n = own.seconds.size();
    // By experiment: rate and seconds; the smallest is the largest of the negative.
    std::vector<double> low(2 * n, infinite);
    std::vector<double> high(2 * n, -infinite);
    // Rate, seconds, ranks, errors, messages verified whole and overwritten.
    constexpr std::size_t sums = 6;
    std::vector<double> sum(sums * n, 0.0);
    const auto bytes = static_cast<double>(setup_.lengths[length]);
    for (std::size_t i = 0; i < n; ++i) {
        const Received& received = own.received[i];
        sum[sums * i + 3] = received.errors;
        sum[sums * i + 4] = static_cast<double>(received.verified.whole);
        sum[sums * i + 5] = static_cast<double>(received.verified.overwritten);
        own_rates_[i] = 0;
        if (own.steps[i] == 0) continue;
        const double moved = bytes * static_cast<double>(loops[i % method_count]) * own.steps[i];
        const double rate = own.seconds[i] > 0 ? moved / own.seconds[i] : 0;
        own_rates_[i] = rate;
        low[2 * i] = high[2 * i] = sum[sums * i] = rate;
        low[2 * i + 1] = high[2 * i + 1] = sum[sums * i + 1] = own.seconds[i];
        sum[sums * i + 2] = 1;
    }
    session_.comm.min(std::span<double>(low));
    session_.comm.max(std::span<double>(high));
    session_.comm.sum(std::span<double>(sum));
    for (std::size_t i = 0; i < n; ++i) {
        const double ranks = sum[sums * i + 2];
        if (!(ranks > 0)) continue;
        const std::size_t pattern = i / method_count;
        const int method = static_cast<int>(i % method_count);
        Experiment& c = run_.experiment(repetition, length, pattern, method);
        c.state = Experiment::State::measured;
        c.loops = loops[static_cast<std::size_t>(method)];
        c.process_rate = {low[2 * i], sum[sums * i] / ranks, high[2 * i]};
        c.seconds = {low[2 * i + 1], sum[sums * i + 1] / ranks, high[2 * i + 1]};
        c.rate = c.process_rate.min * setup_.patterns[pattern].messages_per_step();
        c.errors = static_cast<std::int64_t>(sum[sums * i + 3]);
        c.verified = {static_cast<std::int64_t>(sum[sums * i + 4]),
                      static_cast<std::int64_t>(sum[sums * i + 5])};
        run_.verified += c.verified;
        if (c.errors > 0) {
            c.invalid = count_of(c.errors, "wrong message");
        } else if (!(c.seconds.min > 0)) {
            c.invalid = "no time passed on a rank's clock";
        }
    }
}

void Runner::note_loops(int repetition, int length, std::span<const std::int64_t> loops,
                        const RankResult& own) {
    for (int m = 0; m < method_count; ++m) {
        LoopRow& row = run_.loops(repetition, length, m);
        row.shortest_pattern = infinite;
        row.loops = loops[static_cast<std::size_t>(m)];
        for (std::size_t pattern = 0; pattern < run_.pattern_count(); ++pattern) {
            if (own.steps[slot(pattern, m)] == 0) continue;
            const double seconds = own.seconds[slot(pattern, m)];
            row.measured = true;
            row.seconds += seconds;
            row.shortest_pattern = std::min(row.shortest_pattern, seconds);
            row.longest_pattern = std::max(row.longest_pattern, seconds);
        }
        if (!row.measured) row.shortest_pattern = 0;
        if (length >= first_short_length && chosen_.front() >= 0) {
            row.cut = LoopRow::Cut::best_method;
        }
        if (length == last_length && last_length_twice_) {
            row.cut = LoopRow::Cut::fewer_repetitions;
        }
    }
}

bool Runner::too_long(int repetition, int length) const {
    const double f = setup_.lengths.factor;
    for (int m = 0; m < method_count; ++m) {
        const LoopRow& before = run_.loops(repetition, length - 1, m);
        if (!before.measured) continue;
        const double estimate =
            before.shortest_pattern * static_cast<double>(run_.pattern_count()) * 4 * (f + f * f) *
            run_.repetitions() * static_cast<double>(setup_.parameters.methods.size()) /
            static_cast<double>(before.loops);
        if (estimate > setup_.parameters.shorten_after.count) return true;
    }
    return false;
}

/// Chooses by the root's own rate at the length before; the later method on a tie.
int Runner::best_method(int repetition, int length, std::size_t pattern) const {
    int best = -1;
    double best_rate = 0;
    for (int m = 0; m < method_count; ++m) {
        if (!measures(pattern, m)) continue;
        double rate = own_rates_[slot(pattern, m)];
        // A root that the grid has no place for judges by the rate of all.
        if (!(rate > 0)) rate = run_.experiment(repetition, length - 1, pattern, m).rate;
        if (best < 0 || rate >= best_rate) {
            best = m;
            best_rate = rate;
        }
    }
    return best;
}

void Runner::decide_short_cut(int repetition, int length, LoopLengths& loops) {
    if (setup_.parameters.shorten_after.count > 0 && session_.comm.is_root() &&
        too_long(repetition, length)) {
        for (std::size_t pattern = 0; pattern < run_.pattern_count(); ++pattern) {
            chosen_[pattern] = best_method(repetition, length, pattern);
        }
    }
    session_.comm.broadcast(std::span<int>(chosen_));
    if (chosen_.front() < 0) return;
    last_length_twice_ = true;
    loops.restart(1);
    if (session_.comm.is_root()) {
        run_.best_methods[static_cast<std::size_t>(repetition)] = chosen_;
    }
}

/// The methods left out by the short-cut get the value of the best; b_eff does not change.
void Runner::copy_to_other_methods(int repetition, int length) {
    for (std::size_t pattern = 0; pattern < run_.pattern_count(); ++pattern) {
        if (length < first_short_length || chosen_[pattern] < 0) continue;
        const Experiment& best = run_.experiment(repetition, length, pattern, chosen_[pattern]);
        for (int m = 0; m < method_count; ++m) {
            Experiment& c = run_.experiment(repetition, length, pattern, m);
            if (m == chosen_[pattern] || !run_.uses(m) || c.state == Experiment::State::no_method) {
                continue;
            }
            c = best;
            c.state = Experiment::State::copied;
            c.errors = 0;
        }
    }
}

/// Further repetitions of the last length get the values of the first.
void Runner::copy_last_length(int repetition) {
    if (!session_.comm.is_root()) return;
    for (std::size_t pattern = 0; pattern < run_.pattern_count(); ++pattern) {
        for (int m = 0; m < method_count; ++m) {
            const Experiment& first = run_.experiment(0, last_length, pattern, m);
            if (!first.has_rate()) continue;
            Experiment& c = run_.experiment(repetition, last_length, pattern, m);
            c = first;
            c.state = Experiment::State::copied;
            c.errors = 0;
        }
    }
    for (int m = 0; m < method_count; ++m) {
        run_.loops(repetition, last_length, m).cut = LoopRow::Cut::fewer_repetitions;
    }
}

}  // namespace effio::b_eff
