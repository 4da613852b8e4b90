// SPDX-License-Identifier: BSD-3-Clause
#include "benchmarks/ssca3/ssca3.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <utility>

#include "core/pattern.hpp"

namespace effio::ssca3 {
namespace {

class Ssca3 : public study::StudyBenchmark<Parameters> {
  public:
    std::string_view name() const override { return "ssca3"; }
    std::string_view purpose() const override {
        return "Many small files in a chain of sensor processing (HPCS SSCA #3, data I/O mode): "
               "images stored, sequences retrieved, detections written";
    }
    std::string examples() const override {
        return "Examples:\n"
               "  effio-mpi ssca3 --dir /scratch/me --preset test1\n"
               "      2910 files by one process, as the reference\n"
               "  mpiexec -n 16 effio-mpi ssca3 --dir /scratch/me --preset test7GB\n"
               "      92634 files shared out over 16 ranks\n"
               "  mpiexec -n 16 effio-mpi ssca3 --dir /scratch/me --pipelines private\n"
               "      16 chains at once, each with its own files\n"
               "  effio-mpi ssca3 --dir /scratch/me --request 4B,4KiB,1MiB\n"
               "      what small requests cost; 4 bytes are the reference's";
    }

  protected:
    Result<study::Definition> define(int ranks) const override {
        return ssca3::define(parameters_, ranks);
    }
};

/// How the work of the chains falls to the ranks.
struct Dealing {
    std::int64_t chains = 1;
    std::int64_t ranks = 1;  ///< of a chain

    std::int64_t chain(int rank) const { return ranks == 1 ? rank : 0; }
    /// This rank's share of `count` things of a chain one after the other.
    std::int64_t share(int rank, std::int64_t count) const {
        const std::int64_t place = ranks == 1 ? 0 : rank;
        return (count - place + ranks - 1) / ranks;
    }
    std::int64_t thing(int rank, std::int64_t i) const {
        return i * ranks + (ranks == 1 ? 0 : rank);
    }
};

/// Files of one kind.
struct Kind {
    const char* name;
    std::int64_t count;  ///< of a chain
    std::int64_t bytes;
};

/// Visits to files of a kind: `things` of a chain, each of `visits` files one after the other.
struct Work {
    std::int64_t things;
    std::int64_t visits;
    std::function<std::int64_t(std::int64_t thing, std::int64_t visit)> file;
};

study::Items items_of(const Dealing& deal, const Kind& kind, const Work& work) {
    study::Items items;
    items.files = kind.count * deal.chains;
    items.file_bytes = kind.bytes;
    items.visits_in_all = deal.chains * work.things * work.visits;
    items.visits = [deal, work](int rank) {
        return std::max<std::int64_t>(0, deal.share(rank, work.things)) * work.visits;
    };
    items.file = [deal, work, count = kind.count](int rank, std::int64_t visit) {
        const std::int64_t thing = deal.thing(rank, visit / work.visits);
        return deal.chain(rank) * count + work.file(thing, visit % work.visits);
    };
    return items;
}

Work each_once(std::int64_t count) {
    return {count, 1, [](std::int64_t thing, std::int64_t /*visit*/) { return thing; }};
}

}  // namespace

std::int64_t Amounts::bytes_read() const {
    return images() * raw_size.count + templates * template_size.count +
           sequences * depth * image_size.count;
}

std::int64_t Amounts::bytes_written() const {
    return images() * image_size.count + detection_files() * template_size.count;
}

Amounts preset(const std::string& name) {
    Amounts a;
    if (name == "test1") {
        a.grid = 7;
        a.depth = 6;
        a.sequences = 46;
        a.detections = 50;
        a.templates = 22;
    } else if (name == "test7GB") {
        a.grid = 14;
        a.depth = 10;
        a.sequences = 313;
        a.detections = 283;
        a.templates = 135;
    }
    return a;
}

void Parameters::declare(OptionTable& table) {
    table.group("Benchmark");
    table
        .add("preset", preset_name,
             "files and bytes of published runs; we calibrated the sizes, because the runs' parts "
             "are not public")
        .choices({"test0", "test1", "test7GB"});
    const auto count = [&](const char* name, std::optional<std::int64_t>& value, const char* help) {
        table.add(name, value, help).range(1, 1e9).automatic("the preset's");
    };
    count("grid", grid, "images are at N x N locations");
    count("depth", depth, "images of a location");
    count("sequences", sequences, "sequences to retrieve: the images of a location one by one");
    count("detections", detections, "files written for a sequence");
    count("templates", templates, "number of files of templates");
    const auto size = [&](const char* name, std::optional<Bytes>& value, const char* help) {
        table.add(name, value, help).range(8, 1e12).automatic("the preset's");
    };
    size("raw-size", raw_size, "size of a file of raw data; each image has one");
    size("image-size", image_size, "size of an image");
    size("template-size", template_size, "size of a template, and of a detection");
    table
        .add("request", requests,
             "sizes of a call, each is measured; 4B as in the inner loop of the reference")
        .range(1, 1e12)
        .automatic("whole files");
    table.choice("pipelines", own_chains, {{"shared", false}, {"private", true}},
                 "one chain whose work the ranks share, or one for each rank, with its "
                 "own files");
    table.add("seed", seed, "seed of random places").range(0, 9e18).expert();
    table.add("prefix", prefix, "file names begin with this").metavar("NAME").expert();
    declare_common(table);
}

Status Parameters::check() {
    Status rules = check_rules({
        {prefix.empty() || prefix.find('/') != std::string::npos,
         "--prefix is the start of a file name and must not contain '/'; use --dir for the "
         "directory"},
        {fsync == study::Sync::separate,
         "--fsync separate: each file is closed before the next; the flush is inside or off"},
    });
    if (!rules) return rules;
    return check_common();
}

Amounts Parameters::amounts() const {
    Amounts a = preset(preset_name);
    a.grid = grid.value_or(a.grid);
    a.depth = depth.value_or(a.depth);
    a.sequences = sequences.value_or(a.sequences);
    a.detections = detections.value_or(a.detections);
    a.templates = templates.value_or(a.templates);
    a.raw_size = raw_size.value_or(a.raw_size);
    a.image_size = image_size.value_or(a.image_size);
    a.template_size = template_size.value_or(a.template_size);
    return a;
}

bool Parameters::is_preset() const {
    return !grid && !depth && !sequences && !detections && !templates && !raw_size && !image_size &&
           !template_size;
}

Result<study::Definition> define(const Parameters& p, int ranks) {
    const Amounts a = p.amounts();
    Dealing deal;
    (p.own_chains ? deal.chains : deal.ranks) = ranks;
    const Kind templates{"templates", a.templates, a.template_size.count};
    const Kind raw{"raw", a.images(), a.raw_size.count};
    const Kind images{"images", a.images(), a.image_size.count};
    const Kind detections{"detections", a.detection_files(), a.template_size.count};
    const auto most =
        static_cast<double>(std::max({templates.count, raw.count, detections.count})) *
        static_cast<double>(deal.chains);
    if (most > std::numeric_limits<int>::max()) {
        return usage_error(
            fmt::format("{:.0f} files of one kind are more than can be numbered; "
                        "smaller amounts or --pipelines shared",
                        most));
    }
    const auto seed = static_cast<std::uint64_t>(p.seed);
    const Work stored{a.images(), 1,
                      [order = Permutation(a.images(), seed)](std::int64_t image, std::int64_t) {
                          return order(image);
                      }};
    const Work retrieved{
        a.sequences, a.depth,
        [seed, places = a.locations(), depth = a.depth](std::int64_t sequence, std::int64_t i) {
            // Every location before any of them again.
            const auto turn = static_cast<std::uint64_t>(sequence / places);
            const std::int64_t location =
                Permutation(places, mix64(seed + 1 + turn))(sequence % places);
            return location * depth + i;
        }};
    const Work detected{a.sequences, a.detections,
                        [each = a.detections](std::int64_t sequence, std::int64_t i) {
                            return sequence * each + i;
                        }};

    study::Definition study;
    study.name = "ssca3";
    std::vector<Bytes> requests = p.requests;
    if (requests.empty()) {
        requests = {std::max({a.raw_size, a.image_size, a.template_size},
                             [](Bytes x, Bytes y) { return x.count < y.count; })};
    }
    for (const auto request : requests) {
        const std::string begin = fmt::format("{}_{}", p.prefix, request.count);
        const auto add = [&](const Kind& kind, const Work& work, study::Pass pass, int number) {
            study::Cell cell;
            cell.pattern = kind.name;
            cell.axes = {study::size_axis("request", request.count)};
            if (p.requests.empty()) cell.axes.front().text = "whole files";
            cell.ranks = ranks;
            cell.passes = {std::move(pass)};
            cell.file = begin + "_" + kind.name;
            cell.pool = begin;
            cell.files = static_cast<int>(kind.count * deal.chains);
            cell.file_bytes = kind.bytes;
            study::Items items = items_of(deal, kind, work);
            items.set = number;
            items.request = std::min(request.count, kind.bytes);
            cell.data = std::move(items);
            cell.content = study::Content::stamped;
            cell.sync = p.fsync;
            study.cells.push_back(std::move(cell));
        };
        // Data that the generator leaves, then the chain.
        add(templates, each_once(templates.count), study::write_pass(), 0);
        add(raw, each_once(raw.count), study::write_pass(), 1);
        add(templates, each_once(templates.count), study::read_pass(), 0);
        add(raw, each_once(raw.count), study::read_pass(), 1);
        add(images, stored, study::write_pass(), 2);
        add(images, retrieved, study::read_pass(), 2);
        add(detections, detected, study::write_pass(), 3);
    }
    const auto chains = static_cast<double>(deal.chains);
    const study::CellPass templates_in{"templates", "read"};
    const study::CellPass raw_in{"raw", "read"};
    const study::CellPass images_out{"images", "write"};
    const study::CellPass images_in{"images", "read"};
    const study::CellPass detections_out{"detections", "write"};
    study.headline = study::Headline::throughputs;
    study.throughputs = {{"images_per_second",
                          "Stage 1, images per second",
                          Unit::images_per_second,
                          chains * static_cast<double>(a.images()),
                          {templates_in, raw_in, images_out}},
                         {"sequences_per_second",
                          "Stage 2, sequences per second",
                          Unit::sequences_per_second,
                          chains * static_cast<double>(a.sequences),
                          {images_in, detections_out}},
                         {"chain_bandwidth",
                          "Both stages",
                          Unit::bytes_per_second,
                          chains * static_cast<double>(a.bytes_read() + a.bytes_written()),
                          {templates_in, raw_in, images_out, images_in, detections_out}}};
    study.title = fmt::format(
        "SSCA #3, data I/O: {}, {}; {}{} read, {} written{}",
        deal.chains == 1 ? "one chain" : fmt::format("{} chains of", deal.chains),
        count_of(a.files(), "file"), deal.chains == 1 ? "" : "by each ",
        format_size(static_cast<double>(a.bytes_read())),
        format_size(static_cast<double>(a.bytes_written())),
        p.is_preset() ? fmt::format(" (preset {}, calibrated to published counts)", p.preset_name)
                      : "");
    const auto preset = p.is_preset() ? std::optional(p.preset_name) : std::nullopt;
    study.facts = {{"preset", Unit::word, "--preset", preset},
                   {"calibrated", Unit::flag, "to published counts", p.is_preset()},
                   {"pipelines", Unit::word, "--pipelines", p.own_chains ? "private" : "shared"},
                   {"chains", Unit::count, "of stages", deal.chains},
                   {"files", Unit::count, "of a sequence of all stages", a.files()},
                   {"images", Unit::count, "that are made", a.images()},
                   {"sequences", Unit::count, "--sequences", a.sequences},
                   {"bytes_read", Unit::bytes, "in all", a.bytes_read()},
                   {"bytes_written", Unit::bytes, "in all", a.bytes_written()}};
    return study;
}

std::unique_ptr<Benchmark> make_benchmark() {
    return std::make_unique<Ssca3>();
}

}  // namespace effio::ssca3
