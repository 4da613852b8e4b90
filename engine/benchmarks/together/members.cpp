// SPDX-License-Identifier: BSD-3-Clause
#include "benchmarks/together/members.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>
#include <span>

#include "benchmarks/registry.hpp"
#include "benchmarks/together/group_line.hpp"
#include "frame/job/whole_job.hpp"
#include "frame/run_job.hpp"

namespace effio::together {
namespace {

/// Options of the job and not of a group.
constexpr std::array of_the_job{"result",      "quiet",      "progress",  "plan",
                                "plan-json",   "plan-ranks", "plan-rate", "plan-ranks-per-node",
                                "plan-memory", "plan-free"};

/// `text` with each of its lines after "group 2 (mdtest): ".
std::string of_group(const std::string& name, const std::string& text) {
    std::string out = name + ": " + text;
    for (std::size_t at = 0; (at = out.find('\n', at)) != std::string::npos;) {
        out.insert(++at, name + ": ");
    }
    return out;
}

/// The fault in the group's name.
Error fault_of(const std::string& name, const Error& fault) {
    Error of_all = fault;
    of_all.rank = -1;  // which follows once, after all faults
    Error error = usage_error(of_group(name, of_all.text()));
    error.exit_code = fault.exit_code;
    error.rank = fault.rank;
    error.host = fault.host;
    return error;
}

Status parse_member(const Options& options, const std::string& text, int number, Members& members) {
    const std::string nameless = fmt::format("group {}", number);
    auto line = parse_group_line(text);
    if (!line) return fault_of(nameless, line.error());
    const std::string& command = line->words.front();
    auto benchmark = find_benchmark(command);
    if (!benchmark) {
        std::string why = no_benchmark("benchmark", command);
        if (command == "together") why = "a group cannot be made of groups";
        if (command == "classic") why = "no classic command lines here: use the options of effio";
        return fault_of(nameless, usage_error(why));
    }
    if (dynamic_cast<const WholeJob*>(benchmark.get()) != nullptr) {
        return fault_of(nameless, usage_error("a group cannot be made of groups"));
    }
    Member& member = members.emplace_back(number, std::move(benchmark));
    member.ranks = static_cast<int>(line->ranks);
    member.invocation.arguments = {"effio-mpi"};
    member.invocation.arguments.insert(member.invocation.arguments.end(), line->words.begin(),
                                       line->words.end());
    if (auto parsed = member.table.parse(std::span(line->words).subspan(1)); !parsed) {
        return fault_of(member.name(), parsed.error());
    }
    for (const char* option : of_the_job) {
        if (!member.table.given(option)) continue;
        return fault_of(
            member.name(),
            usage_error(fmt::format("--{} belongs to the whole job, not to a group", option)));
    }
    if (!member.table.given("watchdog")) member.job.watchdog = options.job.watchdog;
    if (!member.table.given("agree-deadline")) {
        member.job.agree_deadline = options.job.agree_deadline;
    }
    member.job.quiet = options.job.quiet || number != options.show;
    member.job.progress = number == options.show ? options.job.progress : Live::none;
    return {};
}

/// Gives the group a separate directory under the one that it names, and judges its options.
Status settle(Member& member) {
    std::string own;
    if (const Json values = member.table.values(); values.contains("dir")) {
        std::string above = values["dir"];
        if (!above.ends_with('/')) above += '/';
        own = fmt::format("{}group-{}", above, member.number);
        if (auto set = member.table.set("dir", own); !set) return set;
    }
    if (auto fit = member.benchmark->check(); !fit) return fit;
    const auto needed = member.benchmark->needed_directories();
    // None: nothing of it is in a file system, or the benchmark makes its directories itself.
    if (std::find(needed.begin(), needed.end(), own) != needed.end()) member.own_directory = own;
    return {};
}

/// What the groups may write shared out by their ranks, apart from those that say it themselves.
Status share_out(const Options& options, Members& members) {
    std::int64_t sharing = 0;
    double left = options.max_bytes ? static_cast<double>(options.max_bytes->count) : 0;
    const auto shares = [](const Member& m) {
        const Json values = m.table.values();
        return values.contains("max-bytes") && values["max-bytes"].is_null();
    };
    for (const auto& m : members) {
        const Json values = m.table.values();
        if (shares(m)) {
            sharing += m.ranks;
        } else if (values.contains("max-bytes")) {
            left -= values["max-bytes"].get<double>();
        }
    }
    if (options.max_bytes && left < 0) {
        return usage_error("--max-bytes: the groups' own are more in all");
    }
    for (auto& m : members) {
        if (!shares(m)) continue;
        m.cap_share = static_cast<double>(m.ranks) / static_cast<double>(sharing);
        if (!options.max_bytes) continue;
        const auto share = static_cast<std::int64_t>(left * m.cap_share);
        if (auto set = m.table.set("max-bytes", std::to_string(share)); !set) return set;
    }
    return {};
}

}  // namespace

void Options::declare_groups(OptionTable& table) {
    table.group("Groups");
    table
        .add("group", groups,
             "a group: its number of ranks, a colon, and the command line of its benchmark; once "
             "for each group")
        .letter('g')
        .metavar("\"N: BENCHMARK …\"")
        .whole();
    table
        .add("max-bytes", max_bytes,
             "limit on the bytes in the directories at any one time; groups without a limit share "
             "it by their numbers of ranks")
        .range(0, 9e18)
        .automatic("what each would take alone, shared in the same way");
}

void Options::declare(OptionTable& table) {
    declare_groups(table);
    table.add("show", show, "number of the group whose tables and progress are shown")
        .range(1, std::numeric_limits<int>::max());
    job.declare(table);
}

Member::Member(int the_number, std::unique_ptr<Benchmark> what)
    : number(the_number), benchmark(std::move(what)), table(table_of(*benchmark, job)) {}

std::string Member::name() const {
    return fmt::format("group {} ({})", number, benchmark->name());
}

Status make_members(const Options& options, Members& members) {
    if (options.groups.empty()) {
        return usage_error("--group is needed, once for each group of ranks");
    }
    Error faults = usage_error("");
    const auto note = [&faults](const Error& fault) {
        faults.exit_code = worse(faults.exit_code, fault.exit_code);
        faults.cause += (faults.cause.empty() ? "" : "\n") + fault.cause;
        if (fault.rank < 0) return;
        faults.rank = fault.rank;
        faults.host = fault.host;
    };
    int number = 0;
    for (const auto& text : options.groups) {
        if (auto made = parse_member(options, text, ++number, members); !made) note(made.error());
    }
    if (options.show > number) {
        note(usage_error(fmt::format("--show {}: out of range; the command line has {}",
                                     options.show, count_of(number, "group"))));
    }
    if (!faults.cause.empty()) return faults;
    std::int64_t first = 0;
    for (auto& member : members) {
        member.first_rank = static_cast<int>(first);
        first += member.ranks;
        if (first > std::numeric_limits<int>::max()) return usage_error("too many ranks in all");
    }
    if (auto shared = share_out(options, members); !shared) return shared;
    for (auto& member : members) {
        if (auto fit = settle(member); !fit) note(fault_of(member.name(), fit.error()));
    }
    if (!faults.cause.empty()) return faults;
    return {};
}

const Member& member_of(const Members& members, int rank) {
    return *std::find_if(members.begin(), members.end(),
                         [rank](const Member& m) { return rank < m.first_rank + m.ranks; });
}

int ranks_of(const Members& members) {
    return members.back().first_rank + members.back().ranks;
}

int ranks_of_others(const Members& members, const Member& mine) {
    if (!mine.benchmark->virtual_time()) return 0;
    int ranks = 0;
    for (const auto& m : members) {
        if (m.number != mine.number && m.benchmark->virtual_time()) ranks += m.ranks;
    }
    return ranks;
}

Status check_ranks(const Members& members, std::int64_t ranks) {
    const int needed = ranks_of(members);
    if (needed == ranks) {
        for (const auto& member : members) {
            if (auto fits = member.benchmark->fits(member.ranks); !fits) {
                return usage_error(member.name() + ": " + fits.error().text());
            }
        }
        return {};
    }
    return usage_error(
        fmt::format("the groups need {} in all, and the job has {}: launch it "
                    "with mpiexec -n {}, or change the groups",
                    count_of(needed, "rank"), ranks, needed));
}

}  // namespace effio::together
