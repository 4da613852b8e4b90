// SPDX-License-Identifier: BSD-3-Clause
#include "benchmarks/b_eff/messages.hpp"

#include <algorithm>

#include "frame/ring_patterns/message_stamps.hpp"

namespace effio::b_eff {
namespace {

constexpr std::size_t most_steps = 6;
constexpr std::size_t spare_bytes = 16;
constexpr std::size_t alignment = 8;

/// What the ends of the message of a step hold. They are the same number where the length number is
/// 0, because there they are the same byte.
struct Marks {
    Marks(std::size_t step, int length_number)
        : first(static_cast<unsigned char>(step * static_cast<std::size_t>(length_number) + 1)),
          last(static_cast<unsigned char>(2 * first - 1)) {}
    unsigned char first;
    unsigned char last;
};

std::size_t rounded(std::size_t bytes) {
    return (bytes + alignment - 1) / alignment * alignment;
}

std::size_t buffer_bytes(std::int64_t lmax) {
    return most_steps * (static_cast<std::size_t>(lmax) + spare_bytes);
}

}  // namespace

std::size_t Messages::verification_bytes(std::int64_t lmax, VerifiedBytes verify) {
    return verify == VerifiedBytes::all ? KeptMessages::bytes_for(buffer_bytes(lmax)) : 0;
}

Messages::Messages(std::int64_t lmax, VerifiedBytes verify)
    : send_(buffer_bytes(lmax)), receive_(send_.size()) {
    if (verify == VerifiedBytes::all) kept_.emplace(receive_.size());
    steps_.reserve(most_steps);
}

std::size_t Messages::advance(std::size_t bytes) {
    if (position_ + bytes > send_.size()) position_ = 0;
    const std::size_t place = position_;
    position_ += rounded(bytes);
    return place;
}

std::span<const Step> Messages::next(std::span<const Partners> partners, int length_number,
                                     std::int64_t bytes) {
    const auto length = static_cast<std::size_t>(bytes);
    steps_.clear();
    for (std::size_t i = 0; i < partners.size(); ++i) {
        const std::size_t place = advance(length);
        const auto sent = send_.bytes().subspan(place, length);
        const auto received = keeps_ ? kept_->next() : receive_.bytes().subspan(place, length);
        const Marks marks(i, length_number);
        sent.front() = std::byte{marks.first};
        sent.back() = std::byte{marks.last};
        received.front() = received.back() = std::byte{0};
        steps_.push_back({partners[i].to, partners[i].from, sent, received});
    }
    return steps_;
}

int Messages::check(int length_number) {
    int wrong = 0;
    for (std::size_t i = 0; i < steps_.size(); ++i) {
        const Step& s = steps_[i];
        if (!s.from) continue;
        const Marks marks(i, length_number);
        const auto first = std::to_integer<unsigned char>(s.receive.front());
        const auto last = std::to_integer<unsigned char>(s.receive.back());
        if (first == marks.first && last == marks.last) continue;
        ++wrong;
        if (first_wrong_) continue;
        const bool at_end = first == marks.first;
        const auto bytes = static_cast<std::int64_t>(s.receive.size());
        first_wrong_ = {*s.from, bytes, at_end ? bytes - 1 : 0, at_end ? marks.last : marks.first,
                        at_end ? last : first};
    }
    return wrong;
}

std::size_t Messages::places(std::size_t bytes) const {
    return (send_.size() - bytes) / rounded(bytes) + 1;
}

/// Starts at the beginning of the memory, so that each round through it uses the same places. Only
/// then is a byte that is set at the end of a message never inside another message.
void Messages::prepare_all(const Loops& series) {
    if (!kept_) return;
    const auto bytes = static_cast<std::size_t>(series.bytes);
    const auto messages = static_cast<std::size_t>(series.loops) * series.partners.size();
    const std::size_t used =
        std::min(send_.size(), std::min(messages, places(bytes)) * rounded(bytes));
    stamp_messages(send_.bytes().first(used), series.position, bytes);
    kept_->start(bytes, series.loops * std::ssize(series.partners));
    keeps_ = true;
    position_ = 0;
}

Messages::Checked Messages::check_all(const Loops& series) {
    Checked checked;
    if (!kept_) return checked;
    keeps_ = false;
    const std::int64_t overwritten = kept_->overwritten();
    const auto sender_of = [&](std::int64_t number) {
        return series.partners[static_cast<std::size_t>(number) % series.partners.size()].from;
    };
    for (std::int64_t number = 0; number < overwritten; ++number) {
        if (sender_of(number)) ++checked.messages.overwritten;
    }
    kept_->for_each([&](std::int64_t number, std::span<const std::byte> message) {
        const auto from = sender_of(number);
        if (!from) return;
        ++checked.messages.whole;
        const auto bad = first_wrong_byte(message, *from);
        if (!bad) return;
        ++checked.wrong;
        if (first_wrong_) return;
        first_wrong_ = {*from, series.bytes, bad->place, bad->expected, bad->found};
    });
    return checked;
}

}  // namespace effio::b_eff
