// SPDX-License-Identifier: BSD-3-Clause
// The text of b_eff's .prot, .short and .sum (docs/definitions/b-eff.md). Historic units: MB/s and
// MByte/s are 1e6 B/s, MB of memory and messages 2**20 B. Historic spelling, because parsers know
// it. "Per process" is the accumulated value over all processes, idle ones too.
#include <fmt/format.h>
#include <fmt/printf.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>

#include "classic/b_eff.hpp"
#include "core/units.hpp"
#include "parallel/text_file.hpp"

namespace effio {
namespace {

using b_eff::Experiment;
using b_eff::length_count;
using b_eff::LoopRow;
using b_eff::Means;
using b_eff::method_count;
using b_eff::Pattern;
using b_eff::RunResult;
using b_eff::Setup;
using Choice = b_eff::RunResult::Choice;

constexpr std::array<const char*, method_count> method_names{"Sndrcv", "Alltoal", "non-blk"};
constexpr int first_cold_length = 18;
/// The lengths that the wide tables show.
constexpr std::array<int, 6> shown_lengths{0, 4, 8, 12, 16, 20};

double mb(double bytes_per_second) {
    return bytes_per_second / MB_per_s;
}

std::string section(const char* name, const std::string& text) {
    return fmt::format("SECTION-{0}-BEGIN\n{1}SECTION-{0}-END\n\n", name, text);
}

std::string extents_text(const std::vector<int>& extents) {
    return fmt::format("{}", fmt::join(extents, " * "));
}

std::string head(const Setup& s, bool with_sizes) {
    std::string out = "b_eff.c, Revision 3.6.0.1 from Feb 02, 2016\n\n";
    out += fmt::format("MEMORY_PER_PROCESSOR = {} MBytes  [1M = 1024*1024]\n", s.memory_mib);
    if (with_sizes) {
        const std::string line = fmt::format("1-dim-paterns: size = {}\n", s.ranks);
        out += line + line;
        out += fmt::format("2-dim-patterns: size = {}\n", extents_text(s.grid_2d));
        out += fmt::format("3-dim-patterns: size = {}\n", extents_text(s.grid_3d));
    }
    out += fmt::format("Used message lengths:\nmsglng= {}\n", fmt::join(s.lengths.bytes, " "));
    out += "Used methods:  0=Sndrcv  1=Alltoal  2=non-blk\nUsed patterns:";
    for (std::size_t i = 0; i < s.patterns.size(); ++i) {
        if (i > 0 && i % 4 == 0) out += fmt::format("\n{:14}", "");
        out += fmt::sprintf(" %2d=%-17s", s.patterns[i].number, s.patterns[i].name);
    }
    const auto random = std::count_if(s.patterns.begin(), s.patterns.end(), [](const Pattern& p) {
        return p.family == b_eff::Family::random_ring;
    });
    const auto last_random = b_eff::ring_patterns + random - 1;
    out += fmt::format(
        "\nPatterns 0-5 are rings, {}-{} are random; both are used for b_eff,\n"
        "{}-{} are only reported\n",
        b_eff::ring_patterns, last_random, last_random + 1, s.patterns.size() - 1);
    return out;
}

std::string loop_lengths(const RunResult& run) {
    std::string out;
    for (int m = 0; m < method_count; ++m) {
        out += fmt::format(
            "method {}={}: length; per repetition: loop length, total, shortest and "
            "longest time of a pattern [sec]\n",
            m, method_names.at(static_cast<std::size_t>(m)));
        for (int length = 0; length < length_count; ++length) {
            out += fmt::sprintf(" %9d ", run.setup.lengths[length]);
            for (int r = 0; r < run.repetitions(); ++r) {
                const LoopRow& row = run.loops(r, length, m);
                const char flag = row.cut == LoopRow::Cut::best_method         ? 'M'
                                  : row.cut == LoopRow::Cut::fewer_repetitions ? 'R'
                                                                               : ' ';
                out += fmt::sprintf(" %4d %7.1e %7.1e %7.1e %c", row.loops, row.seconds,
                                    row.shortest_pattern, row.longest_pattern, flag);
            }
            out += '\n';
        }
    }
    return out;
}

/// Seconds that the experiment must have taken by its slowest process.
double estimated_seconds(const RunResult& run, int repetition, int length, std::size_t pattern,
                         int method) {
    const Experiment& c = run.experiment(repetition, length, pattern, method);
    if (c.state != Experiment::State::measured || !(c.process_rate.min > 0)) return 0;
    const auto loops = static_cast<double>(c.loops + (length < first_cold_length ? 1 : 0));
    return static_cast<double>(run.setup.lengths[length]) / c.process_rate.min * loops *
           run.setup.patterns[pattern].step_count();
}

std::string values(const RunResult& run) {
    struct Line {
        const char* label;
        const char* missing;
        double Spread::* member;
    };
    constexpr std::array<Line, 3> lines{{{"min=", "------", &Spread::min},
                                         {"avg=", "----", &Spread::mean},
                                         {"max=", "--", &Spread::max}}};
    std::string out;
    for (int length = 0; length < length_count; ++length) {
        for (int m = 0; m < method_count; ++m) {
            for (std::size_t p = 0; p < run.pattern_count(); ++p) {
                if (!run.setup.patterns[p].has_method(m)) continue;
                double best = 0;
                double seconds = 0;
                for (int r = 0; r < run.repetitions(); ++r) {
                    const Experiment& c = run.experiment(r, length, p, m);
                    if (c.has_rate()) best = std::max(best, c.process_rate.min);
                    seconds += estimated_seconds(run, r, length, p, m);
                }
                for (const Line& line : lines) {
                    const bool first = &line == lines.data();
                    out += first && m == 0 && p == 0
                               ? fmt::sprintf(" %10d", run.setup.lengths[length])
                               : std::string(11, ' ');
                    out += first && p == 0 ? fmt::sprintf(" mthd%1d", m) : std::string(6, ' ');
                    out += first ? fmt::sprintf(" p%02d", run.setup.patterns[p].number)
                                 : std::string(4, ' ');
                    out += fmt::format(" {}", line.label);
                    for (int r = 0; r < run.repetitions(); ++r) {
                        const Experiment& c = run.experiment(r, length, p, m);
                        out += c.state == Experiment::State::measured
                                   ? fmt::sprintf(" %7.3f", mb(c.process_rate.*line.member))
                                   : fmt::sprintf(" %7s", line.missing);
                    }
                    if (first) out += fmt::sprintf(" -> %7.3f (%5.3f s)", mb(best), seconds);
                    out += '\n';
                }
            }
        }
    }
    return out;
}

std::string elapsed(const RunResult& run) {
    double sum = 0;
    double fastest_sum = 0;
    for (int length = 0; length < length_count; ++length) {
        for (std::size_t p = 0; p < run.pattern_count(); ++p) {
            for (int m = 0; m < method_count; ++m) {
                double fastest = 0;
                int measured = 0;
                for (int r = 0; r < run.repetitions(); ++r) {
                    const double t = estimated_seconds(run, r, length, p, m);
                    if (!(t > 0)) continue;
                    sum += t;
                    fastest = measured == 0 ? t : std::min(fastest, t);
                    ++measured;
                }
                fastest_sum += fastest * measured;
            }
        }
    }
    const auto line = [&](const char* what, double seconds) {
        const double off = run.loop_seconds - seconds;
        return fmt::sprintf("%-45s %8.3f sec, difference %8.3f sec = %5.1f %%\n", what, seconds,
                            off, run.loop_seconds > 0 ? 100 * off / run.loop_seconds : 0.0);
    };
    std::string out = fmt::sprintf("%-45s %8.3f sec\n", "measurement loop:", run.loop_seconds);
    out += line("sum of all experiments:", sum);
    out += line("fastest repetition * number of repetitions:", fastest_sum);
    constexpr double allowed = 0.05;
    const bool far = run.loop_seconds - sum > allowed * run.loop_seconds ||
                     run.loop_seconds - fastest_sum > allowed * run.loop_seconds;
    out += far ? "CAUTION: a difference is larger than 5 % of the measurement loop\n"
               : "The differences are not larger than 5 % of the measurement loop\n";
    return out;
}

std::string patterns(const RunResult& run) {
    std::string out =
        " number and name            k          msgs  msgs/proc  msgs/(proc*k)  idle  (best method "
        "per repetition, -1 = all measured)\n";
    for (std::size_t i = 0; i < run.pattern_count(); ++i) {
        const Pattern& p = run.setup.patterns[i];
        const double members = p.participants();
        const auto messages = static_cast<double>(p.messages());
        out +=
            fmt::sprintf(" p%02d %-17s %5d  %12d  %9.2f  %9.2f  %6d  (", p.number, p.name,
                         p.step_count(), p.messages(), messages / members,
                         messages / (members * p.step_count()), run.setup.ranks - p.participants());
        for (const auto& best : run.best_methods) out += fmt::sprintf(" %2d", best.at(i));
        out += " )\n";
    }
    return out;
}

constexpr const char* shortened_remark =
    "The two largest message lengths were shortened: methods cannot be compared there.\n";
constexpr const char* reported_remark =
    "The following patterns are only reported, they are not part of b_eff:\n";

/// One column for each choice, then the best of them per process and accumulated.
std::string by_choice(const RunResult& run, const std::vector<Choice>& choices) {
    const double ranks = run.setup.ranks;
    std::string out;
    bool remarked = false;
    const auto logs = [&] {
        std::vector<Means> columns;
        columns.reserve(choices.size());
        for (const Choice& c : choices) columns.push_back(b_eff::effective_bandwidth(run, c));
        const Means best = b_eff::means_over(run.setup.patterns, [&](std::size_t i) {
            double most = 0;
            for (const Choice& c : choices) most = std::max(most, run.pattern_average(i, c));
            return most;
        });
        const auto line = [&](const char* label, double Means::* member) {
            out += label;
            for (const Means& m : columns) out += fmt::sprintf(" %7.3f", mb(m.*member) / ranks);
            out += fmt::sprintf(" || %7.3f -> %10.3f MByte/s\n", mb(best.*member) / ranks,
                                mb(best.*member));
        };
        line("log_avg of all rings  :", &Means::rings);
        line("log_avg of all random :", &Means::random);
        line("log_avg(ring,random)  :", &Means::both);
    };
    for (std::size_t i = 0; i < run.pattern_count(); ++i) {
        const Pattern& p = run.setup.patterns[i];
        if (!p.counts() && !remarked) {
            logs();
            out += reported_remark;
            remarked = true;
        }
        out += fmt::sprintf(" p%02d %-17s :", p.number, p.name);
        double best = 0;
        for (const Choice& c : choices) {
            const double value = run.pattern_average(i, c);
            best = std::max(best, value);
            out += fmt::sprintf(" %7.3f", mb(value) / ranks);
        }
        out += fmt::sprintf(" -> %7.3f -> %10.3f MByte/s\n", mb(best) / ranks, mb(best));
    }
    if (!remarked) logs();
    return out;
}

std::string by_methods(const RunResult& run) {
    std::vector<Choice> choices;
    for (int m = 0; m < method_count; ++m) choices.push_back({m, {}});
    return (run.shortened(0) ? shortened_remark : "") + by_choice(run, choices);
}

std::string by_repetitions(const RunResult& run) {
    std::vector<Choice> choices;
    for (int r = 0; r < run.repetitions(); ++r) choices.push_back({{}, r});
    return by_choice(run, choices);
}

/// Latency in microseconds, the bandwidth per process at some lengths, and the average.
std::string by_length_columns(const RunResult& run, std::size_t pattern, Choice choice) {
    const double ranks = run.setup.ranks;
    const double at_one_byte = run.best(0, pattern, choice);
    std::string out =
        at_one_byte > 0
            ? fmt::sprintf("(%7.3f)",
                           1e6 * run.setup.patterns[pattern].messages_per_step() / at_one_byte)
            : std::string("(-------)");
    for (const int length : shown_lengths) {
        out += fmt::sprintf(" %7.3f", mb(run.best(length, pattern, choice)) / ranks);
    }
    const double average = run.pattern_average(pattern, choice);
    return out + fmt::sprintf(" -> %7.3f -> %10.3f MByte/s\n", mb(average) / ranks, mb(average));
}

std::string by_method_and_length(const RunResult& run) {
    std::string out = run.shortened(0) ? shortened_remark : "";
    for (std::size_t i = 0; i < run.pattern_count(); ++i) {
        for (int m = 0; m < method_count; ++m) {
            out += fmt::sprintf(" p%02d method %1d =%-7s :", run.setup.patterns[i].number, m,
                                method_names.at(static_cast<std::size_t>(m))) +
                   by_length_columns(run, i, {m, {}});
        }
    }
    return out;
}

std::string by_pattern_and_length(const RunResult& run) {
    std::string out;
    for (std::size_t i = 0; i < run.pattern_count(); ++i) {
        const Pattern& p = run.setup.patterns[i];
        out += fmt::sprintf(" p%02d %-17s :", p.number, p.name) + by_length_columns(run, i, {});
    }
    return out;
}

std::string by_length(const RunResult& run) {
    const double ranks = run.setup.ranks;
    std::string out = run.shortened(0) ? shortened_remark : "";
    for (int length = 0; length < length_count; ++length) {
        const Means m = b_eff::bandwidth_at(run, length);
        out += fmt::sprintf(" %9d  %10.3f %8.3f %8.3f %8.3f", run.setup.lengths[length], mb(m.both),
                            mb(m.both) / ranks, mb(m.rings) / ranks, mb(m.random) / ranks);
        for (int method = 0; method < method_count; ++method) {
            out += fmt::sprintf(" %8.3f",
                                mb(b_eff::bandwidth_at(run, length, {method, {}}).both) / ranks);
        }
        out += '\n';
    }
    return out;
}

double lmax_mb(const Setup& s) {
    return static_cast<double>(s.lmax) / static_cast<double>(MiB);
}

std::string result_table(const RunResult& run) {
    const Setup& s = run.setup;
    const auto summary = b_eff::summarize(run);
    const double ranks = s.ranks;
    const std::string empty = "            |" + std::string(97, ' ') + "\n";
    std::string out = fmt::format(
        "system parameters  : {} nodes, {} MB/node\n       system name : {}\n"
        "       hostname    : {}\n       OS release  : {}\n       OS version  : {}\n"
        "       machine     : {}\n\nDate of measurement: {}\n\n",
        s.ranks, s.memory_mib, s.uname.system, s.uname.node, s.uname.release, s.uname.version,
        s.uname.machine, s.date);
    out += fmt::sprintf("Total execution wall clock time = %5.0f seconds\n\n", run.loop_seconds);
    out +=
        "            | number  |   b_eff   |  Lmax  |   b_eff   |   b_eff   | Latency | Latency | "
        "Latency | ping-pong  \n"
        "            | of pro  |           |        |  at Lmax  |  at Lmax  | rings & |  rings  | "
        " ping-  | bandwith   \n"
        "            | cessors |           |        |  rings &  |   rings   | random  |  only   | "
        " pong   |            \n"
        "            |         |           |        |  random   |   only    | micro-  | micro-  | "
        "micro-  |            \n"
        "            |         |  MByte/s  |        |  MByte/s  |  MByte/s  |  sec    |  sec    | "
        " sec    |  MByte/s   \n";
    out += std::string(110, '-') + "\n" + empty;
    out +=
        fmt::sprintf(
            "accumulated |  %5d    %9.0f   %3.0f MB  %9.0f    %9.0f    %6.3f    %6.3f    %6.3f   "
            " %9.0f",
            s.ranks, mb(summary.b_eff.both), lmax_mb(s), mb(summary.at_lmax.both),
            mb(summary.at_lmax.rings), 1e6 * summary.latency, 1e6 * summary.ring_latency,
            1e6 * summary.ping_pong_latency, mb(summary.ping_pong_bandwidth)) +
        std::string(20, ' ') + "\n" + empty;
    out += fmt::sprintf("per process |           %9.0f           %9.0f    %9.0f",
                        mb(summary.b_eff.both) / ranks, mb(summary.at_lmax.both) / ranks,
                        mb(summary.at_lmax.rings) / ranks) +
           std::string(54, ' ') + "\n\n\n";
    return out;
}

std::string results(const RunResult& run) {
    const Setup& s = run.setup;
    const auto summary = b_eff::summarize(run);
    std::string out =
        fmt::sprintf("The effective bandwidth is b_eff = %10.3f MByte/s on %1d processes\n",
                     mb(summary.b_eff.both), s.ranks);
    out += fmt::sprintf("Latency: %8.3f microsec\n", 1e6 * summary.latency);
    out += fmt::sprintf("Lmax: %5.0f MB\n", lmax_mb(s));
    out += fmt::sprintf("b_eff at Lmax: %10.3f MByte/s\n", mb(summary.at_lmax.both));
    out +=
        fmt::sprintf("b_eff at Lmax (ring pattern):  %10.3f MByte/s\n", mb(summary.at_lmax.rings));
    out += fmt::sprintf("Latency ring pattern:           %8.3f microsec\n",
                        1e6 * summary.ring_latency);
    out += fmt::sprintf("Ping-pong latency:            %8.3f microsec\n",
                        1e6 * summary.ping_pong_latency);
    out += fmt::sprintf("Ping-pong bandwidth at Lmax: %10.3f MByte/s at Lmax= %6.1f MB\n\n",
                        mb(summary.ping_pong_bandwidth), lmax_mb(s));
    return out;
}

class ClassicView : public b_eff::Observer {
  public:
    explicit ClassicView(std::string prefix) : prefix_(std::move(prefix)) {}

    void start(const Setup&) override {
        for (std::size_t i = 0; i < files_.size(); ++i) {
            const std::string path = prefix_ + suffixes.at(i);
            if (auto made = TextFile::replace("write", path)) {
                files_.at(i) = std::move(*made);
            } else {
                complain_of(i, made.error().cause);
            }
        }
    }

    void end(const RunResult& run) override {
        if (!run.complete) return;
        const std::array texts{classic_prot(run), classic_short(run), classic_sum(run)};
        for (std::size_t i = 0; i < files_.size(); ++i) {
            if (!files_.at(i)) continue;
            if (auto put = files_.at(i).write(texts.at(i)); !put) complain_of(i, put.error().cause);
        }
        std::fputs(classic_final_line(run).c_str(), stderr);
    }

  private:
    /// The run continues without this text file, because effio's own result file has everything.
    void complain_of(std::size_t file, const std::string& cause) const {
        fmt::print(stderr, "b_eff: can't write {}{}: {}\n", prefix_, suffixes.at(file), cause);
    }

    static constexpr std::array<const char*, 3> suffixes{".prot", ".short", ".sum"};
    std::string prefix_;
    std::array<TextFile, 3> files_;
};

}  // namespace

std::string classic_final_line(const RunResult& run) {
    const double value = mb(b_eff::effective_bandwidth(run).both);
    std::string line =
        fmt::sprintf("b_eff%s = %10.3f MB/s = %7.3f * %3d PEs with %3d MB/PE on %s",
                     run.setup.parameters.quick ? "SHORT" : "", value, value / run.setup.ranks,
                     run.setup.ranks, run.setup.memory_mib, run.setup.uname.text());
    if (run.errors > 0) line += fmt::format(", with {} WRONG MESSAGES", run.errors);
    return line + "\n";
}

std::string classic_prot(const RunResult& run) {
    return section("HEAD", head(run.setup, true)) +
           section("LOOP", fmt::sprintf("measurment loop: %7.3f sec\n", run.loop_seconds)) +
           section("LOOPLNGS", loop_lengths(run)) + section("VALUES", values(run)) +
           classic_final_line(run);
}

std::string classic_short(const RunResult& run) {
    return section("HEAD", head(run.setup, false)) + section("ELAPSED", elapsed(run)) +
           section("PATTERN", patterns(run)) + section("BY-METHODS", by_methods(run)) +
           section("BY-REPETITIONS", by_repetitions(run)) +
           section("BY-MTHD-MSGLNG", by_method_and_length(run)) +
           section("BY-MSGLNG", by_length(run)) +
           section("BY-PATTERN-MSGLNG", by_pattern_and_length(run)) +
           section("BEFF", results(run) + result_table(run)) + classic_final_line(run);
}

std::string classic_sum(const RunResult& run) {
    return section("HEAD", head(run.setup, false)) + section("BEFF", result_table(run)) +
           classic_final_line(run);
}

std::unique_ptr<b_eff::Observer> make_classic_b_eff_view(const std::string& prefix) {
    return std::make_unique<ClassicView>(prefix);
}

}  // namespace effio
