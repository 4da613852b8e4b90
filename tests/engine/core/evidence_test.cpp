// SPDX-License-Identifier: BSD-3-Clause
#include "core/evidence.hpp"

#include <gtest/gtest.h>

namespace effio {
namespace {

std::optional<CacheEvidence> on_storage(double share) {
    CacheEvidence evidence;
    evidence.storage_fraction = share;
    return evidence;
}

TEST(StorageShare, weighs_by_bytes) {
    StorageShare share;
    EXPECT_FALSE(share.value());
    share.add(on_storage(1), 300);
    share.add(on_storage(0), 100);
    EXPECT_DOUBLE_EQ(share.value().value(), 0.75);
    EXPECT_EQ(share.words(true), "75 % from storage");
    EXPECT_EQ(share.words(false), "75 % on storage");
}

TEST(StorageShare, is_not_known_where_more_than_a_twentieth_is_not) {
    StorageShare share;
    share.add(on_storage(0), 95);
    share.add({}, 5);
    EXPECT_EQ(share.words(true), "from memory");
    share.add(CacheEvidence{}, 1);
    EXPECT_FALSE(share.value());
    EXPECT_EQ(share.words(true), "memory or storage: not known");
}

}  // namespace
}  // namespace effio
