// SPDX-License-Identifier: BSD-3-Clause
// Many sources of tests are one program, because compiling and linking each alone takes minutes;
// the tests of one source are run alone all the same.
#pragma once

#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

namespace effio {

/// Selects the tests of the source "<room>/<name>_test.cpp" by "<room>/<name>"; nothing selects
/// what GoogleTest's own options do. Those that fit a pattern of `without` ("*/posix*:*/null*")
/// stay out. A source without tests ends the program with 1.
inline void only_tests_of(std::string_view source, const std::string& without = "") {
    if (source.empty()) return;
    const std::string ending = "/" + std::string(source) + "_test.cpp";
    const auto& all = *testing::UnitTest::GetInstance();
    std::string filter;
    for (int i = 0; i < all.total_test_suite_count(); ++i) {
        const auto& suite = *all.GetTestSuite(i);
        for (int j = 0; j < suite.total_test_count(); ++j) {
            const auto& test = *suite.GetTestInfo(j);
            if (!std::string_view(test.file()).ends_with(ending)) continue;
            filter += std::string(filter.empty() ? "" : ":") + suite.name() + "." + test.name();
        }
    }
    if (filter.empty()) {
        std::fprintf(stderr, "no tests in a source that ends in %s\n", ending.c_str());
        std::exit(1);
    }
    GTEST_FLAG_SET(filter, filter + (without.empty() ? "" : "-" + without));
}

}  // namespace effio
