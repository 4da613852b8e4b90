// SPDX-License-Identifier: BSD-3-Clause
// main of the tests of pure code: effio_units [ROOM/NAME] runs those of a source (of_source.hpp).
#include <gtest/gtest.h>

#include "of_source.hpp"

int main(int argc, char** argv) {
    testing::InitGoogleTest(&argc, argv);
    effio::only_tests_of(argc > 1 ? argv[1] : "");
    return RUN_ALL_TESTS();
}
