// SPDX-License-Identifier: BSD-3-Clause
#include "parallel/recorded_environment.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <cstddef>

namespace effio {
namespace {

constexpr std::array libraries{"OMPI_MCA_", "ROMIO_", "MPIR_CVAR_", "MPICH_", "I_MPI_",
                               "UCX_",      "FI_",    "PNETCDF_",   "HDF5_"};
// Open MPI's launcher passes its own affairs in the same way as a user's settings.
constexpr std::array of_launcher{"OMPI_MCA_orte_", "OMPI_MCA_ess", "OMPI_MCA_pmix",
                                 "OMPI_MCA_initial_", "OMPI_MCA_shmem_RUNTIME"};
constexpr std::array secrets{"TOKEN", "SECRET", "PASSW", "PASSPH",  "PWD",     "KEY",
                             "JWT",   "AUTH",   "CRED",  "SESSION", "PRIVATE", "COOKIE"};
constexpr std::size_t longest_hex = 31;
constexpr std::size_t longest_word = 39;

bool starts_with_any(std::string_view name, const auto& words) {
    return std::any_of(words.begin(), words.end(),
                       [&](const char* word) { return name.starts_with(word); });
}

bool names_a_secret(std::string_view name) {
    std::string upper(name);
    std::transform(upper.begin(), upper.end(), upper.begin(),
                   [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
    return upper.ends_with("_PASS") ||
           std::any_of(secrets.begin(), secrets.end(),
                       [&](const char* word) { return upper.find(word) != std::string::npos; });
}

/// A long word of the letters of base64, or of hex digits.
bool looks_like_a_token(std::string_view word) {
    const bool hex = std::all_of(word.begin(), word.end(),
                                 [](unsigned char c) { return std::isxdigit(c) != 0; });
    return word.size() > (hex ? longest_hex : longest_word);
}

/// `names` are separated by commas.
bool is_one_of(std::string_view name, std::string_view names) {
    while (!names.empty()) {
        const auto comma = std::min(names.find(','), names.size());
        if (names.substr(0, comma) == name) return true;
        names.remove_prefix(std::min(comma + 1, names.size()));
    }
    return false;
}

/// The position after the letters, digits, '+', '_' and '-' that start at `at`.
std::size_t end_of_word(std::string_view text, std::size_t at) {
    while (at < text.size() && (std::isalnum(static_cast<unsigned char>(text[at])) != 0 ||
                                std::string_view("+_-").find(text[at]) != std::string_view::npos)) {
        ++at;
    }
    return at;
}

/// Only capital letters, digits and '_', as in names of environment variables.
bool is_variable(std::string_view word) {
    return std::all_of(word.begin(), word.end(), [](unsigned char c) {
        return std::isupper(c) != 0 || std::isdigit(c) != 0 || c == '_';
    });
}

/// Whether a word looks random: long, with lower and upper case letters and digits in one piece.
bool looks_drawn(std::string_view word) {
    if (!looks_like_a_token(word)) return false;
    constexpr std::size_t long_piece = 16;
    const auto holds = [](std::string_view piece, int (*kind)(int)) {
        return std::any_of(piece.begin(), piece.end(),
                           [&](unsigned char c) { return kind(c) != 0; });
    };
    if (std::all_of(word.begin(), word.end(),
                    [](unsigned char c) { return std::isxdigit(c) != 0; })) {
        return true;
    }
    while (!word.empty()) {
        const auto end = std::min(word.find_first_of("_-"), word.size());
        const std::string_view piece = word.substr(0, end);
        if (piece.size() >= long_piece && holds(piece, std::isupper) &&
            holds(piece, std::islower) && holds(piece, std::isdigit)) {
            return true;
        }
        word.remove_prefix(std::min(end + 1, word.size()));
    }
    return false;
}

/// USER:PASSWORD@ after "://".
std::string without_passwords(std::string_view value) {
    std::string out;
    for (std::size_t at = 0;;) {
        constexpr std::string_view mark = "://";
        const auto start = value.find(mark, at);
        if (start == std::string_view::npos) return out + std::string(value.substr(at));
        const auto user = start + mark.size();
        out += value.substr(at, user - at);
        const auto host = value.find_first_of("/ ", user);
        const auto authority =
            value.substr(user, host == std::string_view::npos ? host : host - user);
        const auto sign = authority.rfind('@');
        at = user;
        if (sign == std::string_view::npos ||
            authority.substr(0, sign).find(':') == std::string_view::npos) {
            continue;
        }
        out += "(masked)";
        at = user + sign;
    }
}

}  // namespace

std::string masked(std::string_view value) {
    const std::string text = without_passwords(value);
    // In a path '/' is not a letter of base64.
    const bool path = text.starts_with('/') || text.starts_with('.');
    std::string out;
    std::string word;
    const auto end_word = [&] {
        out += looks_like_a_token(word) ? "(masked)" : word;
        word.clear();
    };
    for (const char c : text) {
        const bool of_word = std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '+' ||
                             c == '_' || c == '=' || c == '-' || (c == '/' && !path);
        if (of_word) {
            word += c;
        } else {
            end_word();
            out += c;
        }
    }
    end_word();
    return out;
}

std::string masked_argument(std::string_view argument) {
    const std::string text = without_passwords(argument);
    std::string out;
    for (std::size_t at = 0; at < text.size();) {
        const std::size_t end = end_of_word(text, at);
        const std::string_view word = std::string_view(text).substr(at, end - at);
        const bool first = at == 0 || text[at - 1] == ' ';
        if (first && end < text.size() && text[end] == '=' && is_variable(word) &&
            names_a_secret(word)) {
            out += std::string(word) + "=(masked)";
            at = std::min(text.find(' ', end), text.size());
        } else if (end == at) {
            out += text[at++];
        } else {
            out += looks_drawn(word) ? "(masked)" : word;
            at = end;
        }
    }
    return out;
}

Json masked_arguments(Json value) {
    if (value.is_string()) return masked_argument(value.get<std::string>());
    if (value.is_structured()) {
        for (auto& one : value) one = masked_arguments(std::move(one));
    }
    return value;
}

std::optional<std::string> recorded_value(std::string_view name, std::string_view value,
                                          std::string_view site_names) {
    const bool of_library = starts_with_any(name, libraries) && !starts_with_any(name, of_launcher);
    if (!of_library && !is_one_of(name, site_names)) return {};
    if (names_a_secret(name)) return "(not recorded)";
    return masked(value);
}

}  // namespace effio
