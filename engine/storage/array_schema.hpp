// SPDX-License-Identifier: BSD-3-Clause
// What a file of arrays holds: dimensions, variables and attributes, and how the ranks that write
// it share it out. Pure data; the same definition serves every array backend.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "core/error.hpp"
#include "core/layout.hpp"

namespace effio {

enum class ArrayType : char { text, byte, int32, int64, real32, real64 };
std::string_view name(ArrayType type);
constexpr std::int64_t bytes_of(ArrayType type) {
    switch (type) {
        case ArrayType::text:
        case ArrayType::byte:
            return 1;
        case ArrayType::int32:
        case ArrayType::real32:
            return 4;
        case ArrayType::int64:
        case ArrayType::real64:
            break;
    }
    return 8;
}

struct ArrayDimension {
    std::string name;
    std::int64_t length = 0;
};

/// A member of a record.
struct ArrayField {
    std::string name;
    ArrayType type = ArrayType::int32;
};

struct ArrayVariable {
    std::string name;
    ArrayType type = ArrayType::real64;
    std::vector<std::size_t> dimensions;  ///< of the schema, slowest first
    /// Type text: the characters of one element, a string of fixed length.
    std::int64_t text_length = 1;
    /// Not empty: an element is a record of these, packed in this order, and `type` says nothing.
    std::vector<ArrayField> record = {};

    std::int64_t element_bytes() const;
};

struct ArrayAttribute {
    std::string name;
    std::variant<std::string, std::int32_t, double> value;
    std::string value_text() const;
};

/// How writers share the elements of one dimension: rank r has [start(r), start(r+1)). Computed, so
/// that a rank keeps nothing per rank.
struct ArrayShares {
    std::size_t dimension = 0;  ///< of the schema; first in every variable that it shares out
    int writers = 1;
    std::function<std::int64_t(int)>
        start;  ///< 0 for rank 0, not falling, the length for `writers`

    std::int64_t count(int rank) const { return start(rank + 1) - start(rank); }
    /// The rank that writes the element `index`.
    int writer_of(std::int64_t index) const;
};

/// A part of a variable, one pair for each of its dimensions; an empty part has a count of 0.
struct Slab {
    std::vector<std::int64_t> start;
    std::vector<std::int64_t> count;
    friend bool operator==(const Slab&, const Slab&) = default;
};

struct ArraySchema {
    std::vector<ArrayDimension> dimensions;
    std::vector<ArrayVariable> variables;
    std::vector<ArrayAttribute> attributes;  ///< of the file
    ArrayShares shares;

    std::optional<std::size_t> find(std::string_view variable) const;
    /// Extents, slowest first.
    std::vector<std::int64_t> shape(std::size_t variable) const;
    /// Bytes of a variable, and of all of them, without what a library adds.
    std::int64_t bytes(std::size_t variable) const;
    std::int64_t bytes() const;
    /// True where the variable's first dimension is the one that is shared out; all others are
    /// written by rank 0.
    bool shared_out(std::size_t variable) const;

    Slab whole(std::size_t variable) const;
    /// What `rank` of the writers writes.
    Slab share(std::size_t variable, int rank) const;
    /// [begin, begin+count) of the first dimension, all of the others.
    Slab rows(std::size_t variable, std::int64_t begin, std::int64_t count) const;
    std::int64_t bytes(std::size_t variable, const Slab& slab) const;
    /// The slab that is the elements [first, first + count) in the variable's order; nothing where
    /// no slab is. None of no elements is at the start.
    std::optional<Slab> run(std::size_t variable, std::int64_t first, std::int64_t count) const;
    /// Where the last byte of the slab ends, from the variable's begin; 0 for an empty slab.
    std::int64_t end_of(std::size_t variable, const Slab& slab) const;
    Box box(std::size_t variable, const Slab& slab) const;
    /// The slab is in the variable; else a usage error that names both.
    Status check(std::size_t variable, const Slab& slab) const;
    /// Bytes of all that `rank` of the writers writes.
    std::int64_t share_bytes(int rank) const;
};

}  // namespace effio
