// SPDX-License-Identifier: BSD-3-Clause
// Files through io_uring: transfers are queued with the kernel, which says when they are over.
//
// A plain call of a ByteFile is one transfer that is waited for at once; many under way at the same
// time are a TransferQueue's (ByteFile::queue). The kernel, a container or a seccomp profile may
// forbid io_uring: opening a file then fails with an error that says so.
#pragma once

#include <memory>

#include "core/options.hpp"
#include "storage/byte_file.hpp"

namespace effio {

struct UringSettings {
    bool direct = false;  ///< O_DIRECT: what it demands of place, length and memory is the device's
    bool poll = false;    ///< completions are polled for at the device; with `direct` only
    bool registered = true;  ///< the memory of a queue's transfers, if its owner names it
    void declare(OptionTable& table);
};

std::unique_ptr<Storage> make_uring_storage(Session& session, const UringSettings& settings);

}  // namespace effio
