// SPDX-License-Identifier: BSD-3-Clause
// For the loops whose time is measured: a file by its own class, so that effio adds nothing
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

    /// This rank's own transfers at explicit offsets.
    [[gnu::always_inline]] Status write_at(std::span<const std::byte> data,
                                           std::int64_t offset) const {
        return write({Pointer::at, false}, data, offset);
    }
    [[gnu::always_inline]] Status read_at(std::span<std::byte> data, std::int64_t offset) const {
        return read({Pointer::at, false}, data, offset);
    }

  private:
    File& file_;
};

/// It has a separate way for transfers that are one system call.
template <>
class Itself<CachedFile> {
  public:
    explicit Itself(CachedFile& file) : file_(file) {}

    Status write(CallForm form, std::span<const std::byte> data, std::int64_t offset = 0) const {
        return file_.write(form, data, offset);
    }
    Status read(CallForm form, std::span<std::byte> data, std::int64_t offset = 0) const {
        return file_.read(form, data, offset);
    }
    [[gnu::always_inline]] Status write_at(std::span<const std::byte> data,
                                           std::int64_t offset) const {
        return file_.write_at(data, offset);
    }
    [[gnu::always_inline]] Status read_at(std::span<std::byte> data, std::int64_t offset) const {
        return file_.read_at(data, offset);
    }

  private:
    CachedFile& file_;
};

/// Calls `use(itself)` with the file as what it is, where that is one of the backends that
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
