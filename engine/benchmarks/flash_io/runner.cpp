// SPDX-License-Identifier: BSD-3-Clause
#include "benchmarks/flash_io/runner.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "benchmarks/flash_io/views.hpp"
#include "frame/storage_run.hpp"
#include "parallel/pace.hpp"

namespace effio::flash_io {
namespace {

template <class T>
std::span<T> as(std::span<std::byte> memory, std::int64_t elements) {
    return {reinterpret_cast<T*>(memory.data()), static_cast<std::size_t>(elements)};
}

std::vector<FileDefinition> definitions_of(const Setup& setup) {
    std::vector<FileDefinition> all;
    for (const File file : all_files) {
        all.push_back(define(setup.parameters.geometry(), file,
                             setup.parameters.structure_in_force(), setup.writers));
    }
    return all;
}

}  // namespace

Runner::Runner(Job& job, const Setup& setup, ArrayLibrary& library, const Target& target,
               const HintRules& rules, std::vector<Observer*> observers)
    : job_(job),
      session_(job.session),
      comm_(job.session.comm),
      setup_(setup),
      library_(library),
      target_(target),
      rules_(rules),
      notify_(session_, std::move(observers)),
      common_(comm_, job.topology),
      geometry_(setup.parameters.geometry()),
      definitions_(definitions_of(setup)),
      mesh_(geometry_, geometry_.first_block(comm_.rank()),
            setup.parameters.write ? geometry_.blocks_of(comm_.rank()) : 0),
      sources_(find_sources(job, setup)),
      memory_(memory_bytes()),
      scratch_(std::size_t{1} << 16, 1.0),
      loop_(session_),
      until_ci_(setup.parameters.until_ci, setup.parameters.repetitions, session_.clock.now()) {
    const auto& p = setup.parameters;
    const auto kinds = static_cast<std::int64_t>(p.files.size());
    const std::int64_t read = p.read == ReadBack::all    ? p.dumps * kinds
                              : p.read == ReadBack::none ? 0
                                                         : 1;
    files_of_repetition_ = (p.write ? p.dumps * kinds : 0) + read;
}

/// The writers are shared out evenly over those who read.
Runner::Writers Runner::find_sources(const Job& job, const Setup& setup) {
    const Comm& comm = job.session.comm;
    const std::int64_t rank = setup.parameters.reader == Readers::same
                                  ? comm.rank()
                                  : NodeOrder(comm, job.topology).partner(Partner::shifted, 1, 0);
    const auto begin = [&](std::int64_t reader) {
        return static_cast<int>(setup.writers * reader / comm.size());
    };
    return {begin(rank), begin(rank + 1) - begin(rank)};
}

/// Space for one variable, for all that are posted at once, or for all that are read.
std::size_t Runner::memory_bytes() const {
    const std::int64_t checkpoint = mesh_.elements(File::checkpoint) * 8;
    std::int64_t bytes =
        std::max({setup_.nonblocking ? variable_count * checkpoint : checkpoint,
                  mesh_.elements(File::centred) * 4, mesh_.elements(File::corner) * 4});
    if (setup_.parameters.read != ReadBack::none) {
        for (const File file : all_files) {
            const FileTransfer t = task(file, false, 0, 0);
            std::int64_t share = 0;
            for (std::size_t v = 0; v < t.definition.contents.size(); ++v) {
                share += t.definition.schema.bytes(v, source(t, v));
            }
            bytes = std::max(bytes, share);
        }
    }
    return static_cast<std::size_t>(bytes);
}

Ending Runner::run() {
    notify_([&](Observer& o) { o.start(setup_); });
    loop_.repeat(comm_, until_ci_, [this](std::int64_t i) {
        if (i > 0 && loop_.is_over(comm_, setup_.parameters.time_limit.count)) {
            repetitions_.back().last_in_time = true;
            loop_.stop();
            return;
        }
        run_repetition(i);
        if (!loop_.stops()) add_rates();
    });
    notify_([&](Observer& o) { o.end(setup_, repetitions_); });
    until_ci_.report(session_, "flash-io");
    return loop_.ending("files", "wrong value");
}

void Runner::add_rates() {
    const Repetition& r = repetitions_.back();
    const auto add = [&](const char* figure, const char* text, double rate) {
        until_ci_.add({figure, place_of(setup_), "B/s", text}, rate);
    };
    if (r.bytes() > 0) add("flash_io", by_definition, r.rate());
    if (r.bytes() > 0 && setup_.parameters.syncs()) {
        add("flash_io_synced", on_storage, r.synced_rate());
    }
    if (r.read_bytes > 0) add("flash_io_restart", restarted, r.read_rate());
}

void Runner::run_repetition(std::int64_t number) {
    const auto& p = setup_.parameters;
    repetitions_.emplace_back().number = number;
    if (p.write) write_dumps(number);
    if (loop_.stops()) return;
    for (std::int64_t dump = 0; dump < p.dumps; ++dump) {
        for (const File file : p.files_in_order()) {
            const bool restart = file == File::checkpoint && dump == p.dumps - 1;
            if (p.read != ReadBack::all && !(p.read == ReadBack::checkpoint && restart)) continue;
            read_file(number, dump, file);
            if (loop_.stops()) return;
        }
    }
    repetitions_.back().complete = true;
}

void Runner::write_dumps(std::int64_t repetition) {
    const auto& p = setup_.parameters;
    compute_seconds_ = 0;
    for (std::int64_t dump = 0; dump < p.dumps; ++dump) {
        if (dump > 0) compute();
        // Constant values are the same in every dump.
        if (p.fill == Fill::index || repetition + dump == 0) {
            session_.progress.begin({.title = "fill the mesh", .path = {}, .ranks = comm_.size()});
            mesh_.fill(Values(geometry_, p.fill, pass(repetition, dump), p.data.shape()),
                       [&] { session_.progress.beat(); });
        }
        for (const File file : p.files_in_order()) {
            write_file(repetition, dump, file);
            if (loop_.stops()) return;
        }
    }
    repetitions_.back().compute_seconds = comm_.max(compute_seconds_);
}

void Runner::compute() {
    const double seconds = setup_.parameters.compute.count;
    if (seconds <= 0) return;
    session_.progress.begin(
        {.title = "compute", .path = {}, .scheduled_seconds = seconds, .ranks = comm_.size()});
    session_.progress.call("compute");
    const double begin = session_.clock.now();
    if (session_.clock.is_virtual()) {
        session_.clock.advance(seconds);
    } else {
        Deadline pace(session_.clock, session_.interrupted, {begin, seconds});
        do {
            // A sweep over half a megabyte: caches are in use, as between real dumps.
            for (std::size_t i = 1; i + 1 < scratch_.size(); ++i) {
                scratch_[i] = (scratch_[i - 1] + scratch_[i] + scratch_[i + 1]) / 3;
            }
            session_.progress.beat();
        } while (pace.go_on());
    }
    compute_seconds_ += session_.clock.now() - begin;
}

Runner::FileTransfer Runner::task(File file, bool write, std::int64_t repetition,
                                  std::int64_t dump) const {
    const auto& p = setup_.parameters;
    const std::string name = file_name(p.prefix, library_.name(), file, static_cast<int>(dump));
    const Writers owners = write ? Writers{comm_.rank(), 1} : sources_;
    const FileSet files = library_.files(name, setup_.writers);
    const FileDefinition& definition = definitions_[index(file)];
    FileTransfer t{file,
                   repetition,
                   dump,
                   definition,
                   owners,
                   write,
                   {target_.path(name), definition.schema, {}, p.access},
                   {}};
    for (int i = 0; i < (files.indexed ? owners.count : 1); ++i) {
        t.own_paths.push_back(target_.path(files, files.indexed ? owners.first + i : 0));
    }
    Hints& hints = t.request.hints;
    if (library_.name() == "pnetcdf" && p.kernel_hints) {
        hints.set("romio_no_indep_rw", p.access == ArrayAccess::collective ? "true" : "false");
        hints.set("romio_ds_write", "disable");
        hints.set("nc_var_align_size", "1");
    }
    const HintRules::FilePlace cell{comm_.size(), write ? "write" : "read",
                                    std::string(flash_io::name(file))};
    for (const auto& [key, value] : rules_.for_open(cell)) hints.set(key, value);
    return t;
}

void Runner::write_file(std::int64_t repetition, std::int64_t dump, File file) {
    FileTransfer t = task(file, true, repetition, dump);
    carry_out(t);
}

Status Runner::put_header(const FileTransfer& t) {
    ArrayFile& open = *t.open;
    // Where this rank's blocks begin; each rank of the original knows the numbers of all.
    const std::int64_t first = comm_.sum_below(geometry_.blocks_of(comm_.rank()));
    if (first != geometry_.first_block(comm_.rank())) {
        return io_error("count blocks", open.path(), "the ranks do not agree on their blocks");
    }
    posted_.clear();
    if (buffered(t)) {
        const std::int64_t each = mesh_.elements(t.file) * 4;
        const auto count = static_cast<std::int64_t>(variables_of(t.file).size());
        if (auto attached = open.attach_buffer(each * count); !attached) return attached;
    }
    for (std::size_t v = 0; v < t.definition.contents.size(); ++v) {
        const Field field = t.definition.contents[v].field;
        if (field == Field::unknown) continue;
        const ArrayType type = t.definition.schema.variables[v].type;
        posted_.push_back(is_header(field) ? header_bytes(t.definition, v, geometry_)
                                           : mesh_.tree_bytes(field, type));
        if (auto put = put_variable(t, v, posted_.back()); !put) return put;
    }
    return {};
}

Status Runner::put_unknowns(const FileTransfer& t) {
    ArrayFile& open = *t.open;
    std::size_t slot = 0;
    const std::int64_t elements = mesh_.elements(t.file);
    const auto bytes = static_cast<std::size_t>(elements * bytes_of(real_of(t.file)));
    for (std::size_t v = 0; v < t.definition.contents.size(); ++v) {
        const auto [field, unknown] = t.definition.contents[v];
        if (field != Field::unknown) continue;
        if (in_place(t)) {
            const Slab share = t.definition.schema.share(v, comm_.rank());
            auto put =
                open.put_from(v, share, std::as_bytes(mesh_.unknowns()), mesh_.interior(unknown));
            if (!put) return put;
            continue;
        }
        // Only what is posted and not copied by the library needs separate memory.
        const bool keeps = setup_.nonblocking && t.file == File::checkpoint;
        auto memory = memory_.bytes().subspan(keeps ? slot++ * bytes : 0, bytes);
        switch (t.file) {
            case File::checkpoint:
                mesh_.pack(unknown, as<double>(memory, elements));
                break;
            case File::centred:
                mesh_.pack(unknown, as<float>(memory, elements));
                break;
            case File::corner:
                mesh_.interpolate(unknown, as<float>(memory, elements));
                break;
        }
        if (auto put = put_variable(t, v, memory); !put) return put;
    }
    if (!setup_.nonblocking) return {};
    if (auto waited = open.wait(); !waited) return waited;
    return buffered(t) ? open.detach_buffer() : Status{};
}

Status Runner::put_variable(const FileTransfer& t, std::size_t variable,
                            std::span<const std::byte> data) {
    ArrayFile& open = *t.open;
    const Slab share = t.definition.schema.share(variable, comm_.rank());
    if (!setup_.nonblocking) return open.put(variable, share, data);
    const bool unknown = t.definition.contents[variable].field == Field::unknown;
    return open.post_put(variable, share, data,
                         unknown && buffered(t) ? Posted::buffered : Posted::borrowed);
}

void Runner::read_file(std::int64_t repetition, std::int64_t dump, File file) {
    FileTransfer t = task(file, false, repetition, dump);
    // What is not read must not look right.
    std::memset(memory_.bytes().data(), 0, memory_.size());
    carry_out(t);
}

/// A restart also reads what the file has in addition to the blocks.
Status Runner::get_attributes(FileTransfer& t) {
    if (!library_.capabilities().attributes) return {};
    for (const auto& expected : t.definition.schema.attributes) {
        auto attribute = t.open->attribute(expected);
        if (!attribute) return attribute.error();
        t.found.push_back(std::move(*attribute));
    }
    return {};
}

Slab Runner::source(const FileTransfer& t, std::size_t variable) const {
    const ArraySchema& schema = t.definition.schema;
    // Every rank reads the header.
    if (!schema.shared_out(variable)) return schema.whole(variable);
    const std::int64_t begin = geometry_.first_block(t.owners.first);
    return schema.rows(variable, begin,
                       geometry_.first_block(t.owners.first + t.owners.count) - begin);
}

Status Runner::get_all(const FileTransfer& t) {
    ArrayFile& open = *t.open;
    auto memory = memory_.bytes();
    const ArraySchema& schema = t.definition.schema;
    for (std::size_t v = 0; v < schema.variables.size(); ++v) {
        const Slab slab = source(t, v);
        const auto bytes = static_cast<std::size_t>(schema.bytes(v, slab));
        const auto piece = memory.first(bytes);
        auto got = setup_.nonblocking ? open.post_get(v, slab, piece) : open.get(v, slab, piece);
        if (!got) return got;
        memory = memory.subspan(bytes);
    }
    return setup_.nonblocking ? open.wait() : Status{};
}

std::int64_t Runner::verify(const FileTransfer& t, Outcome& mine) const {
    session_.progress.call("verify");
    for (std::size_t i = 0; i < t.found.size(); ++i) {
        const ArrayAttribute& right = t.definition.schema.attributes[i];
        if (t.found[i].value == right.value) continue;
        note_wrong(mine, session_, t.request.path,
                   fmt::format("attribute {}: expected {}, found {}", right.name,
                               right.value_text(), t.found[i].value_text()),
                   1);
    }
    auto memory = memory_.bytes();
    const ArraySchema& schema = t.definition.schema;
    const Parameters& p = setup_.parameters;
    const Values right(geometry_, p.fill, pass(t.repetition, t.dump), p.data.shape());
    const std::int64_t first = geometry_.first_block(t.owners.first);
    std::int64_t verified = 0;
    for (std::size_t v = 0; v < schema.variables.size(); ++v) {
        const Slab slab = source(t, v);
        const auto bytes = static_cast<std::size_t>(schema.bytes(v, slab));
        const auto wrong =
            flash_io::check(t.definition, v, geometry_, right, first, memory.first(bytes));
        // Of several files, the one that this rank's blocks begin in.
        const std::string& path = t.own_paths.empty() ? t.request.path : t.own_paths.front();
        if (wrong) note_wrong(mine, session_, path, wrong->first, wrong->elements);
        verified += static_cast<std::int64_t>(bytes);
        memory = memory.subspan(bytes);
        session_.progress.beat();
    }
    return verified;
}

VisitSteps Runner::steps(FileTransfer& t, FileRun& run, Outcome& mine) {
    VisitSteps steps;
    steps.opening = {{t.write ? "header" : "open", [this, &t]() -> Status {
                          auto made = t.write ? library_.create(comm_, t.request)
                                              : library_.open(comm_, t.request);
                          if (!made) return std::move(made.error());
                          t.open = std::move(*made);
                          if (setup_.parameters.storage.times_calls()) {
                              t.open->time_calls_into(&t.times);
                          }
                          return t.write ? put_header(t) : get_attributes(t);
                      }}};
    if (!t.write) steps.confirm = [&t] { return t.open->confirm(); };
    steps.moving = {t.write ? "unknown" : "data",
                    [this, &t] { return t.write ? put_unknowns(t) : get_all(t); }};
    if (t.write && setup_.parameters.syncs()) steps.sync.work = [&t] { return t.open->sync(); };
    steps.ask = [&t, &run] {
        run.granted = t.open->granted_hints();
        run.library = t.open->describe();
    };
    steps.close.work = [&t] { return t.open->close(); };
    steps.bytes = [this, &t, &mine](bool fine) -> VisitSteps::Bytes {
        if (fine && t.write) {
            if (const auto overhead = t.open->overhead_bytes()) {
                t.overhead = *overhead;
            } else {
                mine.fail(session_.signed_error(overhead.error()));
            }
        }
        const std::int64_t moved = t.overhead + (t.open ? t.open->totals().bytes : 0);
        return t.write ? VisitSteps::Bytes{0, moved} : VisitSteps::Bytes{moved, 0};
    };
    return steps;
}

Result<Footprint> Runner::size_of_files(const FileTransfer& t) const {
    const ArrayCapabilities can = library_.capabilities();
    if (can.shared_file && !comm_.is_root()) return Footprint{};
    const ArraySchema& schema = t.request.schema;
    return sized(session_, t.own_paths,
                 can.shared_file ? schema.bytes() : schema.share_bytes(comm_.rank()), false);
}

Runner::OneFile Runner::visit(FileTransfer& t) {
    const auto& p = setup_.parameters;
    const ArrayCapabilities can = library_.capabilities();
    FileRun run;
    run.file = t.file;
    run.repetition = t.repetition;
    run.dump = t.dump;
    run.path = t.request.path;
    run.writing = t.write;
    run.of_arrays = true;
    run.asked = t.request.hints;
    Cold cold({comm_, job_.topology, target_.file_system(), can.real_files}, p.storage.cache,
              [this, &t](const Cold::Look& look) {
                  for (const auto& path : t.own_paths) {
                      look(path);
                      session_.progress.beat();
                  }
              });
    if (!t.write) cold.before(job_.topology.is_node_leader() || !can.shared_file);
    Outcome mine;
    VisitSteps all = steps(t, run, mine);
    all.cold = &cold;
    Outcome of_parts;
    const Visited seen = effio::carry_out(
        {session_, comm_, job_.topology, common_, target_.file_system()}, all, of_parts);
    run.add(comm_, seen, p.storage.times_calls() ? &t.times : nullptr);
    // A library may report a successful read of data that the file does not contain, so the size
    // is checked. Files of single writers, which any number of ranks may read, are compared with
    // their layout when they are opened.
    if (seen.fine && can.real_files && (t.write || can.shared_file)) {
        auto size = size_of_files(t);
        if (!size) mine.fail(session_.signed_error(std::move(size.error())));
        if (t.write) run.on_disk = (size ? *size : Footprint{}).over(comm_);
    }
    const ArrayTotals totals = t.open ? t.open->totals() : ArrayTotals{};
    run.calls = comm_.sum(totals.calls);
    run.data_bytes = comm_.sum(totals.bytes);
    run.add_totals(comm_, totals);
    run.verified_bytes = comm_.sum(seen.fine && !t.write ? verify(t, mine) : 0);
    Agreed agreed = seen.agreed;
    if (!agreed.failed()) {
        mine.interrupted = agreed.interrupted;
        agreed = agree(session_, comm_, mine);
    }
    run.add(agreed);
    return {std::move(run), std::move(agreed)};
}

void Runner::carry_out(FileTransfer& t) {
    Progress::Step step;
    step.title =
        fmt::format("{} {} {:04d}", t.write ? "write" : "read", flash_io::name(t.file), t.dump);
    step.path = t.request.path;
    step.allowance_seconds = static_cast<double>(t.definition.schema.bytes()) / slowest_storage;
    step.plan_done = static_cast<double>(files_done_++) /
                     static_cast<double>(files_of_repetition_ * until_ci_.expected());
    step.ranks = comm_.size();
    session_.progress.begin(step);

    const auto [result, agreed] = visit(t);
    loop_.note(agreed);
    repetitions_.back().add(result);
    notify_([&result = result](Observer& o) { o.file(result); });
}

}  // namespace effio::flash_io
