// SPDX-License-Identifier: BSD-3-Clause
#include "core/noise_terms.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <limits>
#include <numbers>
#include <optional>

namespace effio {
namespace {

using Kind = NoiseTerm::Kind;

struct NoiseRange {
    std::string_view name;
    double low = 0;
    double high = 0;
};

struct NoiseWord {
    std::string_view word;
    Kind kind;
    NoiseRange first;
    std::optional<NoiseRange> second;
};

constexpr double most_operations = 1e12;
constexpr NoiseRange deviation_range{"deviation", 0, 0.5};
constexpr NoiseRange factor_range{"factor", 0.1, 1e6};
constexpr NoiseRange share_range{"share", 0, 1};
constexpr NoiseRange operations_range{"number of operations", 1, most_operations};

constexpr std::array<NoiseWord, 8> noise_words{{
    {"gauss", Kind::gauss, deviation_range, {}},
    {"ar", Kind::correlated, deviation_range, NoiseRange{"correlation", 0, 0.99}},
    {"bimodal", Kind::share, share_range, factor_range},
    {"rare", Kind::share, share_range, factor_range},
    {"regime", Kind::regime, operations_range, factor_range},
    {"sine", Kind::sine, operations_range, deviation_range},
    {"drift", Kind::drift, {"share", 0, 1}, {}},
    {"night", Kind::night, deviation_range, {}},
}};

Result<double> number_of(std::string_view text, const NoiseRange& range, std::string_view term) {
    double value = 0;
    const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (failure != std::errc{} || end != text.data() + text.size() || !(value >= range.low) ||
        !(value <= range.high)) {
        return usage_error(fmt::format("'{}' in '{}' is not a {} from {:g} to {:g}", text, term,
                                       range.name, range.low, range.high));
    }
    return value;
}

std::vector<std::string_view> split(std::string_view text, char at) {
    std::vector<std::string_view> parts;
    while (true) {
        const auto end = text.find(at);
        parts.push_back(text.substr(0, end));
        if (end == std::string_view::npos) return parts;
        text.remove_prefix(end + 1);
    }
}

Result<NoiseTerm> parse_term(std::string_view text) {
    const auto parts = split(text, ':');
    const auto word = std::find_if(noise_words.begin(), noise_words.end(),
                                   [&](const NoiseWord& one) { return one.word == parts[0]; });
    if (word == noise_words.end()) {
        if (parts.size() == 1) {
            const auto value = number_of(text, deviation_range, text);
            if (!value) return value.error();
            return NoiseTerm{Kind::gauss, *value, 0};
        }
        return usage_error(
            fmt::format("'{}' is not a kind of noise: gauss, ar, bimodal, rare, regime, sine, "
                        "drift or night",
                        parts[0]));
    }
    const std::size_t wanted = word->second ? 3 : 2;
    if (parts.size() != wanted) {
        return usage_error(fmt::format(
            "'{}': {} takes {}", text, word->word,
            word->second ? fmt::format("a {} and a {}", word->first.name, word->second->name)
                         : fmt::format("a {}", word->first.name)));
    }
    NoiseTerm term{word->kind, 0, 0};
    const auto first = number_of(parts[1], word->first, text);
    if (!first) return first.error();
    term.first = *first;
    if (word->second) {
        const auto second = number_of(parts[2], *word->second, text);
        if (!second) return second.error();
        term.second = *second;
    }
    return term;
}

}  // namespace

NoiseTerms::NoiseTerms(double deviation) : text(fmt::format("{:g}", deviation)) {
    terms.push_back({Kind::gauss, deviation, 0});
}

bool NoiseTerms::any() const {
    return std::any_of(terms.begin(), terms.end(), [](const NoiseTerm& term) {
        return term.kind != Kind::gauss || term.first > 0;
    });
}

Result<NoiseTerms> NoiseTerms::parse(std::string_view text) {
    NoiseTerms all;
    all.text = text;
    for (const auto part : split(text, '+')) {
        const auto term = parse_term(part);
        if (!term) return term.error();
        all.terms.push_back(*term);
    }
    return all;
}

NoiseFactors::NoiseFactors(const NoiseTerms& terms, std::uint64_t seed, int rank) {
    // Terms have different seeds, so that they are independent.
    constexpr std::uint64_t apart = 1'000'003;
    std::uint64_t base = seed + static_cast<std::uint64_t>(rank);
    std::uint64_t of_night = seed + 77 * apart;
    for (const NoiseTerm& term : terms.terms) {
        const double rho = term.kind == Kind::correlated ? term.second : 0;
        Source source{term, CorrelatedNoise(base, rho), UniformNoise(base), 1};
        if (term.kind == Kind::night) source.night = 1 + term.first * Gaussian(of_night).next();
        sources_.push_back(source);
        base += apart;
        of_night += apart;
    }
}

double NoiseFactors::next() {
    constexpr double least = 0.1;
    const auto number = static_cast<double>(done_++);
    double sum = 1;
    double product = 1;
    for (Source& source : sources_) {
        const NoiseTerm& term = source.term;
        switch (term.kind) {
            case Kind::gauss:
            case Kind::correlated:
                sum += term.first * source.gaussian.next();
                break;
            case Kind::share:
                if (source.uniform.next() < term.first) product *= term.second;
                break;
            case Kind::regime:
                if (std::fmod(std::floor(number / term.first), 2.0) >= 1) product *= term.second;
                break;
            case Kind::sine:
                sum += term.second * std::sin(2 * std::numbers::pi * number / term.first);
                break;
            case Kind::drift:
                sum += term.first * number;
                break;
            case Kind::night:
                product *= source.night;
                break;
        }
    }
    return std::max(sum * product, least);
}

}  // namespace effio
