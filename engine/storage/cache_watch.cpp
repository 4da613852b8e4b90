// SPDX-License-Identifier: BSD-3-Clause
#include "storage/cache_watch.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <vector>

#include "storage/posix_calls.hpp"

namespace effio {
namespace {

// <linux/mman.h> of older systems lacks cachestat (Linux 6.5); the number is that of all
// architectures that got it.
#ifndef SYS_cachestat
constexpr long SYS_cachestat = 451;
#endif
struct CachestatRange {
    std::uint64_t offset;
    std::uint64_t length;
};
struct Cachestat {
    std::uint64_t cached;
    std::uint64_t dirty;
    std::uint64_t writeback;
    std::uint64_t evicted;
    std::uint64_t recently_evicted;
};

std::optional<std::int64_t> resident_by_mincore(int fd, std::int64_t bytes, std::int64_t page) {
    // In windows, so that a huge file needs neither a huge mapping nor a huge vector.
    constexpr std::int64_t window = std::int64_t{1} << 30;
    std::int64_t resident = 0;
    for (std::int64_t at = 0; at < bytes; at += window) {
        const auto length = static_cast<std::size_t>(std::min(window, bytes - at));
        void* map = mmap(nullptr, length, PROT_READ, MAP_SHARED, fd, at);
        if (map == MAP_FAILED) return {};
        std::vector<unsigned char> pages((length + static_cast<std::size_t>(page) - 1) /
                                         static_cast<std::size_t>(page));
        const bool known = mincore(map, length, pages.data()) == 0;
        munmap(map, length);
        if (!known) return {};
        resident += std::count_if(pages.begin(), pages.end(),
                                  [](unsigned char p) { return (p & 1U) != 0; });
    }
    return resident;
}

}  // namespace

std::optional<double> resident_fraction(const std::string& path) {
    const auto fd = open_file(path, O_RDONLY);
    if (!fd) return {};
    const auto bytes = size_of(fd->get(), path);
    if (!bytes || *bytes == 0) return {};
    const std::int64_t page = sysconf(_SC_PAGESIZE);
    const std::int64_t whole_pages = (*bytes + page - 1) / page;
    const auto pages = static_cast<double>(whole_pages);
    CachestatRange range{0, 0};  // length 0: to the end of the file
    Cachestat state{};
    if (syscall(SYS_cachestat, fd->get(), &range, &state, 0) == 0) {
        return static_cast<double>(state.cached) / pages;
    }
    const auto resident = resident_by_mincore(fd->get(), *bytes, page);
    if (!resident) return {};
    return static_cast<double>(*resident) / pages;
}

Status flush_to_storage(const std::string& path) {
    const auto fd = open_file(path, O_RDONLY);
    if (!fd) return fd.error();
    if (fsync(fd->get()) != 0) return system_error("fsync", path, errno);
    return {};
}

std::optional<double> drop_from_cache(const std::string& path) {
    if (const auto fd = open_file(path, O_RDONLY); fd) {
        posix_fadvise(fd->get(), 0, 0, POSIX_FADV_DONTNEED);
    }
    return resident_fraction(path);
}

CacheWatch::Counters CacheWatch::now() const {
    return {process_io(), device_ && leader_ ? device_counters(*device_) : std::nullopt};
}

void CacheWatch::begin() {
    last_.reset();
    first_ = now();
}

void CacheWatch::stop() {
    last_ = now();
}

CacheEvidence CacheWatch::end(std::int64_t bytes, bool reading) {
    const auto [process, device] = last_ ? *last_ : now();
    // The last two count the ranks that could not observe.
    std::array<std::int64_t, 6> sums{};
    if (process && first_.process) {
        sums[0] = process->read_bytes - first_.process->read_bytes;
        sums[1] = process->written_bytes - first_.process->written_bytes;
    } else {
        sums[4] = 1;
    }
    if (device && first_.device) {
        sums[2] = device->read_bytes - first_.device->read_bytes;
        sums[3] = device->written_bytes - first_.device->written_bytes;
    } else if (leader_) {
        sums[5] = 1;
    }
    comm_.sum(std::span<std::int64_t>(sums));

    CacheEvidence evidence;
    if (sums[4] == 0) {
        evidence.process_read = sums[0];
        evidence.process_written = sums[1];
    }
    if (sums[5] == 0) {
        evidence.device_read = sums[2];
        evidence.device_written = sums[3];
    }
    // Without a block device (network file systems) the process counters are all there is; file
    // systems that bypass them would look like a cache, so only their positive evidence counts.
    const auto seen = reading ? evidence.device_read : evidence.device_written;
    const std::int64_t asked = reading ? evidence.process_read.value_or(0) : 0;
    if (bytes > 0 && (seen || asked > 0)) {
        const double fraction =
            static_cast<double>(std::max(seen.value_or(0), asked)) / static_cast<double>(bytes);
        evidence.verdict = fraction >= 0.95 ? "device" : fraction <= 0.05 ? "cache" : "mixed";
    }
    return evidence;
}

}  // namespace effio
