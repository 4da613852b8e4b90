// SPDX-License-Identifier: BSD-3-Clause
#include "benchmarks/b_eff_io/buffers.hpp"

#include <algorithm>
#include <iterator>

#include "core/pattern.hpp"

namespace effio::b_eff_io {
namespace {

std::span<double> as_doubles(Buffer& buffer) {
    return {reinterpret_cast<double*>(buffer.bytes().data()), buffer.size() / sizeof(double)};
}

}  // namespace

Buffers::Buffers(std::int64_t bytes, Fill fill, int rank, const DataShape& shape,
                 MemoryPieces pieces)
    : fill_(fill),
      rank_(rank),
      shape_(shape),
      write_memory_(static_cast<std::size_t>(bytes)),
      read_memory_(static_cast<std::size_t>(bytes)),
      write_(as_doubles(write_memory_)),
      read_(as_doubles(read_memory_)) {
    initialize(write_, fill, 0);
    initialize(read_, Fill::definition, 1);
    if (!pieces.given()) return;
    spaced_write_.emplace(pieces, bytes);
    spaced_write_->spread(write_memory_.bytes());
    spaced_read_.emplace(pieces, bytes);
    spaced_read_->spread(read_memory_.bytes());
}

void Buffers::initialize(std::span<double> buffer, Fill fill, double shift) const {
    if (fill == Fill::random) {
        Pattern(0xbeff10, static_cast<std::uint64_t>(rank_), shape_)
            .fill(std::as_writable_bytes(buffer), 0);
        return;
    }
    for (std::size_t i = 0; i < buffer.size(); ++i) {
        buffer[i] = -2.0 * static_cast<double>(i) - shift;
    }
}

std::vector<double> Buffers::before(std::size_t partition, Access writer, const Row& row) const {
    std::vector<double> model(write_.size());
    initialize(model, fill_, 0);
    // Rounds write a row anew: the latest time counts.
    const auto last = std::find_if(history_.rbegin(), history_.rend(), [&](const Written& written) {
        return written.partition == partition && written.access == writer &&
               written.row.number == row.number;
    });
    const auto end = last == history_.rend() ? history_.end() : std::prev(last.base());
    for (auto written = history_.begin(); written != end; ++written) {
        Marks(written->row, written->access).place(model, written->calls - 1);
    }
    return model;
}

}  // namespace effio::b_eff_io
