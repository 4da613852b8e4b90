// SPDX-License-Identifier: BSD-3-Clause
#include "benchmarks/overlap/parameters.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace effio::overlap {
namespace {

constexpr std::int64_t block = 4096;  ///< of O_DIRECT, here

template <class T>
bool has_twice(std::vector<T> list) {
    std::sort(list.begin(), list.end());
    return std::adjacent_find(list.begin(), list.end()) != list.end();
}

bool has(const std::vector<std::string>& list, const char* word) {
    return std::find(list.begin(), list.end(), word) != list.end();
}

}  // namespace

void Parameters::declare(OptionTable& table) {
    table.group("Benchmark");
    table
        .choice("methods", methods,
                {{"blocking", Method::blocking},
                 {"nonblocking", Method::nonblocking},
                 {"uring", Method::uring},
                 {"thread", Method::thread}},
                "methods to compare: a call that waits; a nonblocking one, as MPI_File_iwrite_at; "
                "io_uring; "
                "a helper thread with pwrite and pread")
        .automatic("all that this program and the backend have");
    table.add("transfer", transfers, "bytes of the one operation of each rank")
        .letter('t')
        .range(1, 1LL << 40);
    table.choice(
        "work", works, {{"compute", WorkKind::compute}, {"memory", WorkKind::memory}},
        "what the ranks compute during the operation: multiply-adds in registers, or a stream "
        "through memory");
    table
        .add("work-time", work_time,
             "length of the computation, which is calibrated when the run starts")
        .range(1e-6, 1e4)
        .automatic("twice the operation's own time, measured before");
    table.add("work-memory", work_memory, "memory of a rank that --work memory streams through")
        .range(64.0 * KiB, 1e15)
        .expert();
    table
        .add("poll", polls,
             "number of tests for completion during the computation; they let a library progress "
             "that moves bytes only inside its own calls")
        .range(0, 1e6);
    table.add("phases", phases, "what is measured").choices({"write", "read"});
    table.flag("direct", direct,
               "the methods uring and thread bypass the page cache (O_DIRECT); sizes are then "
               "multiples of 4 KiB");
    table.on_off("verify", verify,
                 "compare every byte of the timed reads, and read back every byte that was "
                 "written, the warm-up's "
                 "included; untimed");
    data.declare(table);
    table.add("repetitions", repetitions, "repetitions of everything, in a balanced order")
        .letter('r')
        .range(1, 1e6)
        .notes(until_ci.most_given);
    until_ci.declare(table);
    table.group("Storage");
    table.add("dir", directory, "directory for the data files; must exist")
        .letter('d')
        .metavar("DIR");
    table
        .add("backend", backend.name,
             "backend of the methods blocking and nonblocking; uring and thread have their own. "
             "The models null and sim replace all methods")
        .choices(backend_names(Serves::bytes));
    table
        .add("backend-options", backend.settings,
             "settings of the backend, key=value,…; `effio-mpi describe backends` lists them")
        .metavar("K=V,…");
    table.add("max-bytes", max_bytes, "limit on the bytes in the directory at any one time")
        .range(0, 9e18)
        .automatic("80 % of the free space, the quota, or half of the memory on tmpfs");
    table.flag("keep", keep, "keep the data files");
    table.flag("overwrite", overwrite, "replace existing files that have the same names");
    table.flag("node-local", node_local,
               "each node has its own directory of this name; else all nodes must see the same");
    cache.declare(table);
}

Status Parameters::check() {
    if (auto present = check_present(Serves::bytes, backend.name); !present) return present;
    if (auto applied = apply_settings(Serves::bytes, backend); !applied) return applied;
    if (auto fine = until_ci.check(repetitions, "--repetitions"); !fine) return fine;
    Status rules = check_rules({
        {has_twice(methods) || has_twice(transfers) || has_twice(works) || has_twice(phases),
         "--methods, --transfer, --work, --phases: nothing is measured twice"},
        {direct && is_model(backend.name),
         fmt::format("--direct: backend {} knows no page cache", backend.name)},
    });
    if (!rules) return rules;
    for (const Bytes transfer : transfers) {
        if (direct && transfer.count % block != 0) {
            return usage_error(
                fmt::format("--transfer: {} is not a multiple of 4KiB, which --direct "
                            "needs",
                            format_exact(transfer)));
        }
    }
    methods_given = !methods.empty();
    effective_methods.clear();
    left_out.clear();
    for (const Method method :
         {Method::blocking, Method::nonblocking, Method::uring, Method::thread}) {
        if (methods_given && std::find(methods.begin(), methods.end(), method) == methods.end())
            continue;
        std::string why;
        if (method == Method::uring) {
            if (is_model(backend.name)) {
                if (!methods_given) continue;
                why = fmt::format(
                    "backend {} models all methods; it has no kernel interfaces such as uring",
                    backend.name);
            } else if (auto present = check_present(Serves::bytes, "uring"); !present) {
                if (methods_given) return present;
                why = present.error().cause;
            }
        }
        if (why.empty()) {
            effective_methods.push_back(method);
        } else if (methods_given) {
            return usage_error(fmt::format("--methods {}: {}", name(method), why));
        } else {
            left_out.push_back(fmt::format("{}: {}", name(method), why));
        }
    }
    return {};
}

bool Parameters::writes() const {
    return has(phases, "write");
}

bool Parameters::reads() const {
    return has(phases, "read");
}

std::vector<bool> Parameters::accesses() const {
    std::vector<bool> all;
    for (const auto& phase : phases) all.push_back(phase == "write");
    return all;
}

std::int64_t Parameters::largest() const {
    return std::max_element(transfers.begin(), transfers.end())->count;
}

BackendChoice Parameters::backend_of(Method method) const {
    BackendChoice choice = backend;
    if (is_model(backend.name)) return choice;
    if (method == Method::uring) {
        choice.name = "uring";
        choice.uring.direct = choice.uring.direct || direct;
    } else if (method == Method::thread) {
        choice.name = direct ? "direct" : "posix";
    }
    return choice;
}

}  // namespace effio::overlap
