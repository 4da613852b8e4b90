// SPDX-License-Identifier: BSD-3-Clause
// FLASH I/O's events as lines of the result file.
#include <iterator>

#include "benchmarks/flash_io/views.hpp"
#include "core/fields.hpp"
#include "frame/round_figures.hpp"
#include "frame/until_ci.hpp"

namespace effio::flash_io {
namespace {

const Fields<Setup>& place_fields() {
    using S = Setup;
    static const Fields<S> fields{{"ranks", Unit::count, "of the run", &S::ranks},
                                  {"backend", Unit::word, "that wrote the files",
                                   [](const S& s) { return s.parameters.storage.backend.name; }}};
    return fields;
}

/// What one file's measurement is made from.
struct OfFile {
    const FileRun& run;
    const Setup& setup;
};

const Fields<OfFile>& file_place_fields() {
    using F = OfFile;
    static const Fields<F> fields{
        {"backend", Unit::word, "that wrote the file",
         [](const F& f) { return f.setup.parameters.storage.backend.name; }},
        {"dump", Unit::count, "from 0", [](const F& f) { return f.run.dump; }},
        {"cells", Unit::count, "of a block in each direction",
         [](const F& f) { return f.setup.parameters.cells; }},
        {"dimensions", Unit::count, "dimensions of the mesh",
         [](const F& f) { return f.setup.parameters.dimensions; }}};
    return fields;
}

const Fields<Repetition::Part>& part_fields() {
    using P = Repetition::Part;
    static const Fields<P> fields{
        {"files", Unit::count, "of this kind", &P::files},
        {"bytes", Unit::bytes, "written, headers not counted", &P::bytes},
        {"hole_bytes", Unit::bytes, "of the files, left empty by alignment", &P::hole_bytes},
        {"seconds", Unit::seconds, "that the definition counts", &P::seconds},
        {"header_seconds", Unit::seconds, "for the header", &P::header},
        {"unknown_seconds", Unit::seconds, "for the unknowns of the mesh", &P::unknown},
        {"sync_seconds", Unit::seconds, "for the flush to storage", &P::sync},
        {"close_seconds", Unit::seconds, "for the close", &P::close},
        {"total_seconds", Unit::seconds, "with the flush", &P::total}};
    return fields;
}

Json parts_of(const Repetition& r) {
    Json files = Json::object();
    for (const File file : all_files) {
        const auto& part = r.parts[index(file)];
        if (part.files > 0) files[std::string(name(file))] = part_fields().json(part);
    }
    return files;
}

const Fields<Repetition>& repetition_fields() {
    using R = Repetition;
    static const Fields<R> fields{
        effio::Field<R>("files", part_fields(), "by kind of file", parts_of).by_name(),
        {"bytes", Unit::bytes, "written, headers not counted", &R::bytes},
        {"seconds", Unit::seconds, "that the definition counts", &R::seconds},
        {"total_seconds", Unit::seconds, "with the flush", &R::total_seconds},
        {"synced_bandwidth_bytes_per_second", Unit::bytes_per_second,
         "bytes over the time with the flush", &R::synced_rate},
        {"compute_seconds", Unit::seconds, "between the dumps, longest of the ranks",
         &R::compute_seconds},
        {"io_fraction", Unit::number, "time of I/O over that of I/O and computing",
         &R::io_fraction},
        {"read_bytes", Unit::bytes, "of the restart", &R::read_bytes},
        {"read_seconds", Unit::seconds, "of the restart", &R::read_seconds},
        {"verified_bytes", Unit::bytes, "that were compared", &R::verified_bytes}};
    return fields;
}

const Fields<Setup>& setup_fields() {
    using S = Setup;
    static const Fields<S> fields{
        {"library", Unit::word, "name and version", &S::library},
        {"writers", Unit::count, "ranks that write or wrote the files", &S::writers},
        {"total_blocks", Unit::count, "of all ranks", &S::total_blocks},
        {"dump_bytes", Unit::bytes, "of the files of a dump, headers not counted", &S::dump_bytes},
        {"structure", Unit::word, "of the files: hdf5 or netcdf",
         [](const S& s) {
             return s.parameters.structure_in_force() == Structure::hdf5 ? "hdf5" : "netcdf";
         }},
        {"calls", Unit::word, "blocking or nonblocking",
         [](const S& s) { return s.nonblocking ? "nonblocking" : "blocking"; }},
        {"cap_bytes", Unit::bytes, "that the run may use", &S::cap_bytes},
        {"cap_reason", Unit::word, "source of this limit", &S::cap_reason}};
    return fields;
}

FieldInfo left_out_field() {
    FieldInfo field{"repetitions_left_out_by_time_limit", Unit::count, "by --time-limit"};
    field.sometimes = true;
    return field;
}

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
        f.where = place_of(setup_);
        f.metric = std::move(metric);
        return f;
    }

    void repetition(const Repetition& r) {
        Figure f = figure("repetition_bandwidth", Metric::rate(r.rate()));
        f.where["repetition"] = number_of(r.number);
        f.detail = repetition_fields().json(r);
        recorder_.figure(f);
    }

    void mean(const char* name, std::span<const double> rates, const std::string& missing) {
        Figure f = mean_of(figure(name, Metric::rate(0)), rates, missing);
        if (left_out_ > 0) f.detail[left_out_field().name] = left_out_;
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
    m.where = file_place_fields().json({run, setup});
    m.ranks = setup.ranks;
    m.nodes = setup.nodes;
    m.repetition = run.repetition;
    return m;
}

Json place_of(const Setup& setup) {
    return place_fields().json(setup);
}

Json describe(const Setup& setup) {
    return setup_fields().json(setup);
}

ResultInfo result_info() {
    FieldInfos of_repetition = place_fields().infos();
    of_repetition.push_back({"repetition", Unit::count, "from 1"});
    ResultInfo info{file_place_fields().infos(),
                    visit_fields().infos(),
                    {},
                    {object_of("flash-io", "what a file holds, and limits of the run",
                               setup_fields().infos())}};
    info.figures.push_back({"repetition_bandwidth", Unit::bytes_per_second,
                            "of one repetition, by the definition", std::move(of_repetition),
                            repetition_fields().infos()});
    const auto mean = [&](const char* name, const char* meaning) {
        info.figures.push_back({name,
                                Unit::bytes_per_second,
                                meaning,
                                place_fields().infos(),
                                {interval_field(), left_out_field()}});
    };
    mean("flash_io", "mean over the repetitions, by the definition");
    mean("flash_io_synced", "the same with the flush to storage");
    mean("flash_io_restart", "of reading back");
    info.figures.push_back(until_ci_info());
    return info;
}

std::unique_ptr<Observer> make_record_view(Recorder& recorder) {
    return std::make_unique<RecordView>(recorder);
}

}  // namespace effio::flash_io
