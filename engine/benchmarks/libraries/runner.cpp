// SPDX-License-Identifier: BSD-3-Clause
#include "benchmarks/libraries/runner.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "core/balanced_order.hpp"

namespace effio::libraries {
namespace {

/// What the largest share of any point needs.
std::size_t memory_bytes(const Parameters& parameters, int ranks) {
    std::int64_t most = 0;
    for (const auto edge : parameters.edges) {
        for (const auto count : parameters.processes_in_force(ranks)) {
            const Volume v = parameters.volume(edge, count, ranks);
            const std::int64_t cubes = (v.cubes + count - 1) / count;
            most = std::max(most, cubes * v.cells() * 8 * v.variables);
        }
    }
    return static_cast<std::size_t>(most);
}

}  // namespace

Selection select(Session& session, const Parameters& parameters, const SimRoom* room) {
    Selection selection;
    selection.left_out = parameters.absent;
    for (const auto& library : parameters.libraries) {
        for (const auto& set : parameters.sets) {
            BackendChoice choice = parameters.backend(library, set);
            // Judged before MPI was started.
            if (!apply_settings(Serves::arrays, choice)) continue;
            auto made = make_arrays(session, choice, room);
            if (auto why = set.idle_for(library, made->capabilities()); !why.empty()) {
                selection.left_out.push_back(std::move(why));
                continue;
            }
            selection.contenders.push_back(
                {library, &set, std::move(made),
                 fmt::format("{}{}_{}", parameters.prefix, library, set.name)});
        }
    }
    return selection;
}

Runner::Runner(Job& job, const Parameters& parameters, Selection& selection, const Target& target,
               std::vector<Observer*> observers)
    : job_(job),
      session_(job.session),
      parameters_(parameters),
      selection_(selection),
      target_(target),
      observers_(std::move(observers)),
      memory_(memory_bytes(parameters, job.session.comm.size())) {
    // The warm-up is one more pass.
    points_ = (parameters.repetitions + 1) *
              static_cast<std::int64_t>(parameters.edges.size() * selection.contenders.size() *
                                        parameters.processes_in_force(session_.comm.size()).size());
}

Ending Runner::run() {
    all_points({0, true});
    for (std::int64_t i = 0; i < parameters_.repetitions && !stopping_; ++i) all_points({i, false});
    const Agreed agreed = agree(session_, session_.comm, fatal_);
    if (session_.comm.is_root()) {
        for (Observer* observer : observers_) observer->end(comparison_);
    }
    const std::int64_t wrong = session_.comm.max(data_errors_);
    if (agreed.failed()) return Ending::from(*agreed.error);
    Ending ending;
    if (agreed.interrupted) {
        ending.status = ExitCode::interrupted;
        ending.reason = "stopped by a signal; the points before it are measured completely";
    } else if (wrong > 0) {
        ending.status = ExitCode::data_errors;
        ending.reason = fmt::format("{} wrong values in the data read back", wrong);
    }
    return ending;
}

void Runner::all_points(const Pass& pass) {
    const int ranks = session_.comm.size();
    for (const auto edge : parameters_.edges) {
        for (const auto count : parameters_.processes_in_force(ranks)) {
            const Agreed agreed = agree(session_, session_.comm, fatal_);
            stopping_ = agreed.failed() || agreed.interrupted;
            if (stopping_) return;
            const bool member = session_.comm.rank() < count;
            const auto comm = session_.comm.split(member ? std::optional<int>(0) : std::nullopt);
            if (comm) {
                const Volume volume = parameters_.volume(edge, count, ranks);
                measure(pass, pass.warm_up ? volume.warm_up() : volume, *comm);
            } else {
                number_ += static_cast<std::int64_t>(selection_.contenders.size());
                Progress::Step step;
                step.title = fmt::format("waiting for {} processes", count);
                step.allowance_seconds = 1e9;
                session_.progress.begin(step);
            }
        }
    }
}

void Runner::measure(const Pass& pass, const Volume& volume, const Comm& comm) {
    int partner = comm.rank();
    if (parameters_.reader == Readers::shifted) {
        partner = NodeOrder(comm, find_topology(comm)).partner(Partner::shifted, 1, 0);
    }
    // What comes first, or after a certain other, meets other caches.
    auto& all = selection_.contenders;
    for (const auto i : balanced_order(all.size(), static_cast<std::size_t>(pass.repetition))) {
        measure_one(pass, volume, comm, all[i], partner);
        if (stopping_) return;
    }
}

/// Calls `work(variable, cube, memory)` for each cube of each variable that `owner` writes.
template <class Work>
void Runner::each_cube(const Volume& volume, int owner, Work&& work) {
    auto memory = memory_.bytes();
    const auto bytes = static_cast<std::size_t>(volume.cells() * 8);
    for (int v = 0; v < volume.variables; ++v) {
        for (auto cube = volume.first_cube(owner); cube < volume.first_cube(owner + 1); ++cube) {
            work(v, cube,
                 std::span(reinterpret_cast<double*>(memory.data()), bytes / sizeof(double)));
            memory = memory.subspan(bytes);
        }
        session_.progress.beat();
    }
}

void Runner::measure_one(const Pass& pass, const Volume& volume, const Comm& comm,
                         Contender& contender, int partner) {
    const Values values(number_++);
    Progress::Step step;
    step.title = fmt::format("{}{} on {}", pass.warm_up ? "warm up " : "", contender.label(),
                             count_of(volume.processes, "rank"));
    step.path = target_.path(contender.file);
    step.allowance_seconds = static_cast<double>(volume.bytes()) / slowest_storage;
    step.plan_done = static_cast<double>(number_ - 1) / static_cast<double>(points_);
    step.ranks = comm.size();
    session_.progress.begin(step);
    contender.made->storage().set_active_ranks(comm.size());

    const FileSet files = contender.made->files(contender.file, session_.comm.size());
    const auto path_of = [&](int owner) { return target_.path(files, files.indexed ? owner : 0); };
    ArrayTransfer transfer{*contender.made,
                           {target_.path(contender.file), schema_of(volume), contender.set->hints,
                            contender.set->access.value_or(ArrayAccess::collective)}};
    transfer.time_calls = parameters_.call_times;
    transfer.sync = parameters_.fsync;
    transfer.cache = parameters_.cache;
    const auto move_all = [&](int owner, auto&& call) {
        auto memory = memory_.bytes();
        const ArraySchema& schema = transfer.request.schema;
        for (std::size_t v = 0; v < schema.variables.size(); ++v) {
            const Slab slab = schema.share(v, owner);
            const auto bytes = static_cast<std::size_t>(schema.bytes(v, slab));
            if (auto moved = call(v, slab, memory.first(bytes)); !moved) return moved;
            memory = memory.subspan(bytes);
        }
        return Status{};
    };
    const Point point{contender.library, contender.set->name, volume.edge, volume.processes};

    each_cube(volume, comm.rank(),
              [&](int v, std::int64_t cube, auto memory) { values.fill(memory, v, cube); });
    transfer.own_paths = {path_of(comm.rank())};
    transfer.move = [&](ArrayFile& file) {
        return move_all(comm.rank(), [&](std::size_t v, const Slab& slab, auto memory) {
            return file.put(v, slab, memory);
        });
    };
    carry_out(pass, {point, pass.repetition, {}}, comm, transfer);

    if (!stopping_ && parameters_.read) {
        // What is not read must not look right.
        std::memset(memory_.bytes().data(), 0, memory_.size());
        transfer.write = false;
        transfer.own_paths = {path_of(partner)};
        transfer.move = [&](ArrayFile& file) {
            return move_all(partner, [&](std::size_t v, const Slab& slab, auto memory) {
                return file.get(v, slab, memory);
            });
        };
        transfer.verify = [&](Outcome& mine) {
            std::int64_t bytes = 0;
            each_cube(volume, partner, [&](int v, std::int64_t cube, auto memory) {
                if (const auto wrong = values.check(memory, v, cube)) {
                    note_wrong(mine, session_, transfer.own_paths.front(), wrong->first,
                               wrong->elements);
                }
                bytes += static_cast<std::int64_t>(memory.size_bytes());
            });
            return bytes;
        };
        carry_out(pass, {point, pass.repetition, {}}, comm, transfer);
    }
    // What is kept is the last repetition's: to replace a file takes time of its own.
    const bool last = !pass.warm_up && pass.repetition == parameters_.repetitions - 1;
    if (stopping_ || (parameters_.keep && last)) return;
    // Only one file lies there at a time; each rank removes its own part.
    if (comm.is_root() || files.indexed) {
        if (auto removed = contender.made->storage().remove(path_of(comm.rank())); !removed) {
            fatal_.fail(session_.signed_error(std::move(removed.error())));
        }
    }
    const Agreed agreed = agree(session_, comm, fatal_);
    stopping_ = agreed.failed() || agreed.interrupted;
    if (agreed.failed()) fatal_.error = agreed.error;
}

void Runner::carry_out(const Pass& pass, Cell cell, const Comm& comm,
                       const ArrayTransfer& transfer) {
    auto [run, agreed] = effio::carry_out(job_, comm, target_.file_system(), transfer);
    cell.run = std::move(run);
    if (!cell.run.valid) {
        fatal_.error = agreed.error;
        stopping_ = true;
    } else {
        data_errors_ += cell.run.error_count;
    }
    if (agreed.interrupted) {
        fatal_.interrupted = true;
        stopping_ = true;
    }
    if (pass.warm_up && cell.run.valid && cell.run.error_count == 0) return;
    if (!pass.warm_up) comparison_.add(cell);
    if (session_.comm.is_root()) {
        for (Observer* observer : observers_) observer->cell(cell);
    }
}

}  // namespace effio::libraries
