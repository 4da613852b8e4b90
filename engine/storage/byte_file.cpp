// SPDX-License-Identifier: BSD-3-Clause
#include "storage/byte_file.hpp"

#include <fmt/format.h>

#include "core/units.hpp"

namespace effio {

std::string counted_in_data(std::string_view name) {
    return fmt::format(" (the offset counts the data in the format, not the bytes of the file: {})",
                       name);
}

Error too_short(const std::string& path, std::int64_t bytes, std::int64_t needed) {
    return io_error(
        "check the size", path,
        fmt::format("the file is too short: {} of {}", exact_size(bytes), exact_size(needed)));
}

Status ByteFile::not_moved(CallForm form, bool write, std::int64_t bytes, std::int64_t offset,
                           Result<std::int64_t>& moved) const {
    Error error = moved ? io_error(call_name(form, write), path_,
                                   fmt::format("moved {} of {} without reporting an error",
                                               exact_size(*moved), exact_size(bytes)))
                        : std::move(moved.error());
    if (!error.offset && form.pointer == Pointer::at) {
        error.offset = offset * bytes_of(element_);
        if (const auto name = name_of(*error.offset); !name.empty()) {
            error.cause += counted_in_data(name);
        }
    }
    return session_.signed_error(std::move(error));
}

Result<std::unique_ptr<TransferQueue>> ByteFile::queue(const QueueRequest& /*request*/) {
    return session_.signed_error(
        io_error("queue transfers", path_, "this backend has no queued transfers"));
}

Status ByteFile::move_spaced(CallForm form, bool write, const Spaced& data, std::int64_t offset) {
    if (data.is_contiguous()) {
        const auto all = data.memory.first(static_cast<std::size_t>(data.bytes()));
        return write ? this->write(form, all, offset) : read(form, all, offset);
    }
    const CallStart start = begin_transfer(form, write);
    auto moved = do_move_spaced(form, write, data, offset);
    return end_transfer(form, write, start, data.bytes(), offset, moved);
}

Result<std::int64_t> ByteFile::do_move_spaced(CallForm form, bool write, const Spaced& data,
                                              std::int64_t offset) {
    const std::int64_t step = data.piece / bytes_of(element_);
    std::int64_t bytes = 0;
    for (std::int64_t n = 0; n < data.pieces; ++n) {
        const std::int64_t place = offset + n * step;
        auto moved = write ? do_write(form, data.at(n), place) : do_read(form, data.at(n), place);
        if (!moved) return moved;
        bytes += *moved;
        if (*moved < data.piece) break;
    }
    return bytes;
}

Status ByteFile::checked(Status status) const {
    session_.progress.beat();
    if (status) return status;
    return session_.signed_error(std::move(status.error()));
}

Status ByteFile::set_view(const View& view, const Hints& hints) {
    session_.progress.call(names_->set_view);
    return checked(do_set_view(view, hints));
}

Status ByteFile::set_hints(const Hints& hints) {
    session_.progress.call(names_->set_hints);
    return checked(do_set_hints(hints));
}

Status ByteFile::preallocate(std::int64_t bytes) {
    session_.progress.call("preallocate");
    return checked(do_preallocate(bytes));
}

Status ByteFile::sync() {
    session_.progress.call(names_->sync);
    return checked(do_sync());
}

Status ByteFile::close() {
    session_.progress.call(names_->close);
    return checked(do_close());
}

}  // namespace effio
