// SPDX-License-Identifier: BSD-3-Clause
#include "benchmarks/probe/limits.hpp"

#include <algorithm>
#include <array>
#include <cstring>

#include "frame/network_options.hpp"
#include "frame/phases.hpp"
#include "frame/ring_patterns/ring_runner.hpp"
#include "parallel/pace.hpp"
#include "storage/names.hpp"

namespace effio::probe {
namespace {

constexpr const char* in_virtual_time = "time is virtual";

void begin_step(Session& session, const std::string& title, double seconds) {
    Progress::Step step;
    step.title = title;
    step.ranks = session.comm.size();
    step.allowance_seconds = seconds;
    session.progress.begin(step);
}

/// Bytes per second of this rank's copies.
double copy_rate(const Session& session, const Parameters& p, Buffer& from, Buffer& to) {
    const double start = session.clock.now();
    Deadline pace(session.clock, session.interrupted, {start, p.time.count});
    do {
        std::memcpy(to.bytes().data(), from.bytes().data(), from.size());
        std::swap(from, to);
        session.progress.beat();
    } while (pace.go_on(session.clock.now()));
    return static_cast<double>(pace.done()) * static_cast<double>(from.size()) /
           (session.clock.now() - start);
}

/// One of the three operations by all ranks; operations per second, none where one failed.
template <class Work>
Metric rate_of_all(Session& session, const Topology& topology, const std::string& name,
                   std::int64_t& done, Outcome& outcome, Work&& work) {
    CommonClock common(session.comm, topology);
    Outcome mine;
    Phases phases(session, session.comm, common, mine);
    const bool fine = phases.part(name, false, std::forward<Work>(work));
    phases.finish();
    if (!fine) {
        if (phases.agreed().error) outcome.fail(*phases.agreed().error);
        return Metric::none("op/s", "INVALID: an operation failed");
    }
    const auto seconds = spread_over(session.comm, phases.seconds());
    const double longest_part = longest(seconds, name);
    const auto all = static_cast<double>(session.comm.sum(done));
    if (!(longest_part > 0)) return Metric::none("op/s", "no time passed");
    return {all / longest_part, "op/s", true, {}};
}

Fact bytes_of_a_copy(std::int64_t bytes) {
    return {"bytes_of_a_copy", Unit::bytes, "--memory", bytes};
}
Fact of_nodes(const Spread& rates) {
    return {"nodes", spread_fields(Unit::bytes_per_second), "over the nodes", rates};
}
Fact files(std::int64_t count) {
    return {"files", Unit::count, "that were made", count};
}
Fact pairs(std::int64_t count) {
    return {"pairs", Unit::count, "that were measured", count};
}
Fact times(const Spread& seconds) {
    return {"seconds", spread_fields(Unit::seconds), "over the pairs", seconds};
}
Fact rates(const Spread& rates) {
    return {"rates", spread_fields(Unit::bytes_per_second), "over the pairs", rates};
}
Fact within_nodes(std::int64_t count) {
    return {"messages_within_nodes", Unit::count, "of a loop", count};
}
Fact between_nodes(std::int64_t count) {
    return {"messages_between_nodes", Unit::count, "of a loop", count};
}

}  // namespace

Fact processes(std::int64_t count) {
    return {"processes", Unit::count, "that took part", count};
}

FieldInfos limit_details() {
    FieldInfos all;
    for (const Fact& fact :
         {processes(0), backend({}), cache({}), bytes_of_a_copy(0), of_nodes({}), files(0),
          pairs(0), times({}), rates({}), within_nodes(0), between_nodes(0)}) {
        all.push_back(fact.info);
        all.back().sometimes = true;
    }
    return all;
}

Fact backend(const std::string& name) {
    return {"backend", Unit::word, "that moved the data", name};
}

Fact cache(std::string_view where) {
    return {"cache", Unit::word, "where the bytes were", where};
}

void memory_limits(Job& job, const Parameters& p, const ReportLimit& report, Outcome& outcome) {
    Session& session = job.session;
    const Comm& comm = session.comm;
    const auto none = Metric::none("B/s", in_virtual_time);
    if (session.clock.is_virtual()) {
        report({"memory copy, one process", none});
        report({"memory copy, a node", none});
        return;
    }
    begin_step(session, "copying memory", 2 * p.time.count);
    Buffer from(static_cast<std::size_t>(p.memory.count));
    Buffer to(from.size());
    std::memset(from.bytes().data(), 1 + comm.rank() % 100, from.size());
    comm.barrier();
    double alone = comm.is_root() ? copy_rate(session, p, from, to) : 0;
    comm.broadcast(alone);
    const auto node = comm.split(job.topology.node);
    comm.barrier();
    const double of_node = node->sum(copy_rate(session, p, from, to));
    const Spread nodes = spread_over(comm, of_node);
    // Also, a compiler need not make copies that are never read.
    if (std::memcmp(from.bytes().data(), to.bytes().data(), from.size()) != 0) {
        Error wrong;
        wrong.exit_code = ExitCode::data_errors;
        wrong.operation = "memcpy";
        wrong.cause = "a copy in memory is not its original";
        outcome.fail(session.signed_error(std::move(wrong)));
    }
    report({"memory copy, one process", Metric::rate(alone), {bytes_of_a_copy(p.memory.count)}});
    report({"memory copy, a node",
            Metric::rate(nodes.min),
            {processes(job.topology.max_ranks_on_node), of_nodes(nodes)}});
}

void name_limits(Job& job, const Parameters& p, const std::function<std::string(int i)>& path,
                 const ReportLimit& report, Outcome& outcome) {
    Session& session = job.session;
    const Comm& comm = session.comm;
    const double allowance = 10 + 10 * p.time.count;
    begin_step(session, "files created, looked up, removed", allowance);
    BackendChoice backend = p.storage.backend;
    if (!is_model(backend.name)) backend.name = "posix";
    const auto names = make_names(session, backend, job.room);
    const auto of = [&](int rank, std::int64_t i) {
        return path(static_cast<int>(rank * p.names + i));
    };
    std::int64_t made = 0;
    // Until the time is over, each at its own.
    const Metric created = rate_of_all(session, job.topology, "create", made, outcome, [&] {
        Deadline pace(session.clock, session.interrupted,
                      {session.clock.now(), p.time.count, p.names});
        Status status;
        do {
            status = names->create(of(comm.rank(), pace.done()));
            if (status) ++made;
            session.progress.beat();
        } while (status && pace.go_on(session.clock.now()));
        return status;
    });
    const NodeOrder order(comm, job.topology);
    const Partners partners = order.partners(Partner::shifted, 1, 0);
    const int owner = partners.owner;
    std::int64_t theirs = 0;
    session.progress.wait("fetch the number of another rank's files");
    comm.fetch(partners, {&made, 1}, {&theirs, 1});
    std::int64_t found = 0;
    const Metric looked_up = rate_of_all(session, job.topology, "stat", found, outcome, [&] {
        Status status;
        for (; status && found < theirs; ++found) {
            if (auto at = names->stat(of(owner, found)); !at) status = std::move(at.error());
            session.progress.beat();
        }
        return status;
    });
    comm.barrier();
    std::int64_t gone = 0;
    const Metric removed = rate_of_all(session, job.topology, "remove", gone, outcome, [&] {
        Status status;
        for (; status && gone < made; ++gone) {
            status = names->unlink(of(comm.rank(), gone));
            session.progress.beat();
        }
        return status;
    });
    const Facts detail{processes(comm.size()), files(comm.sum(made))};
    report({"files created", created, detail});
    report({"files looked up", looked_up, detail});
    report({"files removed", removed, detail});
}

void message_limits(Job& job, const Parameters& p, const ReportLimit& report, Outcome& outcome) {
    Session& session = job.session;
    const Comm& comm = session.comm;
    const std::array<std::pair<const char*, const char*>, 4> limits{
        {{"message, one way", "s"},
         {"messages, a pair", "B/s"},
         {"messages, ring", "B/s"},
         {"messages, random ring", "B/s"}}};
    NetworkOptions network;
    std::string why;
    if (comm.size() < 2) why = "a single process has no other one to send to";
    if (session.clock.is_virtual()) {
        network.backend = "sim";
        network.model = p.storage.backend.sim_model;
        // Loops are made longer until time passes.
        if (network.model.message_latency.count <= 0) why = "messages take no time in this model";
    }
    if (!why.empty()) {
        for (const auto& [name, unit] : limits) report({name, Metric::none(unit, why)});
        return;
    }
    const ExchangeMaker exchanges = network.maker();
    rings::Runner runner(job, exchanges, 1);
    rings::Schedule small = rings::latency_schedule;
    rings::Schedule large = rings::bandwidth_schedule;
    small.pair_seconds = large.pair_seconds = p.time.count;
    small.random_rings = 0;
    small.ring_measurements = 1;
    large.random_rings = 1;
    const auto latency = runner.measure(small);
    const auto bandwidth = runner.measure(large);
    if (runner.outcome().error) outcome.fail(*runner.outcome().error);
    if (runner.interrupted()) {
        outcome.interrupted = true;
        return;
    }
    const Facts of_pairs{pairs(latency.pairs.pairs), times(latency.pairs.seconds)};
    Metric one_way = Metric::time(latency.pairs.seconds.mean);
    report({limits[0].first, one_way, of_pairs});
    report({limits[1].first,
            Metric::rate(bandwidth.pairs.rate.mean),
            {pairs(bandwidth.pairs.pairs), rates(bandwidth.pairs.rate)}});
    const auto ring = [&](const rings::RingResult& r, double rate) {
        return Limit{"",
                     Metric::rate(comm.size() * rate),
                     {processes(comm.size()), within_nodes(r.within), between_nodes(r.between)}};
    };
    Limit natural = ring(bandwidth.natural, bandwidth.natural_rate());
    Limit random = ring(bandwidth.random.front(), bandwidth.random_rate());
    natural.name = limits[2].first;
    random.name = limits[3].first;
    report(std::move(natural));
    report(std::move(random));
}

}  // namespace effio::probe
