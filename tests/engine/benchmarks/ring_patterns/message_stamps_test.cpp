// SPDX-License-Identifier: BSD-3-Clause
#include "benchmarks/ring_patterns/message_stamps.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <vector>

namespace effio {
namespace {

/// A message as it comes: with the marks of its benchmark at both ends.
std::vector<std::byte> message_of(std::span<const std::byte> memory, std::size_t place,
                                  std::size_t bytes) {
    const auto sent = memory.subspan(place, bytes);
    std::vector<std::byte> message(sent.begin(), sent.end());
    message.front() = std::byte{0x17};
    message.back() = std::byte{0x2d};
    return message;
}

TEST(MessageStamps, every_inner_byte_of_every_length_is_checked) {
    for (const std::size_t bytes : std::array<std::size_t, 8>{1, 2, 3, 8, 9, 16, 17, 64}) {
        std::vector<std::byte> memory(256);
        stamp_messages(memory, 3, bytes);
        const std::size_t step = (bytes + 7) / 8 * 8;
        for (const std::size_t place : {std::size_t{0}, step, 2 * step}) {
            auto message = message_of(memory, place, bytes);
            EXPECT_FALSE(first_wrong_byte(message, 3)) << bytes << " at " << place;
            for (std::size_t i = 1; i + 1 < bytes; ++i) {
                message[i] ^= std::byte{1};
                const auto wrong = first_wrong_byte(message, 3);
                ASSERT_TRUE(wrong) << bytes << " at " << place << ", byte " << i;
                // A wrong second word, of which the place is known, may be found in another one.
                if (bytes <= 16 || i < 8 || i >= 16) {
                    EXPECT_EQ(wrong->place, static_cast<std::int64_t>(i));
                }
                message[i] ^= std::byte{1};
            }
        }
    }
}

TEST(MessageStamps, a_message_of_another_rank_is_wrong) {
    for (const std::size_t bytes : {std::size_t{8}, std::size_t{24}}) {
        std::vector<std::byte> memory(64);
        stamp_messages(memory, 3, bytes);
        EXPECT_TRUE(first_wrong_byte(message_of(memory, 0, bytes), 4)) << bytes;
    }
}

}  // namespace
}  // namespace effio
