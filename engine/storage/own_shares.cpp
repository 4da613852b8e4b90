// SPDX-License-Identifier: BSD-3-Clause
#include "storage/own_shares.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace effio {
namespace {

/// Calls `move(offset in the share, bytes of data)` for what of the slab is together there.
template <class Span, class Move>
Status for_each_piece(const ArraySchema& schema, std::size_t variable, const Slab& slab,
                      const Slab& share, Span data, Move&& move) {
    // The slab in the coordinates of the share.
    Box box = schema.box(variable, slab);
    box.sizes.front() = share.count.front();
    box.start.front() -= share.start.front();
    Status status;
    std::size_t done = 0;
    for_each_run({0, box}, 0, static_cast<std::int64_t>(data.size()), [&](const Run& run) {
        const auto bytes = static_cast<std::size_t>(run.bytes);
        status = move(run.offset, data.subspan(done, bytes));
        done += bytes;
        return static_cast<bool>(status);
    });
    return status;
}

}  // namespace

Result<Slab> OwnSharesFile::share_around(std::size_t variable, const Slab& slab) const {
    Slab share = schema().share(variable, rank_);
    const bool inside =
        slab.start.front() >= share.start.front() &&
        slab.start.front() + slab.count.front() <= share.start.front() + share.count.front();
    if (inside) return share;
    return usage_error(
        fmt::format("variable {}: what is a rank's own takes parts of the rank's share of the "
                    "variable",
                    schema().variables[variable].name));
}

Status OwnSharesFile::do_put(std::size_t variable, const Slab& slab,
                             std::span<const std::byte> data) {
    const std::int64_t bytes = schema().bytes(variable, slab);
    if (bytes == 0) return {};
    const auto share = share_around(variable, slab);
    if (!share) return Error(share.error());
    return for_each_piece(schema(), variable, slab, *share,
                          data.first(static_cast<std::size_t>(bytes)),
                          [&](std::int64_t offset, std::span<const std::byte> piece) {
                              return put_part(variable, offset, piece);
                          });
}

Status OwnSharesFile::do_get(std::size_t variable, const Slab& slab, std::span<std::byte> data) {
    const bool shared = schema().shared_out(variable);
    const std::int64_t end = slab.start.front() + slab.count.front();
    for (std::int64_t row = slab.start.front(); row < end;) {
        const int writer = shared ? schema().shares.writer_of(row) : 0;
        const Slab share = schema().share(variable, writer);
        Slab piece = slab;
        piece.start.front() = row;
        piece.count.front() = std::min(end, share.start.front() + share.count.front()) - row;
        const auto bytes = static_cast<std::size_t>(schema().bytes(variable, piece));
        auto done = for_each_piece(schema(), variable, piece, share, data.first(bytes),
                                   [&](std::int64_t offset, std::span<std::byte> part) {
                                       return get_part(writer, variable, offset, part);
                                   });
        if (!done) return done;
        data = data.subspan(bytes);
        row += piece.count.front();
    }
    return {};
}

ArrayCapabilities own_shares_capabilities() {
    ArrayCapabilities can;
    can.shared_file = false;
    can.collective = false;
    can.any_slab = false;
    can.self_describing = false;
    can.attributes = false;
    can.hints = false;
    return can;
}

}  // namespace effio
