// SPDX-License-Identifier: BSD-3-Clause
// The first file of a container in the format of SIONlib, where it says that its streams are, and
// the records in them. The container's other files are never there.
#include <sys/mman.h>
#include <unistd.h>

#include <cstdlib>
#include <string>
#include <vector>

#include "fuzz.hpp"
#include "storage/sion/key_values.hpp"

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace effio::sion;
    const int file = memfd_create("container", 0);
    if (file < 0 || write(file, data, size) != static_cast<ssize_t>(size)) return 0;
    const auto container = Container::open("/proc/self/fd/" + std::to_string(file));
    close(file);
    if (!container) return 0;
    for (const auto& task : container->tasks()) {
        const auto& source = *container->parts()[task.part].source;
        for (const auto& piece : container->pieces(task)) {
            // What is not refused lies in the file.
            const bool inside = piece.offset >= 0 && piece.bytes >= 0 &&
                                piece.bytes <= source.size() - piece.offset;
            if (!inside) std::abort();
        }
        (void)effio::sion::each_record(*container, task, [&](const effio::sion::KeyRecord& record) {
            if (record.bytes < 0 || record.offset < effio::sion::record_head_bytes) std::abort();
            return effio::Status();
        });
    }
    return 0;
}
