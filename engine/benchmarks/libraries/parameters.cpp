// SPDX-License-Identifier: BSD-3-Clause
#include "benchmarks/libraries/parameters.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <sstream>
#include <utility>

#include "core/whole.hpp"

namespace effio::libraries {
namespace {

bool has(const std::vector<std::string>& list, const std::string& word) {
    return std::find(list.begin(), list.end(), word) != list.end();
}

/// The first element that is there twice.
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
                 "processes has, distributed over all");
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
    declare_repetitions(table,
                        "repetitions of everything, in an order that balances position and "
                        "predecessor; a gain by hints needs at least five, for its interval");
    table.choice("fsync", fsync, {{"on", study::Sync::separate}, {"off", study::Sync::none}},
                 "flush to storage before the close; a separate part, not in the rates by the "
                 "definition");
    table.on_off("read", read, "read every file back; every value is checked, untimed");
    declare_checks(table);
    storage.declare_place(table);
    table.add("prefix", prefix, "file names begin with this").metavar("NAME");
    table.add("backend-options", backend_settings, "settings of sim or null, key=value,…")
        .metavar("K=V,…")
        .expert();
    storage.declare_rules(table);
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
        if (auto loaded = load(Serves::arrays, library); !loaded) return loaded;
        if (is_model(library) && libraries.size() > 1) {
            return usage_error(fmt::format("--libraries: {} is compared with nothing", library));
        }
    }
    Status rules = check_rules({
        {prefix.find('/') != std::string::npos,
         "--prefix is the start of a file name and must not contain '/'; use --dir for the "
         "directory"},
        {read && has(libraries, "null"), "--libraries=null keeps nothing to read: use --read=off"},
    });
    if (!rules) return rules;
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
    if (!backend_settings.empty() && !is_model(libraries.front())) {
        return usage_error("--backend-options: settings of libraries belong into --hint-set");
    }
    phases = {"write"};
    if (read) phases.emplace_back("read");
    if (auto model = backend(libraries.front(), sets.front()); !model) return model.error();
    return check_common();
}

std::vector<std::int64_t> Parameters::processes_in_force(int ranks) const {
    return processes.empty() ? study::doubled_up_to(ranks) : processes;
}

Volume Parameters::volume(std::int64_t edge, std::int64_t count, int ranks) const {
    const auto list = processes_in_force(ranks);
    const std::int64_t most = *std::max_element(list.begin(), list.end());
    return {edge, scaling == Scaling::weak ? count : most, static_cast<int>(count),
            static_cast<int>(variables)};
}

Result<BackendChoice> Parameters::backend(const std::string& library, const HintSet& set) const {
    BackendChoice choice;
    choice.name = library;
    choice.settings = set.settings_of(library);
    // A set changes what all have in common.
    std::istringstream common(is_model(library) ? backend_settings : "");
    for (std::string pair; std::getline(common, pair, ',');) {
        const std::string key = pair.substr(0, pair.find('=')) + "=";
        const bool changed = std::any_of(
            set.settings.begin(), set.settings.end(),
            [&](const auto& own) { return own.backend == library && own.pair.starts_with(key); });
        if (changed) continue;
        choice.settings += (choice.settings.empty() ? "" : ",") + pair;
    }
    if (auto applied = apply_settings(Serves::arrays, choice); !applied) return applied.error();
    return choice;
}

Selection select(const Parameters& p, Job* job) {
    Selection selection;
    selection.left_out = p.absent;
    for (const auto& library : p.libraries) {
        for (const auto& set : p.sets) {
            const auto choice = p.backend(library, set);
            if (!choice) continue;  // judged before MPI was started
            LibrarySetup method{library, &set, *choice};
            if (job != nullptr) {
                const auto made = make_arrays(job->session, *choice, job->room);
                if (auto why = set.idle_for(library, made->capabilities()); !why.empty()) {
                    selection.left_out.push_back(std::move(why));
                    continue;
                }
                method.version = made->version();
                method.settings = made->describe();
            }
            selection.methods.push_back(std::move(method));
        }
    }
    return selection;
}

namespace {

const Fields<LibrarySetup>& method_fields() {
    using C = LibrarySetup;
    static const Fields<C> fields{
        {"library", Unit::word, "as in --libraries", &C::library},
        {"version", Unit::word, "of the library that runs", &C::version},
        {"hints", Unit::word, "name of the set", [](const C& c) { return c.set->name; }},
        Field<C>("hints_asked", Unit::word, "value of each hint of the set",
                 [](const C& c) { return c.set->hints.to_json(); })
            .by_name(),
        {"settings", Unit::object, "of the library", &C::settings}};
    return fields;
}

struct Chosen {
    const Parameters& parameters;
    const Selection& selection;
};

const Fields<Chosen>& chosen_fields() {
    using C = Chosen;
    static const Fields<C> fields{
        {"scaling", Unit::word, "strong or weak",
         [](const C& c) { return name(c.parameters.scaling); }},
        {"warm_up_edge", Unit::count, "of the array that is written before anything counts",
         [](const C&) { return Volume::warm_up_edge; }},
        {"contenders", method_fields(), "in the order of the comparison",
         [](const C& c) -> const std::vector<LibrarySetup>& { return c.selection.methods; }},
        {"left_out", Unit::word, "libraries and hints that are not compared, and why",
         [](const C& c) -> const std::vector<std::string>& { return c.selection.left_out; }}};
    return fields;
}

/// One library with its hints at one point; `file` begins no other method's names.
study::Cell cell_of(const Parameters& p, const LibrarySetup& method, const Volume& volume,
                    int set_number = 0) {
    study::Cell cell;
    const HintSet& set = *method.set;
    cell.pattern = name(p.scaling);
    cell.axes = {study::word_axis("library", method.library), study::word_axis("hints", set.name),
                 study::count_axis("edge", volume.edge),
                 study::count_axis("processes", volume.processes)};
    cell.ranks = volume.processes;
    cell.file = fmt::format("{}{}_{}", p.prefix, method.library, set.name);
    // The files of each point are its own, though all have the same names.
    cell.pool = fmt::format("{} {} {}", cell.file, volume.edge, volume.processes);
    cell.file_bytes = volume.bytes();
    cell.data = study::Arrays{
        schema_of(volume), [volume](int rank) { return addresses_of(volume, rank); }, set_number};
    cell.backend = method.backend;
    cell.collective = set.access.value_or(ArrayAccess::collective) == ArrayAccess::collective;
    cell.content = study::Content::numbers;
    cell.sync = p.fsync;
    cell.hints = set.hints;
    return cell;
}

/// The files of all points have to be within 8 EiB, and those that --keep leaves.
Status check_points(const Parameters& p, std::size_t methods, int ranks) {
    for (const auto n : p.processes) {
        if (n > ranks) {
            return usage_error(fmt::format("--processes: {} is more than the {} of the run", n,
                                           count_of(ranks, "rank")));
        }
    }
    const auto counts = p.processes_in_force(ranks);
    const auto points = static_cast<std::int64_t>(p.edges.size() * counts.size() * methods);
    for (const auto edge : p.edges) {
        const Volume v = p.volume(edge, *std::max_element(counts.begin(), counts.end()), ranks);
        if (!product_of({v.cubes, edge, edge, edge, 8, v.variables, points})) {
            return usage_error(
                fmt::format("--edges: with {} on {} the files would be larger than "
                            "8 EiB",
                            edge, count_of(ranks, "rank")));
        }
    }
    return {};
}

}  // namespace

Result<study::Definition> define(const Parameters& p, const Selection& selection, int ranks) {
    const auto& methods = selection.methods;
    if (auto fits = check_points(p, methods.size(), ranks); !fits) return fits.error();
    study::Definition study;
    study.name = "libraries";
    study.compared = methods.size();
    study.reports_means = true;
    int number = 0;
    for (const auto edge : p.edges) {
        for (const auto count : p.processes_in_force(ranks)) {
            const Volume volume = p.volume(edge, count, ranks);
            const Volume small = volume.warm_up();
            study::Definition warm_up;
            for (const auto& method : methods) {
                study.add(cell_of(p, method, volume, number++), p.phases);
                warm_up.add(cell_of(p, method, small), p.phases);
            }
            study.warm_up.insert(study.warm_up.end(), warm_up.cells.begin(), warm_up.cells.end());
        }
    }
    std::string names;
    for (const auto& c : methods) {
        if (c.set->name != "none") continue;
        names += (names.empty() ? "" : ", ") + (c.version.empty() ? c.library : c.version);
    }
    study.title = fmt::format("Libraries, {} scaling: {}", name(p.scaling), names);
    for (const auto& why : selection.left_out) study.title += "\nleft out: " + why;
    study.run_line = {{"libraries", chosen_fields(), "what is compared", Chosen{p, selection}}};
    return study;
}

}  // namespace effio::libraries
