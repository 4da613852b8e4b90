// SPDX-License-Identifier: BSD-3-Clause
// A container's file by the tables of docs/sion-format.md, without the code that is tested.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace effio::sion {

/// A file written by offsets, as the tables give them.
struct Image {
    std::vector<std::byte> bytes;
    bool big = false;

    void put(std::size_t offset, std::uint64_t value, std::size_t size) {
        if (bytes.size() < offset + size) bytes.resize(offset + size);
        for (std::size_t i = 0; i < size; ++i) {
            const std::size_t shift = 8 * (big ? size - 1 - i : i);
            bytes[offset + i] = static_cast<std::byte>(value >> shift & 0xffU);
        }
    }
    void put32(std::size_t offset, std::uint64_t value) { put(offset, value, 4); }
    void put64(std::size_t offset, std::uint64_t value) { put(offset, value, 8); }
    void text(std::size_t offset, const std::string& word) {
        for (std::size_t i = 0; i < word.size(); ++i) {
            put(offset + i, static_cast<unsigned char>(word[i]), 1);
        }
    }
};

}  // namespace effio::sion
