// SPDX-License-Identifier: BSD-3-Clause
// What the interfaces of a node moved, from samples of /proc and /sys.
#include "parallel/network_counters.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "../own_directory.hpp"

namespace effio {
namespace {

struct Interfaces : testing::Test {
    OwnDirectory root;

    void put(const std::string& file, const std::string& text) const {
        const std::filesystem::path path = root / file;
        std::filesystem::create_directories(path.parent_path());
        std::ofstream(path) << text;
    }
    void list(const std::string& lines) const {
        put("proc/self/net/dev",
            "Inter-|   Receive                        |  Transmit\n"
            " face |bytes packets errs drop fifo frame compressed multicast|bytes packets errs\n" +
                lines);
    }
    static std::string line(const std::string& name, int received, int sent) {
        return "  " + name + ": " + std::to_string(received) + " 9 0 0 0 0 0 0 " +
               std::to_string(sent) + " 8 0 0 0 0 0 0\n";
    }
    std::optional<NetworkBytes> found() const { return network_counters(root.path()); }
};

TEST_F(Interfaces, devices_and_the_loopback_count_and_bridges_do_not) {
    list(line("lo", 1, 1) + line("eth0", 10, 20) + line("br0", 1000, 1000) +
         line("veth7", 4000, 4000));
    put("sys/class/net/eth0/device/uevent", "");
    put("sys/class/net/br0/bridge/bridge_id", "");
    put("sys/class/net/veth7/ifindex", "7");
    // Of another namespace: /sys shows it, the list does not.
    put("sys/class/net/eth9/device/uevent", "");
    const auto sum = found();
    ASSERT_TRUE(sum);
    EXPECT_EQ(sum->received, 11);
    EXPECT_EQ(sum->sent, 21);
}

TEST_F(Interfaces, in_a_container_its_end_of_a_pair_counts) {
    list(line("lo", 1, 1) + line("eth0", 10, 20) + line("br0", 1000, 1000));
    put("sys/class/net/br0/lower_eth0/ifindex", "");
    ASSERT_TRUE(found());
    EXPECT_EQ(found()->received, 11);
    EXPECT_EQ(found()->sent, 21);
}

TEST_F(Interfaces, infiniband_counts_words_and_includes_its_ip) {
    list(line("eth0", 10, 20) + line("ib0", 500, 500));
    put("sys/class/net/eth0/device/uevent", "");
    put("sys/class/net/ib0/device/infiniband/mlx5_0", "");
    put("sys/class/infiniband/mlx5_0/ports/1/counters/port_rcv_data", "1000\n");
    put("sys/class/infiniband/mlx5_0/ports/1/counters/port_xmit_data", "2000\n");
    ASSERT_TRUE(found());
    EXPECT_EQ(found()->received, 4010);
    EXPECT_EQ(found()->sent, 8020);
    std::filesystem::remove(root / "sys/class/infiniband/mlx5_0/ports/1/counters/port_rcv_data");
    EXPECT_FALSE(found());
}

TEST_F(Interfaces, a_list_that_cannot_be_read_says_nothing) {
    EXPECT_FALSE(found());
    list("  eth0: 10 9 0\n");
    EXPECT_FALSE(found());
}

TEST(FileSystemOfServers, has_neither_device_nor_memory) {
    FileSystem fs;
    fs.type = "fuse.glusterfs";
    fs.source = "server:/volume";
    EXPECT_TRUE(is_of_servers(fs));
    fs.device = "8:1";
    EXPECT_FALSE(is_of_servers(fs));
    fs.device.reset();
    fs.memory_backed = true;
    EXPECT_FALSE(is_of_servers(fs));
    fs.memory_backed = false;
    fs.source = "/dev/sda1";  // btrfs has no device
    EXPECT_FALSE(is_of_servers(fs));
    for (const char* type : {"overlay", "zfs"}) {
        fs.source = "pool/data";
        fs.type = type;
        EXPECT_FALSE(is_of_servers(fs)) << type;
    }
}

}  // namespace
}  // namespace effio
