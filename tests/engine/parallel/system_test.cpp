// SPDX-License-Identifier: BSD-3-Clause
#include "parallel/system.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <fstream>
#include <vector>

#include "core/units.hpp"
#include "parallel/recorded_environment.hpp"
#include "shared_directory.hpp"

namespace effio {
namespace {

TEST(System, memory_is_that_of_the_machine_or_less) {
    const Memory memory = find_memory();
    const auto physical = static_cast<std::int64_t>(sysconf(_SC_PHYS_PAGES)) *
                          static_cast<std::int64_t>(sysconf(_SC_PAGESIZE));
    EXPECT_GT(memory.total_bytes, 64 * MiB);
    EXPECT_LE(memory.total_bytes, physical + physical / 100);
    EXPECT_GT(memory.available_bytes, 0);
    EXPECT_LE(memory.available_bytes, memory.total_bytes);
}

TEST(System, an_mpi_library_has_a_name_and_a_version) {
    const auto name = [](std::string_view library) {
        const MpiName found = mpi_name_of(library);
        return found.name + "|" + found.version;
    };
    EXPECT_EQ(name("Open MPI v4.1.4, package: Debian OpenMPI, ident: 4.1.4"), "Open MPI|4.1.4");
    EXPECT_EQ(name("MPICH Version: 4.0.2"), "MPICH|4.0.2");
    EXPECT_EQ(name("MPICH Version:      5.0.2"), "MPICH|5.0.2");
    EXPECT_EQ(name("CRAY MPICH version 8.1.25.17 (ANL base 3.4a2)"), "CRAY MPICH|8.1.25.17");
    EXPECT_EQ(name("Intel(R) MPI Library 2021.18 for Linux* OS"), "Intel(R) MPI|2021.18");
    EXPECT_EQ(name("MVAPICH2 Version      :  2.3.7"), "MVAPICH2|2.3.7");
    EXPECT_EQ(name("Some MPI"), "Some MPI|");
}

TEST(System, the_ranks_of_a_node_share_its_memory) {
    Clock clock;
    const Comm comm = Comm::world(clock);
    const Topology t = find_topology(comm);
    EXPECT_EQ(memory_per_rank(comm, t), find_memory().total_bytes / comm.size());
}

TEST(System, uname_is_five_words_for_the_classic_line) {
    const Uname u{"Linux", "node01", "6.1.0", "#1 SMP", "x86_64"};
    EXPECT_EQ(u.text(), "Linux node01 6.1.0 #1 SMP x86_64");
    EXPECT_EQ(find_uname().system, "Linux");
    EXPECT_FALSE(find_uname().node.empty());
}

TEST(System, the_description_is_complete_on_the_root) {
    Clock clock;
    const Comm comm = Comm::world(clock);
    const Json d = describe_system(comm, find_topology(comm));
    if (!comm.is_root()) {
        EXPECT_TRUE(d.is_null());
        return;
    }
    EXPECT_EQ(d["ranks"], comm.size());
    EXPECT_EQ(d["nodes"], 1);
    EXPECT_EQ(d["ranks_per_node"]["min"], comm.size());
    EXPECT_EQ(d["node_names"].size(), 1U);
    EXPECT_EQ(d["node_names_complete"], true);
    EXPECT_GT(d["cpu"]["logical_cpus"].get<int>(), 0);
    if (const auto& cores = d["cpu"]["cores"]; !cores.is_null()) {
        EXPECT_GT(cores.get<int>(), 0);
        EXPECT_LE(cores.get<int>(), d["cpu"]["logical_cpus"].get<int>());
    }
    EXPECT_EQ(d["kernel"]["system"], "Linux");
    EXPECT_FALSE(d["mpi"]["library"].get<std::string>().empty());
    EXPECT_EQ(d["user_is_root"], geteuid() == 0);
}

TEST(System, what_steers_mpi_from_outside_is_part_of_the_description) {
    Clock clock;
    const Comm comm = Comm::world(clock);
    setenv("ROMIO_HINTS", "/some/file", 1);
    setenv("OMPI_MCA_orte_something", "noise", 1);
    const Json d = describe_system(comm, find_topology(comm));
    unsetenv("ROMIO_HINTS");
    unsetenv("OMPI_MCA_orte_something");
    if (!comm.is_root()) return;
    EXPECT_EQ(d["mpi"]["environment"]["ROMIO_HINTS"], "/some/file");
    EXPECT_FALSE(d["mpi"]["environment"].contains("OMPI_MCA_orte_something"));
}

TEST(System, no_secret_of_the_environment_is_recorded) {
    EXPECT_EQ(recorded_value("OMPI_MCA_io", "ompio"), "ompio");
    for (const char* other : {"PBS_JOBCOOKIE", "HOME", "AWS_SECRET_ACCESS_KEY", "MY_UCX_TLS"}) {
        EXPECT_FALSE(recorded_value(other, "x")) << other;
    }
    for (const char* secret : {"UCX_TOKEN", "FI_API_KEY", "MPICH_X_PASSPHRASE", "I_MPI_A_PASSWD",
                               "HDF5_PWD", "UCX_AUTH", "FI_CREDENTIALS", "MPICH_SESSION",
                               "ROMIO_PRIVATE", "HDF5_PLUGIN_PASS", "FI_ucx_cookie"}) {
        EXPECT_EQ(recorded_value(secret, "hunter2"), "(not recorded)") << secret;
    }
    EXPECT_EQ(recorded_value("UCX_X", "http://me:pw@host/a://u:p@b"),
              "http://(masked)@host/a://(masked)@b");
    EXPECT_EQ(masked("http://host:80/a"), "http://host:80/a");
    EXPECT_EQ(masked("/opt/0123456789abcdef0123456789abcdef/lib"), "/opt/(masked)/lib");
    EXPECT_EQ(masked("0123456789abcdef0123456789abcde"), "0123456789abcdef0123456789abcde");
    EXPECT_EQ(masked("Zm9v/YmFyQUJDREVGR0hJSktMTU5PUFFSU1RVVldYWVo="), "(masked)");
    EXPECT_EQ(masked("/scratch/some/long/path/of/many/short/parts/with/words"),
              "/scratch/some/long/path/of/many/short/parts/with/words");
}

TEST(System, variables_that_a_site_names_are_recorded_and_masked_alike) {
    EXPECT_EQ(recorded_value("SITE_RELEASE", "2026b", "A,SITE_RELEASE,B"), "2026b");
    EXPECT_EQ(recorded_value("B", "x", "A,SITE_RELEASE,B"), "x");
    EXPECT_FALSE(recorded_value("SITE", "x", "A,SITE_RELEASE,B"));
    EXPECT_EQ(recorded_value("SITE_TOKEN", "x", "SITE_TOKEN"), "(not recorded)");
    EXPECT_EQ(recorded_value("S", "https://me:pw@host", "S"), "https://(masked)@host");
}

TEST(System, secrets_in_command_lines_are_masked_and_paths_are_not) {
    for (const char* plain :
         {"--dir=/scratch/some/long/path/of/many/short/parts/with/Words/and/2026",
          "test_that_a_directory_with_a_long_name_stays_readable_2026_11_27",
          "--group=2: ior --block 64KiB --transfer 16KiB", "striping_unit=1048576",
          "the_driver_reads_what_openmpi_0_Experiment2026_wrote_0"}) {
        EXPECT_EQ(masked_argument(plain), plain);
    }
    EXPECT_EQ(masked_argument("--dir=https://me:hunter2@host/a"), "--dir=https://(masked)@host/a");
    EXPECT_EQ(masked_argument("-H ghp_16C7e42F292c6912E7710c838347Ae178B4aXyzQ end"),
              "-H (masked) end");
    EXPECT_EQ(masked_argument("x=0123456789abcdef0123456789abcdef"), "x=(masked)");
    EXPECT_EQ(masked_argument("API_TOKEN=abc run; MODE=x"), "API_TOKEN=(masked) run; MODE=x");
    const Json command = masked_arguments(Json{{"a", {"PASSWD=x", 3}}, {"b", nullptr}});
    EXPECT_EQ(command, (Json{{"a", {"PASSWD=(masked)", 3}}, {"b", nullptr}}));
}

TEST(System, the_build_says_what_it_was_made_with) {
    const Json d = describe_build();
    EXPECT_EQ(d["program"], "effio-mpi");
    EXPECT_EQ(d["version"], engine_version());
    // The library in use is the one built with; builds quote its first line.
    EXPECT_EQ(mpi_library().substr(0, 8), d["mpi_built_with"].get<std::string>().substr(0, 8));
    EXPECT_EQ(mpi_library().find('\n'), std::string::npos);
    EXPECT_EQ(mpi_library().find('\t'), std::string::npos);
}

TEST(System, process_counters_never_go_back) {
    Clock clock;
    const Comm comm = Comm::world(clock);
    const SharedDirectory directory(comm);
    const auto before = process_io();
    if (!before) GTEST_SKIP() << "the system does not count the I/O of processes";
    std::ofstream(directory / std::to_string(comm.rank())) << std::string(100000, 'x');
    const auto after = process_io();
    ASSERT_TRUE(after);
    EXPECT_GE(after->written_bytes, before->written_bytes);
    EXPECT_GE(after->read_bytes, before->read_bytes);
}

TEST(System, the_launcher_shows_size_and_rank_before_mpi_starts) {
    Clock clock;
    const Comm comm = Comm::world(clock);
    if (!launcher_size()) GTEST_SKIP() << "started without a launcher";
    EXPECT_EQ(launcher_size(), comm.size());
    EXPECT_EQ(launcher_rank(), comm.rank());
}

TEST(System, a_launcher_that_speaks_nonsense_is_not_heard) {
    const std::array<const char*, 5> variables{
        "OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "SLURM_STEP_NUM_TASKS", "PALS_SIZE", "FLUX_JOB_SIZE"};
    std::vector<std::pair<const char*, std::string>> kept;
    for (const char* variable : variables) {
        if (const char* value = getenv(variable); value != nullptr) {
            kept.emplace_back(variable, value);
        }
        unsetenv(variable);
    }
    EXPECT_FALSE(launcher_size());
    for (const char* nonsense : {"many", "-4", "", "4x"}) {
        setenv("PMI_SIZE", nonsense, 1);
        EXPECT_FALSE(launcher_size()) << nonsense;
    }
    setenv("FLUX_JOB_SIZE", "16", 1);
    EXPECT_EQ(launcher_size(), 16);
    unsetenv("PMI_SIZE");
    unsetenv("FLUX_JOB_SIZE");
    for (const auto& [variable, value] : kept) setenv(variable, value.c_str(), 1);
}

}  // namespace
}  // namespace effio
