// SPDX-License-Identifier: BSD-3-Clause
// What an option table says of itself: to people as help, to programs as JSON.
#include <fmt/format.h>

#include <cmath>

#include "core/options.hpp"
#include "core/table.hpp"

namespace effio {

std::string OptionTable::needs_value(const Option& option) {
    return fmt::format(" needs a value ({})", option.metavar_);
}

std::string OptionTable::range_text(const Option& option) {
    constexpr double most_exact = 1e15;  // whole numbers below have all their digits
    constexpr double any_size = 8e18;    // such a limit need not be shown
    const bool is_size = option.type_ == "size";
    const bool low = std::isfinite(option.low_);
    const bool high = std::isfinite(option.high_) && !(is_size && option.high_ >= any_size);
    const auto bound = [&](double value) {
        if (is_size) return format_exact(Bytes{static_cast<std::int64_t>(value)});
        const bool whole = std::floor(value) == value && std::abs(value) < most_exact;
        return whole ? fmt::format("{:.0f}{}", value, option.unit_)
                     : fmt::format("{:g}{}", value, option.unit_);
    };
    if (low && high) return fmt::format("{} to {}", bound(option.low_), bound(option.high_));
    if (low) return fmt::format("at least {}", bound(option.low_));
    if (high) return fmt::format("at most {}", bound(option.high_));
    return {};
}

std::string OptionTable::help(bool with_expert) const {
    constexpr std::size_t column = 28;
    constexpr std::size_t width = 70;
    std::string out =
        fmt::format("Usage: {} [options]\n\n{}\n", command_, wrapped(purpose_, 98, 0));
    std::string title;
    bool hidden = false;
    for (const auto& option : options_) {
        if (option.expert_ && !with_expert) {
            hidden = true;
            continue;
        }
        if (option.group_ != title) {
            title = option.group_;
            out += fmt::format("\n{}:\n", title);
        }
        std::string left = option.letter_ != 0 ? fmt::format("  -{}, ", option.letter_) : "      ";
        left += "--" + option.name_;
        if (!option.flag_) {
            const char* more = option.whole_ ? " …" : "[,…]";
            left += fmt::format(" {}{}", option.metavar_, option.list_ ? more : "");
        }
        std::string right = option.help_;
        const std::string range = range_text(option);
        if (!range.empty()) right += fmt::format(" ({})", range);
        if (!option.automatic_.empty()) {
            right += fmt::format(" [default: {}]", option.automatic_);
        } else if (!option.flag_ && !option.default_text_.empty()) {
            right += fmt::format(" [default: {}]", option.default_text_);
        }
        const std::size_t used = display_width(left);
        left += used < column ? std::string(column - used, ' ') : "\n" + std::string(column, ' ');
        out += left + wrapped(right, width, column) + "\n";
    }
    if (hidden) out += "\nMore options, for special cases: --help-all\n";
    if (!closing_.empty()) out += "\n" + closing_ + "\n";
    return out;
}

Json OptionTable::describe() const {
    Json list = Json::array();
    for (const auto& option : options_) {
        Json row;
        row["name"] = option.name_;
        if (option.letter_ != 0) row["letter"] = std::string(1, option.letter_);
        row["type"] = option.type_;
        row["list"] = option.list_;
        row["unit"] = option.unit_.empty() ? Json(nullptr) : Json(option.unit_);
        row["default"] =
            option.automatic_.empty() ? Json(option.default_text_) : Json(option.automatic_);
        row["automatic"] = !option.automatic_.empty();
        if (std::isfinite(option.low_)) row["min"] = option.low_;
        if (std::isfinite(option.high_)) row["max"] = option.high_;
        if (!option.choices_.empty()) row["choices"] = option.choices_;
        row["metavar"] = option.metavar_;
        row["group"] = option.group_;
        row["expert"] = option.expert_;
        row["help"] = option.help_;
        list.push_back(std::move(row));
    }
    return Json{{"command", command_}, {"purpose", purpose_}, {"options", std::move(list)}};
}

}  // namespace effio
