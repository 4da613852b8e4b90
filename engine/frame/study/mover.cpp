// SPDX-License-Identifier: BSD-3-Clause
// The defaults of movers, which are right for Pieces.
#include "frame/study/mover.hpp"

namespace effio::study {

std::vector<std::string> Mover::files() const {
    return storage_.files_of(place_.own_path);
}

Status Mover::look_at_files(Readable& readable) const {
    // Only the format knows what else a file contains.
    if (!storage_.capabilities().plain || place_.cell.parts_of_file > 1) return {};
    const Addresses& pieces = place_.addresses;
    const std::int64_t begin = pieces.calls() > 0 ? pieces.place(0) : 0;
    if (auto fits = Readable::fits(place_.session, place_.path, pieces.end()); !fits) return fits;
    if (readable.reads_within(place_.path, begin, pieces.end(), pieces.bytes())) return {};
    for (std::int64_t piece = 0; piece < pieces.calls(); ++piece) {
        const std::int64_t place = pieces.place(piece);
        readable.reads(place_.path, place, place + pieces.piece());
    }
    return {};
}

void Mover::each_call(const std::function<bool(const KeptCall&)>& function) const {
    const std::int64_t piece = place_.addresses.piece();
    for (std::int64_t i = 0; i < place_.addresses.calls(); ++i) {
        const std::int64_t place = place_.addresses.place(place_.addresses.number(i));
        if (!function({i * piece, piece, place, 0, place_.own_path})) return;
    }
}

/// Reads the pieces one by one, each at its offset.
Status Mover::read_again(const SecondReading& reading) {
    auto opened =
        storage_.open(place_.comm, {place_.own_path, OpenMode::reading(), Element::byte, {}});
    if (!reading.all_opened(opened ? Status() : Status(std::move(opened.error())))) return {};
    Status status;
    for (std::int64_t n = 0; n < place_.addresses.calls() && status; ++n) {
        status = (*opened)->read({Pointer::at, false}, reading.payload.piece(n),
                                 place_.addresses.place(n));
        if (!status) break;
        if (const auto wrong = reading.payload.check(n, reading.generation)) {
            reading.wrong(*wrong, place_.own_path);
        }
        reading.read(place_.addresses.piece());
    }
    Status closed = (*opened)->close();
    return status ? std::move(closed) : std::move(status);
}

}  // namespace effio::study
