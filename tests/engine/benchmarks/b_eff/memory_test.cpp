// SPDX-License-Identifier: BSD-3-Clause
// What b_eff needs next to its two message buffers: at most 64 B for each rank of the job, freed
// after the pattern, and nothing that grows faster. Counted at operator new, so that every
// allocation of ours is seen; what MPI itself keeps for its communicators is not ours.
#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>
#include <memory>
#include <new>

#include "benchmarks/b_eff/runner.hpp"
#include "frame/ring_patterns/ring_order.hpp"
#include "test_session.hpp"

// An allocator is what ownership rests on, and there is one for the whole program.
// NOLINTBEGIN(cppcoreguidelines-avoid-non-const-global-variables)
// NOLINTBEGIN(cppcoreguidelines-owning-memory,cppcoreguidelines-no-malloc)
namespace {

std::atomic<std::int64_t> live{0};
std::atomic<std::int64_t> most{0};

constexpr std::size_t header = 64;  // keeps the alignment of what follows; holds the size

void* counted(std::size_t size, std::size_t alignment) {
    const std::size_t before = std::max(header, alignment);
    const std::size_t whole = (before + size + alignment - 1) / alignment * alignment;
    void* block = std::aligned_alloc(alignment, whole);
    if (block == nullptr) throw std::bad_alloc();
    char* user = static_cast<char*>(block) + before;
    // Right before the memory handed out: its size, and where the block begins.
    reinterpret_cast<std::size_t*>(user)[-1] = size;
    reinterpret_cast<void**>(user)[-2] = block;
    const std::int64_t now = live += static_cast<std::int64_t>(size);
    std::int64_t seen = most;
    while (now > seen && !most.compare_exchange_weak(seen, now)) {
    }
    return user;
}

void forget(void* user) noexcept {
    if (user == nullptr) return;
    live -= static_cast<std::int64_t>(reinterpret_cast<std::size_t*>(user)[-1]);
    std::free(reinterpret_cast<void**>(user)[-2]);
}

}  // namespace

void* operator new(std::size_t size) {
    return counted(size, header);
}
void* operator new[](std::size_t size) {
    return counted(size, header);
}
void* operator new(std::size_t size, std::align_val_t alignment) {
    return counted(size, std::max(header, static_cast<std::size_t>(alignment)));
}
void* operator new[](std::size_t size, std::align_val_t alignment) {
    return counted(size, std::max(header, static_cast<std::size_t>(alignment)));
}
void operator delete(void* p) noexcept {
    forget(p);
}
void operator delete[](void* p) noexcept {
    forget(p);
}
void operator delete(void* p, std::size_t) noexcept {
    forget(p);
}
void operator delete[](void* p, std::size_t) noexcept {
    forget(p);
}
void operator delete(void* p, std::align_val_t) noexcept {
    forget(p);
}
void operator delete[](void* p, std::align_val_t) noexcept {
    forget(p);
}
void operator delete(void* p, std::size_t, std::align_val_t) noexcept {
    forget(p);
}
void operator delete[](void* p, std::size_t, std::align_val_t) noexcept {
    forget(p);
}
// NOLINTEND(cppcoreguidelines-owning-memory,cppcoreguidelines-no-malloc)
// NOLINTEND(cppcoreguidelines-avoid-non-const-global-variables)

namespace effio::b_eff {
namespace {

constexpr int million = 1'000'000;
constexpr std::int64_t KB = 1000;

struct Use {
    std::int64_t peak = 0;  ///< bytes, beyond what was there before
    std::int64_t left = 0;  ///< still there afterwards
};

template <class Call>
Use use_of(Call&& call) {
    const std::int64_t before = live;
    most = before;
    call();
    return {most - before, live - before};
}

TEST(BeffMemory, the_counting_sees_allocations) {
    std::unique_ptr<char[]> kept;
    const Use use = use_of([&] {
        kept = std::make_unique<char[]>(1000);
        const auto gone = std::make_unique<char[]>(5000);
    });
    EXPECT_EQ(use.peak, 6000);
    EXPECT_EQ(use.left, 1000);
}

TEST(BeffMemory, an_order_of_all_ranks_takes_8_bytes_a_rank_and_is_freed) {
    const Use random = use_of([] { EXPECT_EQ(random_order(million, 1, 29).size(), million); });
    EXPECT_LE(random.peak, 8LL * million + KB);
    EXPECT_EQ(random.left, 0);
    const Use worst = use_of([] { EXPECT_EQ(worst_order(million).size(), million); });
    EXPECT_LE(worst.peak, 4LL * million + KB);
    EXPECT_EQ(worst.left, 0);
}

TEST(BeffMemory, patterns_and_results_do_not_grow_with_the_ranks) {
    const auto use = [](int ranks) {
        return use_of([ranks] {
            b_eff::Setup s;
            s.ranks = ranks;
            s.patterns = pattern_table(ranks, official_random_patterns, true);
            const RunResult run(s);
            for (const Pattern& p : run.setup.patterns) {
                for (const int position : {0, 1, ranks / 2, ranks - 1}) {
                    EXPECT_LE(p.steps(position).size(), 6U);
                }
            }
        });
    };
    // Only the names may differ, by some digits.
    EXPECT_NEAR(static_cast<double>(use(million).peak), static_cast<double>(use(100).peak), KB);
}

/// Everything that is made for a pattern: order, partners, counts of MPI_Alltoallv. Of the 64 B a
/// rank 24 are ours, the rest is for MPI's group and communicator.
TEST(BeffMemory, a_pattern_takes_24_bytes_a_rank_and_leaves_nothing) {
    TestSession session;
    const Comm& world = session.comm;
    if (world.size() < 2) GTEST_SKIP() << "needs two ranks";
    const std::int64_t ranks = world.size();
    const std::array<int, 1> extents{world.size()};
    const Comm line = *world.cartesian(extents, true);
    constexpr std::array methods{Method::sendrecv, Method::alltoallv, Method::nonblocking};
    const ExchangeMaker exchanges = NetworkOptions{}.maker();
    constexpr std::int64_t objects = 256;  // the exchange and at most six steps
    for (const Pattern& p : pattern_table(world.size(), 2, true)) {
        const Use use =
            use_of([&] { const PatternRank rank(world, line, p, 1, exchanges, methods); });
        EXPECT_LE(use.peak, ranks * 24 + objects) << p.name;
        EXPECT_EQ(use.left, 0) << p.name;
    }
}

TEST(BeffMemory, messages_are_two_buffers) {
    constexpr std::int64_t lmax = 1 << 20;
    std::unique_ptr<Messages> messages;
    const Use use = use_of([&] { messages = std::make_unique<Messages>(lmax); });
    constexpr std::int64_t both = (lmax + 16) * 6 * 2;
    EXPECT_EQ(messages->memory_bytes(), both);
    EXPECT_LE(use.peak, both + KB);
}

}  // namespace
}  // namespace effio::b_eff
