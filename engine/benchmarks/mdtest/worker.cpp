// SPDX-License-Identifier: BSD-3-Clause
#include "benchmarks/mdtest/worker.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "benchmarks/mdtest/search.hpp"

namespace effio::mdtest {
namespace {

constexpr const char* attribute_key = "user.effio";
constexpr std::string_view attribute_value = "an extended attribute of 32 byte";
constexpr unsigned new_mode = 0640;
/// A rate over time needs no more than one reading in this many seconds.
constexpr double series_grain = 1e-3;

/// From the data of one timed read to those of the next: as O_DIRECT needs it.
std::int64_t kept_step(std::int64_t bytes) {
    constexpr auto page = static_cast<std::int64_t>(Buffer::alignment);
    return (bytes + page - 1) / page * page;
}

/// Of a file in the one long row of data of an iteration.
std::int64_t data_pages(std::int64_t bytes) {
    constexpr auto page = StampedPattern::page;
    return (bytes + page - 1) / page;
}

/// Whether a step of an item's phase needs its path and nothing else.
bool takes_one_path(Action action) {
    switch (action) {
        case Action::create:
        case Action::stat:
        case Action::read:
        case Action::set_mode:
        case Action::set_attribute:
        case Action::get_attribute:
        case Action::truncate:
        case Action::remove:
            return true;
        default:
            return false;
    }
}

Permutation order_of(std::int64_t items, std::uint64_t seed, int owner) {
    return {std::max<std::int64_t>(items, 1), mix64(seed) + static_cast<std::uint64_t>(owner)};
}

}  // namespace

std::optional<int> Iteration::owner(const Phase& phase) const {
    if (parameters.shared_files && phase.thing == ItemKind::file) return {};
    const auto distance = static_cast<int>(parameters.rank_shift) * phase.shift;
    if (order == nullptr || distance == 0) return comm.rank();
    return order->partner(Partner::shifted, distance, 0);
}

Worker::Worker(const Iteration& iteration, int number)
    : iteration_(iteration),
      names_(iteration.names),
      number_(number),
      timed_(iteration.parameters.storage.times_calls()),
      keeps_(iteration.parameters.save_calls.has_value()),
      from_(iteration.paths),
      to_(iteration.paths),
      written_(StampedPattern(static_cast<std::uint64_t>(iteration.parameters.seed),
                              static_cast<std::uint64_t>(iteration.number),
                              iteration.parameters.data.shape()),
               static_cast<std::size_t>(iteration.parameters.write_bytes.count)),
      read_(static_cast<std::size_t>(iteration.parameters.bytes_to_read())) {}

/// With --by-root one rank makes and removes the items of all ranks.
bool Worker::works_for_all() const {
    const bool changes = phase_->action == Action::create || phase_->action == Action::remove;
    return iteration_.parameters.by_root && changes && phase_->thing != ItemKind::tree;
}

void Worker::prepare(const Phase& phase) {
    const Parameters& p = iteration_.parameters;
    const Workload& w = iteration_.paths.workload();
    const bool root = iteration_.comm.is_root();
    const auto threads = static_cast<int>(p.threads);
    phase_ = &phase;
    owner_ = iteration_.owner(phase);
    tally_ = {};
    bytes_per_step_ = 0;
    steps_kept_ = 0;
    if (phase.thing == ItemKind::file && phase.action == Action::create) {
        bytes_per_step_ = p.write_bytes.count;
    }
    if (phase.action == Action::read) bytes_per_step_ = p.bytes_to_read();
    data_ = {};
    ring_.reset();
    shuffle_.reset();
    share_ = {iteration_.items(phase.thing), threads, number_};
    if (phase.thing == ItemKind::tree) {
        // Directories are nested, so one thread makes them.
        const bool mine = number_ == 0 && (w.unique || root);
        share_ = {mine ? w.loops * w.tree.directories() : 0, 1, 0};
    } else if (works_for_all()) {
        share_.items = root ? share_.items * iteration_.comm.size() : 0;
    } else if (phase.action == Action::list || phase.action == Action::find) {
        share_.items = w.loops * w.tree.directories();
    } else if (phase.action == Action::populate || phase.action == Action::depopulate) {
        const int ranks = w.unique ? 1 : iteration_.comm.size();
        share_ = {p.populate, ranks * threads,
                  number_ + threads * (w.unique ? 0 : iteration_.comm.rank())};
    } else if (phase.action == Action::rename) {
        ring_.emplace(w, share_);
    } else if (p.shared_files && phase.action == Action::remove && !root) {
        share_.items = 0;
    }
    count_ = ring_ ? ring_->count() : share_.count();
    if (phase.action == Action::move) count_ *= 2;
    if (p.random_order && phase.may_shuffle) {
        shuffle_.emplace(
            order_of(share_.items, static_cast<std::uint64_t>(p.seed), iteration_.comm.rank()));
    }
    const bool needs_data = phase.action == Action::create && bytes_per_step_ > 0;
    plain_ = takes_one_path(phase.action) && !needs_data && phase.thing != ItemKind::tree &&
             !shuffle_ && !works_for_all();
}

void Worker::keep_reads() {
    const std::int64_t bytes = iteration_.parameters.bytes_to_read();
    failed_reads_.clear();
    if (bytes == 0) return;
    const std::int64_t step = kept_step(bytes);
    steps_kept_ = std::min(count_, iteration_.parameters.kept_by_thread() / step);
    const auto needed = static_cast<std::size_t>(steps_kept_ * step);
    if (kept_.size() < needed) {
        kept_ = Buffer(needed);
    } else if (needed > 0) {
        std::memset(kept_.bytes().data(), 0, needed);
    }
}

std::span<std::byte> Worker::kept(std::int64_t step) {
    const std::int64_t bytes = iteration_.parameters.bytes_to_read();
    return kept_.bytes().subspan(static_cast<std::size_t>(step * kept_step(bytes)),
                                 static_cast<std::size_t>(bytes));
}

void Worker::work(double start, double stonewall_seconds) {
    start_ = ticked_at_ = start;
    ticked_done_ = 0;
    pace_.emplace(iteration_.session.clock, iteration_.session.interrupted,
                  Deadline::Limits{start, stonewall_seconds, count_});
    if (count_ > 0) {
        loop();
        tally_.standing.reason = pace_->reason();
    } else {
        tally_.standing.reason = StopReason::count;
    }
    tally_.standing.done = pace_->done();
    tally_.standing.seconds = iteration_.session.clock.now() - start;
    // What looks at the files after the phase prepares it anew.
    reads_kept_ = std::min(steps_kept_, pace_->done());
}

void Worker::wear_out(std::int64_t count) {
    const std::int64_t goal = std::min(count, count_);
    if (pace_->done() >= goal || tally_.standing.reason == StopReason::error) return;
    pace_->wear_out(goal);
    loop();
    if (pace_->reason() != StopReason::count) tally_.standing.reason = pace_->reason();
}

void Worker::loop() {
    as_act([this](const auto& act) { steps(act); });
    tick(iteration_.session.clock.now());
}

// A separate loop for each kind of call: the less code is between two calls, the less of it
// the kernel has thrown out of the processor's cache when the first one returns.
template <class Act>
void Worker::steps(const Act& act) {
    const Clock& clock = iteration_.session.clock;
    bool more = true;
    while (more) {
        aim(pace_->done());
        double begin = 0;
        double end = 0;
        if (timed_) [[unlikely]]
            begin = clock.now();
        Status outcome = act();
        if (timed_) [[unlikely]]
            end = log_call(begin);
        if (outcome) [[likely]] {
            ++tally_.done;
            tally_.bytes += bytes_per_step_;
        } else {
            note(std::move(outcome.error()));
        }
        more = timed_ ? pace_->go_on(end) : pace_->go_on();
        if (pace_->ticked()) [[unlikely]]
            tick_if_due(timed_ ? end : pace_->now());
    }
}

/// The call that began then is over; the clock.
double Worker::log_call(double begin) {
    const double end = iteration_.session.clock.now();
    tally_.calls.add(end - begin);
    if (keeps_) tally_.kept.push_back({begin - start_, end - begin});
    return end;
}

void Worker::tick_if_due(double now) {
    if (now - ticked_at_ >= series_grain) tick(now);
}

void Worker::tick(double now) {
    const std::int64_t done = phase_->action == Action::find ? tally_.entries : pace_->done();
    tally_.over_time.add(ticked_at_ - start_, now - start_,
                         static_cast<double>(done - ticked_done_));
    ticked_at_ = now;
    ticked_done_ = done;
    iteration_.session.progress.beat();
}

void Worker::note(Error error) {
    const bool removes_trees = phase_->thing == ItemKind::tree && phase_->action == Action::remove;
    if (removes_trees && stays(iteration_.session, iteration_.parameters, error)) return;
    ++tally_.failed;
    if (!tally_.error) tally_.error = iteration_.session.signed_error(std::move(error));
    if (pace_->done() < steps_kept_) failed_reads_.push_back(pace_->done());
    if (tally_.failed >= most_failures) pace_->failed();
}

std::span<const std::byte> Worker::data_of(std::int64_t bytes) {
    const Parameters& p = iteration_.parameters;
    const std::int64_t file = item_owner_ * iteration_.paths.workload().items + item_;
    const std::int64_t begin = StampedPattern::page * file * data_pages(p.write_bytes.count);
    return written_.at(begin, static_cast<std::size_t>(bytes));
}

void Worker::aim_by_action(std::int64_t step) {
    const Workload& w = iteration_.paths.workload();
    switch (phase_->action) {
        case Action::populate:
        case Action::depopulate: {
            const int owner = iteration_.comm.rank();
            if (step == 0) second_text_ = iteration_.paths.directory(owner, 0, w.first_holder());
            text_ = second_text_ + "/" + iteration_.paths.name(populated_stem, share_.item(step));
            path_ = &text_;
            return;
        }
        case Action::list:
        case Action::find: {
            const std::int64_t number = share_.item(step);
            text_ = iteration_.paths.directory(*owner_, number / w.tree.directories(),
                                               number % w.tree.directories());
            path_ = &text_;
            return;
        }
        default:
            break;
    }
    if (phase_->thing == ItemKind::tree) {
        aim_at_tree(step);
    } else {
        aim_at_item(step);
    }
}

void Worker::aim_at_tree(std::int64_t step) {
    const std::int64_t directories = iteration_.paths.workload().tree.directories();
    // Parents are made first and removed last.
    const std::int64_t number = phase_->action == Action::create ? step : count_ - 1 - step;
    text_ = iteration_.paths.directory(iteration_.comm.rank(), number / directories,
                                       number % directories);
    path_ = &text_;
}

void Worker::aim_at_item(std::int64_t step) {
    const ItemKind thing = phase_->thing;
    if (ring_) {
        const Ring::Step turn = ring_->step(step);
        path_ = &from_.of(thing, owner_, turn.from, turn.from_spare ? spare_suffix : "");
        second_ = &to_.of(thing, owner_, turn.to, turn.to_spare ? spare_suffix : "");
        return;
    }
    if (phase_->action == Action::move) {
        const std::int64_t there = share_.count();
        const std::int64_t number = share_.item(step < there ? step : step - there);
        path_ = &from_.of(thing, owner_, number);
        second_ = &to_.of_moved(owner_, number);
        if (step >= there) std::swap(path_, second_);
        return;
    }
    std::int64_t number = share_.item(step);
    if (shuffle_) number = (*shuffle_)(number);
    std::optional<int> owner = owner_;
    if (works_for_all()) {
        owner = static_cast<int>(number / iteration_.items(thing));
        number %= iteration_.items(thing);
    }
    item_ = number;
    item_owner_ = owner.value_or(0);
    path_ = &from_.of(thing, owner, number);
    switch (phase_->action) {
        case Action::create:
            if (bytes_per_step_ > 0) data_ = data_of(bytes_per_step_);
            break;
        case Action::hard_link:
        case Action::remove_hard_link:
            second_ = &to_.of(thing, owner, number, hard_suffix);
            break;
        case Action::symbolic_link:
            // The link's text is the file's name, so that it stays right wherever the tree is seen.
            text_ = iteration_.paths.name(item_stem(thing, owner),
                                          iteration_.paths.workload().label(number));
            second_ = &to_.of(thing, owner, number, symbolic_suffix);
            break;
        case Action::read_link:
        case Action::remove_symbolic_link:
            second_ = &to_.of(thing, owner, number, symbolic_suffix);
            break;
        default:
            break;
    }
}

template <class Use>
void Worker::as_act(const Use& use) {
    const Parameters& p = iteration_.parameters;
    const auto status_of = [](auto result) -> Status {
        if (result) [[likely]]
            return {};
        return std::move(result.error());
    };
    switch (phase_->action) {
        case Action::create:
            if (phase_->thing != ItemKind::file) {
                return use([this] { return names_.make_directory(*path_); });
            }
            if (p.shared_files) {
                return use([&] { return names_.write(*path_, data_, p.sync_files); });
            }
            if (p.create_with == CreateWith::mknod) {
                return use([this] { return names_.make_node(*path_); });
            }
            if (bytes_per_step_ > 0 || p.sync_files) {
                return use([&] { return names_.create_with(*path_, data_, p.sync_files); });
            }
            return use([this] { return names_.create(*path_); });
        case Action::populate:
            return use([this] { return names_.create(*path_); });
        case Action::stat:
            return use([&] { return status_of(names_.stat(*path_)); });
        case Action::read:
            if (steps_kept_ == 0) {
                return use([this] { return names_.read(*path_, read_.bytes()); });
            }
            return use([this] {
                const std::int64_t step = pace_->done();
                return names_.read(*path_, step < steps_kept_ ? kept(step) : read_.bytes());
            });
        case Action::list:
            return use([this] {
                return names_.visit(*path_, [this](std::string_view) { ++tally_.entries; });
            });
        case Action::find:
            return use([search = Search(iteration_), this] { return look_into(search); });
        case Action::set_mode:
            return use([this] { return names_.change_mode(*path_, new_mode); });
        case Action::set_attribute:
            return use(
                [this] { return names_.set_attribute(*path_, attribute_key, attribute_value); });
        case Action::get_attribute:
            return use(
                [&] { return status_of(names_.get_attribute(*path_, attribute_key, answer_)); });
        case Action::truncate:
            return use([&] { return names_.truncate(*path_, p.write_bytes.count / 2); });
        case Action::hard_link:
            return use([this] { return names_.hard_link(*path_, *second_); });
        case Action::symbolic_link:
            return use([this] { return names_.symbolic_link(text_, *second_); });
        case Action::read_link:
            return use([&] { return status_of(names_.read_link(*second_, answer_)); });
        case Action::remove_hard_link:
        case Action::remove_symbolic_link:
            return use([this] { return names_.unlink(*second_); });
        case Action::rename:
        case Action::move:
            return use([this] { return names_.rename(*path_, *second_); });
        case Action::remove:
            if (phase_->thing != ItemKind::file) {
                return use([this] { return names_.remove_directory(*path_); });
            }
            break;
        case Action::depopulate:
            break;
    }
    use([this] { return names_.unlink(*path_); });
}

/// A directory of a search; the first error, after which the other entries are looked at all the
/// same.
Status Worker::look_into(const Search& search) {
    Status outcome;
    auto read = names_.visit(*path_, [&](std::string_view name) {
        if (!search.is_mine(name)) return;
        second_text_.assign(*path_).append("/").append(name);
        auto seen = names_.stat(second_text_);
        iteration_.session.progress.beat();
        if (!seen) {
            if (outcome) outcome = std::move(seen.error());
            return;
        }
        ++tally_.entries;
        if (search.is_wanted(second_text_.substr(path_->size() + 1), *seen)) ++tally_.found;
    });
    return read ? std::move(outcome) : std::move(read);
}

void Worker::each_path(const Phase& phase, const std::function<void(const std::string&)>& use) {
    prepare(phase);
    for (std::int64_t step = 0; step < count_; ++step) {
        aim_at_item(step);
        use(*path_);
        iteration_.session.progress.beat();
    }
}

void Worker::verify(const Phase& phase) {
    prepare(phase);
    const std::int64_t bytes = iteration_.parameters.bytes_to_read();
    auto failed = failed_reads_.begin();
    for (std::int64_t step = 0; step < count_ && tally_.failed < most_failures; ++step) {
        if (failed != failed_reads_.end() && *failed == step) {
            ++failed;  // the phase reported it
            continue;
        }
        aim_at_item(step);
        if (step < reads_kept_) {
            tally_.of_timed_reads += bytes;
            compare_data(kept(step));
            continue;
        }
        if (auto got = names_.read(*path_, read_.bytes()); !got) {
            ++tally_.failed;
            if (!tally_.error)
                tally_.error = iteration_.session.signed_error(std::move(got.error()));
            continue;
        }
        compare_data(read_.bytes());
    }
}

/// Of the step in work.
void Worker::compare_data(std::span<const std::byte> found) {
    const auto bytes = static_cast<std::int64_t>(found.size());
    tally_.bytes += bytes;
    iteration_.session.progress.beat();
    const auto wrong = compare(data_of(bytes), found, 0);
    if (!wrong) return;
    ++tally_.failed;
    if (is_foreign(data_of(bytes), found)) ++tally_.foreign;
    if (tally_.error) return;
    Error error = io_error("check the data", *path_, wrong->text());
    error.exit_code = ExitCode::data_errors;
    error.offset = wrong->offset;
    tally_.error = iteration_.session.signed_error(std::move(error));
}

}  // namespace effio::mdtest
