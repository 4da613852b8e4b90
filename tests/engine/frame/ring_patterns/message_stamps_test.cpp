// SPDX-License-Identifier: BSD-3-Clause
#include "frame/ring_patterns/message_stamps.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "frame/ring_patterns/kept_messages.hpp"

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

TEST(SureNumber, a_wrong_byte_is_found_and_changes_nothing) {
    const SureNumber sent(0x1234567890);
    ASSERT_EQ(sent.bytes().size(), 24U);
    for (std::size_t i = 0; i < 24; ++i) {
        SureNumber received;
        EXPECT_EQ(received.value(), -1);
        std::copy(sent.bytes().begin(), sent.bytes().end(), received.bytes().begin());
        EXPECT_TRUE(received.is_whole());
        received.bytes()[i] ^= std::byte{0xff};
        EXPECT_FALSE(received.is_whole()) << i;
        EXPECT_EQ(received.value(), 0x1234567890) << i;
    }
}

TEST(KeptMessages, messages_stay_until_64_MiB_of_later_ones_come) {
    KeptMessages kept(0);
    constexpr std::size_t bytes = (std::size_t{32} << 20U) - 5;  // two fit, at multiples of 8
    kept.start(bytes, 3);
    for (const std::uint8_t value : {std::uint8_t{1}, std::uint8_t{2}, std::uint8_t{3}}) {
        const auto place = kept.next();
        ASSERT_EQ(place.size(), bytes);
        place.front() = std::byte{value};
    }
    EXPECT_EQ(kept.overwritten(), 1);
    std::vector<std::int64_t> seen;
    kept.for_each([&](std::int64_t number, std::span<const std::byte> message) {
        seen.push_back(number);
        EXPECT_EQ(std::to_integer<std::int64_t>(message.front()), number + 1);
    });
    EXPECT_EQ(seen, (std::vector<std::int64_t>{1, 2}));
    // The next series starts with cleared memory, and short messages all fit.
    kept.start(8, 1000);
    for (int i = 0; i < 1000; ++i) EXPECT_EQ(kept.next().front(), std::byte{0});
    EXPECT_EQ(kept.overwritten(), 0);
    EXPECT_EQ(overwritten_line({1000, 0}), "");
    EXPECT_EQ(
        overwritten_line({2, 1}),
        "1 of 3 messages could not be verified whole: later messages overwrote them unread\n");
}

}  // namespace
}  // namespace effio
