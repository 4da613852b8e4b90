// SPDX-License-Identifier: BSD-3-Clause
#include "benchmarks/flash_io/mesh.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

namespace effio::flash_io {
namespace {

template <class T>
std::vector<std::byte> bytes_of_list(const std::vector<T>& values) {
    const auto bytes = std::as_bytes(std::span(values));
    return {bytes.begin(), bytes.end()};
}

}  // namespace

std::uint64_t Values::word(std::uint64_t key, std::int64_t block, std::int64_t element) const {
    const std::uint64_t of_variable = mix64(static_cast<std::uint64_t>(number_) * 64 + key);
    return mix64(of_variable + static_cast<std::uint64_t>(block) * 1'000'003 +
                 static_cast<std::uint64_t>(element));
}

std::int64_t Values::interior(std::int64_t cell) const {
    std::int64_t number = 0;
    std::int64_t plane = 1;
    for (int d = 0; d < 3; ++d) {
        const std::int64_t width = geometry_.extent_with_guards(d);
        const std::int64_t extent = geometry_.extent(d);
        const std::int64_t at = cell % width - geometry_.guards_along(d);
        number += plane * ((at % extent + extent) % extent);
        plane *= extent;
        cell /= width;
    }
    return number;
}

double Values::random(int variable, std::int64_t block, std::int64_t cell) const {
    constexpr auto words = static_cast<std::int64_t>(DataShape::words_per_sector);
    std::int64_t element = interior(cell);
    const std::int64_t inside = element % words;
    element += std::min(inside, static_cast<std::int64_t>(shape_.random_words())) - inside;
    const auto unique =
        static_cast<std::int64_t>(shape_.unique_copy(static_cast<std::uint64_t>(block)));
    constexpr double step = 1.0 / (std::int64_t{1} << 49);
    return 1 + step * static_cast<double>(
                          word(static_cast<std::uint64_t>(variable), unique, element) >> 15);
}

double Values::unknown(int variable, std::int64_t block, std::int64_t cell) const {
    if (fill_ == Fill::constant) return variable + 1;
    if (fill_ == Fill::random) return random(variable, block, cell);
    return 1 + static_cast<double>(word(static_cast<std::uint64_t>(variable), block, cell) >> 45);
}

double Values::corner(int variable, std::int64_t block, std::int64_t x, std::int64_t y,
                      std::int64_t z) const {
    const auto below = [&](int d) { return d < geometry_.dimensions ? 1 : 0; };
    const std::int64_t nx = geometry_.extent_with_guards(0);
    const std::int64_t ny = geometry_.extent_with_guards(1);
    double sum = 0;
    int cells = 0;
    for (std::int64_t k = z + geometry_.guards_along(2) - below(2);
         k <= z + geometry_.guards_along(2); ++k) {
        for (std::int64_t j = y + geometry_.guards_along(1) - below(1);
             j <= y + geometry_.guards_along(1); ++j) {
            for (std::int64_t i = x + geometry_.guards_along(0) - below(0);
                 i <= x + geometry_.guards_along(0); ++i) {
                sum += unknown(variable, block, (k * ny + j) * nx + i);
                ++cells;
            }
        }
    }
    return sum / cells;
}

std::int32_t Values::whole(Field field, std::int64_t block, std::int64_t element) const {
    if (fill_ == Fill::constant) return field == Field::global_ids ? -1 : 1;
    // Every other entry of the tree names a block: the one that it belongs to.
    if (field == Field::global_ids)
        return element % 2 == 0 ? static_cast<std::int32_t>(block + 1) : -1;
    return 1 + static_cast<std::int32_t>(
                   word(32 + static_cast<std::uint64_t>(field), block, element) >> 45);
}

double Values::real(Field field, std::int64_t block, std::int64_t element) const {
    if (fill_ != Fill::constant) {
        return 1 + static_cast<double>(
                       word(32 + static_cast<std::uint64_t>(field), block, element) >> 45);
    }
    return field == Field::coordinates ? 0.25 : field == Field::block_size ? 0.5 : 0;
}

Mesh::Mesh(const Geometry& geometry, std::int64_t first, std::int64_t count)
    : geometry_(geometry), first_(first), count_(count) {
    const auto size = [&](std::int64_t of_block) {
        return static_cast<std::size_t>(count * of_block);
    };
    unknowns_.resize(size(variable_count * geometry.cells_with_guards()));
    levels_.resize(size(1));
    types_.resize(size(1));
    local_ids_.resize(size(geometry.global_ids()));
    coordinates_.resize(size(geometry.dimensions));
    sizes_.resize(size(geometry.dimensions));
    bounds_.resize(size(std::int64_t{2} * geometry.dimensions));
}

void Mesh::fill(const Values& values, const std::function<void()>& beat) {
    const std::int64_t cells = geometry_.cells_with_guards();
    double* at = unknowns_.data();
    for (std::int64_t block = first_; block < first_ + count_; ++block) {
        for (std::int64_t cell = 0; cell < cells; ++cell) {
            for (int v = 0; v < variable_count; ++v) *at++ = values.unknown(v, block, cell);
        }
        beat();
    }
    const auto each = [&](auto& out, auto&& value) {
        const auto of_block = static_cast<std::int64_t>(out.size()) / count_;
        std::size_t i = 0;
        for (std::int64_t block = first_; block < first_ + count_; ++block) {
            for (std::int64_t e = 0; e < of_block; ++e) out[i++] = value(block, e);
        }
    };
    const auto whole = [&](Field f) {
        return [&values, f](std::int64_t b, std::int64_t e) { return values.whole(f, b, e); };
    };
    const auto real = [&](Field f) {
        return [&values, f](std::int64_t b, std::int64_t e) { return values.real(f, b, e); };
    };
    each(levels_, whole(Field::refine_level));
    each(types_, whole(Field::node_type));
    each(coordinates_, real(Field::coordinates));
    each(sizes_, real(Field::block_size));
    each(bounds_, real(Field::bounds));
    each(local_ids_, [&](std::int64_t b, std::int64_t e) {
        const std::int32_t id = values.whole(Field::global_ids, b, e);
        return id > 0 ? id - static_cast<std::int32_t>(first_) : id;
    });
}

std::int64_t Mesh::elements(File file) const {
    return count_ *
           (file == File::corner ? geometry_.corners_of_block() : geometry_.cells_of_block());
}

std::size_t Mesh::place(std::int64_t block, std::int64_t z, std::int64_t y, std::int64_t x) const {
    return static_cast<std::size_t>(
        (((block * geometry_.extent_with_guards(2) + z) * geometry_.extent_with_guards(1) + y) *
             geometry_.extent_with_guards(0) +
         x) *
        variable_count);
}

template <class Real>
void Mesh::pack_as(int variable, std::span<Real> out) const {
    const std::int64_t gx = geometry_.guards_along(0);
    const std::int64_t gy = geometry_.guards_along(1);
    const std::int64_t gz = geometry_.guards_along(2);
    Real* to = out.data();
    for (std::int64_t block = 0; block < count_; ++block) {
        for (std::int64_t z = 0; z < geometry_.extent(2); ++z) {
            for (std::int64_t y = 0; y < geometry_.extent(1); ++y) {
                const double* from = &unknowns_[place(block, z + gz, y + gy, gx) +
                                                static_cast<std::size_t>(variable)];
                for (std::int64_t x = 0; x < geometry_.extent(0); ++x) {
                    *to++ = static_cast<Real>(*from);
                    from += variable_count;
                }
            }
        }
    }
}

void Mesh::pack(int variable, std::span<double> out) const {
    pack_as(variable, out);
}

void Mesh::pack(int variable, std::span<float> out) const {
    pack_as(variable, out);
}

void Mesh::interpolate(int variable, std::span<float> out) const {
    // The cells that meet at a corner: itself and, along each dimension, the one below.
    std::vector<std::size_t> around{0};
    std::size_t stride = variable_count;
    for (int d = 0; d < geometry_.dimensions; ++d) {
        const std::size_t known = around.size();
        for (std::size_t i = 0; i < known; ++i) around.push_back(around[i] + stride);
        stride *= static_cast<std::size_t>(geometry_.extent_with_guards(d));
    }
    const double each = 1.0 / static_cast<double>(around.size());
    const auto begin = [&](int d) {
        return d < geometry_.dimensions ? geometry_.guards_along(d) - 1 : 0;
    };
    float* to = out.data();
    for (std::int64_t block = 0; block < count_; ++block) {
        for (std::int64_t z = 0; z < geometry_.corners(2); ++z) {
            for (std::int64_t y = 0; y < geometry_.corners(1); ++y) {
                const double* from = &unknowns_[place(block, z + begin(2), y + begin(1), begin(0)) +
                                                static_cast<std::size_t>(variable)];
                for (std::int64_t x = 0; x < geometry_.corners(0); ++x) {
                    double sum = 0;
                    for (const std::size_t cell : around) sum += from[cell];
                    *to++ = static_cast<float>(sum * each);
                    from += variable_count;
                }
            }
        }
    }
}

Box Mesh::interior(int variable) const {
    Box box{{count_}, {0}, {count_}, 8};
    for (const int d : {2, 1, 0}) {
        box.sizes.push_back(geometry_.extent_with_guards(d));
        box.start.push_back(geometry_.guards_along(d));
        box.count.push_back(geometry_.extent(d));
    }
    box.sizes.push_back(variable_count);
    box.start.push_back(variable);
    box.count.push_back(1);
    return box;
}

std::vector<std::int32_t> Mesh::global_ids() const {
    std::vector<std::int32_t> ids = local_ids_;
    for (auto& id : ids) {
        if (id > 0) id += static_cast<std::int32_t>(first_);
    }
    return ids;
}

const std::vector<std::int32_t>& Mesh::whole(Field field) const {
    return field == Field::refine_level ? levels_ : types_;
}

const std::vector<double>& Mesh::real(Field field) const {
    return field == Field::coordinates  ? coordinates_
           : field == Field::block_size ? sizes_
                                        : bounds_;
}

namespace {

/// Compares elements of one type; `expected(block, element)`.
template <class T, class Expected>
WrongData compare(std::span<const std::byte> found, std::int64_t first, std::int64_t of_block,
                  const std::string& variable, Expected&& expected) {
    WrongData wrong;
    const auto count = static_cast<std::int64_t>(found.size() / sizeof(T)) / of_block;
    std::size_t at = 0;
    for (std::int64_t block = first; block < first + count; ++block) {
        for (std::int64_t e = 0; e < of_block; ++e, at += sizeof(T)) {
            T value{};
            std::memcpy(&value, &found[at], sizeof(T));
            const auto right = static_cast<T>(expected(block, e));
            if (value == right) continue;
            if (wrong.elements++ == 0) {
                wrong.first =
                    fmt::format("variable {}, block {}, element {}: expected {}, found {}",
                                variable, block, e, right, value);
            }
        }
    }
    return wrong;
}

template <class T>
void append(std::vector<std::byte>& out, T value) {
    const auto bytes = std::as_bytes(std::span(&value, 1));
    out.insert(out.end(), bytes.begin(), bytes.end());
}

void append(std::vector<std::byte>& out, std::string_view text, std::size_t length) {
    for (std::size_t i = 0; i < length; ++i) {
        out.push_back(static_cast<std::byte>(i < text.size() ? text[i] : '\0'));
    }
}

void append_real(std::vector<std::byte>& out, ArrayType type, double value) {
    if (type == ArrayType::real64) {
        append(out, value);
    } else {
        append(out, static_cast<float>(value));
    }
}

}  // namespace

std::vector<std::byte> Mesh::tree_bytes(Field field, ArrayType type) const {
    if (field == Field::global_ids) return bytes_of_list(global_ids());
    if (type == ArrayType::int32) return bytes_of_list(whole(field));
    const std::vector<double>& values = real(field);
    if (type == ArrayType::real64) return bytes_of_list(values);
    return bytes_of_list(std::vector<float>(values.begin(), values.end()));
}

std::optional<WrongData> check(const FileDefinition& definition, std::size_t variable,
                               const Geometry& geometry, const Values& values, std::int64_t first,
                               std::span<const std::byte> found) {
    const auto [field, unknown] = definition.contents[variable];
    const std::string& name = definition.schema.variables[variable].name;
    WrongData wrong;
    if (is_header(field)) {
        const auto right = header_bytes(definition, variable, geometry);
        if (!std::equal(right.begin(), right.end(), found.begin(), found.end())) {
            wrong = {1, fmt::format("variable {}: not what was written", name)};
        }
    } else if (field == Field::unknown) {
        const std::int64_t nx = geometry.extent(0);
        const std::int64_t ny = geometry.extent(1);
        const auto cell = [&](std::int64_t e) {
            const std::int64_t z = e / (nx * ny) + geometry.guards_along(2);
            const std::int64_t y = e / nx % ny + geometry.guards_along(1);
            return (z * geometry.extent_with_guards(1) + y) * geometry.extent_with_guards(0) +
                   e % nx + geometry.guards_along(0);
        };
        const auto centred = [&](std::int64_t b, std::int64_t e) {
            return values.unknown(unknown, b, cell(e));
        };
        const auto corner = [&](std::int64_t b, std::int64_t e) {
            const std::int64_t cx = geometry.corners(0);
            const std::int64_t cy = geometry.corners(1);
            return values.corner(unknown, b, e % cx, e / cx % cy, e / (cx * cy));
        };
        switch (definition.file) {
            case File::checkpoint:
                wrong = compare<double>(found, first, geometry.cells_of_block(), name, centred);
                break;
            case File::centred:
                wrong = compare<float>(found, first, geometry.cells_of_block(), name, centred);
                break;
            case File::corner:
                wrong = compare<float>(found, first, geometry.corners_of_block(), name, corner);
                break;
        }
    } else {
        const Field f = field;
        const auto shape = definition.schema.shape(variable);
        std::int64_t of_block = 1;
        for (std::size_t d = 1; d < shape.size(); ++d) of_block *= shape[d];
        const auto whole = [&](std::int64_t b, std::int64_t e) { return values.whole(f, b, e); };
        const auto real = [&](std::int64_t b, std::int64_t e) { return values.real(f, b, e); };
        switch (definition.schema.variables[variable].type) {
            case ArrayType::int32:
                wrong = compare<std::int32_t>(found, first, of_block, name, whole);
                break;
            case ArrayType::real32:
                wrong = compare<float>(found, first, of_block, name, real);
                break;
            default:
                wrong = compare<double>(found, first, of_block, name, real);
        }
    }
    if (wrong.elements == 0) return {};
    return wrong;
}

std::vector<std::byte> header_bytes(const FileDefinition& definition, std::size_t variable,
                                    const Geometry& geometry) {
    const auto& v = definition.schema.variables[variable];
    const auto length = static_cast<std::size_t>(v.text_length);
    std::vector<std::byte> out;
    switch (definition.contents[variable].field) {
        case Field::creation_time:
            append(out, creation_time, length);
            break;
        case Field::version:
            append(out, version_text, length);
            break;
        case Field::unknown_names:
            for (const int unknown : variables_of(definition.file)) {
                append(out, variable_name(unknown), length);
            }
            break;
        default: {
            const ArrayType real = real_of(definition.file);
            append(out, static_cast<std::int32_t>(definition.schema.dimensions.front().length));
            append_real(out, real, 0);
            append_real(out, real, 0);
            append(out, std::int32_t{0});
            for (const int d : {0, 1, 2})
                append(out, static_cast<std::int32_t>(geometry.points(definition.file, d)));
        }
    }
    return out;
}

}  // namespace effio::flash_io
