// SPDX-License-Identifier: BSD-3-Clause
#include "benchmarks/ior/definition.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include "core/pattern.hpp"

namespace effio::ior {
namespace {

constexpr std::size_t word = sizeof(std::uint64_t);
constexpr std::size_t item = 4096;  ///< bytes between the words that hold an offset

void put(std::span<std::byte> memory, std::size_t at, std::uint64_t value) {
    std::memcpy(memory.data() + at, &value, std::min(word, memory.size() - at));
}

}  // namespace

std::string_view name(Access access) {
    switch (access) {
        case Access::mixed:
            return "mixed";
        case Access::read:
            return "read";
        case Access::write:
            break;
    }
    return "write";
}

bool Mix::reads(std::int64_t worker, std::int64_t number) const {
    const std::uint64_t draw = mix64(mix64(seed + static_cast<std::uint64_t>(worker)) +
                                     static_cast<std::uint64_t>(number));
    // The upper 53 bits: as many as a double holds exactly.
    return static_cast<double>(draw >> 11U) < share * 0x1p53;
}

std::string_view name(Files files) {
    return files == Files::shared ? "shared" : "per-process";
}

std::string_view name(Order order) {
    switch (order) {
        case Order::backward:
            return "backward";
        case Order::shuffled:
            return "shuffled";
        case Order::random:
            return "random";
        case Order::sequential:
            break;
    }
    return "sequential";
}

Walk Geometry::walk(std::int64_t worker, std::int64_t existing) const {
    // Workers with a separate file must not all take the same way.
    const std::uint64_t own =
        files == Files::shared ? seed : mix64(seed + static_cast<std::uint64_t>(worker));
    return {blocks(), part_of(worker), order, own, existing};
}

View Geometry::view(std::int64_t worker) const {
    const Blocks b = blocks();
    if (b.parts == 1) return {};
    if (segments == 1) return {part_of(worker) * block, Contiguous{}};
    return {0, RoundRobin{static_cast<int>(b.parts), static_cast<int>(part_of(worker)), block}};
}

Data::Data(const Source& source, std::size_t largest)
    : memory_(source.kind == DataKind::stamped
                  ? decltype(memory_)(StampedBuffer(
                        StampedPattern(source.seed, source.file, source.shape), largest))
                  : decltype(memory_)(Words{Buffer(largest), source.writer, source.signature,
                                            source.kind == DataKind::offset, source.block,
                                            source.workers})) {
    if (auto* words = std::get_if<Words>(&memory_); words != nullptr) words->fill();
}

void Data::Words::fill() {
    const auto first = static_cast<std::uint32_t>(signature);
    const std::span<std::byte> all = memory.bytes();
    for (std::size_t i = 0; i * word < all.size(); ++i) {
        put(all, i * word, upper() | static_cast<std::uint32_t>(first + i));
    }
}

std::span<std::byte> Data::memory() {
    if (auto* stamped = std::get_if<StampedBuffer>(&memory_); stamped != nullptr)
        return stamped->memory();
    return std::get<Words>(memory_).memory.bytes();
}

std::span<const std::byte> Data::words_at(std::int64_t offset, std::size_t bytes) {
    auto& words = std::get<Words>(memory_);
    if (words.block > 0) {
        const std::int64_t writer = offset / words.block % words.workers;
        if (writer != words.writer) {
            words.writer = writer;
            words.fill();
        }
    }
    if (words.offsets) {
        std::uint64_t k = 1;
        for (std::size_t i = 0; i < bytes; i += item, ++k) {
            put(words.memory.bytes(), i,
                words.upper() | static_cast<std::uint32_t>(static_cast<std::uint64_t>(offset) * k));
        }
    }
    return std::as_const(words.memory).bytes().first(bytes);
}

}  // namespace effio::ior
