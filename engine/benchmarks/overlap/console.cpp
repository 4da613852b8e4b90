// SPDX-License-Identifier: BSD-3-Clause
// overlap for people.
#include <fmt/format.h>

#include <algorithm>

#include "benchmarks/overlap/views.hpp"
#include "core/table.hpp"
#include "core/units.hpp"
#include "frame/round_figures.hpp"

namespace effio::overlap {
namespace {

/// With half of its 95 % interval, or the range of few values.
std::string number(const std::vector<double>& values, const char* missing = "-") {
    if (values.empty()) return missing;
    const auto text = [](double value) { return fmt::format("{:.2f}", value); };
    return text(samples_of(values).mean()) + precision_text(values, text);
}

class ConsoleView : public Observer {
  public:
    ConsoleView(Console& console, const Parameters& parameters, const std::string& result_path)
        : console_(console), parameters_(parameters) {
        std::string methods;
        for (const Method method : parameters.effective_methods) {
            methods += fmt::format("{}{} ({})", methods.empty() ? "" : ", ", name(method),
                                   parameters.backend_of(method).name);
        }
        console_.print(fmt::format("Overlap of I/O and computation: {}\nresults in {}\n", methods,
                                   result_path));
        for (const auto& why : parameters.left_out) left_out(why);
    }

    void left_out(const std::string& why) override { console_.print("left out: " + why + "\n"); }

    void cell(const CellResult& c) override {
        done_.push_back({c.point, c.valid, c.error_count});
        if (c.valid) moved_.push_back({c.point, c.bytes, c.cache});
        if (c.valid && c.error_count == 0) return;
        console_.print(fmt::format("{} {} {}: {}\n", name(c.point.method),
                                   c.point.write ? "write" : "read",
                                   shown_size(Bytes{c.point.transfer}),
                                   c.errors.empty() ? "failed" : c.errors.front().text()));
    }

    void end(const std::vector<PointTimes>& all) override {
        for (const bool write : parameters_.accesses()) {
            for (const WorkKind work : parameters_.works) table(all, write, work);
        }
    }

  private:
    struct Moved {
        Point point;
        std::int64_t bytes = 0;
        std::optional<CacheEvidence> cache;
    };

    /// A repetition of a cell.
    struct Done {
        Point point;
        bool valid = true;
        std::int64_t wrong = 0;  ///< bytes
    };

    std::string counted(const Point& point) const {
        std::int64_t valid = 0;
        std::int64_t invalid = 0;
        std::int64_t wrong = 0;
        for (const Done& one : done_) {
            if (!(one.point == point)) continue;
            ++(one.valid ? valid : invalid);
            if (one.valid) wrong += one.wrong;
        }
        return counted_text(valid, invalid, wrong, "byte");
    }

    /// Where the bytes of a cell were, over its repetitions.
    std::string bytes_of(const Point& point) const {
        StorageShare share;
        for (const Moved& one : moved_) {
            if (one.point == point) share.add(one.cache, one.bytes);
        }
        return parameters_.virtual_time() ? "-" : share.words(!point.write);
    }

    void table(const std::vector<PointTimes>& all, bool write, WorkKind work) {
        Table table({{"method", Table::Align::left},
                     {"transfer"},
                     {"I/O alone"},
                     {"work alone"},
                     {"both"},
                     {"share that hides"},
                     {"work takes, times"},
                     {"limit", Table::Align::left},
                     {"bytes from or to", Table::Align::left},
                     {"repetitions", Table::Align::left}});
        std::string sentences;
        std::size_t repetitions = 0;
        for (const Method method : parameters_.effective_methods) {
            std::vector<const PointTimes*> of_method;
            for (const PointTimes& s : all) {
                if (s.point.method == method && s.point.write == write && s.point.work == work)
                    of_method.push_back(&s);
            }
            for (const PointTimes* s : of_method) {
                const Times mean = s->mean();
                const auto stated = s->stated();
                const auto limit = s->limit();
                repetitions = std::max(repetitions, s->times.size());
                table.row({std::string(name(method)), shown_size(Bytes{s->point.transfer}),
                           format_duration(mean.io), format_duration(mean.work),
                           format_duration(mean.both),
                           number(stated, s->hidden().empty() ? "-" : "not known"),
                           number(s->slow_downs()), limit ? std::string(name(*limit)) : "-",
                           bytes_of(s->point), counted(s->point)});
            }
            const std::string text = sentence(of_method);
            if (!text.empty()) sentences += "  " + wrapped(text, 118, 4) + "\n";
        }
        console_.print(fmt::format("\n{} alongside {} work, {}\n{}\n{}", write ? "Write" : "Read",
                                   name(work),
                                   count_of(static_cast<std::int64_t>(repetitions), "repetition"),
                                   table.text(2), sentences));
    }

    Console& console_;
    const Parameters& parameters_;
    std::vector<Moved> moved_;  ///< of valid repetitions
    std::vector<Done> done_;
};

}  // namespace

std::unique_ptr<Observer> make_console_view(Console& console, const Parameters& parameters,
                                            const std::string& result_path) {
    return std::make_unique<ConsoleView>(console, parameters, result_path);
}

}  // namespace effio::overlap
