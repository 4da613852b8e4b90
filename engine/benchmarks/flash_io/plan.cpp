// SPDX-License-Identifier: BSD-3-Clause
#include "benchmarks/flash_io/plan.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/table.hpp"
#include "storage/backends.hpp"

namespace effio::flash_io {

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
    Json files = Json::array();
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
        files.push_back(Json{{"file", name(file)},
                             {"name", file_name(parameters.prefix, backend, file, 0)},
                             {"variables", variables},
                             {"header_bytes", header},
                             {"bytes", bytes},
                             {"writes_per_rank", d.contents.size()}});
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
    plan.data = Json{{"benchmark", "flash-io"},
                     {"ranks", input.ranks},
                     {"assumed_rate_bytes_per_second", input.rate},
                     {"total_blocks", g.first_block(writers)},
                     {"dump_bytes", dump},
                     {"bytes_on_storage", on_storage},
                     {"bytes_written", written},
                     {"bytes_read", read},
                     {"memory_per_rank_bytes", memory},
                     {"expected_seconds", estimate.expected().seconds},
                     {"files", std::move(files)}};
    if (parameters.until_ci.on()) plan.data["until_ci"] = estimate.until_ci();
    plan.estimate = std::move(estimate);
    return plan;
}

}  // namespace effio::flash_io
