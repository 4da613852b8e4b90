// SPDX-License-Identifier: BSD-3-Clause
#include "benchmarks/interference/turn_run.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <thread>
#include <utility>
#include <vector>

#include "frame/job/group.hpp"
#include "frame/job/results.hpp"
#include "parallel/gathering.hpp"
#include "parallel/text_file.hpp"

namespace effio::interference {
namespace {

using together::Member;
using together::Members;

bool takes_part(const Turn& turn, int group) {
    return std::find(turn.begin(), turn.end(), group) != turn.end();
}

/// How the runs of groups whose exit code this is are taken: their rates count.
bool went_well(ExitCode code) {
    return code == ExitCode::done || code == ExitCode::data_errors;
}

/// The groups' log beyond what Neighbors makes of it: first runs that are over.
struct FirstRuns {
    std::size_t over = 0;
    double longest = 0;  ///< seconds from the common start to the end of the longest
};

FirstRuns first_runs(const std::string& log) {
    FirstRuns found;
    std::ifstream file(log);
    for (std::string text; std::getline(file, text);) {
        const Json line = parse_json(text);
        if (!line.is_object() || line.value("event", "") != "first_run_over") continue;
        ++found.over;
        found.longest = std::max(found.longest, line.value("seconds", 0.0));
    }
    return found;
}

std::vector<Row> rows_of(const std::string& path, bool first) {
    std::vector<Row> rows;
    std::ifstream file(path);
    for (std::string text; std::getline(file, text);) {
        const Json line = parse_json(text);
        if (line.is_object() && line.value("kind", "") == "measurement") {
            rows.push_back(row_of(line, first));
        }
    }
    return rows;
}

Json to_json(const Part& part) {
    Json rows = Json::array();
    for (const auto& row : part.rows) rows.push_back(interference::to_json(row));
    return Json::array({part.group, part.well, part.reason, part.seconds, part.covered, part.runs,
                        std::move(rows)});
}

Part part_from(const Json& j) {
    Part part{j[0], j[1], j[2], j[3], j[4], j[5], {}};
    for (const auto& row : j[6]) part.rows.push_back(row_from(row));
    return part;
}

/// The group of this rank in a turn.
class GroupTurn {
  public:
    GroupTurn(World& world, const Comm& all, const TurnTask& task, Members& members)
        : world_(world),
          all_(all),
          task_(task),
          mine_(member_of(members, world.rank())),
          works_(takes_part(task.turn, mine_.number)),
          log_(task.place + "/together.log"),
          neighbors_(log_, names_of(members), static_cast<std::size_t>(mine_.number) - 1,
                     grace_of(members)),
          clock_(mine_.benchmark->virtual_time() ? Clock::Kind::virtual_time : Clock::Kind::real),
          comm_(all.split(mine_.number, clock_)),
          gathering_(Comm::world(real_), neighbors_, [] {}, [this] { send_call_off(); }) {
        if (works_ && clock_.is_virtual()) {
            for (const auto& m : members) {
                const bool another = m.number != mine_.number && takes_part(task.turn, m.number);
                if (another && m.benchmark->virtual_time()) ranks_of_others_ += m.ranks;
            }
        }
        part_.group = mine_.number;
    }

    TurnOutcome run() {
        TurnOutcome outcome;
        if (auto results = open(mine_, "result"); results) {
            outcome.code = gathering_.worst(ExitCode::done);
            if (outcome.code == ExitCode::done) first_run(**results);
        } else {
            if (comm_.is_root()) {
                fmt::print(stderr, "effio-mpi: {}\n", results.error().text());
            }
            outcome.code = gathering_.worst(results.error().exit_code);
        }
        if (outcome.code != ExitCode::done) {
            outcome.started = false;
            outcome.reason = "the result files of the groups cannot be created";
            return outcome;
        }
        if (works_ && task_.turn.size() > 1 && went_well(end_.code)) cover();
        wait_for_all(outcome);
        outcome.left_open = left_open_;
        outcome.done = gather();
        for (const auto& part : outcome.done.parts) {
            if (outcome.reason.empty()) outcome.reason = part.reason;
        }
        return outcome;
    }

  private:
    static std::vector<std::string> names_of(const Members& members) {
        std::vector<std::string> names;
        for (const auto& m : members) names.push_back(m.name());
        return names;
    }
    static double grace_of(const Members& members) {
        double grace = 0;
        for (const auto& m : members) grace = std::max(grace, m.job.agree_deadline.count);
        return grace;
    }

    /// Collective over the group. An idle one has no results.
    Result<std::unique_ptr<Results>> open(const Member& member, const std::string& name) {
        if (!works_) return std::make_unique<Results>();
        world_.progress().call("create the result file");
        JobOptions job = member.job;
        const std::string directory = fmt::format("{}/group-{}", task_.place, mine_.number);
        if (comm_.is_root()) {
            std::error_code ignored;  // that there is none shows when the file in it is created
            std::filesystem::create_directory(directory, ignored);
        }
        job.result = fmt::format("{}/{}.jsonl", directory, name);
        return open_results(comm_, *member.benchmark, job, member.invocation);
    }

    GroupRun task_of(const Member& member) {
        return {.benchmark = *member.benchmark,
                .options = member.job,
                .table = member.table,
                .invocation = member.invocation,
                .gathering = &gathering_,
                .first_rank = member.first_rank,
                .own_directory = member.own_directory,
                .cap_share = member.cap_share,
                .ranks_of_others = ranks_of_others_,
                .start = &start_};
    }

    /// What is reported of the whole job when a group has ended it.
    void send_call_off() const {
        const auto reports = neighbors_.reports();
        for (std::size_t i = 0; i < reports.size(); ++i) {
            if (!reports[i].called_off) continue;
            End end;
            end.status = *reports[i].called_off;
            end.reason = fmt::format("group {} ended the job: {}", i + 1, reports[i].reason);
            task_.at_abrupt_end(end);
            return;
        }
    }

    /// `work` in a session over the results.
    template <class Work>
    void on_stage(const GroupRun& task, Results& results, Work&& work) {
        WatchedSession watched(world_, comm_, task, results);
        const AtAbruptEnd watching(watched.session(), [this] { send_call_off(); });
        work(watched.session());
        left_open_ = left_open_ || watched.session().left_open;
    }

    void first_run(Results& results) {
        const GroupRun task = task_of(mine_);
        on_stage(task, results, [&](Session& session) {
            if (works_) {
                end_ = run_task(task, session, world_);
            } else {
                Progress::Step step;
                step.title = "wait for the groups of this turn";
                session.progress.begin(step);
                gathering_.start(session);
            }
        });
        if (!works_) return;
        part_.seconds = part_.covered = now();
        part_.runs = 1;
        if (went_well(end_.code) && clock_.is_virtual() && part_.seconds <= 0) {
            // It could be repeated forever and not be next to the others for a moment.
            end_.code = ExitCode::usage;
            end_.reason = fmt::format(
                "{} takes no time on sim as it is set, so others cannot slow it down: give its "
                "calls a cost (--backend-options metadata=1ms, latency=, rank-rate=)",
                mine_.name());
            part_.reason = end_.reason;
        }
        part_.well = went_well(end_.code);
        if (!comm_.is_root()) return;
        part_.rows = rows_of(results.path(), true);
        neighbors_.write(
            Json{{"event", "first_run_over"}, {"group", mine_.number}, {"seconds", part_.seconds}});
    }

    /// Collective over the group: seconds since the common start, of the latest rank.
    double now() { return comm_.max(clock_.now() - start_); }

    void cover() {
        double until = 0;
        if (clock_.is_virtual()) until = wait_for_first_runs();
        for (int run = 1; goes_on(until); ++run) {
            if (!cover_once(run)) return;
        }
    }

    /// Virtual time: how long the others' first runs are is known once they are done.
    double wait_for_first_runs() {
        Results none;
        double longest = 0;
        on_stage(task_of(mine_), none, [&](Session& session) {
            session.progress.wait("wait until the other groups are done");
            while (!neighbors_.called_off() && !world_.stop().load()) {
                const FirstRuns found = first_runs(log_);
                longest = found.longest;
                if (found.over >= task_.turn.size()) break;
                session.progress.beat();
                std::this_thread::sleep_for(std::chrono::milliseconds(5));
            }
        });
        return longest;
    }

    /// Collective over the group.
    bool goes_on(double until) {
        bool more = true;
        if (clock_.is_virtual()) {
            more = now() < until * (1 - 1e-9);  // sums of equal times may differ in the last digit
        } else if (comm_.is_root()) {
            more = first_runs(log_).over < task_.turn.size();
        }
        // The sentinel of a run looks once a second, which a short run is over before.
        const bool called_off = comm_.is_root() && neighbors_.look();
        if (world_.stop().load() || called_off) more = false;
        return comm_.min(std::int64_t{more ? 1 : 0}) != 0;
    }

    /// A further run, which ends with its benchmark or when all first runs are over.
    bool cover_once(int run) {
        Members members;
        if (!make_members(task_.options, members)) return false;
        const Member& member = member_of(members, world_.rank());
        auto results = open(member, fmt::format("further-{}", run));
        if (!results) return false;
        std::atomic<bool> stop{false};
        std::atomic<bool> enough{false};
        GroupRun task = task_of(member);
        task.again = true;
        task.stop = &stop;
        if (!clock_.is_virtual()) {
            task.look = [&] {
                if (world_.stop().load() || first_runs(log_).over >= task_.turn.size()) {
                    enough.store(true);
                    stop.store(true);
                }
            };
        }
        RunEnd end;
        on_stage(task, **results, [&](Session& session) { end = run_task(task, session, world_); });
        // A signal that came meanwhile was for the whole job.
        if (stop.load() && !enough.load()) world_.stop().store(true);
        ++part_.runs;
        part_.covered = now();
        if (comm_.is_root()) {
            auto rows = rows_of((*results)->path(), false);
            std::move(rows.begin(), rows.end(), std::back_inserter(part_.rows));
            unlink((*results)->path().c_str());
        }
        return went_well(end.code);
    }

    void wait_for_all(TurnOutcome& outcome) {
        Results none;
        on_stage(task_of(mine_), none, [&](Session& session) {
            if (comm_.is_root()) neighbors_.end(end_.code, end_.reason);
            const auto whole = gathering_.finish(session, end_.code);
            outcome.code = whole.code;
        });
    }

    /// Collective over the job: what the groups did, on its root.
    TurnDone gather() {
        const auto texts =
            all_.gather(works_ && comm_.is_root() ? json_line(to_json(part_)) : std::string());
        TurnDone done{task_.round, task_.turn, {}};
        for (const auto& text : texts) {
            if (!text.empty()) done.parts.push_back(part_from(parse_json(text)));
        }
        return done;
    }

    World& world_;
    const Comm& all_;
    const TurnTask& task_;
    const Member& mine_;
    bool works_;
    std::string log_;
    Neighbors neighbors_;
    Clock real_;
    Clock clock_;
    Comm comm_;
    Gathering gathering_;
    int ranks_of_others_ = 0;
    double start_ = 0;
    bool left_open_ = false;
    RunEnd end_;
    Part part_;
};

}  // namespace

TurnOutcome run_turn(World& world, const Comm& all, const TurnTask& task) {
    Members members;
    TurnOutcome outcome;
    if (const auto made = make_members(task.options, members); !made) {
        outcome.code = made.error().exit_code;
        outcome.started = false;
        outcome.reason = made.error().text();
        return outcome;
    }
    world.progress().call("create the directory of the turn");
    int failed = 0;
    if (all.is_root()) {
        std::error_code code;
        std::filesystem::create_directories(task.place, code);
        const bool made = !code && TextFile::replace("create", task.place + "/together.log");
        failed = made ? 0 : 1;
    }
    all.broadcast(failed);
    if (failed != 0) {
        outcome.code = ExitCode::results;
        outcome.started = false;
        outcome.reason = fmt::format("the directory {} cannot be created", task.place);
        return outcome;
    }
    return GroupTurn(world, all, task, members).run();
}

}  // namespace effio::interference
