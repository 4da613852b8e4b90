// SPDX-License-Identifier: BSD-3-Clause
// The forms of calls that tests of several sources make.
#pragma once

#include "storage/byte_file.hpp"

namespace effio {

inline constexpr CallForm alone{Pointer::at, false};
inline constexpr CallForm together{Pointer::at, true};

}  // namespace effio
