// SPDX-License-Identifier: BSD-3-Clause
#include "frame/study/measure.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "frame/study/done.hpp"
#include "storage/posix_calls.hpp"

namespace effio::study {
namespace {

Hints hints_of(const StudyContext& context, const Cell& cell) {
    const bool writes = cell.writes();
    const std::string access = writes ? "write" : "read";
    Hints all = context.hints.for_open({cell.ranks, access, cell.pattern});
    for (const auto& [key, value] : cell.hints) all.set(key, value);
    return all;
}

/// Whose data a rank of the cell moves.
int owner_of(const StudyContext& context, const CellRanks& ranks, const Cell& cell) {
    const auto shift = cell.manner.shift;
    if (shift && !cell.writes()) return (ranks.comm.rank() + *shift) % cell.ranks;
    if (context.options.reader == Readers::same || cell.writes()) return ranks.comm.rank();
    return ranks.order.partner(Partner::shifted, 1, 0);
}

/// Which of the visit's files holds the data of a rank.
struct Where {
    int file = 0;
    std::uint64_t number = 0;  ///< distinguishes the contents of files
    bool splits = false;       ///< there are several files, each opened by a group of ranks
};
Where where_is(const Items& items, const Visit& /*visit*/, int /*owner*/) {
    return {0, static_cast<std::uint64_t>(items.set), false};
}
Where where_is(const Arrays& arrays, const Visit& visit, int owner) {
    return {visit.files.indexed ? owner : 0, static_cast<std::uint64_t>(arrays.set), false};
}
template <class PiecesOrStreams>
Where where_is(const PiecesOrStreams& /*data*/, const Visit& visit, int owner) {
    const int file = visit.cell.file_of(owner);
    return {file, static_cast<std::uint64_t>(file), visit.cell.files > 1};
}
Where where_is(const Visit& visit, int owner) {
    return std::visit([&](const auto& data) { return where_is(data, visit, owner); },
                      visit.cell.data);
}

// These return the mover for a kind of data; `library` is null if the files hold bytes.

std::unique_ptr<Mover> mover_of(const Pieces& /*data*/, ArrayLibrary* library, Storage& storage,
                                const RankContext& place) {
    return library != nullptr ? make_box_mover(*library, place) : make_byte_mover(storage, place);
}
std::unique_ptr<Mover> mover_of(const Items& /*data*/, ArrayLibrary* /*library*/, Storage& storage,
                                const RankContext& place) {
    return make_item_mover(storage, place);
}
std::unique_ptr<Mover> mover_of(const Streams& /*data*/, ArrayLibrary* /*library*/,
                                Storage& storage, const RankContext& place) {
    return make_stream_mover(storage, place);
}
std::unique_ptr<Mover> mover_of(const Arrays& /*data*/, ArrayLibrary* library, Storage& /*storage*/,
                                const RankContext& place) {
    return make_share_mover(*library, place);
}

}  // namespace

Measure::Measure(const StudyContext& context, CellRanks& ranks, const Visit& visit)
    : context_(context),
      ranks_(ranks),
      visit_(visit),
      storage_(visit.cell.past_cache && context.past_cache(visit.cell) != nullptr
                   ? *context.past_cache(visit.cell)
                   : context.backends.of(visit.cell)),
      owner_(owner_of(context, ranks, visit.cell)),
      addresses_(visit.cell.addresses(owner_)),
      payload_(visit.cell, addresses_,
               {where_is(visit, owner_).number, Payload::seed_of(visit.cell.file, visit.data_run),
                context.options.data.shape()},
               verifies() ? context.options.kept() : 0, bytes_read()),
      generation_(visit.generation) {
    const Cell& cell = visit.cell;
    const Where where = where_is(visit, owner_);
    path_ = context.target.path(visit.files, where.file);
    if (cell.manner.opens_alone) {
        own_files_ = ranks.comm.split(ranks.comm.rank());
    } else if (where.splits) {
        own_files_ = ranks.comm.split(where.file);
    }
    place_ = std::make_unique<RankContext>(
        RankContext{session(), cell, own_files_ ? *own_files_ : ranks.comm,
                    cell.holds_arrays() ? context.target.path(cell.file) : path_, path_, apart(),
                    addresses_, hints_of(context, cell), owner_, [this](std::int64_t item) {
                        return context_.target.path(visit_.files, static_cast<int>(item));
                    }});
}

Measure::~Measure() = default;

std::unique_ptr<Mover> Measure::make_mover() const {
    ArrayLibrary* library = context_.backends.arrays_of(visit_.cell);
    return std::visit([&](const auto& data) { return mover_of(data, library, storage_, *place_); },
                      visit_.cell.data);
}

bool Measure::verifies() const {
    return context_.options.verify && storage_.capabilities().stores_data;
}

std::vector<PassResult> Measure::run() {
    std::vector<Done> done;
    const bool fine = passes(done);
    for (auto& one : done) {
        if (!fine || !verifies()) break;
        const bool last = &one == &done.back();
        if (payload_.is_stamped() && one.pass.access == Access::read) {
            // Opening a file again is collective over its ranks.
            if (ranks_.comm.min(payload_.keeps(bytes_read()) ? 1 : 0) == 1) continue;
            read_again(one);
        } else if (last && (one.pass.access == Access::modify ||
                            (one.pass.access == Access::write && is_never_read()))) {
            read_again(one);
        }
    }
    if (fine && visit_.cell.manner.unlinks) unlink(done.back());
    std::vector<PassResult> results;
    for (auto& one : done) results.push_back(sum_up(one));
    return results;
}

NextPass Measure::next_after(std::size_t pass) const {
    return pass < visit_.next.size() ? visit_.next[pass] : NextPass::reads;
}

/// Files with metadata in a format of ours, which are verified with the data.
bool Measure::reads_own_metadata() const {
    return verifies() && (visit_.cell.holds_arrays() || !storage_.capabilities().plain);
}

/// What the last pass wrote is removed, and nothing reads it before.
bool Measure::is_never_read() const {
    return next_after(visit_.cell.passes.size() - 1) == NextPass::none &&
           !visit_.cell.holds_arrays() && !visit_.cell.is_peak && !context_.options.storage.keep;
}

bool Measure::passes(std::vector<Done>& done) {
    const auto& all = visit_.cell.passes;
    for (std::size_t i = 0; i < all.size(); ++i) {
        done.emplace_back();
        done.back().pass = all[i];
        if (!pass(done.back(), i == 0, i + 1 == all.size())) return false;
        if (done.back().moved.interrupted) return false;
        if (all[i].writes() && next_after(i) == NextPass::writes && verifies()) {
            check_before_it_is_overwritten(done.back());
            if (agreed_.failed() || agreed_.interrupted) return false;
        }
    }
    return true;
}

/// Before the first pass on files that are there.
void Measure::cool(Cold& cold) const {
    if (visit_.create) return;
    const bool mine = ranks_.topology.is_node_leader() || visit_.cell.files > 1 || apart();
    cold.before(mine, context_.options.storage.cache.drop || visit_.cell.is_peak);
}

bool Measure::pass(Done& done, bool first, bool last) {
    const bool writing = done.pass.writes();
    switch (done.pass.access) {
        case Access::write:
            payload_.prepare_to_write(++generation_);
            break;
        case Access::read:
            payload_.prepare_to_read();
            break;
        case Access::modify:
            payload_.prepare_to_modify(++generation_);
            break;
    }
    done.generation = generation_;
    const Capabilities can = storage_.capabilities();
    Cold cold(
        {ranks_.comm, ranks_.topology, context_.target.file_system(), can.real_files, can.cached},
        context_.options.storage.cache, [this](const Cold::Look& look) {
            for (const auto& path : mover_->files()) {
                look(path);
                session().progress.beat();
            }
        });
    if (owner_ != ranks_.comm.rank() && !ranks_.order.on_my_node(owner_)) {
        cold.reads_of_another_node();
    }
    if (first) {
        mover_ = make_mover();
        cool(cold);
    }
    VisitSteps all = steps(done, first, last);
    all.cold = &cold;
    Outcome of_parts;
    Readable readable(visit_.foreign);
    const bool looks = first && !visit_.create && done.pass.access != Access::write &&
                       can.real_files && !visit_.cell.writes();
    if (looks) {
        if (auto there = mover_->look_at_files(readable); !there) {
            of_parts.fail(session().signed_error(std::move(there.error())));
        }
    }
    done.seen = carry_out(
        {session(), ranks_.comm, ranks_.topology, ranks_.common, context_.target.file_system()},
        all, of_parts);
    if (looks && visit_.foreign) {
        const auto holes = readable.hole_fraction(ranks_.comm);
        if (done.seen.cache) done.seen.cache->holes = holes;
    }
    if (const auto* totals = mover_->array_totals()) done.totals = *totals;
    // Parts that were measured for each file are not part of the transfer.
    done.seen.seconds = divided(std::move(done.seen.seconds), "transfer", done.moved.parts);
    // What a signal cut short is neither as long as its files should be nor as memory should be.
    done.moved.interrupted = ranks_.comm.max(done.moved.interrupted ? 1 : 0) != 0;
    const bool whole = done.seen.fine && !done.moved.interrupted;

    Outcome mine;
    if (whole && writing && last) {
        if (auto sized = check_size(done); !sized) {
            mine.fail(session().signed_error(std::move(sized.error())));
        }
    }
    const bool reads = done.pass.access != Access::write;
    if (whole && reads && verifies()) {
        if (payload_.is_stamped()) {
            check_kept(done);
        } else {
            check_memory(done);
        }
    }
    save_calls(done);
    agreed_ = done.seen.agreed;
    if (!agreed_.failed()) {
        mine.interrupted = agreed_.interrupted || done.moved.interrupted;
        agreed_ = agree(session(), ranks_.comm, mine);
    }
    if (agreed_.failed()) done.outcome.error = agreed_.error;
    done.valid = !agreed_.failed() && !done.moved.interrupted;
    return !agreed_.failed();
}

/// New files may have to be created first.
std::vector<VisitSteps::Part> Measure::opening() {
    if (!visit_.create || !visit_.cell.manner.creates_apart) {
        return {{"open", [this] { return mover_->open(visit_.create); }}};
    }
    return {{"create", [this] { return mover_->open(true); }},
            {"create_close", [this] { return mover_->close(); }},
            {"open", [this] { return mover_->open(false); }}};
}

VisitSteps Measure::steps(Done& done, bool first, bool last) {
    const Cell& cell = visit_.cell;
    const bool writing = done.pass.writes();
    VisitSteps steps;
    steps.moving = {"transfer", [this, &done] { return move_in_turn(done); }};
    if (cell.manner.waits) steps.waits_for = &place_->comm;
    const bool in_pass = mover_->opens_in_pass();
    if (first && in_pass) {
        (void)mover_->open(visit_.create);  // of the pass itself
    } else if (first) {
        steps.opening = opening();
        if (visit_.cell.writes() || reads_own_metadata()) {
            steps.confirm = [this] { return mover_->confirm(); };
        }
    }
    if (writing && cell.sync != Sync::none && !in_pass) {
        steps.sync.work = [this] { return mover_->sync(); };
    }
    steps.sync_counts = cell.sync == Sync::inside;
    steps.ask = [&] {
        done.call = mover_->call_name(done.pass.access);
        done.granted = mover_->granted_hints();
        done.library = mover_->describe();
    };
    if (last && !in_pass) steps.close.work = [this] { return mover_->close(); };
    steps.bytes = [this, &done, writing, last](bool fine) -> VisitSteps::Bytes {
        // What a library put into a file of arrays in addition to the data was written, too.
        if (fine && writing && last) {
            if (const auto overhead = mover_->overhead_bytes()) {
                done.overhead = *overhead;
            } else {
                done.outcome.fail(session().signed_error(overhead.error()));
            }
        }
        const std::int64_t moved = done.moved.bytes / done.pass.directions() + done.overhead;
        return writing ? VisitSteps::Bytes{0, moved} : VisitSteps::Bytes{moved, 0};
    };
    return steps;
}

Status Measure::move_in_turn(Done& done) {
    const auto move = [&] {
        return mover_->move(
            done.pass.access, payload_,
            {context_.options.storage.times_calls(), context_.options.save_calls.has_value()},
            done.moved);
    };
    const int together = visit_.cell.manner.at_a_time;
    if (together == 0) return move();
    const Clock& clock = session().clock;
    const double begin = clock.now();
    double own = 0;
    Status status;
    for (int turn = 0; turn * together < ranks_.comm.size(); ++turn) {
        if (turn == ranks_.comm.rank() / together) {
            const double start = clock.now();
            status = move();
            own = clock.now() - start;
        }
        ranks_.comm.barrier();
    }
    done.moved.parts.emplace_back("turn", remainder_of(clock.now() - begin, own));
    return status;
}

/// After everything else that is done with the files, the checks of their data included.
void Measure::unlink(Done& last) {
    ranks_.comm.barrier();
    Outcome mine;
    mine.interrupted = agreed_.interrupted;
    const double begin = session().clock.now();
    for (int file = ranks_.comm.rank(); file < visit_.cell.files; file += ranks_.comm.size()) {
        for (const auto& path : storage_.files_of(context_.target.path(visit_.files, file))) {
            const double start = session().clock.now();
            if (auto removed = storage_.remove(path); !removed) {
                mine.fail(session().signed_error(std::move(removed.error())));
            }
            last.removed.push_back({path, session().clock.now() - start, ranks_.comm.rank()});
            session().progress.beat();
        }
    }
    last.seen.seconds.emplace_back("unlink", session().clock.now() - begin);
    agreed_ = agree(session(), ranks_.comm, mine);
    if (!agreed_.failed()) return;
    last.outcome.error = agreed_.error;
    last.valid = false;
}

/// Checks the size of the files that this rank reports.
Status Measure::check_size(Done& done) const {
    if (!storage_.capabilities().real_files) return {};
    done.on_disk.emplace();
    if (!mover_->reports_files()) return {};
    auto found =
        sized(session(), mover_->files(), mover_->least_bytes(), visit_.cell.parts_of_file > 1);
    if (!found) return std::move(found.error());
    done.on_disk = *found;
    return {};
}

void Measure::save_calls(Done& done) const {
    const auto& prefix = context_.options.save_calls;
    if (!prefix) return;
    std::string name = fmt::format("{}-{}", *prefix, visit_.cell.pattern);
    for (const auto& axis : visit_.cell.axes) {
        const bool is_size = axis.unit == "B" && axis.value.is_number();
        name += "-" + (is_size ? format_exact(Bytes{axis.value.get<std::int64_t>()}) : axis.text);
    }
    const std::string path = fmt::format("{}-{}-{}-{:05d}.csv", name, done.pass.name,
                                         visit_.repetition, ranks_.comm.rank());
    for (CallTime& call : done.moved.kept) call.begin -= done.seen.start;
    const std::vector<const std::vector<CallTime>*> threads{&done.moved.kept};
    const std::int64_t each = done.moved.calls > 0 ? done.moved.bytes / done.moved.calls : 0;
    if (auto wrote = write_call_log(path, threads, static_cast<double>(each)); !wrote) {
        done.outcome.fail(session().signed_error(std::move(wrote.error())));
    }
}

}  // namespace effio::study
