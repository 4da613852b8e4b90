// SPDX-License-Identifier: BSD-3-Clause
#include "frame/storage_options.hpp"

#include "frame/storage_run.hpp"
#include "parallel/from_root.hpp"

namespace effio {

void StorageOptions::declare_place(OptionTable& table) {
    table.group("Storage");
    table.add("dir", directory, "directory for the data files; must exist")
        .letter('d')
        .metavar("DIR");
}

void StorageOptions::declare(OptionTable& table) {
    declare_place(table);
    table.add("backend", backend.name, "storage backend").choices(backend_names(needs));
    table
        .add("backend-options", backend.settings,
             "settings of the backend, key=value,…; `effio-mpi describe backends` lists them")
        .metavar("K=V,…");
    if (needs != Serves::names) {
        table
            .add(
                "hints", hints_file,
                "file of hint rules: <processes> <access> <pattern> <chunk> <key> <value> per line")
            .metavar("FILE")
            .automatic("no hints");
    }
    declare_rules(table);
}

void StorageOptions::declare_rules(OptionTable& table) {
    table
        .add("max-bytes", max_bytes,
             "limit on the bytes in the directory at any one time; the rows of b_eff_io share it "
             "by their weight")
        .range(0, 9e18)
        .automatic(
            "80 % of the free space, the quota, or half of the memory on tmpfs, "
            "whichever is least");
    table.flag("keep", keep, "keep the data files");
    table.flag("overwrite", overwrite, "replace existing files that have the same names");
    table.flag("node-local", node_local,
               "each node has its own directory of this name; else all nodes must see the same");
    table.on_off("call-times", call_times,
                 "time each call into a histogram (the result states the cost of timing a call)");
    cache.declare(table);
}

Status StorageOptions::check() {
    if (auto loaded = load(needs, backend.name); !loaded) return loaded;
    return apply_settings(needs, backend);
}

std::vector<std::string> StorageOptions::needed_directories() const {
    if (is_model(backend.name)) return {};
    return {directory};
}

Result<HintRules> read_hint_rules(const Session& session, const StorageOptions& options,
                                  const HintVocabulary& vocabulary) {
    if (!options.hints_file) return HintRules{};
    const auto text =
        from_root(session.comm, [&] { return HintRules::read_file(*options.hints_file); });
    if (!text) return text.error();
    return HintRules::parse(*text, *options.hints_file, vocabulary);
}

Status require(const Storage& storage, std::initializer_list<Need> needs) {
    return require(storage.name(), needs);
}

}  // namespace effio
