// SPDX-License-Identifier: BSD-3-Clause
// FLASH I/O's events for people.
#include <fmt/format.h>

#include <algorithm>

#include "benchmarks/flash_io/views.hpp"
#include "core/table.hpp"
#include "core/units.hpp"
#include "frame/round_figures.hpp"

namespace effio::flash_io {
namespace {

std::string seconds(double value) {
    return fmt::format("{:.3f}", value);
}

std::string mib(std::int64_t bytes) {
    return fmt::format("{:.2f}", static_cast<double>(bytes) / static_cast<double>(MiB));
}

/// The mean; of several rates also their range, and from five on half of the 95 % interval of the
/// mean.
std::string mean_in_words(const std::vector<double>& rates) {
    const Samples samples = samples_of(rates);
    std::string mean = format_rate(samples.mean());
    if (rates.size() < 2) return mean;
    const auto half = half_width_of(rates);
    return fmt::format("{}{} on average{}, {} to {}", mean, half ? " ± " + format_rate(*half) : "",
                       half ? " (95 %)" : "", format_rate(samples.min()),
                       format_rate(samples.max()));
}

class ConsoleView : public Observer {
  public:
    explicit ConsoleView(Console& console) : console_(console) {}

    void start(const Setup& s) override {
        const auto& p = s.parameters;
        const std::string data =
            p.write ? fmt::format("data in {} (at most {}: {})", p.storage.directory,
                                  format_size(static_cast<double>(s.cap_bytes)), s.cap_reason)
                    : fmt::format("reads what an earlier run of {} left in {}",
                                  count_of(s.writers, "rank"), p.storage.directory);
        console_.print(fmt::format(
            "FLASH I/O: {}, {} of {} along each of {}, {} a dump\n"
            "through {}, {} calls, {} access\n"
            "{}\n"
            "results in {}\n\n",
            count_of(s.ranks, "rank"), count_of(s.total_blocks, "block"), count_of(p.cells, "cell"),
            count_of(p.dimensions, "edge"), format_size(static_cast<double>(s.dump_bytes)),
            s.library, s.nonblocking ? "nonblocking" : "blocking", name(p.access), data,
            s.result_path));
        console_.print(fmt::format(format, "access", "file", "rep", "dump", "size", "time",
                                   "on storage", "rate", ""));
    }

    void file(const FileRun& r) override {
        const bool synced = r.flushed();
        console_.print(fmt::format(
            format, r.writing ? "write" : "read", name(r.file), number_of(r.repetition), r.dump,
            format_size(static_cast<double>(r.bytes)), format_duration(r.counted_seconds),
            synced ? format_rate(r.synced_rate()) : "-", r.valid ? format_rate(r.rate()) : "-",
            r.remark()));
    }

    void end(const Setup& s, const std::vector<Repetition>& repetitions) override {
        const Summary summary(repetitions);
        if (!repetitions.empty() && repetitions.back().last_in_time) {
            console_.print(fmt::format("\n--time-limit: {} of {}\n", repetitions.size(),
                                       count_of(s.parameters.repetitions, "repetition")));
        }
        if (summary.rates.empty() && summary.read_rates.empty()) {
            console_.print("\nno bandwidth: no repetition is complete\n");
            return;
        }
        if (summary.rates.empty()) {
            restart(summary, repetitions);
            doubts(s, summary);
            return;
        }
        const auto best = std::max_element(
            repetitions.begin(), repetitions.end(), [](const auto& a, const auto& b) {
                return (a.complete ? a.rate() : -1) < (b.complete ? b.rate() : -1);
            });
        if (repetitions.size() > 1) {
            console_.print(fmt::format("\nRepetition {}, the best of {}:\n",
                                       number_of(best->number), summary.rates.size()));
        }
        table(*best);
        console_.print("\n");
        const std::string fault = summary.fault_text();
        if (s.parameters.syncs()) {
            console_.print(
                fmt::format("{}: {}{}\n", on_storage, mean_in_words(summary.synced_rates), fault));
        }
        console_.print(
            fmt::format("{}: {}{}\n", by_definition, mean_in_words(summary.rates), fault));
        if (!summary.read_rates.empty()) restart(summary, repetitions);
        if (best->compute_seconds > 0) {
            console_.print(
                fmt::format("time in I/O: {:.1f} % of {}\n", 100 * best->io_fraction(),
                            format_duration(best->total_seconds() + best->compute_seconds)));
        }
        doubts(s, summary);
    }

  private:
    static constexpr const char* format =
        "  {:<6} {:<13} {:>4} {:>5} {:>10} {:>10} {:>12} {:>12}  {}\n";

    void restart(const Summary& summary, const std::vector<Repetition>& repetitions) {
        std::int64_t verified = 0;
        for (const auto& r : repetitions) verified += r.verified_bytes;
        console_.print(
            fmt::format("{}: {}, {} verified{}\n", restarted, mean_in_words(summary.read_rates),
                        format_size(static_cast<double>(verified)), summary.fault_text()));
    }

    void doubts(const Setup& s, const Summary& summary) {
        std::vector<NamedValues> means{{by_definition, summary.rates},
                                       {restarted, summary.read_rates}};
        if (s.parameters.syncs()) means.push_back({on_storage, summary.synced_rates});
        console_.print(doubts_text(means));
    }

    void table(const Repetition& r) {
        Table table({{"file", Table::Align::left},
                     {"header s"},
                     {"unknown s"},
                     {"close s"},
                     {"time s"},
                     {"sync s"},
                     {"MiB"}});
        for (const File file : all_files) {
            const auto& p = r.parts[index(file)];
            if (p.files == 0) continue;
            table.row({std::string(name(file)), seconds(p.header), seconds(p.unknown),
                       seconds(p.close), seconds(p.seconds), seconds(p.sync), mib(p.bytes)});
        }
        table.rule();
        table.row({"total", "", "", "", seconds(r.seconds()), "", mib(r.bytes())});
        console_.print("\n" + table.text(2));
        if (const auto count = r.granted.get("striping_factor"); count && *count != "0") {
            console_.print(fmt::format("  striping: {} x {}\n", *count,
                                       r.granted.get("striping_unit").value_or("?")));
        }
    }

    Console& console_;
};

}  // namespace

std::unique_ptr<Observer> make_console_view(Console& console) {
    return std::make_unique<ConsoleView>(console);
}

}  // namespace effio::flash_io
