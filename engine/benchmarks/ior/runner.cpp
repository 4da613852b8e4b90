// SPDX-License-Identifier: BSD-3-Clause
#include "benchmarks/ior/runner.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <random>

#include "parallel/wait.hpp"

namespace effio::ior {
namespace {

/// `each` ranks on a node, in the order of the ranks.
Topology as_if_on_nodes(const Comm& comm, int each) {
    Topology t;
    t.node = comm.rank() / each;
    t.nodes = (comm.size() + each - 1) / each;
    t.max_ranks_on_node = std::min(each, comm.size());
    const int last = comm.size() - (t.nodes - 1) * each;
    t.min_ranks_on_node = std::min(last, t.max_ranks_on_node);
    return t;
}

}  // namespace

Runner::Runner(Session& session, const Comm& comm, const Topology& topology, const Setup& setup,
               Storage& storage, const Target& target, const FileNames& names,
               const HintRules& hints, std::vector<Observer*> observers)
    : session_(session),
      comm_(comm),
      topology_(topology),
      setup_(setup),
      storage_(storage),
      target_(target),
      names_(names),
      hints_(hints),
      notify_(session_, std::move(observers)),
      loop_(session),
      until_ci_(setup.parameters.until_ci, setup.parameters.repetitions, session.clock.now()),
      self_(Comm::self(session.clock)),
      order_(comm, topology),
      common_(comm, topology),
      real_files_(storage.capabilities().real_files),
      // Where threads may have separate files, opening and closing is each rank's own affair.
      in_step_(setup.parameters.collective ||
               (setup.parameters.files == Files::shared && comm.size() > 1 &&
                !storage.capabilities().threads)) {
    if (const auto each = setup.parameters.ranks_per_node; each) {
        pretended_.emplace(comm, as_if_on_nodes(comm, static_cast<int>(*each)));
    }
    if (comm.is_root())
        base_seed_ = (std::uint64_t{std::random_device{}()} << 32) | std::random_device{}();
    comm.broadcast(base_seed_);
    result_.setup = setup;
}

Outcome Runner::run() {
    notify_([&](Observer& o) { o.start(setup_); });
    loop_.repeat(comm_, until_ci_, [this](std::int64_t repetition) {
        const std::size_t sizes = setup_.parameters.transfers.size();
        for (std::size_t size = 0; size < sizes && !loop_.stops(); ++size) {
            repeat(repetition, size);
        }
    });
    result_.seconds = loop_.seconds();
    result_.interrupted = loop_.outcome().interrupted;
    notify_([&](Observer& o) { o.end(result_); });
    until_ci_.report(session_, "ior");
    return loop_.outcome();
}

/// All phases once with one transfer size.
void Runner::repeat(std::int64_t repetition, std::size_t size) {
    const auto& p = setup_.parameters;
    PassPlan task;
    task.repetition = repetition;
    task.transfer = p.transfers[size].count;
    task.seed = seed_of(repetition, size);
    task.owner = comm_.rank();
    written_.reset();
    // A reading that is known as well as asked is left out; a writing only with all that needs it.
    std::vector<UntilCi::Subject> rates;
    for (const Access access : phases_in_order)
        rates.push_back(bandwidth_of(access, task.transfer));
    const auto all = until_ci_.wanted(comm_, rates);
    const auto wanted = [&](Access access) {
        const auto at = std::find(phases_in_order.begin(), phases_in_order.end(), access);
        return p.does(access) && all[static_cast<std::size_t>(at - phases_in_order.begin())] != 0;
    };
    if (std::none_of(phases_in_order.begin(), phases_in_order.end(), wanted)) return;
    if (p.writes() && go_on()) {
        task.access = Access::write;
        task.transfers = planned(task.transfer);
        write_phase(task);
    }
    if (wanted(Access::mixed) && go_on()) {
        task.access = Access::mixed;
        // A second read would not show a wrong result of the first one.
        task.compare = p.verifies_inside() || p.verifies_after(Access::mixed);
        read_phase(task);
    }
    if (wanted(Access::read) && go_on()) {
        task.access = Access::read;
        task.compare = p.verifies_inside();
        read_phase(task);
    }
    if (p.writes() && !p.storage.keep && !p.use_existing &&
        !(p.keep_on_errors && result_.errors > 0)) {
        remove_files(repetition);
    }
}

bool Runner::go_on() {
    if (loop_.stops()) return false;
    const auto& p = setup_.parameters;
    if (p.delay.count > 0 && !session_.clock.is_virtual()) {
        session_.progress.begin({.title = "pause", .path = {}});
        wait_as_asked(session_, p.delay.count);
    }
    if (!loop_.go_on(comm_)) return false;
    result_.out_of_time = loop_.is_over(comm_, p.time_limit.count);
    if (result_.out_of_time) loop_.stop();
    return !loop_.stops();
}

std::uint64_t Runner::seed_of(std::int64_t repetition, std::size_t size) {
    const auto& p = setup_.parameters;
    if (p.seed) return static_cast<std::uint64_t>(*p.seed);
    // New data each time: what an earlier repetition left must not pass for what was written.
    const auto number = static_cast<std::uint64_t>(repetition) * p.transfers.size() + size;
    const std::uint64_t seed = mix64(base_seed_ + number);
    // A later run can be given it: on a classic command line 31 bits, and 53 are exact in JSON.
    constexpr std::uint64_t bits_of_signature = 0x7fffffff;
    constexpr std::uint64_t exact = (std::uint64_t{1} << 53) - 1;
    return seed & (session_.classic || p.data != DataKind::stamped ? bits_of_signature : exact);
}

Geometry Runner::geometry(std::int64_t transfer) const {
    const auto& p = setup_.parameters;
    Geometry g;
    g.files = p.files;
    g.workers = comm_.size() * p.threads;
    g.transfer = transfer;
    g.block = p.block.count;
    g.segments = p.segments;
    g.order = p.order;
    g.seed = static_cast<std::uint64_t>(p.order_seed);
    return g;
}

std::vector<std::int64_t> Runner::planned(std::int64_t transfer) const {
    const auto& p = setup_.parameters;
    std::int64_t count = p.placement == Placement::strided && p.segments > 0
                             ? 1
                             : geometry(transfer).blocks().transfers();
    if (p.max_transfers > 0) count = std::min(count, p.max_transfers);
    return std::vector<std::int64_t>(static_cast<std::size_t>(p.threads), count);
}

std::vector<std::int64_t> Runner::transfers_of(Partners partners, std::int64_t transfer) const {
    // What was not written in this run is taken to be there in full.
    std::vector<std::int64_t> mine = written_ ? *written_ : planned(transfer);
    std::vector<std::int64_t> theirs(mine.size());
    session_.progress.wait("fetch the number of another rank's transfers");
    comm_.fetch(partners, mine, theirs);
    const auto limit = planned(transfer);
    for (std::size_t i = 0; i < theirs.size(); ++i) theirs[i] = std::min(theirs[i], limit[i]);
    return theirs;
}

Cold Runner::cold_of(const PassPlan& task) const {
    return {{comm_, topology_, target_.file_system(), real_files_, storage_.capabilities().cached},
            setup_.parameters.storage.cache,
            [this, task](const Cold::Look& look) {
                for (const auto& path : files_of(task)) {
                    look(path);
                    session_.progress.beat();
                }
            }};
}

void Runner::write_phase(PassPlan task) {
    const auto& p = setup_.parameters;
    Outcome mine;
    if (!p.use_existing) remove_own(task.repetition, mine);
    if (p.striping.given()) make_striped_files(task, mine);
    if (!loop_.go_on(comm_, mine)) return;
    const Cold cold = cold_of(task);
    Measured m = measure(task, &cold);
    PhaseResult result = sum_up(task, m);
    check_sizes(task, m, m.outcome);
    written_.emplace();
    for (std::size_t i = 0; i < task.transfers.size(); ++i) {
        written_->push_back(std::min(m.pass.results[i].transfers, task.transfers[i]));
    }
    if (p.count_file) write_count(m, m.outcome);
    finish(task, m, result);
    if (result.valid && !loop_.stops() && p.verifies_after(Access::write)) {
        verify(verification_of(task, static_cast<int>(p.distance) + 1), result);
    }
    report(result);
}

void Runner::read_phase(PassPlan task) {
    const auto& p = setup_.parameters;
    // Who also writes does so in its own part.
    const bool mixes = task.access == Access::mixed;
    Partners partners{task.owner, task.owner};
    if (!mixes) {
        partners = readers_order().partners(p.read_from, static_cast<int>(p.distance),
                                            mix64(static_cast<std::uint64_t>(p.partner_seed) +
                                                  static_cast<std::uint64_t>(task.repetition)));
    }
    task.owner = partners.owner;
    task.transfers = transfers_of(partners, task.transfer);
    const Agreed prepared = mixes ? prepare_mixed(task) : Agreed{};
    if (loop_.stops()) return;
    Outcome mine;
    Cold cold = cold_of(task);
    if (!order_.on_my_node(task.owner)) cold.reads_of_another_node();
    Readable readable(!p.writes() && real_files_);
    before_reading(task, cold, readable, mine);
    if (!loop_.go_on(comm_, mine)) return;
    const auto holes = readable.hole_fraction(comm_);
    Measured m = measure(task, &cold);
    if (m.seen.cache) m.seen.cache->holes = holes;
    PhaseResult result = sum_up(task, m);
    result.add(prepared);
    result.remark_on(holes_remark(holes));
    result.ranks_on_own_node =
        comm_.sum(order_.on_my_node(task.owner) ? std::int64_t{1} : std::int64_t{0});
    if (result.ranks_on_own_node > 0 && storage_.capabilities().cached && p.writes() &&
        result.cache->verdict != Whereabouts::device) {
        result.remark_on(setup_.nodes == 1
                             ? "one node only: what is read may come from its own cache"
                             : fmt::format("{} read data of the same node",
                                           count_of(result.ranks_on_own_node, "rank")));
    }
    finish(task, m, result);
    if (mixes) complete_mixed(task, m.pass);
    if (mixes && result.valid && !loop_.stops() && p.verifies_after(Access::mixed)) {
        verify(verification_of(task, static_cast<int>(p.distance) + 1), result);
    } else if (!mixes && result.valid && !loop_.stops() && p.verifies_after(Access::read)) {
        PassPlan again = task;
        again.timed = false;
        again.compare = true;
        for (std::size_t i = 0; i < again.transfers.size(); ++i) {
            again.transfers[i] = std::min(m.pass.results[i].transfers, task.transfers[i]);
        }
        verify(again, result);
    }
    report(result);
}

void Runner::report(PhaseResult& result) {
    result_.phases.push_back({result.access, result.geometry.transfer, result.repetition,
                              result.valid, result.error_count, result.rate(), result.total(),
                              result.bytes, result.stonewall, result.steady, result.stopped});
    result_.errors += result.error_count;
    if (setup_.parameters.stop_on_errors && result.error_count > 0) loop_.stop();
    notify_([&](Observer& o) { o.phase(result); });
    if (result.valid && result.bytes > 0) {
        until_ci_.add(bandwidth_of(result.access, result.geometry.transfer), result.rate());
    }
}

Runner::PassPlan Runner::verification_of(const PassPlan& phase, int distance) const {
    PassPlan task = phase;
    task.access = Access::read;
    task.timed = false;
    task.compare = true;
    const auto& p = setup_.parameters;
    const Partners partners = readers_order().partners(
        p.read_from, distance, mix64(~static_cast<std::uint64_t>(p.partner_seed)));
    task.owner = partners.owner;
    task.transfers = transfers_of(partners, task.transfer);
    return task;
}

/// On a classic command line files may come from the original, whose random data differ.
void Runner::refuse_foreign(const PassPlan& task, Outcome& mine) const {
    const auto& p = setup_.parameters;
    if (!session_.classic || p.writes() || p.data != DataKind::stamped) return;
    if (mine.error && mine.error->exit_code != ExitCode::data_errors) return;
    mine.error.reset();
    mine.fail(session_.signed_error(usage_error(
        fmt::format("{} is not comparable: nothing in it is as this program writes it with this "
                    "-l and -G; another program, or another signature, made it",
                    path_of(task, worker(task.owner, 0))))));
    mine.error_count = 0;  // not of data
}

void Runner::verify(const PassPlan& task, PhaseResult& result) {
    Measured m = measure(task, nullptr);
    result.verify_seconds = comm_.max(m.seen.counted);
    std::array sums{m.pass.sum(&WorkerResult::verified), m.pass.sum(&WorkerResult::foreign),
                    m.pass.sum(&WorkerResult::zeros)};
    comm_.sum(std::span<std::int64_t>(sums));
    const auto [verified, foreign, zeros] = sums;
    result.verified_bytes += verified;
    if (foreign > 0 && foreign + zeros == verified) refuse_foreign(task, m.outcome);
    result.add(loop_.agree(comm_, m.outcome));
}

}  // namespace effio::ior
