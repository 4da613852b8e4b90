// SPDX-License-Identifier: BSD-3-Clause
#include "frame/ring_patterns/ping_pong.hpp"

#include <fmt/format.h>

#include "frame/ring_patterns/message_stamps.hpp"
#include "parallel/pace.hpp"

namespace effio {
namespace {

constexpr unsigned echo_shift = 13;

std::byte byte_of(unsigned value) {
    return static_cast<std::byte>(value & 0xffU);
}

}  // namespace

Error WrongEcho::to_error() const {
    Error error;
    error.exit_code = ExitCode::data_errors;
    error.operation = "MPI_Recv";
    error.cause = fmt::format(
        "wrong data in a ping-pong message of {} B from rank {}: {:#04x} expected, "
        "{:#04x} found",
        bytes, partner, expected, found);
    return error;
}

double PingPong::round_trips(int partner, bool client, std::int64_t bytes, std::int64_t loops) {
    const auto length = static_cast<std::size_t>(bytes);
    trips_ = 0;
    if (kept_) {
        stamp_messages(send_.first(length), rank_, length);
        kept_->start(length, loops + 1);
    }
    one(partner, client, length);
    double seconds = 0;
    {
        const Lap lap(clock_, seconds);
        FixedCount count(loops);
        do {
            one(partner, client, length);
        } while (count.go_on());
    }
    if (kept_) check_all(partner, length);
    return seconds;
}

void PingPong::check_all(int partner, std::size_t bytes) {
    verified_.overwritten += kept_->overwritten();
    kept_->for_each([&](std::int64_t, std::span<const std::byte> message) {
        ++verified_.whole;
        const auto wrong = first_wrong_byte(message, partner);
        if (!wrong) return;
        ++errors_;
        if (first_wrong_) return;
        first_wrong_ = {partner, static_cast<std::int64_t>(bytes), wrong->expected, wrong->found};
    });
}

void PingPong::one(int partner, bool client, std::size_t bytes) {
    ++trips_;
    // In a message of one byte the last byte is the first.
    const unsigned first = trips_;
    const unsigned last = bytes == 1 ? first : trips_ + 1;
    if (client) {
        send(partner, bytes, byte_of(first), byte_of(last));
        receive(partner, bytes);
        check(partner, bytes, byte_of(first + echo_shift), byte_of(last + echo_shift));
    } else {
        receive(partner, bytes);
        const auto got = received_;
        check(partner, bytes, byte_of(first), byte_of(last));
        send(partner, bytes, byte_of(std::to_integer<unsigned>(got.front()) + echo_shift),
             byte_of(std::to_integer<unsigned>(got.back()) + echo_shift));
    }
}

void PingPong::send(int partner, std::size_t bytes, std::byte first, std::byte last) {
    const auto message = send_.first(bytes);
    message.front() = first;
    message.back() = last;
    const Step step{partner, {}, message, {}};
    exchange_.run(Method::sendrecv, std::span(&step, 1));
}

void PingPong::receive(int partner, std::size_t bytes) {
    received_ = next_place(bytes);
    const Step step{{}, partner, {}, received_};
    exchange_.run(Method::sendrecv, std::span(&step, 1));
}

void PingPong::check(int partner, std::size_t bytes, std::byte first, std::byte last) {
    const auto message = received_;
    if (message.front() == first && message.back() == last) [[likely]]
        return;
    ++errors_;
    if (first_wrong_) return;
    const bool at_end = message.front() == first;
    first_wrong_ = {partner, static_cast<std::int64_t>(bytes),
                    std::to_integer<unsigned>(at_end ? last : first),
                    std::to_integer<unsigned>(at_end ? message.back() : message.front())};
}

}  // namespace effio
