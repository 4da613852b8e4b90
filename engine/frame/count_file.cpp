// SPDX-License-Identifier: BSD-3-Clause
#include "frame/count_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <cerrno>

#include "core/units.hpp"
#include "parallel/text_file.hpp"

namespace effio {

Result<std::int64_t> read_count(const std::string& path, const char* what) {
    const auto file = Descriptor::open(path, O_RDONLY | O_CLOEXEC);
    if (!file) return system_error("cannot read the count", path, errno);
    // A number and some white space: a longer file holds something else.
    std::array<char, 256> bytes{};
    std::size_t size = 0;
    while (size < bytes.size()) {
        const ssize_t n = ::read(file.get(), bytes.data() + size, bytes.size() - size);
        if (n < 0 && errno == EINTR) continue;
        if (n < 0) return system_error("cannot read the count", path, errno);
        if (n == 0) break;
        size += static_cast<std::size_t>(n);
    }
    constexpr std::string_view blanks = " \t\r\n";
    std::string_view text(bytes.data(), size);
    text.remove_prefix(std::min(text.find_first_not_of(blanks), size));
    const std::string_view word = text.substr(0, text.find_first_of(blanks));
    const bool more = text.find_first_not_of(blanks, word.size()) != std::string_view::npos;
    const auto number = parse_integer(word);
    if (!number || *number < 1 || more || size == bytes.size()) {
        return usage_error(fmt::format("{}: holds no number of {}", path, what));
    }
    return *number;
}

Status write_count(const std::string& path, std::int64_t count) {
    return write_text("write the count", path, fmt::format("{}\n", count));
}

}  // namespace effio
