// SPDX-License-Identifier: BSD-3-Clause
// HDF5, PnetCDF and NetCDF with all that they need are 44 shared libraries (Debian 12), which every
// rank of every run would open and link at its start. What calls them is a module,
// effio-arrays.so, that a program loads when a run chooses one of them.
#pragma once

#include <memory>

#include "storage/array_libraries.hpp"

namespace effio {

/// What the module offers; null: it was built without the library.
struct ArrayModule {
    std::unique_ptr<ArrayLibrary> (*hdf5)(Session&, const Hdf5Settings&);
    std::unique_ptr<ArrayLibrary> (*pnetcdf)(Session&, const PnetcdfSettings&);
    std::unique_ptr<ArrayLibrary> (*netcdf4)(Session&, const Netcdf4Settings&);
};

/// Loads the module unless it is loaded; local. It is next to the program or in ../lib/effio,
/// and a program may hold it itself (tests do). An environment error of this rank and host, in the
/// loader's words, if it or a library that it needs is missing here.
Status load_array_module();

/// The module, which must be loaded.
const ArrayModule& array_module();

}  // namespace effio

/// The name by which a program finds the module in its file.
extern "C" const effio::ArrayModule effio_array_module;
