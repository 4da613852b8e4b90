// SPDX-License-Identifier: BSD-3-Clause
// The definition of IOR by arithmetic: which worker touches which bytes of which file, and what
// those bytes are (docs/definitions/ior.md). No MPI, no files.
//
// A worker is a thread of a rank; worker number = rank * threads + thread. All sizes are bytes.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string_view>
#include <variant>

#include "core/buffer.hpp"
#include "core/layout.hpp"
#include "core/pattern.hpp"

namespace effio::ior {

/// What a phase does: `mixed` writes some of its transfers and reads the others.
enum class Access : char { write, mixed, read };
std::string_view name(Access access);
/// The phases in the order in which a repetition does them.
inline constexpr std::array phases_in_order{Access::write, Access::mixed, Access::read};

/// Which transfers of a mixed phase read: each by itself with the probability `share`, the same in
/// every run with this seed.
struct Mix {
    double share = 0;  ///< 0 to 1
    std::uint64_t seed = 0;

    bool reads(std::int64_t worker, std::int64_t number) const;
};

enum class Files : char { shared, per_process };
std::string_view name(Files files);
/// The order of the transfers of a worker.
std::string_view name(Order order);

/// How a call finds its place in the file.
enum class Placement : char {
    offset,   ///< each call names its offset
    view,     ///< a view of the worker's blocks; calls name their place in it
    strided,  ///< one call moves the worker's blocks of all segments through such a view
};

/// Whose data are where.
struct Geometry {
    Files files = Files::shared;
    std::int64_t workers = 1;
    std::int64_t transfer = 1;
    std::int64_t block = 1;  ///< a multiple of `transfer`
    std::int64_t segments = 1;
    Order order = Order::sequential;
    std::uint64_t seed = 0;  ///< of the order

    std::int64_t file_count() const { return files == Files::shared ? 1 : workers; }
    std::int64_t file_of(std::int64_t worker) const { return files == Files::shared ? 0 : worker; }
    std::int64_t part_of(std::int64_t worker) const { return files == Files::shared ? worker : 0; }
    Blocks blocks() const {
        return {transfer, block, segments, files == Files::shared ? workers : 1};
    }
    std::int64_t total_bytes() const { return workers * segments * block; }
    /// The worker's way through its file, which is `existing` bytes long as far as it matters.
    Walk walk(std::int64_t worker, std::int64_t existing) const;
    /// The view that holds the worker's blocks and nothing else.
    View view(std::int64_t worker) const;
};

/// What the files hold.
enum class DataKind : char {
    stamped,    ///< random-looking, bound to file and place (core/pattern.hpp)
    timestamp,  ///< IOR's default: word i of a transfer is rank << 32 | (signature + i)
    offset,  ///< the same, and word 0 of the k-th 4 KiB is rank << 32 | uint32(offset * k), k >= 1
};

/// The data of one file as one worker writes or expects them, a transfer at a time.
class Data {
  public:
    struct Source {
        DataKind kind = DataKind::stamped;
        std::uint64_t seed = 0;      ///< stamped
        std::uint64_t file = 0;      ///< stamped
        std::int64_t writer = 0;     ///< timestamp and offset
        std::int32_t signature = 0;  ///< timestamp and offset
        /// Timestamp and offset, if `block` > 0: the writer of the transfer at `offset` is the
        /// worker whose block it is, offset / block % workers; `writer` has no meaning. So random
        /// places of a shared file hold the same bytes as after a sequential write.
        std::int64_t block = 0;
        std::int64_t workers = 1;
        DataShape shape = {};  ///< stamped
    };
    /// `largest` is the longest transfer.
    Data(const Source& source, std::size_t largest);

    /// The bytes of the transfer at `offset`; valid until the next call. Inside the timed interval
    /// this goes once over the data at most.
    std::span<const std::byte> at(std::int64_t offset, std::size_t bytes) {
        if (auto* stamped = std::get_if<StampedBuffer>(&memory_); stamped != nullptr) [[likely]]
            return stamped->at(offset, bytes);
        return words_at(offset, bytes);
    }
    /// All that `at` hands out pieces of.
    std::span<std::byte> memory();

  private:
    std::span<const std::byte> words_at(std::int64_t offset, std::size_t bytes);
    struct Words {
        Buffer memory;
        std::int64_t writer = 0;  ///< whose words are in `memory`
        std::int32_t signature = 0;
        bool offsets = false;
        std::int64_t block = 0;
        std::int64_t workers = 1;

        std::uint64_t upper() const { return static_cast<std::uint64_t>(writer) << 32; }
        void fill();
    };
    std::variant<StampedBuffer, Words> memory_;
};

}  // namespace effio::ior
