// SPDX-License-Identifier: BSD-3-Clause
// A mixed phase writes data that its files already contain, so a lost write would go unnoticed.
// With verification on, these places are filled with other bytes before the phase, untimed.
#include <algorithm>
#include <cstring>

#include "benchmarks/ior/runner.hpp"

namespace effio::ior {
namespace {

/// Writes the places that a mixed phase writes, from the share's transfer `first` on. Other bytes
/// are read back, because a write that is lost here would hide one that is lost in the phase.
Status write_places(WorkerShare& share, const Calls& calls, std::int64_t first, bool inverted,
                    Progress& progress) {
    const std::int64_t bytes = calls.bytes();
    const CallForm form{Pointer::at, calls.collective};
    Buffer other(inverted ? static_cast<std::size_t>(bytes) : 0);
    Buffer found(other.size());
    Status outcome;
    for (std::int64_t number = first; number < share.transfers; ++number) {
        if (calls.mix.reads(calls.collective ? 0 : share.worker, number)) continue;
        const std::int64_t offset = share.walk->offset(number);
        std::span<const std::byte> data = share.data->at(offset, static_cast<std::size_t>(bytes));
        if (inverted) {
            std::transform(data.begin(), data.end(), other.bytes().begin(),
                           [](std::byte byte) { return ~byte; });
            data = other.bytes();
        }
        const std::int64_t place = calls.placement == Placement::offset ? offset : number * bytes;
        if (auto written = share.file->write(form, data, place); !written) return written;
        progress.beat();
        if (!inverted) continue;
        std::memset(found.bytes().data(), 0, found.size());
        if (auto read = share.file->read(form, found.bytes(), place); !read) return read;
        const auto wrong = compare(data, found.bytes(), offset);
        if (!wrong || !outcome) continue;
        Error error = io_error("verify", share.file->path(), wrong->text());
        error.exit_code = ExitCode::data_errors;
        error.offset = wrong->offset;
        outcome = std::move(error);
    }
    return outcome;
}

}  // namespace

bool Runner::shows_lost_writes() const {
    const auto& p = setup_.parameters;
    // With random places one transfer may read what another one writes.
    return !p.verify.empty() && p.order != Order::random && storage_.capabilities().stores_data;
}

Agreed Runner::write_around(const PassPlan& phase, const std::vector<std::int64_t>& first,
                            bool inverted) {
    PassPlan task = phase;
    task.timed = false;
    task.compare = false;
    Calls calls = calls_of(task);
    calls.queue_depth = 1;
    Measured m;
    m.shares = shares_of(task, calls);
    m.pass.results.resize(m.shares.size());
    begin_step(task, "prepare");
    session_.progress.wait("barrier");
    VisitSteps all = steps(task, calls, m);
    const bool alone = all.moving.alone;
    all.moving_meets = false;
    all.moving = {"transfer",
                  [&] {
                      std::size_t i = 0;
                      for (WorkerShare& share : m.shares) {
                          const std::int64_t from = first[i++];
                          if (!share.file || m.outcome.error) continue;
                          auto written =
                              write_places(share, calls, from, inverted, session_.progress);
                          if (!written) return written;
                      }
                      return Status();
                  },
                  alone};
    m.seen =
        carry_out({session_, comm_, topology_, common_, target_.file_system()}, all, m.outcome);
    return loop_.agree(comm_, m.outcome);
}

Agreed Runner::prepare_mixed(const PassPlan& task) {
    if (!shows_lost_writes()) return {};
    const std::vector<std::int64_t> all(task.transfers.size(), 0);
    return write_around(task, all, true);
}

void Runner::complete_mixed(const PassPlan& task, const PassDone& pass) {
    if (!shows_lost_writes() || loop_.stops()) return;
    std::vector<std::int64_t> first;
    bool missing = false;
    for (std::size_t i = 0; i < task.transfers.size(); ++i) {
        first.push_back(std::min(pass.results[i].transfers, task.transfers[i]));
        missing = missing || first.back() < task.transfers[i];
    }
    if (comm_.max(missing ? 1 : 0) != 0) write_around(task, first, false);
}

}  // namespace effio::ior
