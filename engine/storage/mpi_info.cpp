// SPDX-License-Identifier: BSD-3-Clause
#include "storage/mpi_info.hpp"

#include <array>
#include <string_view>

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

}  // namespace effio
