// SPDX-License-Identifier: BSD-3-Clause
#include "frame/study/payload.hpp"

#include <algorithm>
#include <cstring>
#include <vector>

namespace effio::study {
namespace {

/// Whole calls alone are kept: of what does not fit, the first calls of the pass.
std::int64_t kept_of(const Cell& cell, const Addresses& addresses, std::int64_t keep,
                     std::int64_t reads) {
    if (cell.content != Content::stamped || addresses.piece() == 0) return 0;
    if (reads <= keep) return reads;
    // Streams have calls of various lengths, and all other passes whole pieces.
    return keep / StampedPattern::page * StampedPattern::page;
}

/// All pieces with what is between them; of stamped data, what is kept and one piece.
std::int64_t span_of(const Cell& cell, const Addresses& addresses, std::int64_t keep,
                     std::int64_t reads) {
    if (cell.content == Content::stamped) {
        const std::int64_t kept = kept_of(cell, addresses, keep, reads);
        return std::max(kept + (kept < reads ? addresses.piece() : 0), addresses.piece());
    }
    if (addresses.calls() == 0) return 0;
    return addresses.bytes() + (addresses.calls() - 1) * cell.memory_spacing();
}

/// Never 0, which is what a hole holds.
void fill_numbers(const Pattern& pattern, std::span<std::byte> memory, std::int64_t place) {
    constexpr std::size_t size = sizeof(double);
    constexpr int dropped = 12;
    for (std::size_t at = 0; at + size <= memory.size(); at += size) {
        const auto index = (static_cast<std::uint64_t>(place) + at) / size;
        const auto number = static_cast<double>(1 + (pattern.word(index) >> dropped));
        std::memcpy(memory.data() + at, &number, size);
    }
}

}  // namespace

std::uint64_t Payload::seed_of(std::string_view name, std::uint64_t run) {
    std::uint64_t seed = mix64(name.size());
    for (const char letter : name) seed = mix64(seed ^ static_cast<unsigned char>(letter));
    return run == 0 ? seed : mix64(seed ^ mix64(run));
}

Payload::Payload(const Cell& cell, const Addresses& addresses, const Data& data, std::int64_t keep,
                 std::int64_t reads)
    : content_(cell.content),
      addresses_(addresses),
      data_(data),
      size_(static_cast<std::size_t>(addresses.piece())),
      step_(content_ == Content::stamped ? 0 : addresses.piece() + cell.memory_spacing()),
      kept_(kept_of(cell, addresses, keep, reads)),
      memory_(static_cast<std::size_t>(span_of(cell, addresses, keep, reads))),
      source_(memory_.bytes().data()) {}

void Payload::fill(std::span<std::byte> memory, std::uint64_t generation) const {
    for (std::int64_t n = 0; n < addresses_.calls(); ++n) {
        fill_piece(memory.subspan(static_cast<std::size_t>(n * step_), size_), addresses_.place(n),
                   generation);
    }
}

void Payload::fill_piece(std::span<std::byte> memory, std::int64_t place,
                         std::uint64_t generation) const {
    const Pattern words = pattern(generation);
    if (content_ == Content::numbers) return fill_numbers(words, memory, place);
    words.fill(memory, place);
}

void Payload::prepare_to_write(std::uint64_t generation) {
    if (!is_stamped()) {
        fresh_.reset();
        source_ = memory_.bytes().data();
        return fill(memory_.bytes(), generation);
    }
    if (stamped_ && stamped_generation_ == generation) return;
    stamped_.emplace(StampedPattern(data_.seed + generation, data_.file, data_.shape), size_);
    stamped_generation_ = generation;
}

void Payload::prepare_to_read() {
    std::memset(memory_.bytes().data(), 0, memory_.size());
}

void Payload::prepare_to_modify(std::uint64_t generation) {
    prepare_to_read();
    fresh_.emplace(memory_.size());
    source_ = fresh_->bytes().data();
    fill(fresh_->bytes(), generation);
}

Spaced Payload::spaced(std::span<std::byte> memory) const {
    return {memory, addresses_.calls(), addresses_.piece(), step_, 0};
}

std::optional<Mismatch> Payload::check(std::int64_t number, std::uint64_t generation) {
    const std::int64_t place = addresses_.place(number);
    if (content_ == Content::words) return pattern(generation).check(piece(number), place);
    if (content_ == Content::numbers) {
        std::vector<std::byte> right(size_);
        fill_piece(right, place, generation);
        return compare(right, piece(number), place);
    }
    prepare_to_write(generation);
    return compare(stamped(place), piece(number), place);
}

std::optional<Mismatch> Payload::check_either(std::int64_t number, std::uint64_t generation) {
    const std::int64_t place = addresses_.place(number);
    std::vector<std::byte> before(size_);
    std::vector<std::byte> after(size_);
    pattern(generation).fill(before, place);
    pattern(generation + 1).fill(after, place);
    const auto found = piece(number);
    for (std::size_t i = 0; i < size_; ++i) {
        if (found[i] == after[i]) before[i] = after[i];
    }
    return compare(before, found, place);
}

std::int64_t Payload::bytes(const Cell& cell, const Addresses& addresses, std::int64_t keep,
                            std::int64_t reads) {
    const std::int64_t span = span_of(cell, addresses, keep, reads);
    if (cell.content == Content::stamped) {
        return span + addresses.piece() + StampedPattern::period;
    }
    const bool modifies = std::any_of(cell.passes.begin(), cell.passes.end(), [](const Pass& pass) {
        return pass.access == Access::modify;
    });
    return (modifies ? 2 : 1) * span;
}

}  // namespace effio::study
