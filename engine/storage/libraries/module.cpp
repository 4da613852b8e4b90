// SPDX-License-Identifier: BSD-3-Clause
// The array libraries that were found, as the program finds them in this module.
#include "storage/array_module.hpp"

namespace effio {
namespace {

#ifdef EFFIO_HAVE_HDF5
constexpr auto hdf5 = make_hdf5_library;
#else
constexpr decltype(ArrayModule::hdf5) hdf5 = nullptr;
#endif
#ifdef EFFIO_HAVE_PNETCDF
constexpr auto pnetcdf = make_pnetcdf_library;
#else
constexpr decltype(ArrayModule::pnetcdf) pnetcdf = nullptr;
#endif
#ifdef EFFIO_HAVE_NETCDF4
constexpr auto netcdf4 = make_netcdf4_library;
#else
constexpr decltype(ArrayModule::netcdf4) netcdf4 = nullptr;
#endif

}  // namespace
}  // namespace effio

const effio::ArrayModule effio_array_module{effio::hdf5, effio::pnetcdf, effio::netcdf4};
