// SPDX-License-Identifier: BSD-3-Clause
#include "benchmarks/pio/pio.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <utility>

#include "core/units.hpp"
#include "parallel/from_root.hpp"
#include "storage/posix_calls.hpp"

namespace effio::pio {
namespace {

using study::Cell;

Result<std::string> read_config_file(const std::string& path) {
    return read_text("read the configuration file", path);
}

class Pio : public study::StudyBenchmark<Parameters> {
  public:
    std::string_view name() const override { return "pio"; }
    std::string_view purpose() const override {
        return "Spatial by temporal patterns of one shared file (PIObench, HPIO): strided, nested, "
               "tiled, meshes or your own, written, read, again, and modified";
    }
    std::string examples() const override {
        return "Examples:\n"
               "  mpiexec -n 16 effio-mpi pio --dir /scratch/me\n"
               "      eight patterns by five accesses over buffer sizes from 4 KiB to 1 MiB\n"
               "  mpiexec -n 16 effio-mpi pio --dir /scratch/me --levels 64KiB*16/1MiB,8/32MiB\n"
               "      the pattern of your code\n"
               "  mpiexec -n 16 effio-mpi pio --dir /scratch/me --spatial nested-strided \\\n"
               "          --calls independent,collective --by list,type --temporal write,read\n    "
               "  four methods for the same accesses\n"
               "  mpiexec -n 16 effio-mpi pio --dir /scratch/me --config pio-bench.conf";
    }
    Result<Plan> plan(const PlanInput& input) const override {
        if (!parameters_.config) return StudyBenchmark::plan(input);
        auto text = read_config_file(*parameters_.config);
        if (!text) return std::move(text.error());
        Parameters p = parameters_;
        if (auto set = p.set_modules(*text); !set) return std::move(set.error());
        auto definition = pio::define(p, input.ranks);
        if (!definition) return std::move(definition.error());
        return make_plan(*definition, p, input);
    }
    Ending run(Job& job) override {
        if (parameters_.config) {
            const auto text = from_root(job.session.comm,
                                        [this] { return read_config_file(*parameters_.config); });
            if (!text) return Ending::from(text.error());
            if (auto set = parameters_.set_modules(*text); !set) return Ending::from(set.error());
        }
        return StudyBenchmark::run(job);
    }

  protected:
    Result<study::Definition> define(int ranks) const override {
        return pio::define(parameters_, ranks);
    }
};

template <class T>
bool has(const std::vector<T>& list, const std::type_identity_t<T>& value) {
    return std::find(list.begin(), list.end(), value) != list.end();
}

const Words<Layout>& layout_words() {
    static const Words<Layout> words{{"c-c", {false, false}},
                                     {"nc-c", {true, false}},
                                     {"c-nc", {false, true}},
                                     {"nc-nc", {true, true}}};
    return words;
}
const Words<study::Through>& by_words() {
    static const Words<study::Through> words{{"list", study::Through::offsets},
                                             {"type", study::Through::view}};
    return words;
}
const Words<Switch>& switch_words() {
    static const Words<Switch> words{{"automatic", {}}, {"on", true}, {"off", false}};
    return words;
}

/// One way to make the accesses.
struct Variant {
    study::Calls calls;
    study::Through by;
    Layout layout;
    Switch sieving, two_phase;
};

std::vector<Variant> variants_of(const Parameters& p) {
    std::vector<Variant> all;
    for (const auto& calls : p.calls) {
        for (const auto& by : p.by) {
            for (const auto& layout : p.layouts) {
                for (const auto& sieving : p.sieving) {
                    for (const auto& two_phase : p.two_phase) {
                        all.push_back({calls, by, layout, sieving, two_phase});
                    }
                }
            }
        }
    }
    return all;
}

/// The buffer, and what has several values; `all`: what could have.
std::vector<study::Axis> axes_of(const Parameters& p, std::int64_t buffer, const Variant& v,
                                 bool all = false) {
    std::vector<study::Axis> axes{study::size_axis("buffer", buffer)};
    const auto add = [&](const char* title, const auto& words, const auto& list,
                         const auto& value) {
        if (all || list.size() > 1) axes.push_back(study::word_axis(title, word_of(words, value)));
    };
    add("calls", study::calls_words(), p.calls, v.calls);
    add("by", by_words(), p.by, v.by);
    add("layout", layout_words(), p.layouts, v.layout);
    add("sieving", switch_words(), p.sieving, v.sieving);
    add("two_phase", switch_words(), p.two_phase, v.two_phase);
    return axes;
}

void set_hints(Hints& hints, const std::string& what, Switch state) {
    if (!state) return;
    for (const auto* access : {"read", "write"}) {
        hints.set(fmt::format("romio_{}_{}", what, access), *state ? "enable" : "disable");
    }
}

/// A visit for writing, one for reading, one for both, each as far as it is requested.
void add_visits(study::Definition& study, Cell cell, const std::vector<Temporal>& temporal) {
    cell.passes = {study::write_pass()};
    if (has(temporal, Temporal::re_write)) cell.passes.push_back(study::write_pass("re-write"));
    study.cells.push_back(cell);
    const bool again = has(temporal, Temporal::re_read);
    if (again || has(temporal, Temporal::read)) {
        cell.passes = {study::read_pass()};
        if (again) cell.passes.push_back(study::read_pass("re-read"));
        study.cells.push_back(cell);
    }
    if (has(temporal, Temporal::read_modify_write)) {
        cell.passes = {study::modify_pass()};
        study.cells.push_back(cell);
    }
}

Shape shape_of(const Parameters& p, const Module& module, std::int64_t buffer,
               const Variant& variant) {
    Shape shape;
    shape.piece = buffer;
    shape.count = module.size.count / buffer;
    if (variant.layout.file) shape.spacing = p.spacing.count;
    shape.inner = p.nested_count;
    if (p.nested_gap) shape.gap = p.nested_gap->count;
    shape.seed = static_cast<std::uint64_t>(p.seed);
    shape.levels = p.levels;
    return shape;
}

Cell cell_of(const Parameters& p, Spatial spatial, const Shape& shape, const Variant& variant,
             int ranks) {
    Cell cell;
    cell.pattern = word_of(spatial_words(), spatial);
    cell.axes = axes_of(p, shape.piece, variant);
    cell.ranks = ranks;
    cell.file_bytes = file_bytes(spatial, shape, ranks);
    cell.data = study::Pieces{[=](int rank) { return addresses_of(spatial, shape, rank, ranks); },
                              pieces_in_all(spatial, shape, ranks),
                              spatial == Spatial::sequential || spatial == Spatial::own,
                              variant.layout.memory ? p.spacing.count : 0, variant.by};
    cell.collective = variant.calls == study::Calls::collective;
    cell.sync = p.fsync;
    cell.counts = study::Counts::calls;
    set_hints(cell.hints, "ds", variant.sieving);
    set_hints(cell.hints, "cb", variant.two_phase);
    return cell;
}

}  // namespace

std::vector<Temporal> all_accesses_of(Spatial spatial) {
    using enum Temporal;
    if (spatial == Spatial::unstructured_mesh) return {write, read};
    return {write, re_write, read, re_read, read_modify_write};
}

void Parameters::declare(OptionTable& table) {
    table.group("Benchmark");
    table
        .choice("spatial", spatial, spatial_words(),
                "where in the file the calls of a rank are; own: as --levels says")
        .automatic("the first eight; with --levels, own");
    table
        .choice("temporal", temporal, temporal_words(),
                "accesses to measure; each includes those that it needs: a file is written before "
                "it is read, and read before it is read again")
        .automatic("all five");
    table.add("size", size, "size of a rank's share").letter('s').range(1, 9e15);
    table.add("buffer", buffers, "sizes of a call, each is measured; they divide the share")
        .letter('b')
        .range(1, 1 << 30);
    table
        .add("levels", levels_text,
             "your own pattern as nested strides, innermost first: 64KiB*16/1MiB,8/32MiB are 16 "
             "pieces of 64 KiB 1 MiB apart, and that 8 times 32 MiB apart")
        .metavar("SIZE*COUNT/STRIDE[,COUNT/STRIDE…]")
        .automatic("none");
    table
        .add("rank-stride", rank_stride,
             "distance from a rank's first piece to the next rank's (--levels)")
        .range(0, 9e15)
        .automatic("the size of a piece");
    table.add("nested-count", nested_count, "calls of a group (nested-strided)").range(1, 1e12);
    table.add("nested-gap", nested_gap, "bytes between groups (nested-strided)")
        .range(0, 9e15)
        .automatic("as much as a call of all ranks");
    table.choice("layout", layouts, layout_words(),
                 "contiguous or with holes (nc): first the buffers in memory, then the pattern in "
                 "the file");
    table.add("spacing", spacing, "length of those holes").range(1, 1 << 30);
    table.choice("calls", calls, study::calls_words(),
                 "each rank for itself, or all ranks together");
    table.choice("by", by, by_words(), "a list of calls, or one call with derived datatypes");
    table.choice("sieving", sieving, switch_words(),
                 "data sieving (hints romio_ds_read, romio_ds_write)");
    table.choice("two-phase", two_phase, switch_words(),
                 "collective buffering (hints romio_cb_read, romio_cb_write)");
    table.add("settle", settle, "pause before each open").range(0, 86400);
    table
        .add("config", config, "patterns from a file in the style of the original's pio-bench.conf")
        .metavar("FILE")
        .automatic("the options above");
    table.add("seed", seed, "seed of random places").range(0, 9e18).expert();
    table.add("prefix", prefix, "file names begin with this").metavar("NAME").expert();
    declare_common(table);
}

Status Parameters::check() {
    Status rules = check_rules({
        {prefix.empty() || prefix.find('/') != std::string::npos,
         "--prefix is the start of a file name and must not contain '/'; use --dir for the "
         "directory"},
        {storage.backend.name != "mpiio" &&
             (sieving != std::vector<Switch>{{}} || two_phase != std::vector<Switch>{{}}),
         "--sieving and --two-phase are hints of --backend mpiio"},
        {rank_stride && !levels_text, "--rank-stride belongs to --levels"},
        {has(spatial, Spatial::own) && !levels_text, "--spatial own: --levels says what it is"},
    });
    if (!rules) return rules;
    if (levels_text) {
        auto strides = parse_levels(*levels_text);
        if (!strides) return usage_error("--" + strides.error().cause);
        levels.rank_stride = rank_stride ? rank_stride->count : strides->piece;
        levels.strides = std::move(*strides);
    }
    if (!config) {
        if (auto set = set_modules(); !set) return set;
    } else if (!spatial.empty() || !temporal.empty() || levels_text) {
        return usage_error("--config: the file says what --spatial, --temporal and --levels would");
    }
    return check_common();
}

Status Parameters::set_modules() {
    modules.clear();
    for (const auto& row : spatial_words()) {
        const Spatial one = row.value;
        const bool chosen =
            spatial.empty() ? (one == Spatial::own) == bool(levels_text) : has(spatial, one);
        if (!chosen) continue;
        Module module{one, temporal, size, buffers, settle};
        if (temporal.empty()) module.temporal = all_accesses_of(one);
        if (one == Spatial::own) {
            module.size = {levels.strides.pieces() * levels.strides.piece};
            module.buffers = {{levels.strides.piece}};
        }
        modules.push_back(std::move(module));
    }
    return check_modules();
}

/// Why this pattern cannot be measured with this buffer; nothing if it can.
std::optional<std::string> Parameters::misfit(const Module& module, Bytes buffer) const {
    if (module.size.count % buffer.count != 0) {
        return fmt::format("a buffer of {}: the share of {} is not a multiple of it",
                           shown_size(buffer), shown_size(module.size));
    }
    const std::int64_t count = module.size.count / buffer.count;
    const auto here = [&](const std::string& why) {
        return fmt::format("{} with a buffer of {}: {}", word_of(spatial_words(), module.spatial),
                           shown_size(buffer), why);
    };
    if (module.spatial == Spatial::nested_strided && count % nested_count != 0) {
        return here(fmt::format("--nested-count {} does not divide the {} of a rank", nested_count,
                                count_of(count, "call")));
    }
    if (module.spatial == Spatial::unstructured_mesh && buffer.count % 8 != 0) {
        return here("records of a mesh are numbers of 8 bytes");
    }
    if (module.spatial == Spatial::unstructured_mesh && count > most_vertices) {
        return here(
            fmt::format("a rank keeps its list of records in memory; {} records are more "
                        "than the {} allowed",
                        count, most_vertices));
    }
    return {};
}

Status Parameters::check_modules() {
    left_out.clear();
    for (auto& module : modules) {
        if (module.spatial == Spatial::own &&
            (has(layouts, {false, true}) || has(layouts, {true, true}))) {
            return usage_error(
                "--levels defines what is between pieces; use --layout c-c or nc-c with it");
        }
        std::erase_if(module.buffers, [&](Bytes buffer) {
            auto why = misfit(module, buffer);
            if (why && !has(left_out, *why)) left_out.push_back(*why);
            return why.has_value();
        });
    }
    std::erase_if(modules, [](const Module& module) { return module.buffers.empty(); });
    if (modules.empty() && !left_out.empty()) return usage_error(left_out.front());
    return {};
}

Result<study::Definition> define(const Parameters& p, int ranks) {
    study::Definition study;
    study.name = "pio";
    study.headline = study::Headline::strongest_and_weakest;
    for (const auto& module : p.modules) {
        for (const auto buffer : module.buffers) {
            for (const auto& variant : variants_of(p)) {
                const Shape shape = shape_of(p, module, buffer.count, variant);
                // All patterns stay below this, gaps included.
                const double most =
                    4.0 * ranks *
                    (static_cast<double>(module.size.count) +
                     static_cast<double>(shape.count + 3) *
                         static_cast<double>(shape.spacing + buffer.count + shape.gap.value_or(0) +
                                             shape.levels.rank_stride));
                if (most > static_cast<double>(std::numeric_limits<std::int64_t>::max())) {
                    return usage_error(fmt::format(
                        "{} with {}: the file would be longer than a file can be",
                        word_of(spatial_words(), module.spatial), count_of(ranks, "rank")));
                }
                Cell cell = cell_of(p, module.spatial, shape, variant, ranks);
                cell.file = fmt::format("{}_{}_{}", p.prefix, cell.pattern, study.cells.size());
                cell.manner.settle = module.settle.count;
                add_visits(study, std::move(cell), module.temporal);
            }
        }
    }
    study.title = fmt::format("pio: {} of one shared file, {}",
                              count_of(static_cast<std::int64_t>(p.modules.size()), "pattern"),
                              count_of(ranks, "rank"));
    study.possible_axes = axes_of(p, 0, {}, true);
    study.facts = {{"calls", Unit::word, "--calls", words_of(study::calls_words(), p.calls)},
                   {"by", Unit::word, "--by", words_of(by_words(), p.by)},
                   {"layout", Unit::word, "--layout", words_of(layout_words(), p.layouts)},
                   {"spacing_bytes", Unit::bytes, "--spacing", p.spacing.count},
                   {"sieving", Unit::word, "--sieving", words_of(switch_words(), p.sieving)},
                   {"two_phase", Unit::word, "--two-phase", words_of(switch_words(), p.two_phase)},
                   {"seed", Unit::count, "--seed", p.seed},
                   {"levels", Unit::word, "--levels", p.levels_text},
                   {"config", Unit::word, "--config", p.config},
                   {"left_out", Unit::word, "patterns that do not fit, and why", p.left_out}};
    for (const auto& why : p.left_out) study.title += "\nleft out: " + why;
    return study;
}

std::unique_ptr<Benchmark> make_benchmark() {
    return std::make_unique<Pio>();
}

}  // namespace effio::pio
