// SPDX-License-Identifier: BSD-3-Clause
#include "core/options.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <type_traits>

#include "core/nearest.hpp"

namespace effio {
namespace {

// How each type of value is read, checked against a range, echoed as JSON and shown as a default.
Result<std::int64_t> read_value(std::string_view text, std::int64_t) {
    return parse_integer(text);
}
Result<double> read_value(std::string_view text, double) {
    return parse_real(text);
}
Result<Bytes> read_value(std::string_view text, Bytes) {
    return parse_size(text);
}
Result<Seconds> read_value(std::string_view text, Seconds) {
    return parse_duration(text);
}
Result<BytesPerSecond> read_value(std::string_view text, BytesPerSecond) {
    return parse_rate(text);
}
Result<Share> read_value(std::string_view text, Share) {
    return parse_share(text);
}
Result<std::string> read_value(std::string_view text, const std::string&) {
    return std::string(text);
}

double magnitude(std::int64_t v) {
    return static_cast<double>(v);
}
double magnitude(double v) {
    return v;
}
double magnitude(Bytes v) {
    return static_cast<double>(v.count);
}
double magnitude(Seconds v) {
    return v.count;
}
double magnitude(BytesPerSecond v) {
    return v.count;
}
double magnitude(Share v) {
    return v.count;
}

Json to_json(std::int64_t v) {
    return v;
}
Json to_json(double v) {
    return v;
}
Json to_json(Bytes v) {
    return v.count;
}
Json to_json(Seconds v) {
    return v.count;
}
Json to_json(BytesPerSecond v) {
    return v.count;
}
Json to_json(Share v) {
    return v.count;
}
Json to_json(const std::string& v) {
    return v;
}

std::string show(std::int64_t v) {
    return std::to_string(v);
}
std::string show(double v) {
    return fmt::format("{:g}", v);
}
std::string show(Bytes v) {
    return format_exact(v);
}
std::string show(Seconds v) {
    return fmt::format("{:g}s", v.count);
}
std::string show(BytesPerSecond v) {
    // What is shown as a default can be typed: 100MB/s, not 1e+08B/s.
    std::string text = format_rate(v.count);
    std::erase(text, ' ');
    const auto parsed = parse_rate(text);
    return parsed && parsed->count == v.count ? text : fmt::format("{:.0f}B/s", v.count);
}
std::string show(const std::string& v) {
    return v;
}

template <class T>
struct IsOptional : std::false_type {};
template <class T>
struct IsOptional<std::optional<T>> : std::true_type {};
template <class T>
struct IsVector : std::false_type {};
template <class T>
struct IsVector<std::vector<T>> : std::true_type {};

/// The type of one value: T, or what the optional or vector holds.
template <class T, class = void>
struct Single {
    using type = T;
};
template <class T>
struct Single<T, std::void_t<typename T::value_type>> {
    using type =
        std::conditional_t<IsOptional<T>::value || IsVector<T>::value, typename T::value_type, T>;
};

std::string join(const std::vector<std::string>& parts, std::string_view separator) {
    return fmt::format("{}", fmt::join(parts, separator));
}

Error not_one_of(std::string_view text, const std::vector<std::string>& words) {
    return usage_error(fmt::format("'{}' is not one of {}", text, join(words, ", ")));
}

}  // namespace

Option& Option::letter(char c) {
    letter_ = c;
    return *this;
}

Option& Option::range(double low, double high) {
    low_ = low;
    high_ = high;
    return *this;
}

Option& Option::choices(std::vector<std::string> allowed) {
    choices_ = std::move(allowed);
    type_ = "choice";
    metavar_ = join(choices_, "|");
    return *this;
}

Option& Option::metavar(std::string_view name) {
    metavar_ = name;
    return *this;
}

Option& Option::automatic(std::string_view words) {
    automatic_ = words;
    return *this;
}

Option& Option::whole() {
    whole_ = true;
    return *this;
}

Option& Option::notes(bool& given) {
    noted_ = &given;
    return *this;
}

Option& Option::expert() {
    expert_ = true;
    return *this;
}

OptionTable::OptionTable(std::string command, std::string purpose, std::string closing)
    : command_(std::move(command)), purpose_(std::move(purpose)), closing_(std::move(closing)) {}

Option& OptionTable::insert(std::string_view name, std::string_view help) {
    Option& option = options_.emplace_back();
    option.name_ = name;
    option.help_ = help;
    option.group_ = group_;
    return option;
}

Option& OptionTable::flag(std::string_view name, bool& target, std::string_view help) {
    Option& option = insert(name, help);
    option.flag_ = true;
    option.type_ = "flag";
    option.default_text_ = "off";
    option.assign_ = [&target](const Option&, std::string_view) -> Status {
        target = true;
        return {};
    };
    option.value_ = [&target] { return Json(target); };
    return option;
}

template <class T>
OptionTable::Type OptionTable::type_of() {
    if constexpr (std::is_same_v<T, std::int64_t>) return {"integer", "", "N"};
    if constexpr (std::is_same_v<T, double>) return {"real", "", "X"};
    if constexpr (std::is_same_v<T, Bytes>) return {"size", "B", "SIZE"};
    if constexpr (std::is_same_v<T, Seconds>) return {"duration", "s", "TIME"};
    if constexpr (std::is_same_v<T, BytesPerSecond>) return {"rate", "B/s", "RATE"};
    if constexpr (std::is_same_v<T, Share>) return {"share", "", "SHARE"};
    return {"text", "", "TEXT"};
}

template <class T>
Option& OptionTable::bind(std::string_view name, T& target, std::string_view help) {
    using Value = typename Single<T>::type;
    Option& option = insert(name, help);
    const Type type = type_of<Value>();
    option.type_ = type.name;
    option.unit_ = type.unit;
    option.metavar_ = type.metavar;
    option.list_ = IsVector<T>::value;

    option.assign_ = [&target](const Option& self, std::string_view text) -> Status {
        auto value = read_value(text, Value{});
        if (!value) return value.error();
        if constexpr (!std::is_same_v<Value, std::string>) {
            const double size = magnitude(*value);
            if (size < self.low_ || size > self.high_) {
                return usage_error(fmt::format("{} is out of range ({})", text, range_text(self)));
            }
        } else if (!self.choices_.empty() && std::find(self.choices_.begin(), self.choices_.end(),
                                                       *value) == self.choices_.end()) {
            return not_one_of(text, self.choices_);
        }
        if constexpr (IsVector<T>::value) {
            target.push_back(*value);
        } else {
            target = *value;
        }
        return {};
    };
    option.value_ = [&target]() -> Json {
        if constexpr (IsVector<T>::value) {
            Json list = Json::array();
            for (const auto& value : target) list.push_back(to_json(value));
            return list;
        } else if constexpr (IsOptional<T>::value) {
            return target ? to_json(*target) : Json(nullptr);
        } else {
            return to_json(target);
        }
    };
    if constexpr (IsVector<T>::value) {
        option.reset_ = [&target] { target.clear(); };
        std::vector<std::string> parts;
        for (const auto& value : target) parts.push_back(show(value));
        option.default_text_ = join(parts, ",");
    } else if constexpr (!IsOptional<T>::value) {
        option.default_text_ = show(target);
    }
    return option;
}

Option& OptionTable::choose(std::string_view name, std::string_view help, Choice choice) {
    Option& option = insert(name, help);
    option.choices({choice.words.begin(), choice.words.end()});
    option.list_ = static_cast<bool>(choice.forget);
    option.reset_ = choice.forget;
    option.assign_ = [take = std::move(choice.take)](const Option& self,
                                                     std::string_view text) -> Status {
        const auto& words = self.choices_;
        const auto found = std::find(words.begin(), words.end(), text);
        if (found == words.end()) return not_one_of(text, words);
        take(static_cast<std::size_t>(found - words.begin()));
        return {};
    };
    const auto now = [words = option.choices_, places = std::move(choice.now)] {
        std::vector<std::string> all;
        for (const std::size_t i : places()) all.push_back(words.at(i));
        return all;
    };
    option.value_ = [now, list = option.list_]() -> Json {
        return list ? Json(now()) : Json(now().front());
    };
    option.default_text_ = join(now(), ",");
    return option;
}

Option& OptionTable::add(std::string_view n, std::int64_t& t, std::string_view h) {
    return bind(n, t, h);
}
Option& OptionTable::add(std::string_view n, double& t, std::string_view h) {
    return bind(n, t, h);
}
Option& OptionTable::add(std::string_view n, Bytes& t, std::string_view h) {
    return bind(n, t, h);
}
Option& OptionTable::add(std::string_view n, Seconds& t, std::string_view h) {
    return bind(n, t, h);
}
Option& OptionTable::add(std::string_view n, BytesPerSecond& t, std::string_view h) {
    return bind(n, t, h);
}
Option& OptionTable::add(std::string_view n, std::string& t, std::string_view h) {
    return bind(n, t, h);
}
Option& OptionTable::add(std::string_view n, std::optional<std::int64_t>& t, std::string_view h) {
    return bind(n, t, h);
}
Option& OptionTable::add(std::string_view n, std::optional<double>& t, std::string_view h) {
    return bind(n, t, h);
}
Option& OptionTable::add(std::string_view n, std::optional<Bytes>& t, std::string_view h) {
    return bind(n, t, h);
}
Option& OptionTable::add(std::string_view n, std::optional<Seconds>& t, std::string_view h) {
    return bind(n, t, h);
}
Option& OptionTable::add(std::string_view n, std::optional<BytesPerSecond>& t, std::string_view h) {
    return bind(n, t, h);
}
Option& OptionTable::add(std::string_view n, std::optional<Share>& t, std::string_view h) {
    return bind(n, t, h);
}
Option& OptionTable::add(std::string_view n, std::optional<std::string>& t, std::string_view h) {
    return bind(n, t, h);
}
Option& OptionTable::add(std::string_view n, std::vector<std::int64_t>& t, std::string_view h) {
    return bind(n, t, h);
}
Option& OptionTable::add(std::string_view n, std::vector<Bytes>& t, std::string_view h) {
    return bind(n, t, h);
}
Option& OptionTable::add(std::string_view n, std::vector<std::string>& t, std::string_view h) {
    return bind(n, t, h);
}

Option* OptionTable::find(std::string_view name) {
    const auto it = std::find_if(options_.begin(), options_.end(),
                                 [&](const Option& o) { return o.name_ == name; });
    return it == options_.end() ? nullptr : &*it;
}

Option* OptionTable::find(char letter) {
    const auto it = std::find_if(options_.begin(), options_.end(), [&](const Option& o) {
        return o.letter_ != 0 && o.letter_ == letter;
    });
    return it == options_.end() ? nullptr : &*it;
}

std::string OptionTable::unknown(std::string_view name) const {
    std::vector<std::string> known;
    for (const auto& option : options_) known.push_back(option.name_);
    std::string out = fmt::format("unknown option --{}", name);
    if (const auto meant = nearest(name, known); !meant.empty()) {
        out += fmt::format("; did you mean --{}?", meant);
    }
    return out;
}

Status OptionTable::set(std::string_view name, std::string_view text) {
    Option* option = find(name);
    if (option == nullptr) return usage_error(unknown(name));
    const auto assign = [&](std::string_view value) -> Status {
        if (auto done = option->assign_(*option, value); !done) {
            return usage_error(fmt::format("--{}: {}", option->name_, done.error().cause));
        }
        return {};
    };
    const auto fault = [&](std::string_view what) {
        return usage_error(fmt::format("--{}{}", option->name_, what));
    };
    if (option->flag_ && !text.empty()) return fault(" takes no value");
    if (option->list_ && text.empty()) return fault(needs_value(*option));
    if (!option->given_ && option->reset_) option->reset_();
    option->given_ = true;
    if (option->noted_ != nullptr) *option->noted_ = true;
    if (!option->list_ || option->whole_) return assign(text);
    // A trailing comma is harmless; an empty element in between is not.
    while (!text.empty()) {
        const auto comma = text.find(',');
        if (comma == 0) return fault(": an element of the list is empty");
        if (auto done = assign(text.substr(0, comma)); !done) return done;
        text = comma == std::string_view::npos ? std::string_view() : text.substr(comma + 1);
    }
    return {};
}

Status OptionTable::set_all(std::string_view pairs) {
    std::vector<std::string> faults;
    while (!pairs.empty()) {
        const auto comma = pairs.find(',');
        // Each pair is read as a separate line: the next one cannot be taken for its value.
        const std::string word = fmt::format("--{}", pairs.substr(0, comma));
        pairs = comma == std::string_view::npos ? std::string_view() : pairs.substr(comma + 1);
        if (auto done = parse(std::span(&word, 1)); !done) faults.push_back(done.error().cause);
    }
    if (faults.empty()) return {};
    return usage_error(join(faults, "\n"));
}

bool OptionTable::given(std::string_view name) const {
    return std::any_of(options_.begin(), options_.end(),
                       [&](const Option& o) { return o.name_ == name && o.given_; });
}

Status OptionTable::parse(std::span<const std::string> arguments) {
    std::vector<std::string> faults;
    for (std::size_t i = 0; i < arguments.size(); ++i) {
        const std::string& word = arguments[i];
        Option* option = nullptr;
        std::optional<std::string> value;
        if (word.starts_with("--") && word.size() > 2) {
            const auto equals = word.find('=');
            const std::string name =
                word.substr(2, equals == std::string::npos ? equals : equals - 2);
            if (equals != std::string::npos) value = word.substr(equals + 1);
            option = find(name);
            if (option == nullptr) {
                faults.push_back(unknown(name));
                // What follows an unknown option is probably its value.
                if (!value && i + 1 < arguments.size() && !arguments[i + 1].starts_with('-')) ++i;
                continue;
            }
        } else if (word.size() == 2 && word[0] == '-') {
            option = find(word[1]);
            if (option == nullptr) {
                faults.push_back(fmt::format("unknown option {}", word));
                continue;
            }
        } else {
            faults.push_back(fmt::format("unexpected argument '{}'", word));
            continue;
        }
        if (option->flag_) {
            if (auto done = set(option->name_, value.value_or("")); !done) {
                faults.push_back(done.error().cause);
            }
            continue;
        }
        if (!value && !option->alone_.empty()) {
            const auto& words = option->choices_;
            const bool follows =
                i + 1 < arguments.size() &&
                std::find(words.begin(), words.end(), arguments[i + 1]) != words.end();
            value = follows ? arguments[++i] : option->alone_;
        }
        if (!value) {
            if (i + 1 >= arguments.size()) {
                faults.push_back("--" + option->name_ + needs_value(*option));
                continue;
            }
            value = arguments[++i];
        }
        if (option->given_ && !option->list_) {
            faults.push_back(fmt::format("--{} is given twice", option->name_));
            continue;
        }
        if (auto done = set(option->name_, *value); !done) faults.push_back(done.error().cause);
    }
    if (faults.empty()) return {};
    return usage_error(join(faults, "\n"));
}

Json OptionTable::values() const {
    Json values = Json::object();
    for (const auto& option : options_) values[option.name_] = option.value_();
    return values;
}

Status check_rules(std::initializer_list<OptionRule> rules) {
    for (const OptionRule& rule : rules) {
        if (rule.broken) return usage_error(rule.message);
    }
    return {};
}

}  // namespace effio
