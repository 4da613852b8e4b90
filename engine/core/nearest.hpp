// SPDX-License-Identifier: BSD-3-Clause
// What was probably meant by a word that is not known.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace effio {

/// The word of `known` that `word` is a slip of the finger away from: at most three letters, and no
/// more than about a third of the word, are wrong, missing or too many; two that changed places
/// count as one. The former name of an option counts as its present one. Empty if there is none.
std::string_view nearest(std::string_view word, std::span<const std::string> known);

}  // namespace effio
