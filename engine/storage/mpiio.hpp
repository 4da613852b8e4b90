// SPDX-License-Identifier: BSD-3-Clause
// Files through MPI-IO: the exact calls, datatypes and views that the benchmarks name.
#pragma once

#include <mpi.h>

#include <limits>
#include <memory>

#include "storage/byte_file.hpp"
#include "storage/mpi_settings.hpp"

namespace effio {

class Datatype;

class MpiFile final : public ByteFile {
  public:
    /// `comm` is that of the open, and must outlive the file if it is confirmed later.
    MpiFile(Session& session, const Comm& comm, const OpenRequest& request,
            const MpiSettings& settings, MPI_File file);
    MpiFile(const MpiFile&) = delete;
    MpiFile& operator=(const MpiFile&) = delete;
    // Closing is collective and may hang after a failure, so only close() does it.
    ~MpiFile() override = default;

    GrantedHints granted_hints() override;
    Status seek(std::int64_t offset) override;
    Status confirm() override;
    /// Collective, right after the open.
    Status set_atomic();
    Result<std::int64_t> size() override;
    Result<std::unique_ptr<TransferQueue>> queue(const QueueRequest& request) override;

  protected:
    friend class ByteFile;
    [[gnu::always_inline]] Result<std::int64_t> do_write(CallForm form,
                                                         std::span<const std::byte> data,
                                                         std::int64_t offset) override {
        const auto elements = elements_of(data.size());
        if (elements > most_elements) [[unlikely]]
            return large_write(form, data, offset);
        MPI_Status outcome{};  // ROMIO leaves it as it is where a rank has nothing to move
        const int code =
            call_write(form, data.data(), static_cast<int>(elements), etype_, offset, outcome);
        return moved(form, true, code, outcome);
    }
    [[gnu::always_inline]] Result<std::int64_t> do_read(CallForm form, std::span<std::byte> data,
                                                        std::int64_t offset) override {
        const auto elements = elements_of(data.size());
        if (elements > most_elements) [[unlikely]]
            return large_read(form, data, offset);
        MPI_Status outcome{};
        const int code =
            call_read(form, data.data(), static_cast<int>(elements), etype_, offset, outcome);
        return moved(form, false, code, outcome);
    }
    Result<std::int64_t> do_move_spaced(CallForm form, bool write, const Spaced& data,
                                        std::int64_t offset) override;
    Status do_set_view(const View& view, const Hints& hints) override;
    Status do_set_hints(const Hints& hints) override;
    Status do_preallocate(std::int64_t bytes) override;
    Status do_sync() override;
    Status do_close() override;

  private:
    static constexpr std::size_t most_elements = std::numeric_limits<int>::max();

    std::size_t elements_of(std::size_t bytes) const {
        return bytes / static_cast<std::size_t>(bytes_of(element()));
    }

    [[gnu::always_inline]] int call_write(CallForm form, const void* buffer, int count,
                                          MPI_Datatype type, MPI_Offset offset, MPI_Status& s) {
        if (form.collective && split_) return split_write(form, buffer, count, type, offset, s);
        switch (form.pointer) {
            case Pointer::at:
                return form.collective
                           ? MPI_File_write_at_all(file_, offset, buffer, count, type, &s)
                           : MPI_File_write_at(file_, offset, buffer, count, type, &s);
            case Pointer::individual:
                return form.collective ? MPI_File_write_all(file_, buffer, count, type, &s)
                                       : MPI_File_write(file_, buffer, count, type, &s);
            case Pointer::shared:
                break;
        }
        return form.collective ? MPI_File_write_ordered(file_, buffer, count, type, &s)
                               : MPI_File_write_shared(file_, buffer, count, type, &s);
    }
    [[gnu::always_inline]] int call_read(CallForm form, void* buffer, int count, MPI_Datatype type,
                                         MPI_Offset offset, MPI_Status& s) {
        if (form.collective && split_) return split_read(form, buffer, count, type, offset, s);
        switch (form.pointer) {
            case Pointer::at:
                return form.collective
                           ? MPI_File_read_at_all(file_, offset, buffer, count, type, &s)
                           : MPI_File_read_at(file_, offset, buffer, count, type, &s);
            case Pointer::individual:
                return form.collective ? MPI_File_read_all(file_, buffer, count, type, &s)
                                       : MPI_File_read(file_, buffer, count, type, &s);
            case Pointer::shared:
                break;
        }
        return form.collective ? MPI_File_read_ordered(file_, buffer, count, type, &s)
                               : MPI_File_read_shared(file_, buffer, count, type, &s);
    }
    // A collective call as its two halves, one right after the other.
    int split_write(CallForm form, const void* buffer, int count, MPI_Datatype type,
                    MPI_Offset offset, MPI_Status& s);
    int split_read(CallForm form, void* buffer, int count, MPI_Datatype type, MPI_Offset offset,
                   MPI_Status& s);
    /// Bytes of a call that returned `code`.
    [[gnu::always_inline]] Result<std::int64_t> moved(CallForm form, bool write, int code,
                                                      const MPI_Status& outcome) const {
        if (code != MPI_SUCCESS) [[unlikely]]
            return failed(form, write, code);
        int elements = 0;
        MPI_Get_count(&outcome, etype_, &elements);
        if (elements == MPI_UNDEFINED) [[unlikely]]
            return 0;
        return elements * bytes_of(element());
    }
    [[gnu::cold]] Result<std::int64_t> failed(CallForm form, bool write, int code) const;
    /// More than an int can count: as one element of a separate type.
    [[gnu::cold]] Result<std::int64_t> large_write(CallForm form, std::span<const std::byte> data,
                                                   std::int64_t offset);
    [[gnu::cold]] Result<std::int64_t> large_read(CallForm form, std::span<std::byte> data,
                                                  std::int64_t offset);
    Result<std::int64_t> large_moved(CallForm form, bool write, int code, const Datatype& type,
                                     const MPI_Status& outcome) const;
    Status status(const char* call, int code) const;
    Status countable(const char* call, std::int64_t extent) const;
    Status box_type(const Box& box, Datatype& cell, Datatype& filetype) const;
    Status strides_type(const Strides& strides, Datatype& filetype) const;
    Status list_type(const Listed& list, Datatype& filetype) const;

    const Comm& comm_;  ///< of the open
    bool split_;
    bool unconfirmed_;  ///< the path was not checked yet, so nothing may be written
    MPI_File file_;
    MPI_Datatype etype_;
    bool shows_bytes_ = true;  ///< the view is that of the open: offsets are the file's bytes
};

}  // namespace effio
