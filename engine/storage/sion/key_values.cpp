// SPDX-License-Identifier: BSD-3-Clause
#include "storage/sion/key_values.hpp"

#include <fmt/format.h>

#include <array>

#include "core/units.hpp"

namespace effio::sion {
namespace {

std::int64_t number_at(std::span<const std::byte> bytes, ByteOrder order) {
    std::uint64_t value = 0;
    for (std::size_t i = 0; i < 8; ++i) {
        const std::size_t place = order == ByteOrder::big ? i : 7 - i;
        value = value << 8U | std::to_integer<std::uint64_t>(bytes[place]);
    }
    return static_cast<std::int64_t>(value);
}

constexpr std::int64_t most_empty = std::int64_t{1} << 20;

}  // namespace

Status check_keys(const Container& container) {
    switch (container.first().file.head.key_values) {
        case KeyValues::inlined:
            return {};
        case KeyValues::none:
            return usage_error(
                fmt::format("{}: the container has no keys", container.first().path));
        case KeyValues::meta:
        case KeyValues::hash:
            break;
    }
    return usage_error(
        fmt::format("{}: only keys inside the streams (mode inline) can be read, not the modes "
                    "meta and hash",
                    container.first().path));
}

Status each_record(const Container& container, const Container::Task& task,
                   const std::function<Status(const KeyRecord&)>& visit) {
    const auto& part = container.parts()[task.part];
    const Stream stream(container, task);
    std::int64_t empty = 0;  // records in a row
    for (std::int64_t at = 0; at < stream.bytes();) {
        const auto wrong = [&](const std::string& cause) {
            return malformed(part.path, stream.place_of(at),
                             fmt::format("the record at byte {} of the stream of rank {} {}", at,
                                         task.rank, cause));
        };
        const std::int64_t left = stream.bytes() - at;
        if (left < record_head_bytes) {
            return wrong(
                fmt::format("has {} for key and length, which take 16 B", exact_size(left)));
        }
        std::array<std::byte, record_head_bytes> head{};
        if (auto read = stream.read(at, head); !read) return read;
        const ByteOrder order = part.file.head.metadata;
        const std::int64_t key = number_at(std::span(head).first(8), order);
        const std::int64_t bytes = number_at(std::span(head).last(8), order);
        if (bytes < 0) return wrong(fmt::format("has the length {}", bytes));
        if (bytes > left - record_head_bytes) {
            return wrong(fmt::format("has a value of {}, and the stream ends after {} of it",
                                     exact_size(bytes), exact_size(left - record_head_bytes)));
        }
        // A hole of the file costs nothing to make, and reads as records without bytes.
        empty = bytes == 0 ? empty + 1 : 0;
        if (empty > most_empty) {
            return wrong(fmt::format("is the last of {} empty ones in a row", empty));
        }
        if (auto visited = visit({key, at + record_head_bytes, bytes}); !visited) return visited;
        at += record_head_bytes + bytes;
    }
    return {};
}

Status count_keys(const Container& container, const Container::Task& task,
                  std::map<std::int64_t, KeyTotal>& totals) {
    return each_record(container, task, [&](const KeyRecord& record) -> Status {
        KeyTotal& total = totals[record.key];
        ++total.records;
        total.bytes += record.bytes;
        return {};
    });
}

}  // namespace effio::sion
