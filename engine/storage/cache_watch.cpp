// SPDX-License-Identifier: BSD-3-Clause
#include "storage/cache_watch.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <span>
#include <vector>

#include "core/units.hpp"
#include "parallel/gluster_client.hpp"
#include "parallel/network_counters.hpp"
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
    return sync_file(fd->get(), path);
}

std::optional<double> drop_from_cache(const std::string& path) {
    if (const auto fd = open_file(path, O_RDONLY); fd) {
        posix_fadvise(fd->get(), 0, 0, POSIX_FADV_DONTNEED);
    }
    return resident_fraction(path);
}

namespace {

/// Bytes, with words for where they came from or had arrived.
struct Seen {
    std::int64_t bytes = 0;
    const char* where = "";
    /// For a counter that counts for all users: what was certainly not ours.
    std::int64_t foreign = 0;
};

bool is_charged(const FileSystem* fs) {
    return fs == nullptr || !fs->type.starts_with("fuse");
}

std::optional<Seen> fetched(const CacheEvidence& e, std::int64_t bytes, const FileSystem* fs) {
    const bool charged = e.process_read && is_charged(fs);
    if (e.device_read && charged) return Seen{std::min(*e.device_read, *e.process_read), "device"};
    if (e.device_read) return Seen{*e.device_read, "device", *e.device_read - bytes};
    if (e.client_read) return Seen{*e.client_read, "servers", *e.client_read - bytes};
    // Without a device the processes' counters are all there is; file systems that bypass them
    // would look like a cache, so only their positive evidence counts.
    if (e.process_read.value_or(0) > 0) return Seen{*e.process_read, "storage"};
    return {};
}

/// No more of ours than the processes were charged for: what is written twice before it is sent
/// goes there once. On file systems without quota accounting it says nothing.
std::optional<Seen> arrived(const CacheEvidence& e, std::int64_t bytes, const FileSystem* fs) {
    const std::int64_t charged = is_charged(fs) ? e.process_written.value_or(0) : 0;
    if (e.device_written) {
        const std::int64_t ours =
            charged > 0 ? std::min(*e.device_written, charged) : *e.device_written;
        return Seen{ours, "device", *e.device_written - std::max(bytes, charged)};
    }
    if (e.client_written) return Seen{*e.client_written, "servers", *e.client_written - bytes};
    return {};
}

/// Values of a counter, in both directions.
struct Pair {
    std::int64_t in = 0;
    std::int64_t out = 0;
};
template <class T>
Pair pair_of(const T& counters) {
    return {counters.read_bytes, counters.written_bytes};
}
Pair pair_of(const NetworkBytes& moved) {
    return {moved.received, moved.sent};
}

/// Sums over the ranks of what was counted between two looks. A counter that is unknown to a rank
/// that should know it, or that was reset meanwhile, is unknown.
class Differences {
  public:
    template <class T>
    void add(const std::optional<T>& first, const std::optional<T>& last, bool should) {
        Pair moved;
        bool known = first && last;
        if (known) {
            const Pair before = pair_of(*first);
            const Pair after = pair_of(*last);
            moved = {after.in - before.in, after.out - before.out};
            known = moved.in >= 0 && moved.out >= 0;
        }
        if (!known) moved = {};
        sums_.insert(sums_.end(), {moved.in, moved.out, !known && should ? 1 : 0});
    }
    void sum_over(const Comm& comm) { comm.sum(std::span<std::int64_t>(sums_)); }
    std::optional<Pair> sum(std::size_t which) const {
        if (sums_[3 * which + 2] > 0) return {};
        return Pair{sums_[3 * which], sums_[3 * which + 1]};
    }
    void get(std::size_t which, std::optional<std::int64_t>& read,
             std::optional<std::int64_t>& written) const {
        const auto moved = sum(which);
        if (!moved) return;
        read = moved->in;
        written = moved->out;
    }
    std::optional<NetworkBytes> network(std::size_t which) const {
        const auto moved = sum(which);
        if (!moved) return {};
        return NetworkBytes{moved->in, moved->out};
    }

  private:
    std::vector<std::int64_t> sums_;
};

std::string size_text(std::int64_t bytes) {
    return format_size(static_cast<double>(bytes));
}

}  // namespace

void judge(CacheEvidence& e, std::int64_t bytes, bool reading, const FileSystem* fs) {
    e.verdict = Whereabouts::unknown;
    e.storage_fraction.reset();
    if (bytes <= 0) {
        e.reason = "nothing was moved";
        return;
    }
    if (fs != nullptr && fs->memory_backed) {
        e.verdict = Whereabouts::cache;
        e.storage_fraction = 0;
        e.reason =
            fmt::format("memory is the storage ({}): nothing of it can be dropped", fs->type);
        return;
    }
    const auto seen = reading ? fetched(e, bytes, fs) : arrived(e, bytes, fs);
    if (!seen) {
        const std::string why = fs == nullptr ? "" : why_no_client_counters(*fs);
        e.reason = why.empty() ? fmt::format("no counter of this system shows what {} storage",
                                             reading ? "came from" : "went to")
                               : why;
        return;
    }
    constexpr double nearly = 0.05;
    const std::int64_t notable =
        std::max(MiB, static_cast<std::int64_t>(nearly * static_cast<double>(bytes)));
    if (seen->foreign > notable) {
        e.others = seen->foreign;
        e.reason = fmt::format("others {} {} at the {} meanwhile", reading ? "read" : "wrote",
                               size_text(seen->foreign), seen->where);
        return;
    }
    const double part = static_cast<double>(seen->bytes) / static_cast<double>(bytes);
    e.storage_fraction = std::clamp(part, 0.0, 1.0);
    e.verdict = whereabouts_of(*e.storage_fraction);
    e.reason = fmt::format("{} of {} {} the {}{}", size_text(std::min(seen->bytes, bytes)),
                           size_text(bytes), reading ? "came from" : "had reached", seen->where,
                           reading ? "" : " by the end of the interval");
    if (e.unwritten.value_or(0) > notable) {
        e.reason += fmt::format("; the sync need not write {}", size_text(*e.unwritten));
    }
    if (e.device_read && e.device_written && e.process_read && e.process_written) {
        // What the ranks moved but were not charged for (written twice before it was sent) is
        // theirs all the same.
        const std::int64_t sent = std::max(*e.process_written, reading ? 0 : bytes);
        e.others = std::max<std::int64_t>(*e.device_read - *e.process_read, 0) +
                   std::max<std::int64_t>(*e.device_written - sent, 0);
        if (*e.others > notable) {
            e.reason += fmt::format(
                "; in addition, the device moved {} for other processes or the "
                "file system",
                size_text(*e.others));
        }
    }
}

CacheWatch::Counters CacheWatch::now() const {
    Counters c;
    c.process = process_io();
    if (!leader_ || !fs_) return c;
    if (fs_->device) c.device = device_counters(*fs_->device);
    c.client = client_counters(*fs_);
    if (is_of_servers(*fs_)) c.interfaces = network_counters();
    if (is_gluster(*fs_)) c.messages = gluster_messages(fs_->whole_mount_point);
    return c;
}

void CacheWatch::begin() {
    last_.reset();
    synced_.reset();
    first_ = now();
}

void CacheWatch::stop() {
    last_ = now();
}

void CacheWatch::synced() {
    synced_ = now();
}

CacheEvidence CacheWatch::end(std::int64_t bytes, bool reading) {
    const Counters last = last_ ? *last_ : now();
    const Counters synced = synced_ ? *synced_ : first_;
    Differences sums;
    sums.add(first_.process, last.process, true);
    sums.add(first_.device, last.device, leader_);
    sums.add(first_.client, last.client, leader_);
    sums.add(first_.device, synced.device, leader_);
    sums.add(first_.interfaces, last.interfaces, leader_);
    sums.add(first_.messages, last.messages, leader_);
    sums.sum_over(comm_);

    CacheEvidence evidence;
    sums.get(0, evidence.process_read, evidence.process_written);
    sums.get(1, evidence.device_read, evidence.device_written);
    sums.get(2, evidence.client_read, evidence.client_written);
    if (fs_ && evidence.client_read) evidence.client = client_of(*fs_);
    if (fs_ && is_of_servers(*fs_)) {
        evidence.network.emplace();
        evidence.network->interfaces = sums.network(4);
        evidence.network->client = sums.network(5);
        if (is_gluster(*fs_)) evidence.network->copies = gluster_copies(fs_->whole_mount_point);
    }
    if (!reading && synced_ && bytes > 0) {
        std::optional<std::int64_t> read;
        std::optional<std::int64_t> written;
        sums.get(3, read, written);
        if (written) evidence.unwritten = std::max<std::int64_t>(bytes - *written, 0);
    }
    judge(evidence, bytes, reading, fs_ ? &*fs_ : nullptr);
    return evidence;
}

}  // namespace effio
