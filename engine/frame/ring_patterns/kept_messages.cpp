// SPDX-License-Identifier: BSD-3-Clause
#include "frame/ring_patterns/kept_messages.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/units.hpp"

namespace effio {
namespace {

constexpr std::size_t usual_bytes = std::size_t{64} << 20U;
constexpr std::size_t alignment = 8;

}  // namespace

MessageCounts& MessageCounts::operator+=(const MessageCounts& other) {
    whole += other.whole;
    overwritten += other.overwritten;
    return *this;
}

const Fields<MessageCounts>& message_count_fields() {
    static const Fields<MessageCounts> fields{
        {"whole_messages", Unit::count, "messages of which all bytes were compared",
         &MessageCounts::whole},
        {"overwritten_messages", Unit::count,
         "messages that later ones overwrote unread: only first and last byte were compared",
         &MessageCounts::overwritten}};
    return fields;
}

std::string overwritten_line(const MessageCounts& counts) {
    if (counts.overwritten == 0) return {};
    return fmt::format(
        "{} of {} could not be verified whole: later messages overwrote them unread\n",
        counts.overwritten, count_of(counts.whole + counts.overwritten, "message"));
}

std::size_t KeptMessages::bytes_for(std::size_t least_bytes) {
    return std::max(usual_bytes, least_bytes);
}

KeptMessages::KeptMessages(std::size_t least_bytes) : memory_(bytes_for(least_bytes)) {}

void KeptMessages::start(std::size_t message_bytes, std::int64_t messages) {
    bytes_ = message_bytes;
    spacing_ = (message_bytes + alignment - 1) / alignment * alignment;
    places_ = static_cast<std::int64_t>(memory_.size() / spacing_);
    received_ = 0;
    const auto used = static_cast<std::size_t>(std::min(messages, places_)) * spacing_;
    std::fill_n(memory_.bytes().begin(), used, std::byte{0});
}

}  // namespace effio
