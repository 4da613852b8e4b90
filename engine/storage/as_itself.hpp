// SPDX-License-Identifier: BSD-3-Clause
// For the loops whose time is measured: a file by its own class, so that nothing of ours stands
// between the loop and the library (ByteFile::write_to says what that is worth).
#pragma once

#include "storage/mpiio.hpp"
#include "storage/posix.hpp"

namespace effio {

/// A file whose class is known; the calls are ByteFile's.
template <class File>
class Itself {
  public:
    explicit Itself(File& file) : file_(file) {}

    [[gnu::always_inline]] Status write(CallForm form, std::span<const std::byte> data,
                                        std::int64_t offset = 0) const {
        return ByteFile::write_to(file_, form, data, offset);
    }
    [[gnu::always_inline]] Status read(CallForm form, std::span<std::byte> data,
                                       std::int64_t offset = 0) const {
        return ByteFile::read_from(file_, form, data, offset);
    }

  private:
    File& file_;
};

/// Calls `use(itself)` with the file as what it is, where that is one of the ways to storage that
/// are a call and nothing else, or as any ByteFile; once a loop, not once a transfer.
template <class Use>
[[gnu::always_inline]] inline void as_itself(ByteFile& file, const Use& use) {
    if (auto* mpi = dynamic_cast<MpiFile*>(&file); mpi != nullptr) {
        use(Itself(*mpi));
    } else if (auto* cached = dynamic_cast<CachedFile*>(&file); cached != nullptr) {
        use(Itself(*cached));
    } else {
        use(Itself(file));
    }
}

}  // namespace effio
