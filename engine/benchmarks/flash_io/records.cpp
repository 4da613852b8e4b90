// SPDX-License-Identifier: BSD-3-Clause
// FLASH I/O's events as lines of the result file.
#include <iterator>

#include "benchmarks/flash_io/views.hpp"
#include "benchmarks/round_figures.hpp"

namespace effio::flash_io {
namespace {

class RecordView : public Observer {
  public:
    explicit RecordView(Recorder& recorder) : recorder_(recorder) {}

    void start(const Setup& setup) override { setup_ = setup; }

    void file(const FileRun& run) override { recorder_.measurement(to_measurement(run, setup_)); }

    void end(const Setup&, const std::vector<Repetition>& repetitions) override {
        for (const auto& r : repetitions) {
            if (r.complete) repetition(r);
        }
        const Summary summary(repetitions);
        if (!repetitions.empty() && repetitions.back().last_in_time) {
            left_out_ = setup_.parameters.repetitions - std::ssize(repetitions);
        }
        const std::string none = setup_.parameters.write ? "no repetition is complete"
                                                         : "nothing was written (--write=off)";
        mean("flash_io", summary.rates, none);
        if (setup_.parameters.fsync) {
            mean("flash_io_synced", summary.synced_rates, none);
        } else {
            mean("flash_io_synced", {}, "files were not flushed to storage (--fsync=off)");
        }
        if (setup_.parameters.read != ReadBack::none) {
            mean("flash_io_restart", summary.read_rates, "no repetition is complete");
        }
    }

  private:
    Figure figure(const char* name, Metric metric) const {
        Figure f;
        f.benchmark = "flash-io";
        f.name = name;
        f.where =
            Json{{"ranks", setup_.ranks}, {"backend", setup_.parameters.storage.backend.name}};
        f.metric = std::move(metric);
        return f;
    }

    void repetition(const Repetition& r) {
        Figure f = figure("repetition_bandwidth", Metric::rate(r.rate()));
        f.where["repetition"] = number_of(r.number);
        Json files = Json::object();
        for (const File file : all_files) {
            const auto& part = r.parts[index(file)];
            if (part.files == 0) continue;
            files[std::string(name(file))] =
                Json{{"files", part.files},           {"bytes", part.bytes},
                     {"hole_bytes", part.hole_bytes}, {"seconds", part.seconds},
                     {"header_seconds", part.header}, {"unknown_seconds", part.unknown},
                     {"sync_seconds", part.sync},     {"close_seconds", part.close},
                     {"total_seconds", part.total}};
        }
        f.detail = Json{{"files", std::move(files)},
                        {"bytes", r.bytes()},
                        {"seconds", r.seconds()},
                        {"total_seconds", r.total_seconds()},
                        {"synced_bandwidth_bytes_per_second", r.synced_rate()},
                        {"compute_seconds", r.compute_seconds},
                        {"io_fraction", r.io_fraction()},
                        {"read_bytes", r.read_bytes},
                        {"read_seconds", r.read_seconds},
                        {"verified_bytes", r.verified_bytes}};
        recorder_.figure(f);
    }

    void mean(const char* name, std::span<const double> rates, const std::string& missing) {
        Figure f = mean_of(figure(name, Metric::rate(0)), rates, missing);
        if (left_out_ > 0) f.detail["repetitions_left_out_by_time_limit"] = left_out_;
        recorder_.figure(f);
    }

    Recorder& recorder_;
    Setup setup_;
    std::int64_t left_out_ = 0;  ///< repetitions
};

}  // namespace

Measurement to_measurement(const FileRun& run, const Setup& setup) {
    Measurement m = run.to_measurement();
    m.benchmark = "flash-io";
    m.pattern = name(run.file);
    m.access = run.writing ? "write" : "read";
    m.where = Json{{"backend", setup.parameters.storage.backend.name},
                   {"dump", run.dump},
                   {"cells", setup.parameters.cells},
                   {"dimensions", setup.parameters.dimensions}};
    m.ranks = setup.ranks;
    m.nodes = setup.nodes;
    m.repetition = run.repetition;
    return m;
}

Json describe(const Setup& s) {
    return Json{
        {"library", s.library},
        {"writers", s.writers},
        {"total_blocks", s.total_blocks},
        {"dump_bytes", s.dump_bytes},
        {"structure", s.parameters.structure_in_force() == Structure::hdf5 ? "hdf5" : "netcdf"},
        {"calls", s.nonblocking ? "nonblocking" : "blocking"},
        {"cap_bytes", s.cap_bytes},
        {"cap_reason", s.cap_reason}};
}

std::unique_ptr<Observer> make_record_view(Recorder& recorder) {
    return std::make_unique<RecordView>(recorder);
}

}  // namespace effio::flash_io
