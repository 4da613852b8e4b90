// SPDX-License-Identifier: BSD-3-Clause
#include "benchmarks/b_eff/messages.hpp"

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

}  // namespace

Messages::Messages(std::int64_t lmax)
    : send_(most_steps * (static_cast<std::size_t>(lmax) + spare_bytes)), receive_(send_.size()) {
    steps_.reserve(most_steps);
}

std::size_t Messages::advance(std::size_t bytes) {
    if (position_ + bytes > send_.size()) position_ = 0;
    const std::size_t place = position_;
    position_ += (bytes + alignment - 1) / alignment * alignment;
    return place;
}

std::span<const Step> Messages::next(std::span<const Partners> partners, int length_number,
                                     std::int64_t bytes) {
    const auto length = static_cast<std::size_t>(bytes);
    steps_.clear();
    for (std::size_t i = 0; i < partners.size(); ++i) {
        const std::size_t place = advance(length);
        const auto sent = send_.bytes().subspan(place, length);
        const auto received = receive_.bytes().subspan(place, length);
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
        first_wrong_ = {*s.from, static_cast<std::int64_t>(s.receive.size()), at_end,
                        at_end ? marks.last : marks.first, at_end ? last : first};
    }
    return wrong;
}

}  // namespace effio::b_eff
