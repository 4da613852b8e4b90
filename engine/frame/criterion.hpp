// SPDX-License-Identifier: BSD-3-Clause
// The rules of official runs of b_eff and b_eff_io.
#pragma once

#include <string>

#include "core/fields.hpp"

namespace effio {

/// A rule in one sentence, and whether the run kept it.
struct Criterion {
    std::string text;
    bool reached = false;
};

inline const Fields<Criterion>& criterion_fields() {
    static const Fields<Criterion> fields{
        {"text", Unit::word, "a rule of official runs", &Criterion::text},
        {"reached", Unit::flag, "the rule is kept", &Criterion::reached}};
    return fields;
}

}  // namespace effio
