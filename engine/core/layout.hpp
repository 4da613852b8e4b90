// SPDX-License-Identifier: BSD-3-Clause
// Pure arithmetic of who touches which bytes in which order. All offsets and sizes are bytes.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <variant>
#include <vector>

namespace effio {

/// Consecutive bytes of a file.
struct Run {
    std::int64_t offset = 0;
    std::int64_t bytes = 0;
    friend bool operator==(const Run&, const Run&) = default;
};

/// The logical stream of a rank is the file itself from the displacement on.
struct Contiguous {
    friend bool operator==(const Contiguous&, const Contiguous&) = default;
};

/// The file is dealt out in chunks, one to each of `parts` one after the other; this is the stream
/// of `part`.
struct RoundRobin {
    int parts = 1;
    int part = 0;
    std::int64_t chunk = 1;
    friend bool operator==(const RoundRobin&, const RoundRobin&) = default;
};

/// A box of an array of `sizes` elements whose last dimension runs fastest; the stream of a rank is
/// the box alone, in the array's order. The three vectors are equally long.
struct Box {
    std::vector<std::int64_t> sizes;
    std::vector<std::int64_t> start;
    std::vector<std::int64_t> count;
    std::int64_t element = 1;  ///< bytes

    std::int64_t bytes() const;
    /// Where the first element of the box is in the array; bytes.
    std::int64_t first() const;
    /// Bytes of the box that are together in the array; 0 for an empty box.
    std::int64_t run() const;
    bool is_contiguous() const { return run() == bytes(); }
    /// Where the byte `offset` < bytes() of the stream is in the array.
    std::int64_t place(std::int64_t offset) const;
    friend bool operator==(const Box&, const Box&) = default;
};

/// One level of nested strides: how many, and the bytes between.
struct Level {
    std::int64_t count = 1;
    std::int64_t stride = 0;
    friend bool operator==(const Level&, const Level&) = default;
};

/// Pieces of equal length at nested strides, the innermost level first; their stream is the pieces
/// one after the other. Without levels there is one piece.
struct Strides {
    std::int64_t piece = 1;  ///< bytes
    std::vector<Level> levels;

    std::int64_t pieces() const;
    std::int64_t run() const { return piece; }
    /// Where piece `number` begins: the sum of digit times stride, the digits of the number to the
    /// mixed base of the counts.
    std::int64_t begin(std::int64_t number) const {
        if (levels.size() == 1) [[likely]]
            return number * levels.front().stride;
        return nested(number);
    }
    /// Place of the byte `offset` of the stream.
    std::int64_t place(std::int64_t offset) const { return begin(offset / piece) + offset % piece; }
    friend bool operator==(const Strides&, const Strides&) = default;

  private:
    std::int64_t nested(std::int64_t number) const;
};

/// Pieces of equal length at the places of a list, which does not fall; copies share the list.
struct Listed {
    std::int64_t piece = 1;  ///< bytes
    std::shared_ptr<const std::vector<std::int64_t>> places;

    std::int64_t pieces() const { return static_cast<std::int64_t>(places->size()); }
    std::int64_t run() const { return piece; }
    std::int64_t begin(std::int64_t number) const {
        return (*places)[static_cast<std::size_t>(number)];
    }
    std::int64_t place(std::int64_t offset) const { return begin(offset / piece) + offset % piece; }
    friend bool operator==(const Listed&, const Listed&) = default;
};

/// What a file looks like to one rank: a displacement and a shape that starts there.
struct View {
    std::int64_t displacement = 0;
    std::variant<Contiguous, RoundRobin, Box, Strides, Listed> shape = Contiguous{};
};

/// Calls `touch(Run)` for each consecutive piece of the file behind bytes [offset, offset+bytes) of
/// the logical stream, in stream order; stops early when `touch` returns false.
template <class Touch>
void for_each_run(const View& view, std::int64_t offset, std::int64_t bytes, Touch&& touch) {
    if (const auto* dealt = std::get_if<RoundRobin>(&view.shape); dealt != nullptr) {
        while (bytes > 0) {
            const std::int64_t chunk = offset / dealt->chunk;
            const std::int64_t inside = offset % dealt->chunk;
            const std::int64_t piece =
                bytes < dealt->chunk - inside ? bytes : dealt->chunk - inside;
            const std::int64_t begin =
                view.displacement + (chunk * dealt->parts + dealt->part) * dealt->chunk + inside;
            if (!touch(Run{begin, piece})) return;
            offset += piece;
            bytes -= piece;
        }
        return;
    }
    // The other shapes are runs of one length, each at a separate place.
    const auto by_place = [&](const auto& shape) {
        const std::int64_t run = shape.run();
        while (bytes > 0) {
            const std::int64_t left = run - offset % run;
            const std::int64_t piece = bytes < left ? bytes : left;
            if (!touch(Run{view.displacement + shape.place(offset), piece})) return;
            offset += piece;
            bytes -= piece;
        }
    };
    if (const auto* box = std::get_if<Box>(&view.shape); box != nullptr) return by_place(*box);
    if (const auto* strides = std::get_if<Strides>(&view.shape); strides != nullptr) {
        return by_place(*strides);
    }
    if (const auto* list = std::get_if<Listed>(&view.shape); list != nullptr) {
        return by_place(*list);
    }
    touch(Run{view.displacement + offset, bytes});
}

/// A random permutation of 0…size-1; every rank computes the same one from the same seed.
///
/// Below `exact` items it is a Fisher-Yates shuffle, so all orders are equally likely. From there
/// on it is computed and not stored: a six-round Feistel network over the next power of four,
/// walked until the value falls inside (Black & Rogaway, "Ciphers with arbitrary finite domains",
/// 2002). O(1) memory either way. Equal or neighboring seeds give unrelated permutations.
class Permutation {
  public:
    static constexpr std::int64_t exact = 64;

    /// `size` >= 1.
    Permutation(std::int64_t size, std::uint64_t seed);
    std::int64_t operator()(std::int64_t index) const {
        if (size_ < exact) return shuffled_[static_cast<std::size_t>(index)];
        return walked(index);
    }
    std::int64_t size() const { return size_; }

  private:
    std::int64_t walked(std::int64_t index) const;
    std::uint64_t round_trip(std::uint64_t value) const;

    std::int64_t size_;
    std::uint64_t key_;
    int half_bits_;
    std::array<std::uint8_t, exact> shuffled_{};  ///< of fewer than `exact` items
};

/// `size` = the product of `dimensions` (1…3, say) extents as close to each other as possible, the
/// largest first: what MPI_Dims_create is meant to give, but the same on every system (72 = 9 x 8,
/// where Open MPI 4.1 gives 12 x 6).
std::vector<int> balanced_grid(int size, int dimensions);

/// Files made of blocks (docs/definitions/ior.md): a file is a row of segments, a segment
/// holds one block of each of `parts`, a block is a row of transfers. Many small blocks make a
/// strided file, one large block a part a compact one.
struct Blocks {
    std::int64_t transfer = 1;
    std::int64_t block = 1;  ///< a multiple of `transfer`
    std::int64_t segments = 1;
    std::int64_t parts = 1;  ///< that share the file; 1 for a file of one's own

    std::int64_t transfers_per_block() const { return block / transfer; }
    /// Transfers and bytes of one part.
    std::int64_t transfers() const { return segments * transfers_per_block(); }
    std::int64_t part_bytes() const { return segments * block; }
    std::int64_t file_bytes() const { return parts * part_bytes(); }
    std::int64_t offset(std::int64_t part, std::int64_t transfer_number) const {
        if (segments == 1) [[likely]]
            return part * block + transfer_number * transfer;
        const std::int64_t segment = transfer_number / transfers_per_block();
        const std::int64_t inside = transfer_number % transfers_per_block();
        return (segment * parts + part) * block + inside * transfer;
    }
};

enum class Order {
    sequential,  ///< in the order of the file
    backward,    ///< from the end to the start; not for Walk
    shuffled,    ///< every transfer once, in random order, equally many for each part
    random,      ///< random blocks of the file, with repeats, each read through in order
};

/// The offsets that one part touches, in the order in which it does; computed, not stored.
class Walk {
  public:
    /// `existing` is the length of the file as far as it may be touched and matters to
    /// Order::random only; it holds at least one block. Parts that share a file use one seed:
    /// together they touch every transfer of the file once (sequential and shuffled).
    Walk(const Blocks& blocks, std::int64_t part, Order order, std::uint64_t seed,
         std::int64_t existing);

    /// After this many the walk begins anew.
    std::int64_t length() const { return length_; }
    /// Offset of step `number` >= 0.
    std::int64_t offset(std::int64_t number) const {
        if (number >= length_) [[unlikely]]
            number %= length_;
        if (order_ == Order::sequential) [[likely]]
            return blocks_.offset(part_, number);
        return scattered(number);
    }

  private:
    std::int64_t scattered(std::int64_t step) const;

    Blocks blocks_;
    std::int64_t part_;
    Order order_;
    std::uint64_t seed_;
    std::int64_t length_;
    std::int64_t existing_blocks_;
    std::optional<Permutation> shuffle_;
};

}  // namespace effio
