// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>

#include "storage/byte_file.hpp"

namespace effio {

std::unique_ptr<Storage> make_mpiio_storage(Session& session);

}  // namespace effio
