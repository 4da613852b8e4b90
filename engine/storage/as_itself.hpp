// SPDX-License-Identifier: BSD-3-Clause
// For the loops whose time is measured: a file by its own class, so that nothing of ours stands
// between the loop and the library (ByteFile::write_to says what that is worth).
#pragma once

#include "storage/mpiio.hpp"
#include "storage/posix.hpp"

namespace effio {

/// Calls `use(file)` with the file as what it is, where that is one of the ways to storage that are
/// a call and nothing else, or as any ByteFile; once a loop, not once a transfer.
template <class Use>
[[gnu::always_inline]] inline void as_itself(ByteFile& file, const Use& use) {
    if (auto* mpi = dynamic_cast<MpiFile*>(&file); mpi != nullptr) {
        use(*mpi);
    } else if (auto* cached = dynamic_cast<CachedFile*>(&file); cached != nullptr) {
        use(*cached);
    } else {
        use(file);
    }
}

}  // namespace effio
