// SPDX-License-Identifier: BSD-3-Clause
#include "storage/run_file.hpp"

#include <fcntl.h>

#include "parallel/mpi_comm.hpp"
#include "storage/late_views.hpp"

namespace effio {
namespace {

Result<Descriptor> open_by_mode(Session& session, const Comm& comm, const std::string& real_path,
                                const OpenMode& mode, int flags) {
    flags |= mode.write ? (mode.read ? O_RDWR : O_WRONLY) : O_RDONLY;
    if (mode.create) flags |= O_CREAT;
    const bool late = session.late_views && mode.create && comm.size() > 1;
    if (!mode.exclusive && !late) return open_file(real_path, flags);
    if (late) wait_until_gone(session, comm, real_path);
    if (comm.is_root()) {
        auto created = open_file(real_path, flags | (mode.exclusive ? O_EXCL : 0));
        int code = created ? 0 : created.error().system_code;
        comm.broadcast(code);
        return created;
    }
    int code = 0;
    comm.broadcast(code);
    if (code != 0) return system_error("open", real_path, code);
    return open_file(real_path, flags & ~O_CREAT);
}

}  // namespace

Result<Descriptor> open_together(Session& session, const Comm& comm, const std::string& real_path,
                                 const OpenMode& mode, int flags) {
    auto opened = open_by_mode(session, comm, real_path, mode, flags);
    if (!mode.delete_on_close || comm.size() == 1) return opened;
    // The root removes the name when it closes. A rank that opens after that would create it anew.
    int all = opened ? 1 : 0;
    MPI_Allreduce(MPI_IN_PLACE, &all, 1, MPI_INT, MPI_MIN, raw(comm));
    if (opened && all == 0) return io_error("open", real_path, "another rank could not open it");
    return opened;
}

Status RunFile::seek(std::int64_t offset) {
    individual_ = offset * bytes_of(element());
    return {};
}

Status RunFile::do_set_view(const View& view, const Hints&) {
    view_ = view;
    individual_ = 0;
    shared_ = 0;
    return {};
}

Result<std::int64_t> RunFile::place(CallForm form, std::int64_t bytes, std::int64_t offset) {
    switch (form.pointer) {
        case Pointer::at:
            return offset * bytes_of(element());
        case Pointer::individual: {
            const std::int64_t begin = individual_;
            individual_ += bytes;
            return begin;
        }
        case Pointer::shared:
            break;
    }
    if (!form.collective) {
        return io_error("transfer", path(),
                        "this backend has no shared file pointer outside collective calls");
    }
    // Bookkeeping of ours, which MPI would do inside the call: it costs no virtual time.
    std::int64_t below = 0;
    std::int64_t all = bytes;
    MPI_Exscan(&bytes, &below, 1, MPI_INT64_T, MPI_SUM, raw(comm_));
    MPI_Allreduce(MPI_IN_PLACE, &all, 1, MPI_INT64_T, MPI_SUM, raw(comm_));
    const std::int64_t begin = shared_ + (comm_.is_root() ? 0 : below);
    shared_ += all;
    return begin;
}

template <class Span, class Move>
Result<std::int64_t> RunFile::transfer(CallForm form, bool write, Span data, std::int64_t offset,
                                       Move&& move) {
    const auto bytes = static_cast<std::int64_t>(data.size());
    const auto begin = place(form, bytes, offset);
    if (!begin) return begin.error();
    // A call without bytes touches nothing: O_DIRECT would mind the place.
    if (bytes > 0 && std::holds_alternative<Contiguous>(view_.shape)) {
        auto moved = move(view_.displacement + *begin, data);
        charge(form, write, bytes);
        return moved;
    }
    Result<std::int64_t> moved = std::int64_t{0};
    const auto one_run = [&](const Run& run) {
        const auto from = static_cast<std::size_t>(*moved);
        const auto piece =
            move(run.offset, data.subspan(from, static_cast<std::size_t>(run.bytes)));
        if (!piece) {
            moved = piece.error();
            return false;
        }
        *moved += *piece;
        return *piece == run.bytes;
    };
    if (bytes > 0) for_each_run(view_, *begin, bytes, one_run);
    charge(form, write, bytes);
    return moved;
}

Result<std::int64_t> RunFile::do_write(CallForm form, std::span<const std::byte> data,
                                       std::int64_t offset) {
    return transfer(
        form, true, data, offset,
        [this](std::int64_t at, std::span<const std::byte> d) { return write_run(at, d); });
}

Result<std::int64_t> RunFile::do_read(CallForm form, std::span<std::byte> data,
                                      std::int64_t offset) {
    return transfer(form, false, data, offset,
                    [this](std::int64_t at, std::span<std::byte> d) { return read_run(at, d); });
}

Result<std::int64_t> RunFile::move_pieces(bool write, std::int64_t offset,
                                          std::span<const std::span<std::byte>> pieces) {
    std::int64_t moved = 0;
    for (const auto piece : pieces) {
        auto one = write ? write_run(offset + moved, piece) : read_run(offset + moved, piece);
        if (!one) return one;
        moved += *one;
        if (*one < std::ssize(piece)) break;
    }
    return moved;
}

Result<std::int64_t> RunFile::do_move_spaced(CallForm form, bool write, const Spaced& data,
                                             std::int64_t offset) {
    const std::int64_t bytes = data.bytes();
    const auto begin = place(form, bytes, offset);
    if (!begin) return begin.error();
    Result<std::int64_t> moved = std::int64_t{0};
    const auto one_run = [&](const Run& run) {
        pieces_.clear();
        data.for_each_part(*moved, run.bytes,
                           [this](std::span<std::byte> part) { pieces_.push_back(part); });
        const auto some = move_pieces(write, run.offset, pieces_);
        if (!some) {
            moved = some.error();
            return false;
        }
        *moved += *some;
        return *some == run.bytes;
    };
    if (bytes > 0) for_each_run(view_, *begin, bytes, one_run);
    charge(form, write, bytes);
    return moved;
}

}  // namespace effio
