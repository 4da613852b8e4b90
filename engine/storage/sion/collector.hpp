// SPDX-License-Identifier: BSD-3-Clause
// Ranks that write and read for their neighbors: the members of a group hand what they have to
// the first of them, the collector, which alone touches the files. A failure of the collector is
// that of the rank whose data it was.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "parallel/session.hpp"

namespace effio::sion {

/// Bytes of a container's file.
struct FileRange {
    std::int64_t file = 0;  ///< by number
    std::int64_t offset = 0;
    std::int64_t bytes = 0;
};

class Collector {
  public:
    /// Moves consecutive bytes of a file from or to memory; fewer only at its end.
    using Write = std::function<Result<std::int64_t>(const FileRange&, std::span<const std::byte>)>;
    using Read = std::function<Result<std::int64_t>(const FileRange&, std::span<std::byte>)>;
    using PathOf = std::function<std::string(std::int64_t)>;

    /// Collective over the group. `path_of` names a file by its number, for errors.
    Collector(Session& session, Comm group, PathOf path_of);

    /// Collective over the group: the bytes at `places`, one after the other in memory. What was
    /// moved in this order before anything went short; an error only of this rank's own bytes.
    Result<std::int64_t> write(std::span<const FileRange> places, std::span<const std::byte> data,
                               const Write& move);
    Result<std::int64_t> read(std::span<const FileRange> places, std::span<std::byte> data,
                              const Read& move);

  private:
    /// What a member learns about its bytes.
    struct Answer {
        std::int64_t moved = 0;
        std::int64_t call = 0;  ///< 0 nothing failed; else one more than the place in `calls`
        std::int64_t code = 0;  ///< errno
        std::int64_t file = 0;
        std::int64_t offset = 0;
    };
    static constexpr std::array<const char*, 3> calls{"open", "pwrite", "pread"};
    /// So much goes by one message: what a collector needs of memory.
    static constexpr std::int64_t most_at_once = std::int64_t{4} << 20;

    template <class Byte, class Move>
    Result<std::int64_t> move_own(std::span<const FileRange> places, std::span<Byte> data,
                                  const Move& move);
    template <class Serve>
    void serve_member(int member, Serve&& serve);
    template <class Byte, class Pass>
    Result<std::int64_t> be_served(std::span<const FileRange> places, std::span<Byte> data,
                                   Pass&& pass);
    static void note(Answer& answer, const FileRange& place, const Result<std::int64_t>& moved);
    Result<std::int64_t> result_of(const Answer& answer) const;

    Session& session_;
    Comm group_;
    PathOf path_of_;
    int collector_ = 0;  ///< its rank in the world
    std::vector<std::byte> buffer_;
};

}  // namespace effio::sion
