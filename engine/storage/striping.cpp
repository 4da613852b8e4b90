// SPDX-License-Identifier: BSD-3-Clause
#include "storage/striping.hpp"

#include <dlfcn.h>

#include <array>
#include <cerrno>
#include <string>

namespace effio {
namespace {

/// llapi_file_create_pool(3): 0 or a negative error code. The pattern 0 is the default one.
using CreateInPool = int (*)(const char* name, unsigned long long stripe_size, int stripe_offset,
                             int stripe_count, int stripe_pattern, char* pool);

/// Once for each process, and never unloaded: the library may keep threads.
CreateInPool find_library() {
    for (const char* name : std::array{"liblustreapi.so.1", "liblustreapi.so"}) {
        void* const library = dlopen(name, RTLD_NOW | RTLD_LOCAL);
        if (library == nullptr) continue;
        // POSIX has dlsym return functions as data.
        if (void* const found = dlsym(library, "llapi_file_create_pool"); found != nullptr) {
            return reinterpret_cast<CreateInPool>(found);
        }
    }
    return nullptr;
}

}  // namespace

void Striping::declare(OptionTable& table) {
    table
        .add("stripe-count", count,
             "Lustre: storage targets of each new file (0: as the directory says, -1: all)")
        .range(-1, 65535)
        .expert();
    table
        .add("stripe-size", size,
             "Lustre: consecutive bytes on a storage target (0: as the directory says)")
        .range(0, 4294967295.0)
        .expert();
    table.add("stripe-start", start, "Lustre: first storage target (-1: Lustre chooses)")
        .range(-1, 65535)
        .expert();
    table.add("stripe-pool", pool, "Lustre: pool of the storage targets")
        .metavar("POOL")
        .automatic("any")
        .expert();
}

Status make_striped(const std::string& path, const Striping& striping) {
    static const CreateInPool create = find_library();
    if (create == nullptr) {
        Error error = io_error("create with stripes", path,
                               "liblustreapi, the library of Lustre's client, is not installed on "
                               "this node: leave out the options of Lustre, or set the striping of "
                               "the directory with lfs setstripe");
        error.exit_code = ExitCode::environment;
        return error;
    }
    std::string pool = striping.pool;
    const int code = create(path.c_str(), static_cast<unsigned long long>(striping.size.count),
                            static_cast<int>(striping.start), static_cast<int>(striping.count), 0,
                            pool.empty() ? nullptr : pool.data());
    if (code == 0 || code == -EEXIST) return {};
    return system_error("create with stripes (llapi_file_create_pool)", path, -code);
}

}  // namespace effio
