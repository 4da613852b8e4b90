// SPDX-License-Identifier: BSD-3-Clause
#include "core/pattern.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>

namespace effio {

std::string Mismatch::text() const {
    return fmt::format("first wrong byte at {}: expected 0x{:02x}, found 0x{:02x}; {} wrong in all",
                       offset, expected, found, wrong_bytes);
}

std::optional<Mismatch> compare(std::span<const std::byte> expected,
                                std::span<const std::byte> found, std::int64_t offset) {
    if (std::memcmp(expected.data(), found.data(), expected.size()) == 0) return {};
    Mismatch mismatch;
    for (std::size_t i = 0; i < expected.size(); ++i) {
        if (expected[i] == found[i]) continue;
        if (mismatch.wrong_bytes++ > 0) continue;
        mismatch.offset = offset + static_cast<std::int64_t>(i);
        mismatch.expected = std::to_integer<unsigned>(expected[i]);
        mismatch.found = std::to_integer<unsigned>(found[i]);
    }
    return mismatch;
}

bool is_foreign(std::span<const std::byte> expected, std::span<const std::byte> found) {
    constexpr std::size_t word = sizeof(std::uint64_t);
    bool hole = true;
    for (std::size_t at = 0; at < found.size(); at += word) {
        const std::size_t bytes = std::min(word, found.size() - at);
        if (std::memcmp(expected.data() + at, found.data() + at, bytes) == 0) return false;
        const auto piece = found.subspan(at, bytes);
        hole = hole && std::all_of(piece.begin(), piece.end(),
                                   [](std::byte b) { return b == std::byte{0}; });
    }
    return !hole;
}

std::uint64_t DataShape::random_words() const {
    const double words = std::round(static_cast<double>(words_per_sector) / compressible);
    return static_cast<std::uint64_t>(
        std::clamp(words, 1.0, static_cast<double>(words_per_sector)));
}

std::uint64_t Pattern::shaped_word(std::uint64_t index) const {
    constexpr std::uint64_t words_per_copy = DataShape::duplicate_distance / sizeof(std::uint64_t);
    const std::uint64_t unique =
        shape_.unique_copy(index / words_per_copy) * words_per_copy + index % words_per_copy;
    const std::uint64_t inside = unique % DataShape::words_per_sector;
    // All words behind the random ones are equal to the first of them.
    return random_word(unique - inside + std::min(inside, shape_.random_words()));
}

void Pattern::fill(std::span<std::byte> out, std::int64_t offset) const {
    if (out.empty()) return;
    auto index = static_cast<std::uint64_t>(offset) / 8;
    const auto skip = static_cast<std::size_t>(static_cast<std::uint64_t>(offset) % 8);
    const auto put = [](std::byte* to, std::uint64_t word, std::size_t from, std::size_t n) {
        std::array<std::byte, 8> bytes{};
        std::memcpy(bytes.data(), &word, 8);
        std::memcpy(to, bytes.data() + from, n);
    };
    std::size_t done = 0;
    const auto whole_words = [&](auto&& next) {
        for (; done + 8 <= out.size(); done += 8) {
            const std::uint64_t value = next(index++);
            std::memcpy(out.data() + done, &value, 8);
        }
    };
    if (skip != 0) {
        done = std::min(out.size(), 8 - skip);
        put(out.data(), word(index++), skip, done);
    }
    if (shape_.is_plain()) {
        whole_words([this](std::uint64_t i) { return random_word(i); });
    } else {
        whole_words([this](std::uint64_t i) { return shaped_word(i); });
    }
    if (done < out.size()) put(out.data() + done, word(index), 0, out.size() - done);
}

std::optional<Mismatch> Pattern::check(std::span<const std::byte> data, std::int64_t offset) const {
    std::array<std::byte, 4096> expected;
    std::optional<Mismatch> first;
    while (!data.empty()) {
        const auto piece = data.first(std::min(data.size(), expected.size()));
        const std::span<std::byte> model(expected.data(), piece.size());
        fill(model, offset);
        if (const auto bad = compare(model, piece, offset); bad) {
            if (!first) {
                first = bad;
            } else {
                first->wrong_bytes += bad->wrong_bytes;
            }
        }
        offset += static_cast<std::int64_t>(piece.size());
        data = data.subspan(piece.size());
    }
    return first;
}

void StampedPattern::fill_base(std::span<std::byte> out, std::int64_t offset) const {
    std::int64_t inside = offset % period;
    for (auto left = out; !left.empty(); inside = 0) {
        const auto piece = std::min(left.size(), static_cast<std::size_t>(period - inside));
        base_.fill(left.first(piece), inside);
        left = left.subspan(piece);
    }
    // The key of the page alone remains where nothing is random.
    constexpr std::size_t word = sizeof(std::uint64_t);
    const std::size_t random = word * static_cast<std::size_t>(shape_.random_words());
    constexpr std::size_t sector = word * DataShape::words_per_sector;
    if (random == sector) return;
    for (std::size_t i = 0; i < out.size(); ++i) {
        if ((static_cast<std::size_t>(offset) + i) % sector >= random) out[i] = std::byte{0};
    }
}

StampedBuffer::StampedBuffer(const StampedPattern& pattern, std::size_t largest)
    : pattern_(pattern),
      memory_((static_cast<std::size_t>(StampedPattern::period) + largest +
               static_cast<std::size_t>(StampedPattern::page) - 1) /
              static_cast<std::size_t>(StampedPattern::page) *
              static_cast<std::size_t>(StampedPattern::page)),
      keys_(memory_.size() / static_cast<std::size_t>(StampedPattern::page)) {
    pattern_.fill_base(memory_.bytes(), 0);
}

namespace {

#if defined(__x86_64__) && defined(__GLIBC__) && !defined(__SANITIZE_ADDRESS__) && \
    !defined(__SANITIZE_THREAD__)
// The widest vectors take half the time of those that every x86-64 has. The loader chooses, and
// it does so before a sanitizer is set up.
[[gnu::target_clones("default", "avx2", "avx512f")]]
#endif
void combine(std::uint64_t* words, std::uint64_t key) {
    constexpr std::size_t count = StampedPattern::page / sizeof(std::uint64_t);
    for (std::size_t i = 0; i < count; ++i) words[i] ^= key;
}

}  // namespace

void StampedBuffer::apply(std::size_t slot, std::uint64_t key) {
    std::byte* const page =
        memory_.bytes().data() + slot * static_cast<std::size_t>(StampedPattern::page);
    combine(reinterpret_cast<std::uint64_t*>(page), keys_[slot] ^ key);
    keys_[slot] = key;
}

}  // namespace effio
