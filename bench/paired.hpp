// SPDX-License-Identifier: BSD-3-Clause
// For programs in which the engine and a bare loop take turns: a session without an engine around
// it. Such a program prints a line a figure and turn, "NAME OURS THEIRS".
#pragma once

#include <mpi.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <span>
#include <string>
#include <vector>

#include "parallel/session.hpp"

namespace paired {

/// Calls `use(session)`, which returns an exit code; 2 if the directory takes no result file.
template <class Use>
int with_session(const std::string& directory, Use&& use) {
    effio::Clock clock;
    effio::Comm comm = effio::Comm::world(clock);
    auto results = effio::Results::open(comm, directory, "paired");
    if (!results) return 2;
    effio::Progress progress;
    effio::Console console(false, false);
    const std::atomic<bool> never{false};
    effio::Session session(clock, comm, progress, **results, console, never);
    session.world_rank = comm.rank();
    return use(session);
}

/// Of one turn.
struct Rates {
    double ours;
    double theirs;
};

template <class Ours, class Theirs>
Rates both(bool ours_first, const Ours& ours, const Theirs& theirs) {
    Rates rates{};
    if (ours_first) rates.ours = ours();
    rates.theirs = theirs();
    if (!ours_first) rates.ours = ours();
    return rates;
}

/// Of two passes over equally many bytes.
inline double mean(double a, double b) {
    return 2 / (1 / a + 1 / b);
}

/// The numbers behind the name of the directory.
using Numbers = std::span<const double>;

/// A whole program `usage`, whose words are its name, a directory and numbers: calls
/// `use(session, directory, numbers)` between MPI_Init and MPI_Finalize; the exit code.
template <class Use>
int program(int argc, char** argv, const std::string& usage, Use&& use) {
    MPI_Init(&argc, &argv);
    const std::vector<std::string> words(argv + 1, argv + argc);
    const auto wanted = static_cast<std::size_t>(std::count(usage.begin(), usage.end(), ' '));
    if (words.size() != wanted) {
        std::fprintf(stderr, "%s\n", usage.c_str());
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    std::vector<double> numbers;
    for (std::size_t i = 1; i < words.size(); ++i) numbers.push_back(std::stod(words[i]));
    const int code = with_session(words[0], [&](effio::Session& session) {
        return use(session, words[0], Numbers(numbers));
    });
    MPI_Finalize();
    return code;
}

}  // namespace paired
