// SPDX-License-Identifier: BSD-3-Clause
// The data of a rank's calls: memory to write from or to read into, and what should be there.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "core/buffer.hpp"
#include "core/pattern.hpp"
#include "frame/study/cell.hpp"
#include "storage/byte_file.hpp"

namespace effio::study {

class Payload {
  public:
    /// Which bytes: equal ones only for equal seeds and generations of equal files.
    struct Data {
        std::uint64_t file = 0;  ///< its number
        std::uint64_t seed = 0;  ///< generation g has the patterns of `seed` + g
        DataShape shape;
    };
    /// Takes the memory. `cell` and `addresses` must outlive this. `keep` is the memory for stamped
    /// data that timed reads leave behind, and `reads` the bytes of a pass: what fits is checked
    /// after the pass, where the timed call put it.
    Payload(const Cell& cell, const Addresses& addresses, const Data& data, std::int64_t keep = 0,
            std::int64_t reads = 0);
    /// The seed of the files with this name; `run` distinguishes the runs and repetitions of which
    /// no later run reads the files, and is 0 for all others.
    static std::uint64_t seed_of(std::string_view name, std::uint64_t run);

    /// The data that pass `generation` writes; before a pass, untimed.
    void prepare_to_write(std::uint64_t generation);
    /// Forgets what is there: what is not read must not look right.
    void prepare_to_read();
    /// Both: what is read is separate from the data of pass `generation`.
    void prepare_to_modify(std::uint64_t generation);

    bool is_stamped() const { return content_ == Content::stamped; }
    /// Memory of piece `number`, which reads fill.
    std::span<std::byte> piece(std::int64_t number) {
        return {memory_.bytes().data() + number * step_, size_};
    }
    /// Where call number `call` of a pass puts piece `number`.
    std::span<std::byte> to_read(std::int64_t call, std::int64_t number) {
        if (!is_stamped()) return piece(number);
        return target(call * static_cast<std::int64_t>(size_), static_cast<std::int64_t>(size_));
    }
    /// The same of stamped data, after `before` bytes of the pass.
    std::span<std::byte> target(std::int64_t before, std::int64_t bytes) {
        return {memory_.bytes().data() + (keeps(before + bytes) ? before : kept_),
                static_cast<std::size_t>(bytes)};
    }
    /// The first bytes of a pass, up to this one, are in memory when the pass is over.
    bool keeps(std::int64_t end) const { return end <= kept_; }
    /// What is written of piece `number`; words only.
    std::span<const std::byte> source(std::int64_t number) const {
        return {source_ + number * step_, size_};
    }
    /// Stamped data, as they are at `place`; after prepare_to_write.
    std::span<const std::byte> stamped(std::int64_t place) { return stamped_->at(place, size_); }
    /// The same of a piece that is shorter.
    std::span<const std::byte> stamped(std::int64_t place, std::int64_t bytes) {
        return stamped_->at(place, static_cast<std::size_t>(bytes));
    }
    /// All pieces in their memory, to read into or to write from; words only.
    Spaced all() { return spaced(memory_.bytes()); }
    Spaced all_sources() { return spaced(fresh_ ? fresh_->bytes() : memory_.bytes()); }

    /// What is wrong with the piece in memory if `generation` was written.
    std::optional<Mismatch> check(std::int64_t number, std::uint64_t generation);
    /// The same if each byte may be of `generation` or of the next one.
    std::optional<Mismatch> check_either(std::int64_t number, std::uint64_t generation);

    /// Memory that a rank needs.
    static std::int64_t bytes(const Cell& cell, const Addresses& addresses, std::int64_t keep = 0,
                              std::int64_t reads = 0);

  private:
    Spaced spaced(std::span<std::byte> memory) const;
    void fill(std::span<std::byte> memory, std::uint64_t generation) const;
    void fill_piece(std::span<std::byte> memory, std::int64_t place,
                    std::uint64_t generation) const;

    Content content_;
    const Addresses& addresses_;
    Pattern pattern(std::uint64_t generation) const {
        return {data_.seed + generation, data_.file, data_.shape};
    }

    Data data_;
    std::size_t size_;
    std::int64_t step_;  ///< from piece to piece in memory
    std::int64_t kept_;  ///< bytes of a pass; a call behind them shares its memory with others
    Buffer memory_;
    std::optional<Buffer> fresh_;  ///< what a pass writes that also reads
    const std::byte* source_;
    std::optional<StampedBuffer> stamped_;
    std::uint64_t stamped_generation_ = 0;
};

}  // namespace effio::study
