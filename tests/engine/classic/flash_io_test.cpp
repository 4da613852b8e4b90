// SPDX-License-Identifier: BSD-3-Clause
// The classic report against the one that was published for 64 ranks (NCSA, I/O-2017 benchmarks).
#include <gtest/gtest.h>

#include "classic/flash_io.hpp"

namespace effio {
namespace {

TEST(FlashIoReport, looks_like_the_published_one) {
    flash_io::Setup setup;
    setup.parameters.cells = 16;
    setup.ranks = 64;
    setup.nonblocking = true;
    setup.base_name = "/scratch/iotest.out";
    flash_io::Repetition r;
    using Part = flash_io::Repetition::Part;
    r.parts = {Part{1, 4076930276, 0, 3.51, 0.24, 3.27, 0, 0, 3.51},
               Part{1, 340275852, 0, 0.58, 0.01, 0.56, 0, 0, 0.58},
               Part{1, 408028028, 0, 0.38, 0.01, 0.37, 0, 0, 0.38}};
    r.granted.set("striping_factor", "16");
    r.granted.set("striping_unit", "1048576");
    EXPECT_EQ(classic_flash_io_report(setup, r),
              " API                   :   nonblocking\n"
              " data mode             :    collective\n"
              " number of guards      :             4\n"
              " number of blocks      :            80\n"
              " number of variables   :            24\n"
              " checkpoint time       :             3.51  sec\n"
              "        max header     :             0.24  sec\n"
              "        max unknown    :             3.27  sec\n"
              "        max close      :             0.00  sec\n"
              "        I/O amount     :          3888.06  MiB\n"
              " plot no corner        :             0.58  sec\n"
              "        max header     :             0.01  sec\n"
              "        max unknown    :             0.56  sec\n"
              "        max close      :             0.00  sec\n"
              "        I/O amount     :           324.51  MiB\n"
              " plot    corner        :             0.38  sec\n"
              "        max header     :             0.01  sec\n"
              "        max unknown    :             0.37  sec\n"
              "        max close      :             0.00  sec\n"
              "        I/O amount     :           389.13  MiB\n"
              " -------------------------------------------------------\n"
              " File base name        : /scratch/iotest.out\n"
              "   file striping count :            16\n"
              "   file striping size  :       1048576     bytes\n"
              " Total I/O amount      :          4601.70  MiB\n"
              " -------------------------------------------------------\n"
              " nproc    array size      exec (sec)   bandwidth (MiB/s)\n"
              "   64    16 x  16 x  16      4.47     1029.46\n\n"
              " MPI File Info: nkeys = 2\n"
              " MPI File Info: [ 0] key =           striping_factor, value = 16\n"
              " MPI File Info: [ 1] key =             striping_unit, value = 1048576\n\n");
    setup.nonblocking = false;
    setup.parameters.access = ArrayAccess::independent;
    EXPECT_TRUE(classic_flash_io_report(setup, r).starts_with(
        " API                   :      blocking\n data mode             :   independent\n"));
}

TEST(FlashIoReport, command_lines_are_translated_and_faulty_ones_refused) {
    const auto run = translate_flash_io({"-b", "-i", "-n", "16", "-f", "/data/dir/it_"});
    ASSERT_TRUE(run);
    const auto has = [&](const std::string& word) {
        const auto& words = run->arguments;
        return std::find(words.begin(), words.end(), word) != words.end();
    };
    EXPECT_TRUE(has("--calls=blocking"));
    EXPECT_TRUE(has("--access=independent"));
    EXPECT_TRUE(has("--cells=16"));
    EXPECT_TRUE(has("--dir=/data/dir"));
    EXPECT_TRUE(has("--prefix=it_"));
    EXPECT_TRUE(translate_flash_io({"it"}));  // as older releases took it
    EXPECT_FALSE(translate_flash_io({"-h"})->benchmark);
    EXPECT_FALSE(translate_flash_io({}));
    EXPECT_FALSE(translate_flash_io({"-f"}));
    EXPECT_FALSE(translate_flash_io({"-x", "-f", "it"}));
    EXPECT_FALSE(translate_flash_io({"-f", std::string(129, 'a')}));
}

}  // namespace
}  // namespace effio
