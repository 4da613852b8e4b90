// SPDX-License-Identifier: BSD-3-Clause
#include "frame/study/data.hpp"

#include "core/pattern.hpp"

namespace effio::study {

double Pieces::bytes_in_all(int ranks) const {
    const Addresses first = addresses(0);
    if (in_all) return static_cast<double>(*in_all) * static_cast<double>(first.piece());
    return static_cast<double>(ranks) * static_cast<double>(first.bytes());
}

double Pieces::calls_in_all(int ranks) const {
    if (through == Through::view) return static_cast<double>(ranks);
    if (in_all) return static_cast<double>(*in_all);
    return static_cast<double>(ranks) * static_cast<double>(addresses(0).calls());
}

Addresses Items::addresses(int /*rank*/) const {
    constexpr std::int64_t unit = StampedPattern::page;
    return {0, Strides{file_bytes, {{files, (file_bytes + unit - 1) / unit * unit}}}};
}

double Items::bytes_in_all(int /*ranks*/) const {
    return static_cast<double>(visits_in_all) * static_cast<double>(file_bytes);
}

double Items::calls_in_all(int /*ranks*/) const {
    const std::int64_t each = (file_bytes + request - 1) / request;
    return static_cast<double>(visits_in_all) * static_cast<double>(each);
}

std::int64_t Streams::calls(std::int64_t length) const {
    if (length <= lead()) return length > 0 ? 1 : 0;
    return 1 + (length - lead() + request - 1) / request;
}

void Streams::count(int ranks) {
    largest = sum_of_bytes = sum_of_calls = 0;
    for (int rank = 0; rank < ranks; ++rank) {
        const std::int64_t own = bytes(rank);
        largest = std::max(largest, own);
        sum_of_bytes += own;
        sum_of_calls += calls(own);
    }
}

void Streams::count_equal(int ranks) {
    largest = bytes(0);
    sum_of_bytes = ranks * largest;
    sum_of_calls = ranks * calls(largest);
}

std::optional<Blocks> Streams::blocks(int ranks) const {
    if (apart) return {};
    return Blocks{largest, largest, 1, ranks};
}

Addresses Streams::addresses(int rank) const {
    return {begin(rank), Strides{std::min(request, largest), {{calls(largest), request}}}};
}

double Streams::bytes_in_all(int /*ranks*/) const {
    return static_cast<double>(sum_of_bytes);
}

double Streams::calls_in_all(int /*ranks*/) const {
    return static_cast<double>(sum_of_calls);
}

double Arrays::bytes_in_all(int /*ranks*/) const {
    return static_cast<double>(schema.bytes());
}

double Arrays::calls_in_all(int ranks) const {
    return static_cast<double>(ranks) * static_cast<double>(addresses(0).calls());
}

}  // namespace effio::study
