// SPDX-License-Identifier: BSD-3-Clause
// Files through POSIX system calls with O_DIRECT: past the page cache.
//
// The kernel takes such a transfer only if offset, length and memory are multiples of the device's
// block. Others are refused, or go through the page cache by a second descriptor and are counted
// (ByteFile::detours). Memory-backed file systems accept O_DIRECT, but it means nothing there.
#pragma once

#include <memory>
#include <string>

#include "core/options.hpp"
#include "storage/byte_file.hpp"

namespace effio {

struct DirectSettings {
    Bytes align{4096};
    bool buffers_unaligned = false;  ///< else such transfers are refused
    void declare(OptionTable& table);
};

std::unique_ptr<Storage> make_direct_storage(Session& session, const DirectSettings& settings);

}  // namespace effio
