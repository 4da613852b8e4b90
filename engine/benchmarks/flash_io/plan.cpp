// SPDX-License-Identifier: BSD-3-Clause
#include "benchmarks/flash_io/plan.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/fields.hpp"
#include "core/table.hpp"
#include "storage/backends.hpp"

namespace effio::flash_io {
namespace {

/// A file of a dump, for programs.
struct PlannedFile {
    File file;
    std::string name;
    std::size_t variables;
    std::int64_t header;
    std::int64_t bytes;
    std::size_t writes;
};

const Fields<PlannedFile>& planned_file_fields() {
    using P = PlannedFile;
    static const Fields<P> fields{
        {"file", Unit::word, "which of a dump's files",
         [](const P& p) { return std::string(flash_io::name(p.file)); }},
        {"name", Unit::word, "of the first dump", &P::name},
        {"variables", Unit::count, "variables of the mesh", &P::variables},
        {"header_bytes", Unit::bytes, "0 where the library decides", &P::header},
        {"bytes", Unit::bytes, "with the header", &P::bytes},
        {"writes_per_rank", Unit::count, "calls of the library", &P::writes}};
    return fields;
}

}  // namespace

Result<Plan> make_plan(const Parameters& parameters, const PlanInput& input) {
    const Geometry g = parameters.geometry();
    const int most = std::max(input.ranks, parameters.writers_of(input.ranks));
    if (auto fits = check_size(g, most, parameters.dumps); !fits) return fits.error();
    const Structure structure = parameters.structure_in_force();
    const std::string& backend = parameters.storage.backend.name;
    const int writers = parameters.writers_of(input.ranks);
    const auto in_mib = [](std::int64_t bytes) {
        return fmt::format("{:.2f}", static_cast<double>(bytes) / static_cast<double>(MiB));
    };
    Table table({{"file", Table::Align::left}, {"variables"}, {"bytes"}, {"MiB"}, {"s"}});
    std::vector<PlannedFile> files;
    std::int64_t dump = 0;
    std::int64_t checkpoint = 0;
    for (const File file : parameters.files_in_order()) {
        const FileDefinition d = define(g, file, structure, writers);
        const std::int64_t header =
            backend == "pnetcdf" ? cdf5_header_bytes(d.schema) : std::int64_t{0};
        const std::int64_t bytes = header + d.schema.bytes();
        dump += bytes;
        if (file == File::checkpoint) checkpoint = bytes;
        const auto variables = variables_of(file).size();
        table.row({std::string(name(file)), std::to_string(variables), std::to_string(bytes),
                   in_mib(bytes), fmt::format("{:.2f}", static_cast<double>(bytes) / input.rate)});
        files.push_back({file, file_name(parameters.prefix, backend, file, 0), variables, header,
                         bytes, d.contents.size()});
    }
    table.rule();
    table.row({"a dump", "", std::to_string(dump), in_mib(dump),
               fmt::format("{:.2f}", static_cast<double>(dump) / input.rate)});
    const std::int64_t on_storage = dump * parameters.dumps;
    const std::int64_t written = parameters.write ? on_storage : 0;
    const std::int64_t read = parameters.read == ReadBack::all    ? on_storage
                              : parameters.read == ReadBack::none ? 0
                                                                  : checkpoint;
    const std::int64_t files_of_dump =
        std::ssize(parameters.files_in_order()) * (makes_file_per_process(backend) ? writers : 1);
    const Estimate::Repeated repeated{parameters.repetitions, "repetition", &parameters.until_ci,
                                      parameters.time_limit.count};
    Estimate estimate(repeated, [&](const Assumed& assumed) {
        Load load{static_cast<double>(written), static_cast<double>(read)};
        load.seconds = (load.written + load.read) / (assumed.speed * input.rate) +
                       parameters.compute.count * static_cast<double>(parameters.dumps - 1);
        load.on_storage = load.written;
        load.files = static_cast<double>(parameters.write ? files_of_dump * parameters.dumps : 0);
        return load;
    });
    estimate.assume_storage(input.rate);
    // The blocks with guard cells, the packed variables, and the tree.
    const std::int64_t most_blocks = g.blocks + 2;
    const std::int64_t memory =
        most_blocks * 8 * variable_count * (g.cells_with_guards() + g.cells_of_block());
    Plan plan;
    plan.text = fmt::format(
        "Plan of FLASH I/O with {}, {} of {} x {} x {} cells, at an assumed {} in "
        "all\n"
        "dumps: {}; {}; memory of a rank: about {}\n{}\n{}",
        count_of(input.ranks, "rank"), count_of(g.first_block(writers), "block"), g.extent(0),
        g.extent(1), g.extent(2), format_rate(input.rate), parameters.dumps, estimate.repetitions(),
        format_size(static_cast<double>(memory)), estimate.text(), table.text(2));
    plan.facts = {
        {"benchmark", Unit::word, "its name", std::string("flash-io")},
        {"ranks", Unit::count, "of the run", input.ranks},
        {"assumed_rate_bytes_per_second", Unit::bytes_per_second, "of the storage", input.rate},
        {"total_blocks", Unit::count, "of all ranks", g.first_block(writers)},
        {"dump_bytes", Unit::bytes, "of all files of a dump", dump},
        {"bytes_on_storage", Unit::bytes, "of all dumps", on_storage},
        {"bytes_written", Unit::bytes, "of a repetition", written},
        {"bytes_read", Unit::bytes, "of a repetition", read},
        {"memory_per_rank_bytes", Unit::bytes, "about", memory},
        {"expected_seconds", Unit::seconds, "at the assumed rate", estimate.expected().seconds},
        {"files", planned_file_fields(), "of a dump", files}};
    plan.estimate = std::move(estimate);
    return plan;
}

}  // namespace effio::flash_io
