// SPDX-License-Identifier: BSD-3-Clause
#include "storage/sion/own.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace effio::sion {

Tail tail_of(const Layout& layout, std::size_t number) {
    const File& file = layout.files[number];
    const auto tasks = file.head.tasks();
    const auto end_of = [&](std::int64_t task) {
        const auto rank = file.head.ranks[static_cast<std::size_t>(task)];
        return layout.ends[static_cast<std::size_t>(rank)];
    };
    Tail tail;
    for (std::int64_t task = 0; task < tasks; ++task) {
        const std::int64_t room = file.chunks.room(task);
        tail.used.push_back(std::max<std::int64_t>(1, (end_of(task) + room - 1) / room));
    }
    const std::int64_t rows = *std::max_element(tail.used.begin(), tail.used.end());
    for (std::int64_t row = 0; row < rows; ++row) {
        for (std::int64_t task = 0; task < tasks; ++task) {
            const std::int64_t room = file.chunks.room(task);
            tail.bytes.push_back(std::clamp<std::int64_t>(end_of(task) - row * room, 0, room));
        }
    }
    if (number != 0 || layout.files.size() == 1) return tail;
    tail.places.resize(layout.ends.size());
    for (std::size_t f = 0; f < layout.files.size(); ++f) {
        const auto& ranks = layout.files[f].head.ranks;
        for (std::size_t task = 0; task < ranks.size(); ++task) {
            tail.places[static_cast<std::size_t>(ranks[task])] = {static_cast<std::int32_t>(f),
                                                                  static_cast<std::int32_t>(task)};
        }
    }
    return tail;
}

std::vector<std::string> OwnContainers::files_of(const std::string& path) const {
    std::vector<std::string> files;
    const auto known = of_.find(path);
    const std::int64_t count = known == of_.end() ? 0 : known->second.files;
    for (std::int64_t number = 0; number < count; ++number) {
        files.push_back(name_of_file(path, number));
    }
    return files;
}

std::shared_ptr<const Layout> OwnContainers::layout(const std::string& path) const {
    const auto known = of_.find(path);
    return known == of_.end() ? nullptr : known->second.layout;
}

Status compare_metadata(const std::string& first, const Layout& wrote, std::size_t number,
                        std::span<const KeptBytes> read) {
    // A head with the values that this run gives to every container, and those of this one.
    const Header& like = wrote.files[number].head;
    const Tail tail = tail_of(wrote, number);
    Header head;
    head.metadata = head.data = like.metadata;
    head.version = like.version;
    head.block = like.block;
    head.files = std::ssize(wrote.files);
    head.file_number = static_cast<std::int64_t>(number);
    head.prefix = first.substr(first.rfind('/') + 1);
    head.ranks = like.ranks;
    head.chunks = like.chunks;
    head.rows = *std::max_element(tail.used.begin(), tail.used.end());
    auto begin = wrote.files[number].chunks.tail(head.rows);
    if (!begin) return std::move(begin.error());
    head.tail = *begin;
    for (const auto& [place, bytes] : read) {
        if (place != 0 && place != head.tail) continue;  // the head has another tail: found there
        const auto right = place == 0 ? encode(head) : encode(tail, head.metadata);
        const auto [found, expected] =
            std::mismatch(bytes.begin(), bytes.end(), right.begin(), right.end());
        if (found == bytes.end() || expected == right.end()) continue;
        Error error = io_error(
            "verify SION metadata", name_of_file(first, head.file_number),
            fmt::format("byte 0x{:02x} was read, 0x{:02x} was written",
                        std::to_integer<unsigned>(*found), std::to_integer<unsigned>(*expected)));
        error.offset = place + (found - bytes.begin());
        return error;
    }
    return {};
}

}  // namespace effio::sion
