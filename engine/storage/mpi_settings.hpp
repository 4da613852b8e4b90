// SPDX-License-Identifier: BSD-3-Clause
// What can be chosen of MPI-IO, and what is known of the library, without mpi.h.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "core/options.hpp"
#include "storage/byte_file.hpp"
#include "storage/hints.hpp"

namespace effio {

/// Choices of MPI-IO that no definition of a benchmark asks for.
struct MpiSettings {
    bool atomic = false;  ///< MPI_File_set_atomicity after each open
    bool split = false;   ///< collective calls as MPI_File_…_begin and …_end

    void declare(OptionTable& table);
    bool any() const { return atomic || split; }
    /// "atomic mode and split collectives"
    std::string text() const;
};

std::unique_ptr<Storage> make_mpiio_storage(Session& session, const MpiSettings& settings = {});

/// The vocabulary of a hints file with the lengths that this MPI can bear, else empty.
HintVocabulary vocabulary_of_mpi();

/// Which code carries out calls of MPI-IO, in one word: "open-mpi-v4.1.4:ompio:ext4". What a trial
/// has shown holds for libraries with the same word. `library` is how MPI_Get_library_version
/// begins; `chosen` names the implementation that the user chose, and is empty without a choice;
/// `file_system` is a type.
std::string mpi_io_word(std::string_view library, std::string_view chosen,
                        std::string_view file_system);
/// The MPI-IO implementation of this process; Open MPI has several, and a parameter `io` that
/// chooses.
std::string mpi_io_word(std::string_view file_system);

}  // namespace effio
