// SPDX-License-Identifier: BSD-3-Clause
#include "storage/file_set.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <string_view>
#include <system_error>
#include <utility>

namespace effio {

std::string joined(const std::string& directory, const std::string& name) {
    std::string path;
    path.reserve(directory.size() + 1 + name.size());
    path = directory;
    if (!directory.ends_with('/')) path += '/';
    return path += name;
}

std::string absolute(const std::string& directory) {
    std::error_code failed;
    const auto path = std::filesystem::absolute(directory, failed);
    return failed ? directory : path.lexically_normal().string();
}

std::int64_t TreeSet::count() const {
    std::int64_t product = 1;
    for (const auto n : counts) product *= n;
    return product;
}

std::string TreeSet::path(std::int64_t number) const {
    std::string indexes;
    for (std::size_t i = counts.size(); i-- > 0;) {
        indexes = fmt::format("{}{}{}", i > 0 ? "-" : "", number % counts[i], indexes);
        number /= counts[i];
    }
    return joined(directory, stem + indexes);
}

Json TreeSet::to_json() const {
    std::string name = stem;
    for (std::size_t i = 0; i < counts.size(); ++i) name += i > 0 ? "-%d" : "%d";
    Json inside = Json::array();
    for (const auto& set : names) inside.push_back(set.to_json());
    return Json{{"directory", absolute(directory)},
                {"name", name},
                {"counts", counts},
                {"names", std::move(inside)}};
}

std::string FileSet::name(int i) const {
    if (!indexed) return stem;
    // Without a format string: a pass over small files builds a name for each of them.
    const fmt::format_int text(first + i * step);
    const std::string_view index(text.data(), text.size());
    const auto width = static_cast<std::size_t>(digits);
    std::string name;
    name.reserve(index.size() + 1 + stem.size() + std::max(width, index.size()) + suffix.size());
    if (own_directory) (name += index) += '/';
    name += stem;
    if (index.size() < width) name.append(width - index.size(), '0');
    return (name += index) += suffix;
}

std::string FileSet::pattern() const {
    const auto literal = [](std::string text) {
        for (std::size_t at = 0; (at = text.find('%', at)) != std::string::npos; at += 2) {
            text.insert(at, 1, '%');
        }
        return text;
    };
    if (!indexed) return literal(stem);
    return fmt::format("{}{}%0{}d{}", own_directory ? "%d/" : "", literal(stem), digits,
                       literal(suffix));
}

}  // namespace effio
