// SPDX-License-Identifier: BSD-3-Clause
// mdtest's phases and bare loops of the same calls alternate in one process, on empty files in one
// directory each: what the engine costs next to the calls (bench/mdtest.py).
//
//   paired_mdtest DIRECTORY FILES-PER-RANK TURNS    rates in operations/s
#include <mpi.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <string>

#include "bare_names.hpp"
#include "benchmarks/mdtest/measure.hpp"
#include "paired.hpp"

namespace {

using effio::mdtest::Action;

constexpr std::array actions{Action::create, Action::stat, Action::remove};
constexpr std::array names{"create", "stat", "remove"};
using Rates = std::array<double, actions.size()>;

/// mdtest's own tree, so that both sides' paths are equally deep and long.
std::string leaf(const effio::Comm& comm, const effio::mdtest::Paths& paths) {
    const std::string path = paths.directory(0, 0, 0);
    std::filesystem::create_directories(path);
    comm.barrier();
    return path;
}

struct Engine {
    effio::Session& session;
    effio::mdtest::Parameters parameters{};
    effio::mdtest::Paths paths;
    std::unique_ptr<effio::Names> posix = effio::make_posix_names();
    bool failed = false;

    Rates measure() {
        const std::int64_t files = paths.workload().items;
        const effio::mdtest::Iteration iteration{session, session.comm, parameters, paths,
                                                 *posix,  nullptr,      0,          files};
        effio::WorkerThreads threads(1);
        effio::CommonClock common(session.comm, effio::find_topology(session.comm));
        effio::mdtest::Workers workers;
        workers.push_back(std::make_unique<effio::mdtest::Worker>(iteration, 0));
        Rates rates{};
        for (std::size_t i = 0; i < actions.size(); ++i) {
            const auto phases = effio::mdtest::all_phases();
            const auto phase = std::find_if(phases.begin(), phases.end(), [&](const auto& p) {
                return p.thing == effio::mdtest::ItemKind::file && p.action == actions[i];
            });
            const auto done = measure_phase(iteration, *phase, common, workers, threads);
            failed = failed || done.operations != files || done.outcome.error_count > 0;
            rates[i] =
                static_cast<double>(files * session.comm.size()) / session.comm.max(done.total);
        }
        return rates;
    }
};

int measure(effio::Session& session, const std::string& directory, long files, long turns) {
    const auto paths = [&](const char* side) {
        auto workload = effio::mdtest::Workload::of({{}, false, false, files, {}});
        return effio::mdtest::Paths({directory + side}, workload.value(), 0);
    };
    Engine engine{session, {}, paths("/e")};
    engine.parameters.storage.call_times = false;
    leaf(session.comm, engine.paths);
    bare::Names bare(leaf(session.comm, paths("/b")), files);
    // The turn before the first warms up; who begins changes.
    for (long number = -1; number < turns; ++number) {
        Rates ours{};
        if (number % 2 == 0) ours = engine.measure();
        const Rates theirs{bare.create(), bare.stat(), bare.remove()};
        if (number % 2 != 0) ours = engine.measure();
        if (number < 0 || !session.comm.is_root()) continue;
        for (std::size_t i = 0; i < names.size(); ++i) {
            std::printf("%s %.0f %.0f\n", names[i], ours[i], theirs[i]);
        }
    }
    return engine.failed || bare.failed() > 0 ? 1 : 0;
}

}  // namespace

int main(int argc, char** argv) {
    return paired::program(
        argc, argv, "paired_mdtest DIRECTORY FILES-PER-RANK TURNS",
        [](effio::Session& session, const std::string& directory, paired::Numbers numbers) {
            return measure(session, directory, std::lround(numbers[0]), std::lround(numbers[1]));
        });
}
