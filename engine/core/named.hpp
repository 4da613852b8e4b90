// SPDX-License-Identifier: BSD-3-Clause
// A value and its name.
#pragma once

#include <string>

namespace effio {

template <class T>
struct Named {
    std::string name;
    T value{};

    friend bool operator==(const Named&, const Named&) = default;
};
using NamedNumber = Named<double>;

}  // namespace effio
