// SPDX-License-Identifier: BSD-3-Clause
#include "classic/classic.hpp"

#include <cctype>

#include "classic/b_eff.hpp"
#include "classic/b_eff_io.hpp"
#include "classic/flash_io.hpp"
#include "classic/ior.hpp"
#include "classic/mdtest.hpp"

namespace effio {

const std::vector<ClassicProgram>& classic_programs() {
    static const std::vector<ClassicProgram> programs{
        {"b_eff", "b_eff 3.6: writes PREFIX.prot, PREFIX.short and PREFIX.sum", translate_b_eff},
        {"b_eff_io", "b_eff_io 2.1: writes PREFIX.prot and PREFIX.sum", translate_b_eff_io},
        {"flash_benchmark_io", "FLASH I/O's PnetCDF port: the report on stdout",
         translate_flash_io},
        {"mdtest", "mdtest's options and SUMMARY tables, with the units they name",
         translate_mdtest},
        {"ior", "IOR 4: its options, scripts, text, JSON and CSV", translate_ior},
    };
    return programs;
}

std::string lower_case(std::string_view text) {
    std::string out(text);
    for (char& c : out) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    return out;
}

const ClassicProgram* find_classic(std::string_view name) {
    for (const auto& program : classic_programs()) {
        if (program.name == name) return &program;
    }
    return nullptr;
}

}  // namespace effio
