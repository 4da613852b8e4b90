// SPDX-License-Identifier: BSD-3-Clause
#include "storage/array_schema.hpp"

#include <fmt/format.h>

namespace effio {

std::string ArrayAttribute::value_text() const {
    return std::visit([](const auto& v) { return fmt::format("{}", v); }, value);
}

std::string_view name(ArrayType type) {
    switch (type) {
        case ArrayType::text:
            return "text";
        case ArrayType::byte:
            return "byte";
        case ArrayType::int32:
            return "int32";
        case ArrayType::int64:
            return "int64";
        case ArrayType::real32:
            return "real32";
        case ArrayType::real64:
            break;
    }
    return "real64";
}

std::int64_t ArrayVariable::element_bytes() const {
    if (record.empty()) return type == ArrayType::text ? text_length : bytes_of(type);
    std::int64_t bytes = 0;
    for (const auto& field : record) bytes += bytes_of(field.type);
    return bytes;
}

int ArrayShares::writer_of(std::int64_t index) const {
    // The last rank whose share begins at or before the index; empty shares before it drop out.
    int low = 0;
    int high = writers - 1;
    while (low < high) {
        const int middle = low + (high - low + 1) / 2;
        if (start(middle) <= index) {
            low = middle;
        } else {
            high = middle - 1;
        }
    }
    return low;
}

std::optional<std::size_t> ArraySchema::find(std::string_view variable) const {
    for (std::size_t i = 0; i < variables.size(); ++i) {
        if (variables[i].name == variable) return i;
    }
    return {};
}

std::vector<std::int64_t> ArraySchema::shape(std::size_t variable) const {
    std::vector<std::int64_t> extents;
    for (const auto d : variables[variable].dimensions) extents.push_back(dimensions[d].length);
    return extents;
}

std::int64_t ArraySchema::bytes(std::size_t variable) const {
    std::int64_t bytes = variables[variable].element_bytes();
    for (const auto d : variables[variable].dimensions) bytes *= dimensions[d].length;
    return bytes;
}

std::int64_t ArraySchema::bytes() const {
    std::int64_t sum = 0;
    for (std::size_t v = 0; v < variables.size(); ++v) sum += bytes(v);
    return sum;
}

bool ArraySchema::shared_out(std::size_t variable) const {
    const auto& dims = variables[variable].dimensions;
    return shares.start && !dims.empty() && dims.front() == shares.dimension;
}

Slab ArraySchema::whole(std::size_t variable) const {
    auto extents = shape(variable);
    return {std::vector<std::int64_t>(extents.size(), 0), std::move(extents)};
}

Slab ArraySchema::rows(std::size_t variable, std::int64_t begin, std::int64_t count) const {
    Slab slab = whole(variable);
    slab.start.front() = begin;
    slab.count.front() = count;
    return slab;
}

Slab ArraySchema::share(std::size_t variable, int rank) const {
    if (shared_out(variable)) return rows(variable, shares.start(rank), shares.count(rank));
    Slab slab = whole(variable);
    if (rank != 0) slab.count.assign(slab.count.size(), 0);
    return slab;
}

std::int64_t ArraySchema::bytes(std::size_t variable, const Slab& slab) const {
    std::int64_t bytes = variables[variable].element_bytes();
    for (const auto n : slab.count) bytes *= n;
    return bytes;
}

std::optional<Slab> ArraySchema::run(std::size_t variable, std::int64_t first,
                                     std::int64_t count) const {
    const auto extents = shape(variable);
    Slab slab{std::vector<std::int64_t>(extents.size(), 0),
              std::vector<std::int64_t>(extents.size(), 0)};
    if (count == 0) return slab;
    // From the last dimension on: the run is whole rows of it, and leaves no row of the one before.
    std::int64_t row = 1;
    for (std::size_t d = extents.size(); d-- > 0; row *= extents[d]) {
        if (first % row != 0 || count % row != 0) return {};
        if (first / row % extents[d] + count / row > extents[d]) continue;
        std::int64_t index = first / row;
        for (std::size_t outer = d + 1; outer-- > 0;) {
            slab.start[outer] = index % extents[outer];
            slab.count[outer] = outer == d ? count / row : 1;
            index /= extents[outer];
        }
        for (std::size_t inner = d + 1; inner < extents.size(); ++inner) {
            slab.count[inner] = extents[inner];
        }
        if (index > 0) return {};
        return slab;
    }
    return {};
}

std::int64_t ArraySchema::end_of(std::size_t variable, const Slab& slab) const {
    if (bytes(variable, slab) == 0) return 0;
    const auto extents = shape(variable);
    std::int64_t last = 0;
    for (std::size_t d = 0; d < extents.size(); ++d) {
        last = last * extents[d] + slab.start[d] + slab.count[d] - 1;
    }
    return (last + 1) * variables[variable].element_bytes();
}

Box ArraySchema::box(std::size_t variable, const Slab& slab) const {
    return {shape(variable), slab.start, slab.count, variables[variable].element_bytes()};
}

Status ArraySchema::check(std::size_t variable, const Slab& slab) const {
    const auto extents = shape(variable);
    bool fits = slab.start.size() == extents.size() && slab.count.size() == extents.size();
    for (std::size_t d = 0; fits && d < extents.size(); ++d) {
        // Written so that no sum can overflow.
        fits = slab.start[d] >= 0 && slab.count[d] >= 0 && slab.start[d] <= extents[d] &&
               slab.count[d] <= extents[d] - slab.start[d];
    }
    if (fits) return {};
    return usage_error(fmt::format("variable {}: start ({}), count ({}) is not within extents ({})",
                                   variables[variable].name, fmt::join(slab.start, ","),
                                   fmt::join(slab.count, ","), fmt::join(extents, ",")));
}

std::int64_t ArraySchema::share_bytes(int rank) const {
    std::int64_t sum = 0;
    for (std::size_t v = 0; v < variables.size(); ++v) sum += bytes(v, share(v, rank));
    return sum;
}

}  // namespace effio
