// SPDX-License-Identifier: BSD-3-Clause
#include "parallel/left_semaphore.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>
#include <fstream>

namespace effio {
namespace {

TEST(LeftSemaphore, is_named_if_it_is_older_than_the_call) {
    namespace fs = std::filesystem;
    const fs::path folder = fs::path(testing::TempDir()) / "left_semaphore";
    fs::create_directories(folder);
    const fs::path semaphore = folder / "sem.OMPIO_data";
    fs::remove(semaphore);
    EXPECT_EQ(left_semaphore("/scratch/me/data", 10, folder), "");
    std::ofstream(semaphore).put('x');
    EXPECT_EQ(left_semaphore("/scratch/me/data", 10, folder), "");  // of this call
    fs::last_write_time(semaphore, fs::file_time_type::clock::now() - std::chrono::seconds(60));
    EXPECT_EQ(left_semaphore("/scratch/me/data", 10, folder),
              "; Open MPI waits for " + semaphore.string() +
                  ", which a killed run left: remove it if no other job uses it");
    EXPECT_EQ(left_semaphore("/scratch/me/data", 59, folder), "");
    EXPECT_EQ(left_semaphore("/scratch/me/other", 10, folder), "");
    EXPECT_EQ(left_semaphore("", 10, folder), "");
    fs::remove_all(folder);
}

}  // namespace
}  // namespace effio
