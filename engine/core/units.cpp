// SPDX-License-Identifier: BSD-3-Clause
#include "core/units.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <limits>

namespace effio {
namespace {

struct Prefix {
    std::string_view suffix;
    double factor;
};

constexpr std::array<Prefix, 11> size_units{{
    {"B", 1.0},
    {"KiB", 1024.0},
    {"MiB", 1048576.0},
    {"GiB", 1073741824.0},
    {"TiB", 1099511627776.0},
    {"PiB", 1125899906842624.0},
    {"kB", 1e3},
    {"MB", 1e6},
    {"GB", 1e9},
    {"TB", 1e12},
    {"PB", 1e15},
}};

constexpr std::array<Prefix, 6> time_units{{
    {"s", 1.0},
    {"ms", 1e-3},
    {"us", 1e-6},
    {"ns", 1e-9},
    {"min", 60.0},
    {"h", 3600.0},
}};

constexpr std::array<Prefix, 1> share_units{{{"%", 1.0}}};

std::string_view trimmed(std::string_view text) {
    const auto first = text.find_first_not_of(" \t");
    if (first == std::string_view::npos) return {};
    return text.substr(first, text.find_last_not_of(" \t") - first + 1);
}

/// Whether a unit begins with `text`, whatever the case: "G" may be GiB or GB.
bool begins_alike(std::string_view unit, std::string_view text) {
    constexpr auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? char(c - 'A' + 'a') : c; };
    return std::ranges::equal(unit.substr(0, text.size()), text,
                              [&](char a, char b) { return lower(a) == lower(b); });
}

/// A non-negative number and a unit from `units`; a missing unit is factor 1.
template <std::size_t N>
Result<double> number_with_unit(std::string_view text, const std::array<Prefix, N>& units,
                                std::string_view examples) {
    const auto complain = [&](std::string_view why) {
        return usage_error(fmt::format("'{}' {}; write for example {}", text, why, examples));
    };
    const std::string_view body = trimmed(text);
    double number = 0;
    const auto [end, failure] =
        std::from_chars(body.data(), body.data() + body.size(), number, std::chars_format::fixed);
    if (failure != std::errc{} || !std::isfinite(number)) return complain("is not a number");
    if (number < 0) return complain("is negative");
    const std::string_view suffix =
        trimmed(body.substr(static_cast<std::size_t>(end - body.data())));
    if (suffix.empty()) return number;
    for (const auto& unit : units) {
        if (unit.suffix == suffix) return number * unit.factor;
    }
    std::string meant;
    std::string known;
    for (const auto& unit : units) {
        known += fmt::format(" {}", unit.suffix);
        if (!begins_alike(unit.suffix, suffix)) continue;
        meant += fmt::format("{}{:g}{}", meant.empty() ? "" : " or ", number, unit.suffix);
    }
    if (!meant.empty()) {
        return usage_error(
            fmt::format("'{}' has the unknown unit '{}'; did you mean {}?", text, suffix, meant));
    }
    return complain(fmt::format("has the unknown unit '{}' (known:{})", suffix, known));
}

Result<double> size_term(std::string_view text) {
    return number_with_unit(text, size_units, "1048576, 1MiB, 1.5GiB, 16MB or 1MiB+8B");
}

}  // namespace

Result<std::int64_t> parse_integer(std::string_view text) {
    std::int64_t value = 0;
    const std::string_view body = trimmed(text);
    const auto [end, failure] = std::from_chars(body.data(), body.data() + body.size(), value);
    if (failure == std::errc::result_out_of_range) {
        return usage_error(fmt::format("'{}' is too large for a 64-bit integer", text));
    }
    if (failure != std::errc{} || end != body.data() + body.size()) {
        return usage_error(fmt::format("'{}' is not a whole number", text));
    }
    return value;
}

Result<double> parse_real(std::string_view text) {
    double value = 0;
    const std::string_view body = trimmed(text);
    const auto [end, failure] = std::from_chars(body.data(), body.data() + body.size(), value);
    if (failure != std::errc{} || end != body.data() + body.size() || !std::isfinite(value)) {
        return usage_error(fmt::format("'{}' is not a finite number", text));
    }
    return value;
}

Result<Bytes> parse_size(std::string_view text) {
    double total = 0;
    std::string_view rest = text;
    while (true) {
        const auto plus = rest.find('+');
        const auto term = size_term(rest.substr(0, plus));
        if (!term) return term.error();
        total += *term;
        if (plus == std::string_view::npos) break;
        rest.remove_prefix(plus + 1);
    }
    // 2^63 is exactly representable; every double below it fits.
    if (total >= 9223372036854775808.0) {
        return usage_error(fmt::format("'{}' is too large (the limit is 8 EiB)", text));
    }
    if (total != std::floor(total)) {
        return usage_error(fmt::format("'{}' is not a whole number of bytes", text));
    }
    return Bytes{static_cast<std::int64_t>(total)};
}

Result<Seconds> parse_duration(std::string_view text) {
    const auto seconds = number_with_unit(text, time_units, "30s, 250ms, 1.5min or 2h");
    if (!seconds) return seconds.error();
    return Seconds{*seconds};
}

Result<BytesPerSecond> parse_rate(std::string_view text) {
    std::string_view body = trimmed(text);
    if (body.ends_with("/s")) body.remove_suffix(2);
    const auto rate = number_with_unit(body, size_units, "1GB/s or 100MiB/s");
    if (!rate) return rate.error();
    return BytesPerSecond{*rate};
}

Result<Share> parse_share(std::string_view text) {
    const auto number = number_with_unit(text, share_units, "5% or 0.05");
    if (!number) return number.error();
    const bool in_per_cent = trimmed(text).ends_with('%');
    const double share = in_per_cent ? *number / 100 : *number;
    if (share > 0 && share < 1) return Share{share};
    if (!in_per_cent && share >= 1 && share < 100) {
        return usage_error(
            fmt::format("'{}' is {:g} %; did you mean {:g}%?", text, 100 * share, share));
    }
    return usage_error(
        fmt::format("'{}' is not above 0 and below 100 %; write for example 5% or 0.05", text));
}

namespace {

struct SizeUnit {
    std::string_view suffix;
    std::int64_t bytes;
};

/// A size that is not a whole number of `unit`. A few smaller units are added ("1MiB+8B"); many are
/// written alone ("1500KiB"), unless they have too many digits.
std::string in_parts(std::int64_t size, const SizeUnit& unit, const SizeUnit& smaller,
                     std::string_view space) {
    constexpr std::int64_t few = 64;
    constexpr std::int64_t many = 10'000;
    const std::int64_t parts = size % unit.bytes / smaller.bytes;
    const std::int64_t whole = size / smaller.bytes;
    if (parts >= few && (whole < many || smaller.bytes == 1)) {
        return fmt::format("{}{}{}", whole, space, smaller.suffix);
    }
    return fmt::format("{}{}{}+{}{}{}", size / unit.bytes, space, unit.suffix, parts, space,
                       smaller.suffix);
}

/// `space` is between number and unit.
std::string exact(std::int64_t size, std::string_view space) {
    if (size < 0) return "-" + exact(-size, space);
    if (size % KiB != 0 && size % 1000 == 0) {
        constexpr std::array<SizeUnit, 3> decimals{
            {{"GB", 1'000'000'000}, {"MB", 1'000'000}, {"kB", 1000}}};
        for (const SizeUnit& unit : decimals) {
            if (size % unit.bytes == 0) {
                return fmt::format("{}{}{}", size / unit.bytes, space, unit.suffix);
            }
        }
    }
    constexpr std::array<SizeUnit, 4> units{{{"GiB", GiB}, {"MiB", MiB}, {"KiB", KiB}, {"B", 1}}};
    const auto* const unit =
        std::ranges::find_if(units, [&](const SizeUnit& u) { return size >= u.bytes; });
    if (unit == units.end()) return fmt::format("0{}B", space);
    const std::int64_t rest = size % unit->bytes;
    if (rest == 0) return fmt::format("{}{}{}", size / unit->bytes, space, unit->suffix);
    // Halves and quarters: "1.5MiB".
    if (unit->bytes > KiB && rest * 4 % unit->bytes == 0 && size / unit->bytes < 1000) {
        return fmt::format("{:g}{}{}", static_cast<double>(size) / static_cast<double>(unit->bytes),
                           space, unit->suffix);
    }
    const auto* const smaller = std::ranges::find_if(
        unit, units.end(), [&](const SizeUnit& u) { return rest % u.bytes == 0; });
    return in_parts(size, *unit, *smaller, space);
}

}  // namespace

std::string format_exact(Bytes size) {
    return exact(size.count, "");
}

std::string shown_size(Bytes size) {
    return exact(size.count, " ");
}

std::string shown_sizes(Bytes least, Bytes most) {
    if (least.count == most.count) return shown_size(most);
    return fmt::format("{} to {}", shown_size(least), shown_size(most));
}

std::string format_size(double bytes) {
    constexpr std::array<std::string_view, 6> names{"B", "KiB", "MiB", "GiB", "TiB", "PiB"};
    std::size_t step = 0;
    while (std::abs(bytes) >= 1024.0 && step + 1 < names.size()) {
        bytes /= 1024.0;
        ++step;
    }
    if (step == 0) return fmt::format("{:.0f} B", bytes);
    return fmt::format("{:.4g} {}", bytes, names[step]);
}

std::string exact_size(std::int64_t bytes) {
    const std::string rounded = format_size(static_cast<double>(bytes));
    const auto parsed = parse_size(rounded);
    const bool exact = (bytes < KiB && bytes > -KiB) || (parsed && parsed->count == bytes);
    return exact ? rounded : fmt::format("{} ({} B)", rounded, bytes);
}

std::string format_duration(double seconds) {
    if (seconds < 0) return "-" + format_duration(-seconds);
    if (seconds == 0) return "0 s";
    // From 999.5 on three digits are 1000, which they print as 1e+03.
    if (seconds < 999.5e-9) return fmt::format("{:.3g} ns", seconds * 1e9);
    if (seconds < 999.5e-6) return fmt::format("{:.3g} us", seconds * 1e6);
    if (seconds < 999.5e-3) return fmt::format("{:.3g} ms", seconds * 1e3);
    if (seconds < 120.0) return fmt::format("{:.3g} s", seconds);
    constexpr double longest = 3600e9;  // beyond it minutes do not matter, and integers overflow
    if (!(seconds < longest)) return fmt::format("{:.3g} h", seconds / 3600);
    const auto whole = std::llround(seconds);
    if (whole < 7200) return fmt::format("{} min {:02} s", whole / 60, whole % 60);
    return fmt::format("{} h {:02} min", whole / 3600, whole % 3600 / 60);
}

std::string format_rate(double bytes_per_second) {
    constexpr std::array<std::string_view, 6> names{"B/s", "kB/s", "MB/s", "GB/s", "TB/s", "PB/s"};
    std::size_t step = 0;
    while (std::abs(bytes_per_second) >= 1000.0 && step + 1 < names.size()) {
        bytes_per_second /= 1000.0;
        ++step;
    }
    return fmt::format("{:.4g} {}", bytes_per_second, names[step]);
}

std::string format_share(double share) {
    constexpr double rounding = 1e-9;  // what arithmetic leaves of equal values is nothing
    const double per_cent = std::abs(share) < rounding ? 0.0 : 100 * share;
    constexpr double whole = 999.5;  // three digits would print it as 1e+03
    constexpr double longest = 1e9;
    const bool large = std::abs(per_cent) >= whole && std::abs(per_cent) < longest;
    return large ? fmt::format("{:.0f} %", per_cent) : fmt::format("{:.3g} %", per_cent);
}

std::string_view text_of(Unit unit) {
    switch (unit) {
        case Unit::word:
        case Unit::flag:
        case Unit::object:
            break;
        case Unit::count:
        case Unit::number:
            return "1";
        case Unit::per_cent:
            return "%";
        case Unit::bytes:
            return "B";
        case Unit::seconds:
            return "s";
        case Unit::seconds_squared:
            return "s2";
        case Unit::bytes_per_second:
            return "B/s";
        case Unit::operations_per_second:
            return "op/s";
        case Unit::images_per_second:
            return "images/s";
        case Unit::sequences_per_second:
            return "sequences/s";
        case Unit::bytes_per_operation:
            return "B/FLOP";
    }
    return "";
}

std::string count_of(std::int64_t number, std::string_view noun) {
    if (number == 1) return fmt::format("1 {}", noun);
    const auto ends = [noun](std::string_view end) { return noun.ends_with(end); };
    const bool vowel = ends("ay") || ends("ey") || ends("oy") || ends("uy");
    if (ends("y") && !vowel) {
        return fmt::format("{} {}ies", number, noun.substr(0, noun.size() - 1));
    }
    const bool hisses = ends("s") || ends("x") || ends("ch") || ends("sh");
    return fmt::format("{} {}{}", number, noun, hisses ? "es" : "s");
}

}  // namespace effio
