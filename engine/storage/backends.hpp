// SPDX-License-Identifier: BSD-3-Clause
// The registry of backends, and the options that choose one.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "core/options.hpp"
#include "core/sim_model.hpp"
#include "storage/array_libraries.hpp"
#include "storage/array_storage.hpp"
#include "storage/byte_file.hpp"
#include "storage/direct.hpp"
#include "storage/mpi_settings.hpp"
#include "storage/names.hpp"
#include "storage/null.hpp"
#include "storage/sim.hpp"
#include "storage/sion/storage.hpp"
#include "storage/uring.hpp"

namespace effio {

/// What the user chose, and the settings of each backend with their defaults.
struct BackendChoice {
    std::string name;
    std::string settings;  ///< "key=value,key=value"
    MpiSettings mpiio;
    DirectSettings direct;
    UringSettings uring;
    NullDelays null_delays;
    NullNameDelays null_name_delays;
    SimModel sim_model;
    SionSettings sion;
    Hdf5Settings hdf5;
    PnetcdfSettings pnetcdf;
    Netcdf4Settings netcdf4;
    /// How bytes are stored in HDF5 files: datasets of segments, or of blocks.
    ArrayDivision hdf5_datasets = ArrayDivision::words_by_segment;
};

/// What every backend says of itself, whatever it serves.
struct BackendInfo {
    std::string name;
    std::string purpose;
    /// Declares the backend's settings, bound to the choice; null if it has none.
    void (*declare)(BackendChoice&, OptionTable&);
    /// Why this program does not have it, and what would help; empty if it has.
    std::string missing = {};
    /// Loads what it needs and what the program does not start with; null if there is nothing.
    Status (*load)() = nullptr;
};

/// One backend of an interface; a new one is a row of a table in backends.cpp or, if it has
/// a format, in format_backends.cpp.
template <class Interface>
struct Backend : BackendInfo {
    /// `room` is null unless the backend is sim.
    std::unique_ptr<Interface> (*make)(Session&, const BackendChoice&, const SimRoom* room);
};
using ByteBackend = Backend<Storage>;
using NamesBackend = Backend<Names>;
using ArrayBackend = Backend<ArrayLibrary>;
const std::vector<ByteBackend>& byte_backends();
/// Those, and containers and array libraries as stores of bytes that are divided into blocks.
const std::vector<ByteBackend>& block_backends();
const std::vector<NamesBackend>& names_backends();
const std::vector<ArrayBackend>& array_backends();

/// `null` and `sim`: nothing reaches the directory that the user names.
bool is_model(const std::string& backend);
/// Whether each rank has its own file; for array backends.
bool makes_file_per_process(std::string_view backend);

/// Seconds that a rank may spend in delays which the user requested, while it makes this many calls
/// that move this many bytes; other ranks wait for it in silence.
double asked_wait(const BackendChoice& choice, std::int64_t calls, std::int64_t bytes);

/// What a benchmark needs of a backend. Who says how its files are divided into blocks
/// (OpenRequest::blocks) can have those that serve blocks: all that serve bytes, and more.
enum class Serves { bytes, names, arrays, blocks };

/// All that this program knows of, those it was built without among them.
std::vector<std::string> backend_names(Serves what);
/// Those that it has.
std::vector<std::string> present_backends(Serves what);
/// An environment error where the program was built without the backend; it says what would help.
Status check_present(Serves what, const std::string& name);
/// The same, and loads what the backend needs; local. To be called before it is made. An error that
/// has a rank is that of this rank alone.
Status load(Serves what, const std::string& name);

/// Reads `choice.settings` into the backend's own settings; unknown keys and bad values are errors.
Status apply_settings(Serves what, BackendChoice& choice);

/// The backends as JSON: name, what they serve ("bytes", "names", "arrays"; "blocks" are those that
/// serve nothing less), purpose, why it is
/// missing (else null) and settings (as OptionTable::describe gives them).
Json describe_backends();

/// `choice.name` must be of the registry; `room` is needed by sim.
std::unique_ptr<Storage> make_storage(Session& session, const BackendChoice& choice,
                                      const SimRoom* room);
std::unique_ptr<Names> make_names(Session& session, const BackendChoice& choice,
                                  const SimRoom* room);
std::unique_ptr<ArrayLibrary> make_arrays(Session& session, const BackendChoice& choice,
                                          const SimRoom* room);

/// What a benchmark needs of a backend, and whether it is there.
struct Need {
    bool present;
    const char* what;
};

}  // namespace effio
