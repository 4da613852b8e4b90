// SPDX-License-Identifier: BSD-3-Clause
#include "storage/array_module.hpp"

#include <dlfcn.h>
#include <fmt/format.h>

#include <array>
#include <filesystem>
#include <system_error>

#include "parallel/system.hpp"

namespace effio {
namespace {

constexpr const char* symbol = "effio_array_module";
constexpr const char* file_name = "effio-arrays.so";

Error cannot_load(const std::string& cause) {
    Error error = environment_error("array libraries", cause);
    error.rank = launcher_rank().value_or(0);
    error.host = find_uname().node;
    return error;
}

/// The symbol in a file that is loaded now, and stays.
Result<const void*> found_in_file() {
    std::error_code failed;
    const auto program = std::filesystem::read_symlink("/proc/self/exe", failed);
    if (failed) return cannot_load("/proc/self/exe: " + failed.message());
    const auto home = program.parent_path();
    for (const auto& file : std::array{home / file_name, home / "../lib/effio" / file_name}) {
        if (!std::filesystem::exists(file, failed)) continue;
        void* module = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
        const void* found = module == nullptr ? nullptr : dlsym(module, symbol);
        if (found == nullptr) return cannot_load(dlerror());
        return found;
    }
    return cannot_load(fmt::format("{} is not in {}, where the program is, nor in {}: copy both",
                                   file_name, home.string(),
                                   (home / "../lib/effio").lexically_normal().string()));
}

const Result<const void*>& loaded() {
    static const Result<const void*> module = [] {
        const void* own = dlsym(RTLD_DEFAULT, symbol);
        return own != nullptr ? own : found_in_file();
    }();
    return module;
}

}  // namespace

Status load_array_module() {
    if (!loaded()) return loaded().error();
    return {};
}

const ArrayModule& array_module() {
    return *static_cast<const ArrayModule*>(*loaded());
}

}  // namespace effio
