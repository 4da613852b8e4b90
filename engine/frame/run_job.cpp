// SPDX-License-Identifier: BSD-3-Clause
#include "frame/run_job.hpp"

#include <fmt/format.h>

#include <cstdio>
#include <string>

#include "frame/job/group.hpp"
#include "frame/job/whole_job.hpp"
#include "parallel/system.hpp"
#include "parallel/world.hpp"

namespace effio {
namespace {

PlanInput plan_input(const JobOptions& options) {
    return options.plan_input(options.plan_ranks.value_or(launcher_size().value_or(1)));
}

Result<Plan> plan_that_fits(const Benchmark& benchmark, const PlanInput& input) {
    auto plan = benchmark.plan(input);
    if (!plan) return plan;
    if (auto fits = benchmark.fits(input.ranks); !fits) return fits.error();
    return plan;
}

}  // namespace

OptionTable table_of(Benchmark& benchmark, JobOptions& options) {
    OptionTable table(fmt::format("effio-mpi {}", benchmark.name()),
                      std::string(benchmark.purpose()), benchmark.examples());
    benchmark.declare(table);
    options.declare(table);
    return table;
}

ExitCode print_plan(const Benchmark& benchmark, const JobOptions& options) {
    const PlanInput input = plan_input(options);
    const auto plan = plan_that_fits(benchmark, input);
    if (launcher_rank().value_or(0) != 0) return plan ? ExitCode::done : plan.error().exit_code;
    if (!plan) {
        fmt::print(stderr, "effio-mpi {}: {}\n", benchmark.name(), plan.error().text());
        return plan.error().exit_code;
    }
    std::string text = text_of(*plan, input);
    if (options.plan_json) {
        Json data = data_of(*plan, input, benchmark.needed_directories());
        text = json_lines(data) + "\n";
    }
    std::fputs(text.c_str(), stdout);
    return ExitCode::done;
}

Result<Json> plan_data(const Benchmark& benchmark, const JobOptions& options) {
    const PlanInput input = plan_input(options);
    const auto plan = plan_that_fits(benchmark, input);
    if (!plan) return plan.error();
    return data_of(*plan, input, benchmark.needed_directories());
}

ExitCode refuse(std::FILE* where, const Error& error, const std::string& text) {
    const bool of_this_rank = error.rank >= 0;
    if (of_this_rank || launcher_rank().value_or(0) == 0) std::fputs(text.c_str(), where);
    if (of_this_rank && launcher_size().value_or(1) > 1) {
        const World world(Sentinel::Settings{});
        World::call_off(error.exit_code);
    }
    return error.exit_code;
}

ExitCode run_job(Benchmark& benchmark, const JobOptions& options, const OptionTable& table,
                 const Invocation& invocation) {
    if (auto* whole = dynamic_cast<WholeJob*>(&benchmark)) {
        return whole->run_whole(options, table, invocation);
    }
    const GroupRun task{benchmark, options, table, invocation};
    World world(sentinel_settings(task));
    Clock clock(benchmark.virtual_time() ? Clock::Kind::virtual_time : Clock::Kind::real);
    Comm comm = Comm::world(clock);
    if (const auto whole = world.check(); !whole) {
        fmt::print(stderr, "effio-mpi: {}\n", whole.error().text());
        return whole.error().exit_code;
    }
    if (const auto fits = benchmark.fits(world.size()); !fits) {
        if (comm.is_root()) {
            fmt::print(stderr, "effio-mpi {}: {}\n", benchmark.name(),
                       invocation.worded(fits.error().text()));
        }
        return fits.error().exit_code;
    }
    return run_group(world, comm, task);
}

}  // namespace effio
