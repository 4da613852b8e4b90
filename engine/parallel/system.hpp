// SPDX-License-Identifier: BSD-3-Clause
// What machine this is: enough for a reader of the result to repeat the run.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "core/json.hpp"
#include "parallel/comm.hpp"
#include "parallel/topology.hpp"

namespace effio {

struct Uname {
    std::string system;
    std::string node;
    std::string release;
    std::string version;
    std::string machine;
    /// The five words with blanks between them.
    std::string text() const;
};
Uname find_uname();

/// What this node's kernel takes time from, e.g. "tsc"; empty where it does not say.
std::string kernel_clock_source();

struct Memory {
    std::int64_t total_bytes = 0;  ///< of the node, or of the control group if that is less
    /// That could be had without swapping; nothing if it cannot be read.
    std::optional<std::int64_t> available_bytes;
};
Memory find_memory();

/// Bytes that this process made the block layer fetch and send (/proc/self/io), where the system
/// counts them.
struct ProcessIo {
    std::int64_t read_bytes = 0;
    std::int64_t written_bytes = 0;
};
std::optional<ProcessIo> process_io();

/// Collective. The memory of the node over the ranks on it, the smallest over the ranks.
std::int64_t memory_per_rank(const Comm& comm, const Topology& topology);

/// Collective; complete on the root: nodes, CPU, memory, kernel, MPI library, batch job.
Json describe_system(const Comm& comm, const Topology& topology);

/// What this program was built from and with.
Json describe_build();
std::string engine_version();

/// The first line of MPI_Get_library_version.
std::string mpi_library();

/// "3.1": of the MPI standard, as the library claims.
std::string mpi_standard();

struct MpiName {
    std::string name;     ///< "Open MPI", "MPICH"
    std::string version;  ///< "4.1.4"; empty where the library's text holds none
};
/// From the text of MPI_Get_library_version: "Open MPI v4.1.4, package: …", "MPICH Version: 4.0.2".
MpiName mpi_name_of(std::string_view library);

/// The number of ranks or this rank's number as the launcher says it in the environment, before
/// MPI_Init; nothing when started without a launcher.
std::optional<int> launcher_size();
std::optional<int> launcher_rank();

}  // namespace effio
