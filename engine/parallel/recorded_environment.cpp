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
    // In a path '/' is no letter of base64.
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

std::optional<std::string> recorded_value(std::string_view name, std::string_view value) {
    if (!starts_with_any(name, libraries) || starts_with_any(name, of_launcher)) return {};
    if (names_a_secret(name)) return "(not recorded)";
    return masked(value);
}

}  // namespace effio
