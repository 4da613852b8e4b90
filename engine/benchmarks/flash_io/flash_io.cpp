// SPDX-License-Identifier: BSD-3-Clause
#include "benchmarks/flash_io/flash_io.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "benchmarks/flash_io/parameters.hpp"
#include "benchmarks/flash_io/plan.hpp"
#include "benchmarks/flash_io/runner.hpp"
#include "benchmarks/flash_io/views.hpp"
#include "frame/benchmark_with.hpp"
#include "frame/storage_run.hpp"
#include "parallel/from_root.hpp"

namespace effio::flash_io {
namespace {

/// Files of more writers than are given would be read as if they were all.
Status check_number_of_files(const Comm& comm, const Target::Request& request) {
    const auto counted = from_root(comm, [&]() -> Result<std::int64_t> {
        for (const FileSet& files : request.files) {
            const std::string next = request.directory + "/" + files.name(files.count);
            if (!files.indexed || !std::filesystem::exists(next)) continue;
            return usage_error(
                fmt::format("{} is a file of one more than {}: say by --writers how "
                            "many ranks wrote the files",
                            next, count_of(files.count, "writer")));
        }
        return std::int64_t{0};
    });
    return counted ? Status{} : Status(counted.error());
}

class FlashIo : public BenchmarkWith<Parameters> {
  public:
    explicit FlashIo(std::unique_ptr<Observer> view) : view_(std::move(view)) {}

    std::string_view name() const override { return "flash-io"; }
    std::string_view purpose() const override {
        return "FLASH I/O: checkpoint and plot files of a block-structured simulation, 24 "
               "variables "
               "through PnetCDF, HDF5 or any other array backend";
    }
    std::string examples() const override {
        return "Examples:\n"
               "  mpiexec -n 64 effio-mpi flash-io --cells 16 --dir /scratch/me\n"
               "      the published size: 4.5 GiB in three files\n"
               "  mpiexec -n 4 effio-mpi flash-io --backend hdf5 --fill index --read checkpoint\n"
               "      through HDF5, read back as at a restart, every value checked\n"
               "  mpiexec -n 4 effio-mpi flash-io --write off --fill index --read checkpoint\n"
               "      reads what an earlier run left with --keep; --writers N: which had N ranks\n"
               "  mpiexec -n 4 effio-mpi flash-io --dumps 5 --compute 10s\n"
               "      a series of dumps with computing between\n"
               "  effio-mpi flash-io --cells 16 --plan --plan-ranks 64\n"
               "      sizes and memory, without doing anything";
    }
    ResultInfo results() const override { return flash_io::result_info(); }
    Result<Plan> plan(const PlanInput& input) const override {
        return make_plan(parameters_, input);
    }
    std::vector<std::string> needed_directories() const override {
        return parameters_.storage.needed_directories();
    }
    Status fits(int ranks) const override;
    Ending run(Job& job) override;

  private:
    std::int64_t dump_bytes(int writers) const;
    StorageNeeds needs(int writers) const;
    Status check_library(const ArrayLibrary& library) const;
    Setup set_up(const Job& job, const ArrayLibrary& library) const;
    std::vector<FileSet> files(const ArrayLibrary& library, int writers) const;
    static HintVocabulary hint_vocabulary(int ranks);

    std::unique_ptr<Observer> view_;
};

Status FlashIo::check_library(const ArrayLibrary& library) const {
    const ArrayCapabilities can = library.capabilities();
    return require(
        library.name(),
        {{can.nonblocking || parameters_.calls != Calls::nonblocking, "nonblocking calls"},
         {can.memory_box || parameters_.memory != Memory::in_place,
          "taking data out of a larger array (--memory=in-place)"},
         {can.stores_data || parameters_.read == ReadBack::none, "reading back (--read)"}});
}

std::int64_t FlashIo::dump_bytes(int writers) const {
    std::int64_t bytes = 0;
    for (const File file : parameters_.files_in_order()) {
        bytes += define(parameters_.geometry(), file, parameters_.structure_in_force(), writers)
                     .schema.bytes();
    }
    return bytes;
}

StorageNeeds FlashIo::needs(int writers) const {
    StorageNeeds needs{0, "the dumps need", "use fewer --dumps, --blocks or --cells"};
    if (parameters_.write) {
        needs.bytes = static_cast<double>(dump_bytes(writers) * parameters_.dumps);
    }
    return needs;
}

Status FlashIo::fits(int ranks) const {
    const int writers = parameters_.writers_of(ranks);
    if (auto size = check_size(parameters_.geometry(), std::max(ranks, writers), parameters_.dumps);
        !size) {
        return size;
    }
    return check_given_cap(parameters_.storage.max_bytes,
                           !is_model(parameters_.storage.backend.name), needs(writers));
}

Setup FlashIo::set_up(const Job& job, const ArrayLibrary& library) const {
    Setup s;
    s.parameters = parameters_;
    s.ranks = job.session.comm.size();
    s.nodes = job.topology.nodes;
    s.writers = parameters_.writers_of(s.ranks);
    s.nonblocking = library.capabilities().nonblocking && parameters_.calls != Calls::blocking;
    s.library = library.version().empty() ? std::string(library.name()) : library.version();
    const std::string& directory = parameters_.storage.directory;
    s.base_name = (directory == "." ? "" : directory + "/") + parameters_.prefix;
    s.total_blocks = parameters_.geometry().first_block(s.writers);
    s.dump_bytes = dump_bytes(s.writers);
    s.result_path = job.session.results.path();
    return s;
}

std::vector<FileSet> FlashIo::files(const ArrayLibrary& library, int writers) const {
    std::vector<FileSet> sets;
    for (int dump = 0; dump < parameters_.dumps; ++dump) {
        for (const File file : parameters_.files_in_order()) {
            // A restart needs the last checkpoint only.
            const bool restart = file == File::checkpoint && dump == parameters_.dumps - 1;
            if (!parameters_.write && parameters_.read == ReadBack::checkpoint && !restart)
                continue;
            sets.push_back(
                library.files(file_name(parameters_.prefix, library.name(), file, dump), writers));
        }
    }
    return sets;
}

HintVocabulary FlashIo::hint_vocabulary(int ranks) {
    HintVocabulary words = vocabulary_of_mpi();
    words.processes = {ranks};
    words.accesses = {"write", "read"};
    for (const File file : all_files) words.patterns.emplace_back(flash_io::name(file));
    return words;
}

Ending FlashIo::run(Job& job) {
    Session& session = job.session;
    const auto library = make_arrays(session, parameters_.storage.backend, job.room);
    if (auto fits = check_library(*library); !fits) return Ending::from(fits.error());
    const int ranks = session.comm.size();
    if (auto fits = check_size(parameters_.geometry(),
                               std::max(ranks, parameters_.writers_of(ranks)), parameters_.dumps);
        !fits) {
        return Ending::from(fits.error());
    }
    Setup setup = set_up(job, *library);
    const auto rules = read_hint_rules(session, parameters_.storage, hint_vocabulary(setup.ranks));
    if (!rules) return Ending::from(rules.error());

    Target::Request request = request_of(parameters_.storage);
    request.only_read = !parameters_.write;
    request.files = files(*library, setup.writers);
    if (!parameters_.write) {
        if (auto all = check_number_of_files(session.comm, request); !all) {
            return Ending::from(all.error());
        }
    }
    auto run = StorageRun::begin(job, std::move(request), library->capabilities().real_files,
                                 parameters_.storage.cache, needs(setup.writers));
    if (!run) return Ending::from(run.error());
    setup.cap_bytes = run->target().cap().bytes;
    setup.cap_reason = run->target().cap().why;

    Json extra;
    extra["flash-io"] = describe(setup);
    extra["backend"] = describe_backend(*library);
    run->announce(job, std::move(extra));

    const auto records = make_record_view(session.results.recorder());
    const auto console = make_console_view(session.console);
    const std::vector<Observer*> observers{records.get(), console.get(), view_.get()};
    return run->end(session, library->storage(),
                    Runner(job, setup, *library, run->target(), *rules, observers).run());
}

}  // namespace

std::unique_ptr<Benchmark> make_benchmark(std::unique_ptr<Observer> view) {
    return std::make_unique<FlashIo>(std::move(view));
}

}  // namespace effio::flash_io
