// SPDX-License-Identifier: BSD-3-Clause
// The one parser and printer of sizes, times and rates.
//
// Binary prefixes (KiB, MiB, GiB, TiB, PiB) are powers of 1024, decimal ones (kB, MB, GB, TB, PB)
// powers of 1000; nothing else is accepted, so that "4m" or "4MiBx" cannot silently mean something.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "core/error.hpp"

namespace effio {

struct Bytes {
    std::int64_t count = 0;
    friend bool operator==(Bytes, Bytes) = default;
    friend auto operator<=>(Bytes, Bytes) = default;
};

struct Seconds {
    double count = 0;
    friend bool operator==(Seconds, Seconds) = default;
    friend auto operator<=>(Seconds, Seconds) = default;
};

struct BytesPerSecond {
    double count = 0;
    friend bool operator==(BytesPerSecond, BytesPerSecond) = default;
    friend auto operator<=>(BytesPerSecond, BytesPerSecond) = default;
};

/// A part of a whole, above 0 and below 1.
struct Share {
    double count = 0;
    friend bool operator==(Share, Share) = default;
    friend auto operator<=>(Share, Share) = default;
};

/// What a value in results is measured in.
enum class Unit {
    word,
    flag,
    count,
    number,  ///< without a unit: a share, a factor
    per_cent,
    bytes,
    seconds,
    seconds_squared,
    bytes_per_second,
    operations_per_second,
    images_per_second,
    sequences_per_second,
    bytes_per_operation,  ///< of floating point
    object,               ///< has members
};
/// As in results: "B/s", "op/s", "1" of a number without a unit; empty of words, flags and objects.
std::string_view text_of(Unit unit);

inline std::optional<std::int64_t> count_of(const std::optional<Bytes>& size) {
    return size ? std::optional(size->count) : std::nullopt;
}

constexpr std::int64_t KiB = 1024;
constexpr std::int64_t MiB = 1024 * KiB;
constexpr std::int64_t GiB = 1024 * MiB;
constexpr double MB_per_s = 1e6;

/// A whole number, optional minus, nothing after it.
Result<std::int64_t> parse_integer(std::string_view text);
/// A finite decimal number, nothing after it.
Result<double> parse_real(std::string_view text);
/// "1048576", "1MiB", "1.5GiB", "16 MB" and sums such as "1MiB+8B"; a bare number is bytes.
/// The value must be a whole number of bytes, 0 or more.
Result<Bytes> parse_size(std::string_view text);
/// "30", "30s", "250ms", "20us", "1.5min", "2h"; a bare number is seconds.
Result<Seconds> parse_duration(std::string_view text);
/// A size and "/s": "1GB/s", "100MiB/s"; a bare number is bytes per second.
Result<BytesPerSecond> parse_rate(std::string_view text);
/// "5%" or "0.05"; above 0 and below 100 %.
Result<Share> parse_share(std::string_view text);

/// Exact and parseable by parse_size: "1MiB", "1MiB+8B", "1500B"; binary prefixes only.
std::string format_exact(Bytes size);
/// The same for people, with a space before the unit: "1 MiB", "1 MiB+8 B", "1500 B".
std::string shown_size(Bytes size);
/// "1 MiB", or of two that differ "4 KiB to 1 MiB".
std::string shown_sizes(Bytes least, Bytes most);
/// Rounded for people, binary prefix: "3.4 GiB".
std::string format_size(double bytes);
/// The size in messages in which each byte counts: "576 B", "4 KiB", "97.66 KiB (100000 B)".
std::string exact_size(std::int64_t bytes);
/// Rounded for people: "250 ms", "12.5 s", "1 h 05 min".
std::string format_duration(double seconds);
/// Rounded for people, decimal prefix as the field quotes it: "59.9 MB/s".
std::string format_rate(double bytes_per_second);
/// Rounded for people, in per cent: "4.87 %".
std::string format_share(double share);
/// "1 rank", "2 ranks", "3 directories", "4 processes". All plurals are made here.
std::string count_of(std::int64_t number, std::string_view noun);

}  // namespace effio
