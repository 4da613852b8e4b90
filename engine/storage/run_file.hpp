// SPDX-License-Identifier: BSD-3-Clause
// Views, pointers and collective forms for backends that can only move consecutive bytes.
//
// A backend that derives from RunFile moves runs at absolute offsets; this class turns every call
// form into runs. A collective call is here each rank's own transfer at the place MPI defines;
// nothing is gathered or aggregated.
#pragma once

#include <vector>

#include "storage/byte_file.hpp"
#include "storage/posix_calls.hpp"

namespace effio {

/// Collective open of `real_path` by every rank of `comm`. With `exclusive` the root creates the
/// file and the others open what it made, so that exactly one rank can be the creator. With
/// `delete_on_close` all ranks have the file open, or none, when it returns. `flags` are added to
/// those of the mode. Where views are late (storage/late_views.hpp), the root is also the first to
/// create a file that may exist.
Result<Descriptor> open_together(Session& session, const Comm& comm, const std::string& real_path,
                                 const OpenMode& mode, int flags = 0);

class RunFile : public ByteFile {
  public:
    Status seek(std::int64_t offset) override;

  protected:
    /// `comm` must outlive the file.
    RunFile(Session& session, const Comm& comm, const OpenRequest& request, const CallNames& names)
        : ByteFile(session, request.path, request.element, names), comm_(comm) {}

    /// Consecutive bytes at an absolute offset; fewer than asked only at the end of the file.
    virtual Result<std::int64_t> write_run(std::int64_t offset,
                                           std::span<const std::byte> data) = 0;
    virtual Result<std::int64_t> read_run(std::int64_t offset, std::span<std::byte> data) = 0;
    /// Pieces of memory from or to consecutive places: here one run for each.
    virtual Result<std::int64_t> move_pieces(bool write, std::int64_t offset,
                                             std::span<const std::span<std::byte>> pieces);
    /// One transfer call of `bytes` is over on this rank; `sim` charges it here.
    virtual void charge(CallForm, bool /*write*/, std::int64_t /*bytes*/) {}

    Result<std::int64_t> do_write(CallForm form, std::span<const std::byte> data,
                                  std::int64_t offset) override;
    Result<std::int64_t> do_read(CallForm form, std::span<std::byte> data,
                                 std::int64_t offset) override;
    Result<std::int64_t> do_move_spaced(CallForm form, bool write, const Spaced& data,
                                        std::int64_t offset) override;
    Status do_set_view(const View& view, const Hints& hints) override;
    Status do_set_hints(const Hints&) override { return {}; }

    /// Whether such a call moves one run of bytes, which begins at run_place(offset).
    bool one_run_at(CallForm form) const {
        return form.pointer == Pointer::at && std::holds_alternative<Contiguous>(view_.shape);
    }
    std::int64_t run_place(std::int64_t offset) const {
        return view_.displacement + offset * bytes_of(element());
    }
    const Comm& comm() const { return comm_; }

  private:
    /// The stream position in bytes where a call starts; moves the pointers behind it.
    Result<std::int64_t> place(CallForm form, std::int64_t bytes, std::int64_t offset);
    template <class Span, class Move>
    Result<std::int64_t> transfer(CallForm form, bool write, Span data, std::int64_t offset,
                                  Move&& move);

    const Comm& comm_;
    View view_;
    std::int64_t individual_ = 0;               ///< this rank's pointer, bytes of the stream
    std::int64_t shared_ = 0;                   ///< the file's pointer; equal on all ranks
    std::vector<std::span<std::byte>> pieces_;  ///< of a run; kept between calls
};

}  // namespace effio
