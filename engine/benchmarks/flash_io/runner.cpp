// SPDX-License-Identifier: BSD-3-Clause
#include "benchmarks/flash_io/runner.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "parallel/pace.hpp"
#include "storage/cache_watch.hpp"
#include "storage/posix_calls.hpp"

namespace effio::flash_io {
namespace {

template <class T>
std::vector<std::byte> bytes_of_list(const std::vector<T>& values) {
    const auto bytes = std::as_bytes(std::span(values));
    return {bytes.begin(), bytes.end()};
}

/// As the file holds them.
std::vector<std::byte> reals(const std::vector<double>& values, ArrayType type) {
    if (type == ArrayType::real64) return bytes_of_list(values);
    return bytes_of_list(std::vector<float>(values.begin(), values.end()));
}

template <class T>
std::span<T> as(std::span<std::byte> memory, std::int64_t elements) {
    return {reinterpret_cast<T*>(memory.data()), static_cast<std::size_t>(elements)};
}

int find_partner(const Job& job, const Parameters& parameters) {
    if (parameters.reader == "same") return job.session.comm.rank();
    return NodeOrder(job.session.comm, job.topology).partner(Partner::shifted, 1, 0);
}

std::vector<FileDefinition> definitions_of(const Setup& setup) {
    std::vector<FileDefinition> all;
    for (const File file : all_files) {
        all.push_back(define(setup.parameters.geometry(), file,
                             setup.parameters.structure_in_force(), setup.ranks));
    }
    return all;
}

/// Space for one variable, for all that are posted at once, or for all that are read.
std::size_t memory_bytes(const Setup& setup, const Mesh& mesh,
                         const std::vector<FileDefinition>& definitions, int partner) {
    const std::int64_t checkpoint = mesh.elements(File::checkpoint) * 8;
    std::int64_t bytes =
        std::max({setup.nonblocking ? variable_count * checkpoint : checkpoint,
                  mesh.elements(File::centred) * 4, mesh.elements(File::corner) * 4});
    if (setup.parameters.read != "none") {
        for (const auto& d : definitions) {
            std::int64_t share = d.schema.share_bytes(partner);
            // Every rank reads the header.
            for (std::size_t v = 0; v < d.contents.size(); ++v) {
                if (is_header(d.contents[v].field) && partner != 0) share += d.schema.bytes(v);
            }
            bytes = std::max(bytes, share);
        }
    }
    return static_cast<std::size_t>(bytes);
}

}  // namespace

Runner::Runner(Job& job, const Setup& setup, ArrayLibrary& library, const Target& target,
               const HintRules& rules, std::vector<Observer*> observers)
    : job_(job),
      session_(job.session),
      comm_(job.session.comm),
      setup_(setup),
      library_(library),
      can_(library.capabilities()),
      target_(target),
      rules_(rules),
      observers_(std::move(observers)),
      geometry_(setup.parameters.geometry()),
      definitions_(definitions_of(setup)),
      mesh_(geometry_, geometry_.first_block(comm_.rank()), geometry_.blocks_of(comm_.rank())),
      partner_(find_partner(job, setup.parameters)),
      memory_(memory_bytes(setup, mesh_, definitions_, partner_)),
      scratch_(std::size_t{1} << 16, 1.0) {
    const auto& p = setup.parameters;
    const auto kinds = static_cast<std::int64_t>(p.files.size());
    const std::int64_t read = p.read == "all" ? p.dumps * kinds : p.read == "none" ? 0 : 1;
    files_total_ = p.repetitions * (p.dumps * kinds + read);
}

Ending Runner::run() {
    notify([&](Observer& o) { o.start(setup_); });
    for (std::int64_t i = 0; i < setup_.parameters.repetitions && !stopping_; ++i) {
        run_repetition(i);
    }
    notify([&](Observer& o) { o.end(setup_, repetitions_); });
    if (fatal_.error) return Ending::from(*fatal_.error);
    Ending ending;
    if (fatal_.interrupted) {
        ending.status = ExitCode::interrupted;
        ending.reason = "stopped by a signal; the files before it are measured completely";
    } else if (data_errors_ > 0) {
        ending.status = ExitCode::data_errors;
        ending.reason = fmt::format("{} wrong values in the data read back", data_errors_);
    }
    return ending;
}

void Runner::run_repetition(std::int64_t number) {
    const auto& p = setup_.parameters;
    repetitions_.emplace_back().number = number;
    compute_seconds_ = 0;
    const auto chosen = p.files_in_order();
    for (std::int64_t dump = 0; dump < p.dumps; ++dump) {
        if (dump > 0) compute();
        // Constant values are the same in every dump.
        if (p.fill_in_force() == Fill::index || number + dump == 0) {
            mesh_.fill(Values(geometry_, p.fill_in_force(), number * p.dumps + dump));
        }
        for (const File file : chosen) {
            write_file(number, dump, file);
            if (stopping_) return;
        }
    }
    repetitions_.back().compute_seconds = comm_.max(compute_seconds_);
    for (std::int64_t dump = 0; dump < p.dumps; ++dump) {
        for (const File file : chosen) {
            const bool restart = file == File::checkpoint && dump == p.dumps - 1;
            if (p.read != "all" && !(p.read == "checkpoint" && restart)) continue;
            read_file(number, dump, file);
            if (stopping_) return;
        }
    }
    repetitions_.back().complete = true;
}

void Runner::compute() {
    const double seconds = setup_.parameters.compute.count;
    if (seconds <= 0) return;
    Progress::Step step;
    step.title = "compute";
    step.scheduled_seconds = seconds;
    step.ranks = comm_.size();
    session_.progress.begin(step);
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

Runner::Task Runner::task(File file, bool write, std::int64_t repetition, std::int64_t dump) const {
    const std::string name =
        file_name(setup_.parameters.prefix, library_.name(), file, static_cast<int>(dump));
    const int owner = write ? comm_.rank() : partner_;
    const FileSet files = library_.files(name, comm_.size());
    Task t{file,
           write,
           repetition,
           dump,
           target_.path(name),
           definitions_[index(file)],
           {},
           owner,
           target_.path(files, files.indexed ? owner : 0)};
    if (library_.name() == "pnetcdf" && setup_.parameters.kernel_hints == "on") {
        const bool together = setup_.parameters.access == "collective";
        t.hints.set("romio_no_indep_rw", together ? "true" : "false");
        t.hints.set("romio_ds_write", "disable");
        t.hints.set("nc_var_align_size", "1");
    }
    const HintRules::Cell cell{comm_.size(), write ? "write" : "read",
                               std::string(flash_io::name(file))};
    for (const auto& [key, value] : rules_.for_open(cell)) t.hints.set(key, value);
    return t;
}

Values Runner::values(const Task& t) const {
    const auto& p = setup_.parameters;
    return {geometry_, p.fill_in_force(), t.repetition * p.dumps + t.dump};
}

void Runner::begin_step(const Task& t) {
    Progress::Step step;
    step.title =
        fmt::format("{} {} {:04d}", t.write ? "write" : "read", flash_io::name(t.file), t.dump);
    step.path = t.path;
    step.allowance_seconds = static_cast<double>(t.definition.schema.bytes()) / slowest_storage;
    step.plan_done = static_cast<double>(files_done_++) / static_cast<double>(files_total_);
    step.ranks = comm_.size();
    session_.progress.begin(step);
}

void Runner::write_file(std::int64_t repetition, std::int64_t dump, File file) {
    Task t = task(file, true, repetition, dump);
    begin_step(t);
    Histogram times;
    CacheWatch watch(comm_, job_.topology, target_.file_system());
    watch.begin();
    const bool timed = setup_.parameters.storage.times_calls();
    Phases phases(session_, comm_);
    bool fine = phases.part("header", [&] { return put_header(t, timed ? &times : nullptr); }) &&
                phases.part("unknown", [&] { return put_unknowns(t); });
    if (fine && setup_.parameters.syncs()) {
        fine = phases.part("sync", [&] {
            session_.progress.call("sync");
            return t.open->sync();
        });
    }
    if (fine) {
        note_library(t);
        fine = phases.part("close", [&] { return t.open->close(); });
    }
    FileRun result;
    Outcome mine;
    std::int64_t overhead = 0;
    if (fine) {
        // MPI libraries return success for data that never arrived (full disks).
        if (auto sized = check_size(t); !sized) mine.fail(session_.signed_error(sized.error()));
        if (const auto beside = t.open->overhead_bytes(); beside) overhead = *beside;
    }
    result.data_bytes = comm_.sum(t.open ? t.open->totals().bytes : std::int64_t{0});
    result.bytes = result.data_bytes + comm_.sum(overhead);
    auto cache = watch.end(result.bytes, false);
    finish(t, phases, times, std::move(cache), std::move(mine), std::move(result));
}

Status Runner::put_header(Task& t, Histogram* times) {
    // Where this rank's blocks begin; each rank of the original knows the numbers of all.
    const std::int64_t first = comm_.sum_below(geometry_.blocks_of(comm_.rank()));
    const std::vector<std::int32_t> ids = mesh_.global_ids();
    auto made = library_.create(
        comm_, {t.path, t.definition.schema, t.hints, setup_.parameters.array_access(), false});
    if (!made) return made.error();
    t.open = std::move(*made);
    t.open->time_calls_into(times);
    posted_.clear();
    if (buffered(t)) {
        const std::int64_t each = mesh_.elements(t.file) * 4;
        const auto count = static_cast<std::int64_t>(variables_of(t.file).size());
        if (auto attached = t.open->attach_buffer(each * count); !attached) return attached;
    }
    for (std::size_t v = 0; v < t.definition.contents.size(); ++v) {
        const Field field = t.definition.contents[v].field;
        if (field == Field::unknown) continue;
        const ArrayType type = t.definition.schema.variables[v].type;
        if (is_header(field)) {
            posted_.push_back(header_bytes(t.definition, v, geometry_));
        } else if (field == Field::global_ids) {
            posted_.push_back(bytes_of_list(ids));
        } else if (type == ArrayType::int32) {
            posted_.push_back(bytes_of_list(mesh_.whole(field)));
        } else {
            posted_.push_back(reals(mesh_.real(field), type));
        }
        if (auto put = put_variable(t, v, posted_.back()); !put) return put;
    }
    if (first == geometry_.first_block(comm_.rank())) return {};
    return io_error("count blocks", t.path, "the ranks do not agree on their blocks");
}

Status Runner::put_unknowns(Task& t) {
    std::size_t slot = 0;
    const std::int64_t elements = mesh_.elements(t.file);
    const auto bytes = static_cast<std::size_t>(elements * bytes_of(real_of(t.file)));
    for (std::size_t v = 0; v < t.definition.contents.size(); ++v) {
        const auto [field, unknown] = t.definition.contents[v];
        if (field != Field::unknown) continue;
        if (in_place(t)) {
            const Slab share = t.definition.schema.share(v, comm_.rank());
            const auto put = t.open->put_from(v, share, std::as_bytes(mesh_.unknowns()),
                                              mesh_.interior(unknown));
            if (!put) return put;
            continue;
        }
        // Only what is posted and not copied by the library needs memory of its own.
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
    if (auto waited = t.open->wait(); !waited) return waited;
    return buffered(t) ? t.open->detach_buffer() : Status{};
}

Status Runner::put_variable(Task& t, std::size_t variable, std::span<const std::byte> data) {
    const Slab share = t.definition.schema.share(variable, comm_.rank());
    if (!setup_.nonblocking) return t.open->put(variable, share, data);
    const bool unknown = t.definition.contents[variable].field == Field::unknown;
    return t.open->post_put(variable, share, data,
                            unknown && buffered(t) ? Posted::buffered : Posted::borrowed);
}

Status Runner::check_size(const Task& t) const {
    if (!can_.real_files) return {};
    std::int64_t least = 0;
    if (!can_.shared_file) {
        least = t.definition.schema.share_bytes(comm_.rank());
    } else if (comm_.is_root()) {
        least = t.definition.schema.bytes();
    } else {
        return {};
    }
    const auto size = size_of(t.own_path);
    if (!size) return size.error();
    return *size < least ? too_short(t.own_path, *size, least) : Status{};
}

void Runner::read_file(std::int64_t repetition, std::int64_t dump, File file) {
    Task t = task(file, false, repetition, dump);
    begin_step(t);
    std::optional<double> resident;
    if (can_.real_files) {
        if (setup_.parameters.drop_cache && (job_.topology.is_node_leader() || !can_.shared_file)) {
            drop_from_cache(t.own_path);
        }
        comm_.barrier();
        resident = resident_fraction(t.own_path);
    }
    Histogram times;
    CacheWatch watch(comm_, job_.topology, target_.file_system());
    watch.begin();
    const auto memory = memory_.bytes();
    Phases phases(session_, comm_);
    bool fine = phases.part("open", [&]() -> Status {
        auto opened = library_.open(
            comm_, {t.path, t.definition.schema, t.hints, setup_.parameters.array_access(), false});
        if (!opened) return opened.error();
        t.open = std::move(*opened);
        if (setup_.parameters.storage.times_calls()) t.open->time_calls_into(&times);
        return {};
    });
    fine = fine && phases.part("data", [&] { return get_all(t, memory); });
    if (fine) {
        note_library(t);
        fine = phases.part("close", [&] { return t.open->close(); });
    }
    FileRun result;
    result.data_bytes = comm_.sum(t.open ? t.open->totals().bytes : std::int64_t{0});
    result.bytes = result.data_bytes;
    auto cache = watch.end(result.bytes, true);
    cache.resident_before = mean_over(comm_, resident);
    Outcome mine;
    if (fine) verify(t, memory, result, mine);
    finish(t, phases, times, std::move(cache), std::move(mine), std::move(result));
}

Status Runner::get_all(Task& t, std::span<std::byte> memory) {
    const ArraySchema& schema = t.definition.schema;
    for (std::size_t v = 0; v < schema.variables.size(); ++v) {
        const Slab slab = schema.shared_out(v) ? schema.share(v, t.owner) : schema.whole(v);
        const auto bytes = static_cast<std::size_t>(schema.bytes(v, slab));
        const auto piece = memory.first(bytes);
        const auto got =
            setup_.nonblocking ? t.open->post_get(v, slab, piece) : t.open->get(v, slab, piece);
        if (!got) return got;
        memory = memory.subspan(bytes);
    }
    return setup_.nonblocking ? t.open->wait() : Status{};
}

void Runner::verify(const Task& t, std::span<const std::byte> memory, FileRun& result,
                    Outcome& mine) {
    session_.progress.call("verify");
    const ArraySchema& schema = t.definition.schema;
    const Values right = values(t);
    for (std::size_t v = 0; v < schema.variables.size(); ++v) {
        const Slab slab = schema.shared_out(v) ? schema.share(v, t.owner) : schema.whole(v);
        const auto bytes = static_cast<std::size_t>(schema.bytes(v, slab));
        const auto wrong = flash_io::check(t.definition, v, geometry_, right,
                                           geometry_.first_block(t.owner), memory.first(bytes));
        if (wrong) {
            Error error = io_error("verify", t.own_path, wrong->first);
            error.exit_code = ExitCode::data_errors;
            mine.fail(session_.signed_error(std::move(error)));
            mine.error_count += wrong->elements - 1;
        }
        result.verified_bytes += static_cast<std::int64_t>(bytes);
        memory = memory.subspan(bytes);
        session_.progress.beat();
    }
}

void Runner::note_library(Task& t) const {
    t.granted = t.open->granted_hints();
    t.library = t.open->describe();
}

void Runner::finish(Task& t, const Phases& phases, const Histogram& times, CacheEvidence cache,
                    Outcome mine, FileRun result) {
    result.file = t.file;
    result.write = t.write;
    result.repetition = t.repetition;
    result.dump = t.dump;
    result.path = t.path;
    result.asked = t.hints;
    result.granted = t.granted;
    result.cache = std::move(cache);
    auto parts = phases.seconds();
    if (t.write) parts.emplace_back("by_definition", phases.total_without("sync"));
    result.seconds = spread_over(comm_, parts);
    result.verified_bytes = comm_.sum(result.verified_bytes);
    if (setup_.parameters.storage.times_calls()) result.call_times = merged_over(comm_, times);

    std::int64_t collective = 0;
    std::int64_t done = -1;
    if (t.open) {
        const ArrayTotals& totals = t.open->totals();
        result.calls = totals.calls;
        collective = totals.collective_calls;
        done = totals.done_collectively.value_or(-1);
        for (const auto& [mode, count] : totals.modes) t.library["modes"][mode] = count;
    }
    result.calls = comm_.sum(result.calls);
    t.library["collective_calls"] = comm_.sum(collective);
    if (comm_.min(done) >= 0) t.library["done_collectively"] = comm_.sum(done);
    result.library = std::move(t.library);

    Agreed agreed = phases.agreed();
    if (!agreed.failed()) {
        mine.interrupted = agreed.interrupted;
        agreed = agree(session_, comm_, mine);
        result.error_count = agreed.error_count;
    } else {
        result.error_count = std::max<std::int64_t>(agreed.error_count, 1);
    }
    if (agreed.error) {
        result.errors.push_back(*agreed.error);
        if (agreed.error->exit_code == ExitCode::data_errors) {
            data_errors_ += agreed.error_count;
        } else {
            result.valid = false;
            fatal_.error = agreed.error;
            stopping_ = true;
        }
    }
    if (agreed.interrupted) {
        fatal_.interrupted = true;
        stopping_ = true;
    }
    repetitions_.back().add(result);
    notify([&](Observer& o) { o.file(result); });
}

}  // namespace effio::flash_io
