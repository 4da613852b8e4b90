// SPDX-License-Identifier: BSD-3-Clause
// Data of one call that are apart in memory: pieces with gaps between them, which no call may read
// or change.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

#include "core/buffer.hpp"

namespace effio {

/// Pieces in memory, each `step` bytes after the one before: `pieces` of equal length, and after
/// them one of `tail` bytes unless that is 0.
struct Spaced {
    std::span<std::byte> memory;
    std::int64_t pieces = 0;
    std::int64_t piece = 0;
    std::int64_t step = 0;
    std::int64_t tail = 0;

    std::int64_t bytes() const { return pieces * piece + tail; }
    std::int64_t count() const { return pieces + (tail > 0 ? 1 : 0); }
    bool is_contiguous() const { return step == piece || count() < 2; }
    std::span<std::byte> at(std::int64_t number) const {
        return memory.subspan(static_cast<std::size_t>(number * step),
                              static_cast<std::size_t>(number < pieces ? piece : tail));
    }
    /// Calls `touch(span)` for the memory of data bytes [from, from + bytes), in order.
    template <class Touch>
    void for_each_part(std::int64_t from, std::int64_t bytes, Touch&& touch) const {
        while (bytes > 0) {
            const std::int64_t number = from / piece;
            const std::int64_t inside = from % piece;
            const auto rest = at(number).subspan(static_cast<std::size_t>(inside));
            const std::int64_t part = std::min<std::int64_t>(bytes, std::ssize(rest));
            touch(rest.first(static_cast<std::size_t>(part)));
            from += part;
            bytes -= part;
        }
    }
};

/// How the data of a call are divided in memory; bytes.
struct MemoryPieces {
    std::int64_t piece = 0;  ///< 0: all in one piece
    std::int64_t gap = 0;    ///< after each piece

    bool given() const { return piece > 0; }
    /// Bytes from the start of the data to the end of their last byte.
    std::int64_t span_of(std::int64_t bytes) const {
        return bytes > 0 ? bytes + (bytes - 1) / piece * gap : 0;
    }
};

/// Memory for such calls. The gaps hold a fixed byte, so that a change is found.
class SpacedMemory {
  public:
    static constexpr std::byte unused{0x5a};

    /// `largest` is the longest call, in bytes of data.
    SpacedMemory(MemoryPieces shape, std::int64_t largest)
        : shape_(shape), memory_(static_cast<std::size_t>(shape.span_of(largest))) {
        const auto all = memory_.bytes();
        std::fill(all.begin(), all.end(), unused);
    }

    MemoryPieces shape() const { return shape_; }
    /// The memory of a call that moves `bytes`.
    Spaced first(std::int64_t bytes) {
        return {memory_.bytes().first(static_cast<std::size_t>(shape_.span_of(bytes))),
                bytes / shape_.piece, shape_.piece, shape_.piece + shape_.gap,
                bytes % shape_.piece};
    }
    void spread(std::span<const std::byte> data) {
        const Spaced all = first(std::ssize(data));
        for (std::int64_t n = 0; n < all.count(); ++n) {
            const auto piece = all.at(n);
            std::memcpy(piece.data(), data.data() + n * shape_.piece, piece.size());
        }
    }
    void gather(std::span<std::byte> data) {
        const Spaced all = first(std::ssize(data));
        for (std::int64_t n = 0; n < all.count(); ++n) {
            const auto piece = all.at(n);
            std::memcpy(data.data() + n * shape_.piece, piece.data(), piece.size());
        }
    }
    /// Nothing was put between the pieces of a call of `bytes`.
    bool gaps_are_intact(std::int64_t bytes) {
        const Spaced all = first(bytes);
        for (std::int64_t n = 0; n + 1 < all.count(); ++n) {
            const auto gap = all.memory.subspan(static_cast<std::size_t>(n * all.step + all.piece),
                                                static_cast<std::size_t>(shape_.gap));
            if (!std::all_of(gap.begin(), gap.end(), [](std::byte b) { return b == unused; }))
                return false;
        }
        return true;
    }

  private:
    MemoryPieces shape_;
    Buffer memory_;
};

}  // namespace effio
