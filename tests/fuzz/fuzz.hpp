// SPDX-License-Identifier: BSD-3-Clause
// What a fuzz target is: one function that takes any bytes and must come back without a fault. It
// is libFuzzer's entry; under compilers without libFuzzer, driver.cpp calls it.
#pragma once

#include <cstddef>
#include <cstdint>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);
