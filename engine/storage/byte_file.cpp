// SPDX-License-Identifier: BSD-3-Clause
#include "storage/byte_file.hpp"

#include <fmt/format.h>

namespace effio {

const char* call_name(CallForm form, bool write) {
    switch (form.pointer) {
        case Pointer::at:
            if (write) return form.collective ? "MPI_File_write_at_all" : "MPI_File_write_at";
            return form.collective ? "MPI_File_read_at_all" : "MPI_File_read_at";
        case Pointer::individual:
            if (write) return form.collective ? "MPI_File_write_all" : "MPI_File_write";
            return form.collective ? "MPI_File_read_all" : "MPI_File_read";
        case Pointer::shared:
            break;
    }
    if (write) return form.collective ? "MPI_File_write_ordered" : "MPI_File_write_shared";
    return form.collective ? "MPI_File_read_ordered" : "MPI_File_read_shared";
}

template <class Move>
Status ByteFile::transfer(CallForm form, bool write, std::int64_t bytes, std::int64_t offset,
                          Move&& move) {
    const char* call = call_name(form, write);
    session_.progress.call(call);
    auto moved = [&]() -> Result<std::int64_t> {
        if (call_times_ == nullptr) return move();
        const double start = session_.clock.now();
        auto result = move();
        call_times_->add(session_.clock.now() - start);
        return result;
    }();
    if (!counts_progress()) session_.progress.moved(bytes);
    if (moved && *moved == bytes) return {};
    Error error = moved ? io_error(call, path_,
                                   fmt::format("moved {} of {} bytes without reporting an error",
                                               *moved, bytes))
                        : std::move(moved.error());
    if (!error.offset && form.pointer == Pointer::at) error.offset = offset * bytes_of(element_);
    return session_.signed_error(std::move(error));
}

Status ByteFile::write(CallForm form, std::span<const std::byte> data, std::int64_t offset) {
    return transfer(form, true, static_cast<std::int64_t>(data.size()), offset,
                    [&] { return do_write(form, data, offset); });
}

Status ByteFile::read(CallForm form, std::span<std::byte> data, std::int64_t offset) {
    return transfer(form, false, static_cast<std::int64_t>(data.size()), offset,
                    [&] { return do_read(form, data, offset); });
}

Status ByteFile::checked(Status status) const {
    session_.progress.beat();
    if (status) return status;
    return session_.signed_error(std::move(status.error()));
}

Status ByteFile::set_view(const View& view, const Hints& hints) {
    session_.progress.call("MPI_File_set_view");
    return checked(do_set_view(view, hints));
}

Status ByteFile::set_hints(const Hints& hints) {
    session_.progress.call("MPI_File_set_info");
    return checked(do_set_hints(hints));
}

Status ByteFile::preallocate(std::int64_t bytes) {
    session_.progress.call("preallocate");
    return checked(do_preallocate(bytes));
}

Status ByteFile::sync() {
    session_.progress.call("MPI_File_sync");
    return checked(do_sync());
}

Status ByteFile::close() {
    session_.progress.call("MPI_File_close");
    return checked(do_close());
}

}  // namespace effio
