// SPDX-License-Identifier: BSD-3-Clause
#include "benchmarks/flash_io/parameters.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace effio::flash_io {

std::string Parameters::default_backend() {
    const auto present = present_backends(Serves::arrays);
    for (const char* name : {"pnetcdf", "hdf5"}) {
        if (std::find(present.begin(), present.end(), name) != present.end()) return name;
    }
    return "mpiio";
}

void Parameters::declare(OptionTable& table) {
    table.group("Benchmark");
    table.add("cells", cells, "cells along the edge of a block; published results have 8 or 16")
        .letter('n')
        .range(1, 1024);
    table.add("dimensions", dimensions, "dimensions of the mesh").range(1, 3);
    table.add("guards", guards, "layers of guard cells around a block, in memory only")
        .range(1, 64)
        .expert();
    table
        .add("blocks", blocks,
             "blocks of a rank; every second and third rank has one and two more, as in the "
             "original")
        .range(1, 1e6);
    table.add("files", files, "which of the three files of a dump are written")
        .choices({"checkpoint", "plot-centred", "plot-corner"});
    table.choice(
        "structure", structure,
        {{"auto", {}}, {"netcdf", Structure::netcdf}, {"hdf5", Structure::hdf5}},
        "names and header of the files: of the PnetCDF port or of the HDF5 original; auto: "
        "the original's for the backend hdf5, else the port's");
    table.add("prefix", prefix, "file names begin with this").metavar("NAME");
    table.choice(
        "access", access,
        {{"collective", ArrayAccess::collective}, {"independent", ArrayAccess::independent}},
        "whether ranks call put and get together or each for itself");
    table.choice(
        "calls", calls,
        {{"auto", Calls::automatic},
         {"blocking", Calls::blocking},
         {"nonblocking", Calls::nonblocking}},
        "blocking: a call for each variable; nonblocking: all are posted, then waited for; "
        "auto: nonblocking where the backend can");
    table.choice(
        "memory", memory, {{"packed", Memory::packed}, {"in-place", Memory::in_place}},
        "packed: the interior of a block is copied together before each call; in-place: the "
        "library takes it out from between the guard cells (checkpoint, backend hdf5)");
    table.on_off("kernel-hints", kernel_hints,
                 "the hints that the PnetCDF port sets (romio_no_indep_rw, romio_ds_write, "
                 "nc_var_align_size); backend pnetcdf");
    table.choice(
        "fill", fill,
        {{"constant", Fill::constant}, {"index", Fill::index}, {"random", Fill::random}},
        "constant: every variable has one value everywhere, as in the original; index: whole "
        "numbers that depend on variable, block and cell, so that misplaced data are found; "
        "random: the same with random fractions, which compress little");
    data.declare(table);
    table.on_off(
        "write", write,
        "off: nothing is written; read the files that an earlier run of the same options left "
        "with --keep, as a restart does");
    table.on_off("fsync", fsync,
                 "flush the file to storage before it is closed; a separate part, not in the "
                 "bandwidth by the definition");
    table.choice(
        "read", read,
        {{"none", ReadBack::none}, {"checkpoint", ReadBack::checkpoint}, {"all", ReadBack::all}},
        "restart: read the last checkpoint back, or all files of all dumps; every value is "
        "checked, untimed");
    table.choice("reader", reader, {{"same", Readers::same}, {"shifted", Readers::shifted}},
                 "a rank reads its own blocks, or those of a rank on the next node, which its own "
                 "node's cache does not hold");
    table
        .add("writers", writers,
             "with --write=off: how many ranks wrote the files, if not as many as read them")
        .range(1, 2147483646)
        .automatic("as many as read");
    table.add("dumps", dumps, "dumps of a series, each into its own files").range(1, 9999);
    table.add("compute", compute, "work on the mesh before each dump but the first").range(0, 1e6);
    table.add("repetitions", repetitions, "repetitions of the whole series")
        .letter('r')
        .range(1, 1e6)
        .notes(until_ci.most_given);
    until_ci.declare(table);
    table
        .add("time-limit", time_limit,
             "start no further repetition after this time of the run; 0 = no limit")
        .range(0, 1e9);
    storage.declare(table);
}

Status Parameters::check() {
    if (auto known = storage.check(); !known) return known;
    const bool has_checkpoint =
        std::find(files.begin(), files.end(), name(File::checkpoint)) != files.end();
    Status rules = check_rules({
        {structure == Structure::hdf5 && storage.backend.name != "hdf5",
         fmt::format("--structure=hdf5 has datasets of text and records; the backend {} has not",
                     storage.backend.name)},
        {prefix.find('/') != std::string::npos,
         "--prefix is the start of a file name and must not contain '/'; use --dir for the "
         "directory"},
        {files.empty(), "--files: none is given"},
        {!write && read == ReadBack::none,
         "--write=off needs --read: otherwise there is nothing to do"},
        {read == ReadBack::checkpoint && !has_checkpoint,
         "--read=checkpoint, but --files has no checkpoint"},
        {write && writers,
         "--writers needs --write=off: it is the number of ranks that wrote the files of an "
         "earlier run"},
        {!data.shape().is_plain() && fill != Fill::random,
         "--compressible and --duplicate shape random data: use --fill random"},
    });
    if (!rules) return rules;
    if (auto kept = until_ci.check(repetitions, "--repetitions"); !kept) return kept;
    const bool may_end_early = time_limit.count > 0 || until_ci.on();
    if (write && storage.keep && may_end_early && fill == Fill::index && repetitions > 1) {
        return usage_error(fmt::format(
            "{} cannot be combined with --keep and --fill=index: the values in the kept files "
            "depend on the number of repetitions, which is not known before; leave one of the "
            "three "
            "out",
            until_ci.on() ? "--until-ci" : "--time-limit"));
    }
    return {};
}

Geometry Parameters::geometry() const {
    return {static_cast<int>(dimensions), cells, guards, blocks};
}

std::vector<File> Parameters::files_in_order() const {
    std::vector<File> chosen;
    for (const File file : all_files) {
        if (std::find(files.begin(), files.end(), name(file)) != files.end()) {
            chosen.push_back(file);
        }
    }
    return chosen;
}

Structure Parameters::structure_in_force() const {
    return structure.value_or(storage.backend.name == "hdf5" ? Structure::hdf5 : Structure::netcdf);
}

}  // namespace effio::flash_io
