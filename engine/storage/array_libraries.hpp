// SPDX-License-Identifier: BSD-3-Clause
// The array backends and their settings.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "core/options.hpp"
#include "core/units.hpp"
#include "storage/array_file.hpp"
#include "storage/sion/storage.hpp"

namespace effio {

/// Longest text of an attribute that is read, because a damaged file may claim any length.
inline constexpr std::int64_t longest_attribute = 64 * KiB;

struct Hdf5Settings {
    Bytes alignment{0};  ///< objects from the threshold on begin at its multiples; 0 = off
    Bytes alignment_threshold{1};  ///< smaller objects are packed
    Bytes sieve_buffer{64 * KiB};
    Bytes metadata_block{2 * KiB};
    std::int64_t chunk_rows = 0;  ///< of the first dimension; 0 = contiguous
    bool collective_metadata = false;
    /// When datasets are filled before data come: never, with a value that was set, at once.
    enum class Fill : char { never, if_set, alloc };
    Fill fill = Fill::never;
    bool latest_version = false;  ///< of the file format may be used
    void declare(OptionTable& table);
};

struct PnetcdfSettings {
    enum class Format : char { cdf5, cdf2 };
    Format format = Format::cdf5;
    static const Words<Format>& formats();
    void declare(OptionTable& table);
};

struct Netcdf4Settings {
    std::int64_t chunk_rows = 0;
    void declare(OptionTable& table);
};

/// Arrays without a format over a way to reach bytes; it gives the name.
std::unique_ptr<ArrayLibrary> make_bytes_array_library(Session& session,
                                                       std::unique_ptr<Storage> storage);

/// Collective over `comm`, before its ranks create a file: the root removes what is there, and all
/// know if that failed.
Status make_room(Session& session, const Comm& comm, Storage& storage, const std::string& path);

/// One file for each writer, holding its share of every variable, in the schema's order.
enum class OwnFileFormat : char {
    raw,     ///< nothing but the data
    records  ///< Fortran unformatted sequential: each variable one record between length marks
};
std::unique_ptr<ArrayLibrary> make_own_file_library(Session& session, OwnFileFormat format);
/// The same bytes in the streams of a container.
std::unique_ptr<ArrayLibrary> make_sion_array_library(Session& session,
                                                      const SionSettings& settings);

// In the module of the libraries that were found (array_module.hpp).
std::unique_ptr<ArrayLibrary> make_hdf5_library(Session& session, const Hdf5Settings& settings);
std::unique_ptr<ArrayLibrary> make_pnetcdf_library(Session& session,
                                                   const PnetcdfSettings& settings);
std::unique_ptr<ArrayLibrary> make_netcdf4_library(Session& session,
                                                   const Netcdf4Settings& settings);

}  // namespace effio
