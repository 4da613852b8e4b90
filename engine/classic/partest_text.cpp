// SPDX-License-Identifier: BSD-3-Clause
// What partest prints: the head with its parameters, the times of each pass, the end.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>

#include "classic/partest.hpp"
#include "storage/sion/format.hpp"

namespace effio {
namespace {

/// A line of 90 dashes.
constexpr std::string_view rule =
    "---------------------------------------------"
    "---------------------------------------------\n";
constexpr auto mebi = static_cast<double>(MiB);
constexpr const char* program = "SION parallel file I/O benchmark 'partest'";

/// The parts of a pass by the names that the original prints and by ours.
struct PartName {
    std::string_view printed;
    std::string_view ours;
};
constexpr std::array<PartName, 2> creating{{{"create", "create"}, {"create_cls", "create_close"}}};

std::string parameter(std::string_view letters, std::string_view label, const std::string& value,
                      std::size_t width = 24) {
    return fmt::format("partest parameter:   {:<7} {:<{}} = {}\n", letters, label, width, value);
}

std::string parameter(std::string_view letters, std::string_view label, std::int64_t value,
                      std::size_t width = 24) {
    return parameter(letters, label, std::to_string(value), width);
}

std::string size_parameter(std::string_view letters, std::string_view label, std::int64_t bytes,
                           std::string_view unit = "MB") {
    const double in_unit = static_cast<double>(bytes) / (unit == "GB" ? 1024 * mebi : mebi);
    return parameter(letters, label, fmt::format("{:15d} bytes {:10.3f} {}", bytes, in_unit, unit));
}

const char* name_of_type(int type) {
    constexpr std::array<const char*, 4> names{"sion, collective read", "sion, independent read",
                                               "mpi-io", "single files"};
    return names.at(static_cast<std::size_t>(type));
}

/// For each file of a container, the tasks that are in it.
std::string communicators(int tasks) {
    std::string out;
    for (int task = 0; task < tasks; ++task) {
        out += fmt::format(
            "LINUX[{:03d}] diff_comm: {:4d} of {:4d}  same_comm: {:4d} of {:4d} file_comm: {:4d} "
            "of {:4d} vm\n",
            task, task, tasks, -2, -2, -2, -2);
    }
    return out.append(rule);
}

double seconds_of(const std::vector<NamedNumber>& list, std::string_view name) {
    const auto found = std::find_if(list.begin(), list.end(),
                                    [&](const NamedNumber& one) { return one.name == name; });
    return found == list.end() ? 0 : found->value;
}

/// Numbers of a task, of the tasks of a file, or of all.
struct Set {
    int printed_by = 0;     ///< the task that the original has print it
    std::string_view kind;  ///< TASK, FILE, TOTAL
    double bytes = 0;
    double total = 0;  ///< seconds
    std::int64_t calls = 0;
    std::vector<NamedNumber> seconds;
    std::vector<NamedNumber> file_waits;
    std::vector<NamedNumber> global_waits;
};

std::vector<NamedNumber> longest_of(const PartTimes& times) {
    std::vector<NamedNumber> list;
    for (const auto& [name, spread] : times) list.emplace_back(name, spread.max);
    return list;
}

void take_longest(std::vector<NamedNumber>& list, const std::vector<NamedNumber>& other) {
    if (list.empty()) list = other;
    for (std::size_t i = 0; i < list.size(); ++i) {
        list[i].value = std::max(list[i].value, other[i].value);
    }
}

/// The lines of a pass.
class PassText {
  public:
    PassText(const PartestRequest& request, const study::PassResult& result)
        : request_(request),
          result_(result),
          tasks_(result.cell->ranks),
          reads_(!result.pass.writes()) {}

    std::string all() const {
        std::string out;
        const auto tasks = sets_of_tasks();
        for (const auto line : {&PassText::stat, &PassText::phases, &PassText::file_barrier,
                                &PassText::global_barrier}) {
            for (const Set& set : tasks) out += (this->*line)(set);
        }
        for (const Set& set : sets_of_files()) out += group(set);
        return out.append(rule).append(group(in_all())).append(rule);
    }

    /// With -T 2 the original prints two lines of an older form.
    std::string of_shared_file() const {
        const char* const verb = reads_ ? "read " : "wrote";
        const char* const access = reads_ ? "read" : "write";
        const double megabytes = static_cast<double>(result_.bytes) / MB_per_s;
        double seconds = 0;
        for (const auto& one : result_.each) {
            seconds = std::max(seconds, seconds_of(one.seconds, "transfer") +
                                            seconds_of(one.file_waits, "transfer") +
                                            seconds_of(one.global_waits, "transfer"));
        }
        std::string out = fmt::format("partest result: {} {:10.4f} MB {} {}.000000\n", verb,
                                      megabytes, reads_ ? "from" : "to", request_.file);
        out += rule;
        out += fmt::format(
            "TOTAL result: open={:10.6f}s close={:10.6f}s {} {:10.4f} MB {}+barrier={:10.6f}s "
            "bw={:10.4f} MB/s {} 1 files\n",
            result_.longest("open"), result_.longest("close"), verb, megabytes, access, seconds,
            seconds > 0 ? megabytes / seconds : 0, reads_ ? "from" : "to");
        return out.append(rule);
    }

  private:
    /// The task that moves the data of task `owner`.
    int task_of(int owner) const {
        const int shift = reads_ ? static_cast<int>(request_.shift % tasks_) : 0;
        return (owner + tasks_ - shift) % tasks_;
    }

    std::vector<Set> sets_of_tasks() const {
        std::vector<Set> sets;
        for (int task = 0; task < static_cast<int>(result_.each.size()); ++task) {
            const bool wanted = request_.each_task || (request_.first_task && task == 0) ||
                                (request_.last_task && task + 1 == tasks_);
            if (!wanted) continue;
            const study::RankLine& one = result_.each[static_cast<std::size_t>(task)];
            sets.push_back({task, "TASK", one.bytes, one.total, one.calls, one.seconds,
                            one.file_waits, one.global_waits});
        }
        return sets;
    }

    std::vector<Set> sets_of_files() const {
        const int files = request_.shared_files();
        if (files < 2 || result_.each.empty()) return {};
        std::vector<Set> sets(static_cast<std::size_t>(files));
        for (int owner = 0; owner < tasks_; ++owner) {
            const study::RankLine& one = result_.each[static_cast<std::size_t>(task_of(owner))];
            Set& set = sets[static_cast<std::size_t>(sion::file_of(owner, tasks_, files))];
            if (set.kind.empty()) set.printed_by = task_of(owner);
            set.kind = "FILE";
            set.bytes += one.bytes;
            set.total = std::max(set.total, one.total);
            set.calls += one.calls;
            take_longest(set.seconds, one.seconds);
            take_longest(set.file_waits, one.file_waits);
            take_longest(set.global_waits, one.global_waits);
        }
        return sets;
    }

    Set in_all() const {
        return {task_of(0),
                "TOTAL",
                static_cast<double>(result_.bytes),
                result_.counted_seconds,
                result_.calls,
                longest_of(result_.seconds),
                longest_of(result_.file_waits),
                longest_of(result_.global_waits)};
    }

    std::string group(const Set& set) const {
        return stat(set) + phases(set) + file_barrier(set) + global_barrier(set);
    }

    std::string start(const Set& set, std::string_view name) const {
        return fmt::format("timings[{:06d}] {:<16} {} {}  ", set.printed_by, name, set.kind,
                           reads_ ? "READ" : "WRITE");
    }
    /// "create=0.0000s, open=0.0000s", the moving under its own name.
    std::string parts(const std::vector<NamedNumber>& seconds, bool with_creating,
                      int digits) const {
        std::string out;
        const auto add = [&](std::string_view printed, std::string_view ours) {
            out += fmt::format("{}{}={:.{}f}s", out.empty() ? "" : ", ", printed,
                               seconds_of(seconds, ours), digits);
        };
        if (with_creating && !reads_) {
            for (const auto& [printed, ours] : creating) add(printed, ours);
        }
        add("open", "open");
        add(reads_ ? "read" : "write", "transfer");
        add("close", "close");
        return out;
    }

    std::string stat(const Set& set) const {
        const double rate = set.total > 0 ? set.bytes / set.total : 0;
        return start(set, "T_STAT") +
               fmt::format(
                   "b={:10.2f} MiB t={:10.6f}s #chunks={} bw={:10.4f} MB/s ({:10.4f} "
                   "MiB/s) ion=0 nf={}\n",
                   set.bytes / mebi, set.total, set.calls, rate / MB_per_s, rate / mebi,
                   result_.cell->files_on_disk());
    }
    std::string phases(const Set& set) const {
        return start(set, "T_PHASE") + parts(set.seconds, true, 5) +
               fmt::format(", tlog={:.4f}s\n", seconds_of(set.seconds, "turn"));
    }
    std::string file_barrier(const Set& set) const {
        return start(set, "T_FILE_BARRIER") + parts(set.file_waits, false, 4) + "\n";
    }
    std::string global_barrier(const Set& set) const {
        return start(set, "T_GLOBAL_BARRIER") + parts(set.global_waits, true, 4) + "\n";
    }

    const PartestRequest& request_;
    const study::PassResult& result_;
    int tasks_;
    bool reads_;
};

}  // namespace

std::string classic_partest_head(const PartestRequest& r, int tasks, const std::string& now,
                                 std::int64_t block, std::int64_t of_first) {
    constexpr std::size_t wide = 27;
    const auto on = [](bool is) { return std::int64_t{is ? 1 : 0}; };
    const std::int64_t files = std::min<std::int64_t>(std::max<std::int64_t>(r.files, 1), tasks);
    const bool hints = r.large_blocks || r.sparse_access || r.io_buffer;
    std::string out = r.shared_files() > 1 ? communicators(tasks) : "";
    out += fmt::format("{}: start at {}\n", program, now);
    out += fmt::format(
        "partest Number of tasks that will use the file tasks:       running on {} tasks\n", tasks);
    out += rule;
    out += parameter("(-f)", "datafile", r.file);
    out += parameter("(-n)", "number of files", r.files);
    out += parameter("(-F)", "random factor", fmt::format("{:13.4f}", r.random_size));
    out += parameter("(-X)", "remove files after test", on(r.unlink));
    out += size_parameter("(-b/-B)", "local buffer size / task", r.call);
    out += size_parameter("(-g/-G)", "global total data size", r.bytes_in_all(tasks), "GB");
    out += size_parameter("(-s/-S)", "total data size / task", r.bytes_of_a_task(tasks));
    out += size_parameter("(-r/-R)", "sion chunk size", r.chunk);
    out += size_parameter("(-Q)", "fs block size", r.block);
    out += parameter("(-T)", "test type", fmt::format("{} ({})", r.type, name_of_type(r.type)));
    out += parameter("(-j)", "serialize_blocknum", r.at_a_time);
    out += parameter("(-Z)", "read task offset", r.shift);
    out += parameter("(-o)", "start offset bytes", r.first_access);
    out += parameter("(-v)", "verbose", on(r.each_task));
    out += parameter("(-d)", "debug", on(r.first_task));
    out += parameter("(-D)", "Debug", on(r.last_task));
    out += parameter("(-M)", "collective write", on(r.collective_write));
    out += parameter("(-m)", "collective read", on(r.collective_read));
    out += parameter("(-c)", "MSA-aware collective I/O", std::int64_t{0});
    out += parameter("(-w)", "MPI-IO, IBM, Large Block IO", r.large_blocks ? 1 : -1, wide);
    out += parameter("(-W)", "MPI-IO, IBM, IO bufsize",
                     fmt::format("{} KB", r.io_buffer.value_or(-1)), wide);
    out += parameter("(-x)", "MPI-IO, IBM, sparse access", r.sparse_access ? 1 : -1, wide);
    out += parameter("(-C)", "suppress_checksum", on(r.unchecked), wide);
    out += parameter("(-O)", "do_write", r.writes, wide);
    out += parameter("(-I)", "do_read", on(r.reads), wide);
    out += parameter("(-L)", "use_posix", on(r.system_calls), wide);
    out += parameter("(-P)", "Blue Gene, I/O nodes", std::int64_t{0}, wide);
    out += parameter("(-p)", "Blue Gene: task/IO-nodes", std::int64_t{0}, wide);
    out += parameter("(-Y)", "Blue Gene: task sort", std::int64_t{0}, wide);
    out += parameter("(  )", "commwork_size64", std::int64_t{tasks}, wide);
    out += parameter("(  )", "comm(all)", fmt::format("0 of {}", tasks), wide);
    out += parameter("(  )", "comm(work)", fmt::format("0 of {}", tasks), wide);
    const std::int64_t local = files > 1 ? tasks / files : tasks;
    out += parameter("(  )", "comm(local)", fmt::format("0 of {}", local), wide);
    out += rule;
    out += parameter("(  )", "new totalsize", of_first, wide);
    out += fmt::format("partest filespec:    (  )    {:<21} = {}\n", "using_hints", on(hints));
    out += fmt::format("partest filespec:    (  )    {:<21} = {}\n", "fsblksize", block);
    return out;
}

std::string classic_partest_report(const PartestRequest& request, const study::PassResult& result) {
    const PassText text(request, result);
    std::string out = request.type == 2 ? text.of_shared_file() : text.all();
    // By their names on the command line, not by the path that the run made of them.
    const std::string folder = request.file.substr(0, request.file.rfind('/') + 1);
    for (const auto& file : result.removed) {
        out += fmt::format("partest result:  ultime={:10.6f}s unlink {}{}\n", file.seconds, folder,
                           file.path.substr(file.path.rfind('/') + 1));
    }
    if (result.error_count > 0) {
        out += fmt::format("{} WRONG: {}\n", count_of(result.error_count, "call"),
                           result.errors.front().text());
    }
    return out;
}

std::string classic_partest_end(const std::string& now) {
    return fmt::format("{}: end at {}\n", program, now);
}

}  // namespace effio
