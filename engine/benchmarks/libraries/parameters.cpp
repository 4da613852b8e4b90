// SPDX-License-Identifier: BSD-3-Clause
#include "benchmarks/libraries/parameters.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <sstream>

namespace effio::libraries {
namespace {

bool has(const std::vector<std::string>& list, const std::string& word) {
    return std::find(list.begin(), list.end(), word) != list.end();
}

/// The first element that stands there twice.
template <class T>
std::optional<T> repeated(std::vector<T> list) {
    std::sort(list.begin(), list.end());
    const auto twice = std::adjacent_find(list.begin(), list.end());
    return twice == list.end() ? std::nullopt : std::optional<T>(*twice);
}

}  // namespace

std::vector<std::string> Parameters::all_libraries() {
    auto names = present_backends(Serves::arrays);
    std::erase_if(names, is_model);
    return names;
}

void Parameters::declare(OptionTable& table) {
    std::string known;
    for (const auto& set : known_hint_sets()) known += (known.empty() ? "" : ", ") + set.name;
    table.group("Benchmark");
    table
        .add("edges", edges,
             "sizes: cells along the edge of a process's cube of each variable; the study had 96 "
             "(64 MB a process) and 200 (576 MB)")
        .letter('n')
        .range(1, 100000);
    table.choice("scaling", scaling, {{"weak", Scaling::weak}, {"strong", Scaling::strong}},
                 "weak: a cube for each process; strong: as many cubes as the largest number of "
                 "processes has, shared out");
    table.add("processes", processes, "numbers of processes to measure with")
        .letter('N')
        .range(1, 2147483647)
        .automatic("powers of two, and all");
    table.add("variables", variables, "arrays in a file").range(1, 1000).expert();
    table.add("libraries", libraries, "what to compare")
        .choices(backend_names(Serves::arrays))
        .automatic("all that this program has");
    table.add("hint-sets", hint_sets, fmt::format("sets of hints to compare: {}", known))
        .metavar("NAME,…");
    table
        .add("hint-set", own_sets,
             "one more set: NAME:KEY=VALUE,… with hints of MPI-IO, <library>.<setting>, or access; "
             "write a set with several pairs as NAME:KEY=VALUE+KEY=VALUE")
        .metavar("NAME:K=V");
    table.on_off("fsync", fsync,
                 "flush to storage before the close; a part of its own, not in the rates by the "
                 "definition");
    table.on_off("read", read, "read every file back; every value is checked, untimed");
    table.choice("reader", reader, {{"same", Readers::same}, {"shifted", Readers::shifted}},
                 "a rank reads what it wrote itself, or what a rank on the next node wrote");
    table
        .add("repetitions", repetitions,
             "of everything, in an order that is balanced for place and predecessor; a gain by "
             "hints needs two at least, for its interval")
        .letter('r')
        .range(1, 1e6);
    table.group("Storage");
    table.add("dir", directory, "directory for the data files; must exist")
        .letter('d')
        .metavar("DIR");
    table.add("prefix", prefix, "file names begin with this").metavar("NAME");
    table.add("backend-options", backend_settings, "settings of sim or null, key=value,…")
        .metavar("K=V,…")
        .expert();
    table.add("max-bytes", max_bytes, "most that may lie in the directory at a time")
        .range(0, 9e18)
        .automatic("80 % of the free space, the quota, or half of the memory on tmpfs");
    table.flag("keep", keep, "keep the files of the last repetition");
    table.flag("overwrite", overwrite, "replace files that have the names of ours");
    table.on_off("call-times", call_times,
                 "time each call into a histogram (costs some 30 ns a call)");
    cache.declare(table);
}

Status Parameters::check() {
    absent.clear();
    if (libraries.empty()) {
        libraries = all_libraries();
        for (const auto& library : backend_names(Serves::arrays)) {
            if (auto present = check_present(Serves::arrays, library); !present) {
                absent.push_back(fmt::format("{}: {}", library, present.error().cause));
            }
        }
    }
    for (const auto& library : libraries) {
        if (auto present = check_present(Serves::arrays, library); !present) return present;
        if (is_model(library) && libraries.size() > 1) {
            return usage_error(fmt::format("--libraries: {} is compared with nothing", library));
        }
    }
    if (prefix.find('/') != std::string::npos) {
        return usage_error("--prefix is the begin of file names; --dir says where they stand");
    }
    if (read && has(libraries, "null")) {
        return usage_error("--libraries=null keeps nothing to read: use --read=off");
    }
    sets.clear();
    const auto& known = known_hint_sets();
    sets.push_back(known.front());
    for (const auto& name : hint_sets) {
        const auto found =
            std::find_if(known.begin(), known.end(), [&](const auto& s) { return s.name == name; });
        if (found == known.end()) {
            return usage_error(fmt::format("--hint-sets: there is no set '{}'", name));
        }
        if (name != "none") sets.push_back(*found);
    }
    for (std::string text : own_sets) {
        // The option is a list, whose commas part the sets.
        std::replace(text.begin(), text.end(), '+', ',');
        auto set = HintSet::parse(text);
        if (!set) return usage_error("--hint-set: " + set.error().cause);
        sets.push_back(std::move(*set));
    }
    std::vector<std::string> names;
    for (const auto& set : sets) names.push_back(set.name);
    if (const auto twice = repeated(names)) {
        return usage_error(
            fmt::format("hint set '{}': {}", *twice,
                        *twice == "none" ? "this name means no hints" : "two sets have this name"));
    }
    if (const auto twice = repeated(libraries)) {
        return usage_error(fmt::format("--libraries: {} is given twice", *twice));
    }
    if (repeated(edges) || repeated(processes)) {
        return usage_error("--edges and --processes: each number once");
    }
    for (const auto& set : sets) {
        for (const auto& setting : set.settings) {
            BackendChoice choice;
            choice.name = setting.backend;
            choice.settings = setting.pair;
            if (!has(backend_names(Serves::arrays), setting.backend)) {
                return usage_error(fmt::format("hint set '{}': there is no library '{}'", set.name,
                                               setting.backend));
            }
            if (auto applied = apply_settings(Serves::arrays, choice); !applied) return applied;
        }
    }
    BackendChoice model = backend(libraries.front(), sets.front());
    if (!backend_settings.empty() && !is_model(libraries.front())) {
        return usage_error("--backend-options: settings of libraries belong into --hint-set");
    }
    return apply_settings(Serves::arrays, model);
}

std::vector<std::int64_t> Parameters::processes_in_force(int ranks) const {
    return processes.empty() ? default_processes(ranks) : processes;
}

Volume Parameters::volume(std::int64_t edge, std::int64_t count, int ranks) const {
    const auto list = processes_in_force(ranks);
    const std::int64_t most = *std::max_element(list.begin(), list.end());
    return {edge, scaling == Scaling::weak ? count : most, static_cast<int>(count),
            static_cast<int>(variables)};
}

BackendChoice Parameters::backend(const std::string& library, const HintSet& set) const {
    BackendChoice choice;
    choice.name = library;
    choice.settings = set.settings_of(library);
    if (!is_model(library)) return choice;
    // A set changes what all have in common.
    std::istringstream common(backend_settings);
    for (std::string pair; std::getline(common, pair, ',');) {
        const std::string key = pair.substr(0, pair.find('=')) + "=";
        const bool changed = std::any_of(
            set.settings.begin(), set.settings.end(),
            [&](const auto& own) { return own.backend == library && own.pair.starts_with(key); });
        if (changed) continue;
        choice.settings += (choice.settings.empty() ? "" : ",") + pair;
    }
    return choice;
}

}  // namespace effio::libraries
