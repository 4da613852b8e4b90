// SPDX-License-Identifier: BSD-3-Clause
// b_eff's events for people.
#include <fmt/format.h>

#include "benchmarks/b_eff/views.hpp"
#include "core/table.hpp"
#include "core/units.hpp"
#include "frame/round_figures.hpp"

namespace effio::b_eff {
namespace {

constexpr const char* live_format = "  {:>4} {:>14} {:>8} {:>8} {:>8} {:>9} {:>14} {:>14}\n";

std::string mb(double rate) {
    return rate > 0 ? fmt::format("{:.3f}", rate / MB_per_s) : "-";
}

std::string microseconds(double seconds) {
    return seconds > 0 ? fmt::format("{:.3f} us", seconds * 1e6) : "not measured";
}

class ConsoleView : public Observer {
  public:
    ConsoleView(Console& console, std::string result_path)
        : console_(console), result_path_(std::move(result_path)) {}

    void start(const Setup& s) override {
        console_.print(
            fmt::format("b_eff: {} on {}, {}, {}, messages of 1 B to {}\n"
                        "random rings from seed {} (--seed)\n"
                        "results in {}\n\n",
                        count_of(s.ranks, "rank"), count_of(s.nodes, "node"),
                        count_of(std::ssize(s.patterns), "pattern"),
                        count_of(s.parameters.repetitions(), "repetition"),
                        format_size(static_cast<double>(s.lmax)), s.seed, result_path_));
        console_.print(fmt::format(live_format, "rep.", "length B", "loops", "loops", "loops",
                                   "time", "rings", "random"));
        console_.print(
            fmt::format(live_format, "", "", "Sendrecv", "Alltoall", "nonblock", "", "", ""));
    }

    void length(const RunResult& run, LengthDone done) override {
        double seconds = 0;
        std::array<std::string, method_count> loops;
        for (int m = 0; m < method_count; ++m) {
            const LoopRow& row = run.loops(done.repetition, done.length, m);
            seconds += row.seconds;
            loops.at(static_cast<std::size_t>(m)) =
                row.measured ? std::to_string(row.loops) : std::string("-");
        }
        const Means here = bandwidth_at(run, done.length, {{}, done.repetition});
        console_.print(fmt::format(live_format, done.repetition + 1, run.setup.lengths[done.length],
                                   loops[0], loops[1], loops[2], format_duration(seconds),
                                   format_rate(here.rings), format_rate(here.random)));
    }

    void round_end(const RunResult& run) override {
        rounds_.push_back(effective_bandwidth(run).both);
    }

    void end(const RunResult& run) override {
        if (!run.complete) {
            console_.print("\nb_eff: no value, because the run was stopped before its end\n");
            console_.print(fmt::format("results: {}\n", result_path_));
            return;
        }
        console_.print("\nBandwidth of all ranks by message length, best method and repetition:\n" +
                       by_length(run).text(2));
        console_.print("\nMean over the message lengths by pattern:\n" + by_pattern(run).text(2));
        console_.print(verdict(run));
        if (rounds_.size() > 1) {
            console_.print(fmt::format(
                "b_eff over {}: {}{}{}, {} of the official time\n"
                "  the tables are those of the last round\n",
                count_of(std::ssize(rounds_), "round"), format_rate(arithmetic_mean(rounds_)),
                precision_text(rounds_, format_rate),
                half_width_of(rounds_) ? " (95 % interval of the mean)" : "",
                format_share(run.official_time_share())));
        }
        console_.print(fmt::format("results: {}\n", result_path_));
    }

  private:
    static Table by_length(const RunResult& run) {
        Table table({{"length B"},
                     {"b MB/s"},
                     {"rings MB/s"},
                     {"random MB/s"},
                     {"Sendrecv MB/s"},
                     {"Alltoallv MB/s"},
                     {"nonblocking MB/s"},
                     {"per rank MB/s"}});
        for (int length = 0; length < length_count; ++length) {
            const Means m = bandwidth_at(run, length);
            std::vector<std::string> cells{std::to_string(run.setup.lengths[length]), mb(m.both),
                                           mb(m.rings), mb(m.random)};
            for (int method = 0; method < method_count; ++method) {
                cells.push_back(mb(bandwidth_at(run, length, {method, {}}).both));
            }
            cells.push_back(mb(m.both / run.setup.ranks));
            table.row(std::move(cells));
        }
        return table;
    }

    static Table by_pattern(const RunResult& run) {
        Table table({{"number"},
                     {"pattern", Table::Align::left},
                     {"MB/s"},
                     {"Sendrecv"},
                     {"Alltoallv"},
                     {"nonblocking"},
                     {"messages within nodes"},
                     {"between"}});
        bool remarked = false;
        for (std::size_t i = 0; i < run.pattern_count(); ++i) {
            const Pattern& p = run.setup.patterns[i];
            if (!p.counts() && !remarked) {
                table.rule();  // those below are not part of b_eff
                remarked = true;
            }
            std::vector<std::string> cells{std::to_string(p.number), p.name,
                                           mb(run.pattern_average(i))};
            for (int m = 0; m < method_count; ++m) {
                cells.push_back(mb(run.pattern_average(i, {m, {}})));
            }
            cells.push_back(std::to_string(run.node_steps[i].within));
            cells.push_back(std::to_string(run.node_steps[i].between));
            table.row(std::move(cells));
        }
        return table;
    }

    static std::string verdict(const RunResult& run) {
        const Summary s = summarize(run);
        const Uncertainty u = uncertainty(run);
        const double ranks = run.setup.ranks;
        const std::string lmax = format_size(static_cast<double>(run.setup.lmax));
        std::string text = fmt::format(
            "\nLatency of rings and random rings {}, of rings {}, of one ping-pong pair {}\n"
            "b_eff at Lmax = {}: {} ({} per process), rings only {}; ping-pong {}\n",
            microseconds(s.latency), microseconds(s.ring_latency),
            microseconds(s.ping_pong_latency), lmax, format_rate(s.at_lmax.both),
            format_rate(s.at_lmax.both / ranks), format_rate(s.at_lmax.rings),
            s.ping_pong_bandwidth > 0 ? format_rate(s.ping_pong_bandwidth) : "not measured");
        if (run.errors > 0) {
            text += fmt::format("{} ARRIVED WRONG\n", count_of(run.errors, "message"));
        }
        text += overwritten_line(run.verified);
        text += fmt::format("\nb_eff = {} = {} * {}: {}\n", format_rate(s.b_eff.both),
                            format_rate(s.b_eff.both / ranks), count_of(run.setup.ranks, "rank"),
                            valid(run) ? "VALID" : "NOT VALID as an official value");
        for (const auto& c : criteria(run)) {
            if (!c.reached) text += fmt::format("  NOT reached: {}\n", c.text);
        }
        if (u.by_repetition.size() > 1) {
            text += fmt::format("  each of {} alone: {}{}, spread {:.1f} %\n",
                                count_of(std::ssize(u.by_repetition), "repetition"),
                                format_rate(u.mean), precision_text(u.by_repetition, format_rate),
                                100 * u.spread);
        }
        if (u.random_factor) {
            text +=
                fmt::format("  other random rings would change b_eff by up to {:.1f} % (95 %)\n",
                            100 * (*u.random_factor - 1));
        }
        return text;
    }

    Console& console_;
    std::string result_path_;
    std::vector<double> rounds_;  ///< b_eff of each
};

}  // namespace

std::unique_ptr<Observer> make_console_view(Console& console, const std::string& result_path) {
    return std::make_unique<ConsoleView>(console, result_path);
}

}  // namespace effio::b_eff
