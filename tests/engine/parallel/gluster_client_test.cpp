// SPDX-License-Identifier: BSD-3-Clause
// The client of a GlusterFS, from samples of what its mount says in ".meta".
#include "parallel/gluster_client.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "../own_directory.hpp"

namespace effio {
namespace {

struct Gluster : testing::Test {
    OwnDirectory mount;

    void put(const std::string& file, const std::string& text) const {
        const std::filesystem::path path = mount / (".meta/graphs/active/" + file);
        std::filesystem::create_directories(path.parent_path());
        std::ofstream(path) << text;
    }
    void part(const std::string& name, const std::string& kind, const std::string& said) const {
        put(name + "/type", kind + "\n");
        put(name + "/private", said);
    }
    /// Without a type: each file that is asked costs a message, and the name says it.
    void client(const std::string& name, int read, int written) const {
        put(name + "/private",
            "[xlator." + name + ".priv]\nfd.0.remote_fd = -1\nconnected = 1\ntotal_bytes_read = " +
                std::to_string(read) + "\nping_timeout = 42\ntotal_bytes_written = " +
                std::to_string(written) + "\nmsgs_sent = 1351\n");
    }
};

TEST_F(Gluster, messages_are_those_of_all_servers) {
    EXPECT_FALSE(gluster_messages(mount.path()));
    client("v-client-0", 100, 7);
    client("v-client-1", 20, 30000);
    part("v-io-threads", "performance/io-threads", "\ntotal_bytes_read = 5\n");
    // Of a volume that is called so.
    part("v-client-0-dht", "cluster/distribute", "subvol_cnt = 2\n");
    const auto found = gluster_messages(mount.path());
    ASSERT_TRUE(found);
    EXPECT_EQ(found->received, 120);
    EXPECT_EQ(found->sent, 30007);
    // What one of them does not say makes the sum unknown.
    part("v-client-2", "protocol/client", "[xlator.v-client-2.priv]\ntotal_bytes_read = 1\n");
    EXPECT_FALSE(gluster_messages(mount.path()));
}

TEST_F(Gluster, a_byte_is_sent_as_copies_or_in_coded_parts) {
    EXPECT_EQ(gluster_copies(mount.path()), 1);
    put("v-dht/type", "cluster/distribute\n");
    put("v-dht/subvolumes/0", "");
    EXPECT_EQ(gluster_copies(mount.path()), 1);
    put("v-disperse-0/type", "cluster/disperse\n");
    put("v-disperse-0/options/redundancy", "1\n");
    for (const char* number : {"0", "1", "2"})
        put(std::string("v-disperse-0/subvolumes/") + number, "");
    EXPECT_EQ(gluster_copies(mount.path()), 1.5);
    put("v-replicate-0/type", "cluster/replicate\n");
    for (const char* number : {"0", "1"})
        put(std::string("v-replicate-0/subvolumes/") + number, "");
    EXPECT_EQ(gluster_copies(mount.path()), 2);
}

TEST_F(Gluster, files_are_hidden_while_a_part_of_the_volume_is_away) {
    EXPECT_FALSE(gluster_hides_files(mount.path()));
    const std::string both =
        "[xlator.cluster.dht.v-dht.priv]\nsubvol_cnt = 2\n"
        "subvolume_status[0] = 1\nfile_layouts[1].cnt = 0\nsubvolume_status[1] = ";
    part("v-dht", "cluster/distribute", both + "1\n");
    // A coded part that lacks a server still has all of its files.
    part("v-disperse-0", "cluster/disperse", "up = 1\nchilds_up = 2\nsubvolume_status[0] = 0\n");
    EXPECT_FALSE(gluster_hides_files(mount.path()));
    part("v-dht", "cluster/distribute", both + "0\n");
    EXPECT_TRUE(gluster_hides_files(mount.path()));
    // On other file systems any user may have made these files.
    EXPECT_FALSE(hides_files(mount.path()));
}

}  // namespace
}  // namespace effio
