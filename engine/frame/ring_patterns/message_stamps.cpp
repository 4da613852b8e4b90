// SPDX-License-Identifier: BSD-3-Clause
#include "frame/ring_patterns/message_stamps.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

namespace effio {
namespace {

using Word = std::uint64_t;
constexpr std::size_t word_bytes = sizeof(Word);
constexpr unsigned rank_shift = 40;  // the lower bits are the word's place

/// Odd, so that multiplication by it has an inverse; its bits look random.
constexpr Word factor = 0x9e3779b97f4a7c15;

constexpr Word inverse_of(Word odd) {
    // Newton's iteration: x = odd has three correct bits, and each step doubles their number.
    constexpr int steps = 5;
    Word x = odd;
    for (int i = 0; i < steps; ++i) x *= 2 - odd * x;
    return x;
}
constexpr Word inverse = inverse_of(factor);
static_assert(factor * inverse == 1);

Word first_of(int rank) {
    return (static_cast<Word>(rank) + 1) << rank_shift;
}

bool is_short(std::size_t message_bytes) {
    return message_bytes <= 2 * word_bytes;
}

unsigned byte_of(Word word, std::size_t at) {
    std::byte bytes[word_bytes];
    std::memcpy(bytes, &word, word_bytes);
    return std::to_integer<unsigned>(bytes[at]);
}

}  // namespace

void stamp_messages(std::span<std::byte> memory, int rank, std::size_t message_bytes) {
    const Word first = first_of(rank);
    const std::size_t words_of_message = (message_bytes + word_bytes - 1) / word_bytes;
    const std::size_t period = is_short(message_bytes) ? words_of_message : memory.size();
    for (std::size_t at = 0; at < memory.size(); at += word_bytes) {
        const Word word = (first + at / word_bytes % period) * factor;
        std::memcpy(memory.data() + at, &word, std::min(word_bytes, memory.size() - at));
    }
}

std::optional<WrongByte> first_wrong_byte(std::span<const std::byte> message, int from) {
    Word first = first_of(from);
    if (!is_short(message.size())) {
        // The first word contains the first byte, which the benchmark sets; the second is the
        // first that is complete.
        Word second = 0;
        std::memcpy(&second, message.data() + word_bytes, word_bytes);
        const Word place = second * inverse - 1;
        // Of another rank, all of the message is wrong: it is compared with this rank's first.
        if (place >> rank_shift == first >> rank_shift) first = place;
    }
    for (std::size_t at = 0; at < message.size(); at += word_bytes) {
        const Word right = (first + at / word_bytes) * factor;
        const std::size_t bytes = std::min(word_bytes, message.size() - at);
        if (std::memcmp(&right, message.data() + at, bytes) == 0) continue;
        for (std::size_t i = 0; i < bytes; ++i) {
            const std::size_t place = at + i;
            if (place == 0 || place + 1 == message.size()) continue;
            const auto found = std::to_integer<unsigned>(message[place]);
            const unsigned expected = byte_of(right, i);
            if (found != expected)
                return WrongByte{static_cast<std::int64_t>(place), expected, found};
        }
    }
    return {};
}

std::int64_t SureNumber::value() const {
    return (copies_[0] & copies_[1]) | (copies_[1] & copies_[2]) | (copies_[0] & copies_[2]);
}

Error SureNumber::wrong_error(const std::string& from, const std::string& meaning) const {
    Error error;
    error.exit_code = ExitCode::data_errors;
    error.operation = "MPI_Recv";
    error.cause = fmt::format("wrong data in a message of {} B from {} ({}, in three copies)",
                              bytes().size(), from, meaning);
    return error;
}

}  // namespace effio
