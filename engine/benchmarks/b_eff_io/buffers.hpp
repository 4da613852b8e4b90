// SPDX-License-Identifier: BSD-3-Clause
// The two buffers of a rank, the marks in them, and what every byte of a file should be.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "benchmarks/b_eff_io/definition.hpp"
#include "benchmarks/b_eff_io/marks.hpp"
#include "core/buffer.hpp"
#include "core/pattern.hpp"
#include "storage/spaced.hpp"

namespace effio::b_eff_io {

/// Numbers of a buffer that has gaps after every `piece` of them.
class SpacedNumbers {
  public:
    explicit SpacedNumbers(SpacedMemory& memory)
        : first_(reinterpret_cast<double*>(memory.first(1).memory.data())),
          piece_(static_cast<std::size_t>(memory.shape().piece) / sizeof(double)),
          step_(piece_ + static_cast<std::size_t>(memory.shape().gap) / sizeof(double)) {}

    double& operator[](std::size_t i) const { return first_[i / piece_ * step_ + i % piece_]; }

  private:
    double* first_;
    std::size_t piece_;
    std::size_t step_;
};

class Buffers {
  public:
    enum class Fill {
        definition,  ///< write[i] = -2i, read[i] = -2i - 1
        random,      ///< a pattern of this rank; does not compress, distinguishes ranks
    };
    /// Two buffers of `bytes`; throws std::bad_alloc if memory is short. `pieces`: calls move data
    /// that are apart in memory, in multiples of 8 bytes.
    Buffers(std::int64_t bytes, Fill fill, int rank, const DataShape& shape = {},
            MemoryPieces pieces = {});

    std::span<const std::byte> to_write(const Row& row) const {
        return std::as_bytes(write_).first(static_cast<std::size_t>(row.memory));
    }
    std::span<std::byte> to_read(const Row& row) {
        return std::as_writable_bytes(read_).first(static_cast<std::size_t>(row.memory));
    }

    /// Stores the marks of call number `call` in the write buffer.
    void mark(const Marks& marks, std::int64_t call) { marks.place(write_, call); }
    /// Counts the chunks of the read buffer whose marks are others; the first wrong one goes to
    /// `wrong`.
    std::int64_t check(const Marks& marks, std::int64_t call,
                       std::optional<WrongChunk>& wrong) const {
        return marks.check(read_, call, wrong);
    }

    // The same where calls move data that are apart in memory.
    bool is_spaced() const { return spaced_write_.has_value(); }
    Spaced spaced_to_write(const Row& row) { return spaced_write_->first(row.memory); }
    Spaced spaced_to_read(const Row& row) { return spaced_read_->first(row.memory); }
    void mark_spaced(const Marks& marks, std::int64_t call) {
        marks.place(SpacedNumbers(*spaced_write_), call);
    }
    std::int64_t check_spaced(const Marks& marks, std::int64_t call,
                              std::optional<WrongChunk>& wrong) {
        return marks.check(SpacedNumbers(*spaced_read_), call, wrong);
    }
    /// What a call read, in one piece.
    std::span<std::byte> gathered(const Row& row) {
        const auto data = to_read(row);
        spaced_read_->gather(data);
        return data;
    }
    bool gaps_are_intact(const Row& row) { return spaced_read_->gaps_are_intact(row.memory); }

    /// Remembers that a row was written with `calls` calls: its last marks stay in the buffer.
    void remember(std::size_t partition, Access access, const Row& row, std::int64_t calls) {
        history_.push_back({partition, access, row, calls});
    }
    /// The write buffer as it was just before `row` was written by `writer` on `partition`.
    std::vector<double> before(std::size_t partition, Access writer, const Row& row) const;

  private:
    struct Written {
        std::size_t partition;
        Access access;
        Row row;
        std::int64_t calls;
    };
    void initialize(std::span<double> buffer, Fill fill, double shift) const;

    Fill fill_;
    int rank_;
    DataShape shape_;  ///< of random data
    Buffer write_memory_;
    Buffer read_memory_;
    std::optional<SpacedMemory> spaced_write_;
    std::optional<SpacedMemory> spaced_read_;
    std::span<double> write_;  ///< the same as numbers
    std::span<double> read_;
    std::vector<Written> history_;
};

}  // namespace effio::b_eff_io
