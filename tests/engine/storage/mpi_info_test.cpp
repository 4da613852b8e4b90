// SPDX-License-Identifier: BSD-3-Clause
// Hints to MPI_Info and back.
#include "storage/mpi_info.hpp"
#include "storage/mpi_settings.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <string>

namespace effio {
namespace {

TEST(MpiInfo, nothing_to_say_is_the_null_object) {
    EXPECT_EQ(Info(Hints{}).raw(), MPI_INFO_NULL);
    EXPECT_TRUE(hints_of(MPI_INFO_NULL).empty());
}

TEST(MpiInfo, pairs_go_there_and_back_as_they_are) {
    Hints hints;
    hints.set("striping_factor", "4");
    hints.set("opaque", "switchable or 32MB, # so");
    hints.set(std::string(MPI_MAX_INFO_KEY - 1, 'k'), std::string(MPI_MAX_INFO_VAL - 1, 'v'));
    const Info info(hints);
    ASSERT_NE(info.raw(), MPI_INFO_NULL);
    const GrantedHints back = hints_of(info.raw());
    for (const auto& [key, value] : hints) EXPECT_EQ(back.get(key), value) << key;
    EXPECT_EQ(back.to_json().size(), hints.to_json().size());
}

TEST(MpiInfo, a_canary_shows_an_echo_and_is_not_a_hint) {
    Hints hints;
    hints.set("cb_nodes", "2");
    const Info info(hints);
    // The object itself keeps whatever it is given.
    const GrantedHints back = hints_of(info.raw());
    EXPECT_TRUE(back.echoes);
    EXPECT_EQ(back.to_json(), hints.to_json());
    MPI_Info known = MPI_INFO_NULL;
    MPI_Info_create(&known);
    MPI_Info_set(known, "cb_nodes", "2");
    EXPECT_FALSE(hints_of(known).echoes);
    MPI_Info_free(&known);
}

TEST(MpiInfo, empty_values_are_left_out) {
    // MPI_Info_set answers them with an abort in some libraries.
    Hints hints;
    hints.set("empty", "");
    EXPECT_EQ(Info(hints).raw(), MPI_INFO_NULL);
    hints.set("full", "1");
    const Info info(hints);
    EXPECT_FALSE(hints_of(info.raw()).get("empty"));
    EXPECT_EQ(hints_of(info.raw()).get("full"), "1");
}

TEST(MpiIoWords, show_library_version_choice_and_file_system) {
    constexpr const char* open_mpi = "Open MPI v4.1.4, package: Debian OpenMPI, ident: 4.1.4";
    EXPECT_EQ(mpi_io_word(open_mpi, "ompio", "ext4"), "open-mpi-v4.1.4:ompio:ext4");
    EXPECT_EQ(mpi_io_word(open_mpi, "^ompio", "ext4"), "open-mpi-v4.1.4:not-ompio:ext4");
    EXPECT_EQ(mpi_io_word(open_mpi, "", "lustre"), "open-mpi-v4.1.4:default:lustre");
    EXPECT_EQ(mpi_io_word("MPICH Version:      4.0.2", "", "fuse.sshfs"),
              "mpich-version-4.0.2:fuse.sshfs");
    EXPECT_EQ(mpi_io_word("Intel(R) MPI Library 2021.6 for Linux* OS", "", "xfs"),
              "intel-r-mpi-library-2021.6-for-linux-os:xfs");
}

/// The launcher's choice reaches this process as a parameter: --mca io ompio, or romio321.
TEST(MpiIoWords, show_what_this_process_was_reported_to_take) {
    const std::string word = mpi_io_word("ext4");
    EXPECT_TRUE(word.ends_with(":ext4")) << word;
    if (!word.starts_with("open-mpi")) return;
    const char* chosen = std::getenv("OMPI_MCA_io");
    const auto first = word.find(':');
    const std::string given = word.substr(first + 1, word.rfind(':') - first - 1);
    EXPECT_EQ(given, chosen == nullptr ? "default" : chosen);
}

}  // namespace
}  // namespace effio
