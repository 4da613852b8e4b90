// SPDX-License-Identifier: BSD-3-Clause
// One table of options per benchmark. From it come the command line, the help text, the JSON
// description that the driver and the documentation use, and the echo of the values in effect.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "core/error.hpp"
#include "core/json.hpp"
#include "core/units.hpp"

namespace effio {

/// What an option calls one of its values. The name is a literal: tables of words are constants.
template <class T>
struct WordFor {
    std::string_view name;
    T value{};
};
/// What an option that takes one of a few values calls them, in the order of the help text.
template <class T>
using Words = std::vector<WordFor<T>>;

/// Which of the words represents this value; the last one where none does.
template <class T>
std::size_t index_of(const Words<T>& words, const std::type_identity_t<T>& value) {
    std::size_t i = 0;
    while (i + 1 < words.size() && words[i].value != value) ++i;
    return i;
}
template <class T>
std::string word_of(const Words<T>& words, const std::type_identity_t<T>& value) {
    return std::string(words[index_of(words, value)].name);
}
/// None where no word is this one.
template <class T>
std::optional<T> value_of(const Words<T>& words, std::string_view word) {
    for (const auto& [text, value] : words) {
        if (text == word) return value;
    }
    return {};
}
template <class T>
std::vector<std::string> words_of(const Words<T>& words, const std::vector<T>& values) {
    std::vector<std::string> all;
    for (const T& value : values) all.push_back(word_of(words, value));
    return all;
}

/// One row of the table; the builder functions return the row itself so that they can be chained.
class Option {
  public:
    Option& letter(char c);
    Option& range(double low, double high);
    Option& choices(std::vector<std::string> allowed);
    Option& metavar(std::string_view name);
    /// What an optional value is when it is not given, in words ("detected").
    Option& automatic(std::string_view words);
    /// Takes a value whole: commas belong to it, and each use of the option adds one.
    Option& whole();
    /// `given` becomes true where the option is given, be it with the value it has anyway.
    Option& notes(bool& given);
    /// Rare options, shown by `--help-all` only.
    Option& expert();

  private:
    friend class OptionTable;
    std::string name_;
    char letter_ = 0;
    std::string type_;
    std::string unit_;
    std::string help_;
    std::string metavar_;
    std::string automatic_;
    std::string alone_;  ///< the value where none is given
    std::string group_;
    std::vector<std::string> choices_;
    double low_ = -std::numeric_limits<double>::infinity();
    double high_ = std::numeric_limits<double>::infinity();
    bool flag_ = false;
    bool list_ = false;
    bool whole_ = false;
    bool expert_ = false;
    bool given_ = false;
    bool* noted_ = nullptr;
    std::function<Status(const Option&, std::string_view)> assign_;
    std::function<void()> reset_;  ///< lists: forget the default when a value is given
    std::function<Json()> value_;
    std::string default_text_;
};

class OptionTable {
  public:
    /// `command` as typed ("effio-mpi b-eff-io"); `purpose` is one sentence; `closing` (examples,
    /// hints) ends the help text.
    OptionTable(std::string command, std::string purpose, std::string closing = {});

    /// Options added after this call are under `title` in the help text.
    void group(std::string_view title) { group_ = title; }

    Option& flag(std::string_view name, bool& target, std::string_view help);
    Option& add(std::string_view name, std::int64_t& target, std::string_view help);
    Option& add(std::string_view name, double& target, std::string_view help);
    Option& add(std::string_view name, Bytes& target, std::string_view help);
    Option& add(std::string_view name, Seconds& target, std::string_view help);
    Option& add(std::string_view name, BytesPerSecond& target, std::string_view help);
    Option& add(std::string_view name, std::string& target, std::string_view help);
    Option& add(std::string_view name, std::optional<std::int64_t>& target, std::string_view help);
    Option& add(std::string_view name, std::optional<double>& target, std::string_view help);
    Option& add(std::string_view name, std::optional<Bytes>& target, std::string_view help);
    Option& add(std::string_view name, std::optional<Seconds>& target, std::string_view help);
    Option& add(std::string_view name, std::optional<BytesPerSecond>& target,
                std::string_view help);
    Option& add(std::string_view name, std::optional<Share>& target, std::string_view help);
    Option& add(std::string_view name, std::optional<std::string>& target, std::string_view help);
    /// Lists: comma-separated, and every further use of the option appends.
    Option& add(std::string_view name, std::vector<std::int64_t>& target, std::string_view help);
    Option& add(std::string_view name, std::vector<Bytes>& target, std::string_view help);
    Option& add(std::string_view name, std::vector<std::string>& target, std::string_view help);

    /// One of a few values by its word, or a list of them.
    template <class T>
    Option& choice(std::string_view name, T& target, const std::type_identity_t<Words<T>>& words,
                   std::string_view help) {
        return choose(name, help,
                      {names(words),
                       [&target, words](std::size_t i) { target = words[i].value; },
                       [&target, words] { return std::vector{index_of(words, target)}; },
                       {}});
    }
    template <class T>
    Option& choice(std::string_view name, std::vector<T>& target,
                   const std::type_identity_t<Words<T>>& words, std::string_view help) {
        return choose(
            name, help,
            {names(words), [&target, words](std::size_t i) { target.push_back(words[i].value); },
             [&target, words] {
                 std::vector<std::size_t> now;
                 for (const T& one : target) now.push_back(index_of(words, one));
                 return now;
             },
             [&target] { target.clear(); }});
    }
    /// A value with its own grammar: `parse` reads the text, `show` returns it.
    template <class T>
    Option& parsed(std::string_view name, T& target,
                   std::type_identity_t<std::function<Result<T>(std::string_view)>> parse,
                   std::type_identity_t<std::function<std::string(const T&)>> show,
                   std::string_view metavar, std::string_view help) {
        Option& option = insert(name, help);
        option.type_ = "text";
        option.metavar_ = metavar;
        option.default_text_ = show(target);
        option.assign_ = [&target, parse = std::move(parse)](const Option&,
                                                             std::string_view text) -> Status {
            auto value = parse(text);
            if (!value) return value.error();
            target = std::move(*value);
            return {};
        };
        option.value_ = [&target, show = std::move(show)] { return Json(show(target)); };
        return option;
    }
    /// "on" or "off"; without a value it is "on".
    Option& on_off(std::string_view name, bool& target, std::string_view help) {
        Option& option = choice(name, target, {{"on", true}, {"off", false}}, help);
        option.alone_ = "on";
        return option;
    }

    /// Accepts "--name value", "--name=value", "-x value" and flags. Every fault of the line is
    /// reported, one per line of the error's cause. A single value given twice is a fault.
    Status parse(std::span<const std::string> arguments);
    /// Sets one option by name from text, e.g. from a directive of a classic program.
    Status set(std::string_view name, std::string_view text);
    /// Sets options from "name=value,name=value"; a flag has no value. Every fault is
    /// reported, as by parse.
    Status set_all(std::string_view pairs);
    bool given(std::string_view name) const;

    std::string help(bool with_expert) const;
    Json describe() const;
    /// Every option and the value in effect, in the table's order. Sizes in bytes, times in
    /// seconds.
    Json values() const;

  private:
    struct Type {
        std::string name;
        std::string unit;
        std::string metavar;
    };
    /// An option of words; values are places in their list.
    struct Choice {
        std::vector<std::string_view> words;
        std::function<void(std::size_t)> take;
        std::function<std::vector<std::size_t>()> now;
        std::function<void()> forget;  ///< of a list
    };
    Option& choose(std::string_view name, std::string_view help, Choice choice);
    template <class T>
    static std::vector<std::string_view> names(const Words<T>& words) {
        std::vector<std::string_view> all;
        for (const auto& word : words) all.push_back(word.name);
        return all;
    }
    template <class T>
    static Type type_of();
    template <class T>
    Option& bind(std::string_view name, T& target, std::string_view help);
    Option& insert(std::string_view name, std::string_view help);
    Option* find(std::string_view name);
    Option* find(char letter);
    std::string unknown(std::string_view name) const;
    static std::string needs_value(const Option& option);
    static std::string range_text(const Option& option);

    std::string command_;
    std::string purpose_;
    std::string closing_;
    std::string group_ = "Options";
    std::deque<Option> options_;
};

/// The values of a group of settings that declares itself, by name.
template <class Settings>
Json values_of(Settings settings) {
    OptionTable table("", "");
    settings.declare(table);
    return table.values();
}

/// A rule between options that this command line breaks, or keeps.
struct OptionRule {
    bool broken;
    std::string message;  ///< why they do not go together, and what to do
};
/// A usage error if one is broken: the first.
Status check_rules(std::initializer_list<OptionRule> rules);

}  // namespace effio
