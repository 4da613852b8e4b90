// SPDX-License-Identifier: BSD-3-Clause
#include "storage/mpi_info.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <string_view>
#include <vector>

#include "parallel/system.hpp"
#include "storage/mpi_settings.hpp"

namespace effio {

Info::Info(const Hints& hints) {
    for (const auto& [key, value] : hints) {
        // An empty value is an error that some libraries answer with an abort.
        if (value.empty()) continue;
        if (info_ == MPI_INFO_NULL) MPI_Info_create(&info_);
        MPI_Info_set(info_, key.c_str(), value.c_str());
    }
    if (info_ != MPI_INFO_NULL) MPI_Info_set(info_, canary_key, "1");
}

GrantedHints hints_of(MPI_Info info) {
    GrantedHints hints;
    if (info == MPI_INFO_NULL) return hints;
    int count = 0;
    MPI_Info_get_nkeys(info, &count);
    for (int i = 0; i < count; ++i) {
        std::array<char, MPI_MAX_INFO_KEY + 1> key{};
        std::array<char, MPI_MAX_INFO_VAL + 1> value{};
        int known = 0;
        MPI_Info_get_nthkey(info, i, key.data());
        MPI_Info_get(info, key.data(), MPI_MAX_INFO_VAL, value.data(), &known);
        if (known == 0) continue;
        if (std::string_view(key.data()) == canary_key) {
            hints.echoes = true;
        } else {
            hints.set(key.data(), value.data());
        }
    }
    return hints;
}

GrantedHints hints_of(MPI_File file) {
    MPI_Info info = MPI_INFO_NULL;
    if (MPI_File_get_info(file, &info) != MPI_SUCCESS) return {};
    GrantedHints hints = hints_of(info);
    if (info != MPI_INFO_NULL) MPI_Info_free(&info);
    return hints;
}

namespace {

/// The value of a parameter of the library, as MPI's interface for tools says it; empty if it has
/// none of this name, or none that is a text.
std::string parameter_of_mpi(const char* name) {
    std::string value;
    int level = 0;
    if (MPI_T_init_thread(MPI_THREAD_SINGLE, &level) != MPI_SUCCESS) return value;
    int index = 0;
    MPI_T_cvar_handle handle = MPI_T_CVAR_HANDLE_NULL;
    int length = 0;
    if (MPI_T_cvar_get_index(name, &index) == MPI_SUCCESS &&
        MPI_T_cvar_handle_alloc(index, nullptr, &handle, &length) == MPI_SUCCESS) {
        std::vector<char> text(static_cast<std::size_t>(std::max(length, 1)) + 1);
        if (MPI_T_cvar_read(handle, text.data()) == MPI_SUCCESS) value = text.data();
        MPI_T_cvar_handle_free(&handle);
    }
    MPI_T_finalize();
    return value;
}

/// A part of a word: in lower case, without characters that a shell would interpret.
std::string part_of_word(std::string_view text) {
    std::string part;
    for (const char c : text) {
        const auto letter = static_cast<unsigned char>(c);
        if (std::isalnum(letter) != 0 || c == '.') {
            part += static_cast<char>(std::tolower(letter));
        } else if (c == '^') {
            part += "not-";
        } else if (!part.empty() && part.back() != '-') {
            part += '-';
        }
    }
    if (part.ends_with('-')) part.pop_back();
    return part;
}

}  // namespace

std::string mpi_io_word(std::string_view library, std::string_view chosen,
                        std::string_view file_system) {
    std::string word = part_of_word(library.substr(0, library.find(',')));
    if (word.starts_with("open-mpi")) {
        word += ':';
        word += chosen.empty() ? "default" : part_of_word(chosen);
    }
    return word + ':' + part_of_word(file_system);
}

std::string mpi_io_word(std::string_view file_system) {
    const std::string library = mpi_library();
    // Another library's parameter of that name would mean another thing, and have another type.
    const bool chooses = library.starts_with("Open MPI");
    return mpi_io_word(library, chooses ? parameter_of_mpi("io") : std::string(), file_system);
}

HintVocabulary vocabulary_of_mpi() {
    HintVocabulary words;
    // The constants count the closing null of C; Open MPI aborts the job on a longer key.
    words.max_key_length = MPI_MAX_INFO_KEY - 1;
    words.max_value_length = MPI_MAX_INFO_VAL - 1;
    return words;
}

}  // namespace effio
