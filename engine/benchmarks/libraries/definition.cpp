// SPDX-License-Identifier: BSD-3-Clause
#include "benchmarks/libraries/definition.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

namespace effio::libraries {
namespace {

constexpr std::size_t longest_name = 64;

constexpr std::string_view aligned_text =
    "aligned:hdf5.alignment=1MiB,hdf5.alignment-threshold=64KiB,nc_var_align_size=1048576,"
    "nc_header_align_size=1048576";

/// Name and text. The first two are those of the study; the others are today's knobs.
constexpr std::string_view known_texts[] = {
    "none:",
    "largeblock:IBM_largeblock_io=true",
    "cb-on:romio_cb_write=enable,romio_cb_read=enable",
    "cb-off:romio_cb_write=disable,romio_cb_read=disable",
    "ds-off:romio_ds_write=disable,romio_ds_read=disable",
    "cb-64m:cb_buffer_size=67108864",
    aligned_text,
    "metadata:hdf5.collective-metadata=on,hdf5.metadata-block=1MiB",
    "independent:access=independent",
};

}  // namespace

ArraySchema schema_of(const Volume& volume) {
    ArraySchema s;
    s.dimensions = {
        {"process", volume.cubes}, {"z", volume.edge}, {"y", volume.edge}, {"x", volume.edge}};
    for (int v = 0; v < volume.variables; ++v) {
        s.variables.push_back({fmt::format("var{}", v + 1), ArrayType::real64, {0, 1, 2, 3}});
    }
    s.shares = {0, volume.processes, [volume](int p) { return volume.first_cube(p); }};
    return s;
}

Addresses addresses_of(const Volume& volume, int process) {
    const std::int64_t cube = volume.cells() * 8;
    const std::int64_t first = volume.first_cube(process);
    const std::int64_t share = (volume.first_cube(process + 1) - first) * cube;
    return {first * cube, Strides{share, {{volume.variables, volume.cubes * cube}}}};
}

Result<HintSet> HintSet::parse(const std::string& text) {
    HintSet set;
    const auto colon = text.find(':');
    set.name = text.substr(0, colon);
    if (set.name.empty() || colon == std::string::npos) {
        return usage_error(fmt::format("hint set '{}': expected name:key=value,…", text));
    }
    // It becomes a part of file names.
    const bool is_name =
        set.name.front() != '.' && std::all_of(set.name.begin(), set.name.end(), [](char c) {
            return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '-' || c == '_' ||
                   c == '.';
        });
    if (!is_name || set.name.size() > longest_name) {
        return usage_error(fmt::format(
            "hint set '{}': a name has at most {} letters, digits, '-', '_' and '.', and does not "
            "begin with '.'",
            set.name, longest_name));
    }
    std::string_view rest = std::string_view(text).substr(colon + 1);
    while (!rest.empty()) {
        const auto comma = std::min(rest.find(','), rest.size());
        const std::string pair(rest.substr(0, comma));
        rest.remove_prefix(std::min(comma + 1, rest.size()));
        const auto equals = pair.find('=');
        if (equals == 0 || equals == std::string::npos) {
            return usage_error(fmt::format("hint set '{}': '{}' is not key=value", set.name, pair));
        }
        const std::string key = pair.substr(0, equals);
        const std::string value = pair.substr(equals + 1);
        if (const auto dot = key.find('.'); dot != std::string::npos) {
            set.settings.push_back({key.substr(0, dot), pair.substr(dot + 1)});
        } else if (key != "access") {
            set.hints.set(key, value);
        } else if (value == "collective" || value == "independent") {
            set.access = value == "collective" ? ArrayAccess::collective : ArrayAccess::independent;
        } else {
            return usage_error(
                fmt::format("hint set '{}': access is collective or independent", set.name));
        }
    }
    return set;
}

std::string HintSet::settings_of(std::string_view backend) const {
    std::string pairs;
    for (const auto& setting : settings) {
        if (setting.backend == backend) pairs += (pairs.empty() ? "" : ",") + setting.pair;
    }
    return pairs;
}

std::string HintSet::idle_for(std::string_view backend, const ArrayCapabilities& can) const {
    if (hints.empty() && settings.empty() && !access) return {};
    if (!settings_of(backend).empty()) return {};
    if (access && can.collective) return {};
    // Keys of PnetCDF's own mean nothing to others.
    const bool reaches = std::any_of(hints.begin(), hints.end(), [&](const auto& hint) {
        return backend == "pnetcdf" || !hint.name.starts_with("nc_");
    });
    if (can.hints && reaches) return {};
    return fmt::format("nothing in the set '{}' reaches {}", name, backend);
}

const std::vector<HintSet>& known_hint_sets() {
    static const std::vector<HintSet> sets = [] {
        std::vector<HintSet> all;
        for (const auto text : known_texts) all.push_back(*HintSet::parse(std::string(text)));
        return all;
    }();
    return sets;
}

std::string_view layer_below(std::string_view backend) {
    if (backend == "netcdf4") return "hdf5";
    if (backend == "hdf5" || backend == "pnetcdf") return "mpiio";
    if (backend == "mpiio") return "posix";
    return {};
}

}  // namespace effio::libraries
