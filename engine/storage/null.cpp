// SPDX-License-Identifier: BSD-3-Clause
#include "storage/null.hpp"

#include <algorithm>
#include <chrono>
#include <map>
#include <thread>

#include "storage/run_file.hpp"

namespace effio {
namespace {

/// What is kept of a file: its size, as far as this rank knows.
using Sizes = std::map<std::string, std::int64_t>;

class NullFile : public RunFile {
  public:
    NullFile(Session& session, const Comm& comm, const OpenRequest& request,
             const NullDelays& delays, Sizes& sizes)
        : RunFile(session, comm, request, mpi_calls),
          delays_(delays),
          sizes_(sizes),
          forget_(request.mode.delete_on_close) {}

    Result<std::int64_t> size() override { return sizes_[path()]; }

  protected:
    Result<std::int64_t> write_run(std::int64_t offset, std::span<const std::byte> data) override {
        const auto bytes = static_cast<std::int64_t>(data.size());
        auto& size = sizes_[path()];
        size = std::max(size, offset + bytes);
        return bytes;
    }
    Result<std::int64_t> read_run(std::int64_t, std::span<std::byte> data) override {
        return static_cast<std::int64_t>(data.size());
    }
    void charge(CallForm, bool, std::int64_t bytes) override {
        pass(session().progress,
             delays_.transfer.count +
                 (delays_.rate.count > 0 ? static_cast<double>(bytes) / delays_.rate.count : 0.0));
    }
    Status do_preallocate(std::int64_t bytes) override {
        auto& size = sizes_[path()];
        size = std::max(size, bytes);
        return {};
    }
    Status do_sync() override {
        pass(session().progress, delays_.sync.count);
        // Other ranks may have written behind what this one knows.
        auto& size = sizes_[path()];
        size = comm().max(size);
        return {};
    }
    Status do_close() override {
        pass(session().progress, delays_.close.count);
        if (forget_) sizes_.erase(path());
        return {};
    }

  private:
    const NullDelays& delays_;
    Sizes& sizes_;
    bool forget_;
};

class NullStorage : public Storage {
  public:
    NullStorage(Session& session, const NullDelays& delays)
        : Storage(session),
          asked_(delays),
          delays_(delays.rank && *delays.rank != session.world_rank ? NullDelays{} : delays) {}

    std::string_view name() const override { return "null"; }
    Capabilities capabilities() const override {
        Capabilities c;
        c.stores_data = false;
        c.shared_pointer = false;
        c.hints = false;
        c.spaced = true;
        c.real_files = false;
        c.cached = false;
        return c;
    }
    Result<std::unique_ptr<ByteFile>> open(const Comm& comm, const OpenRequest& request) override {
        session().progress.call("open");
        pass(session().progress, delays_.open.count);
        return std::unique_ptr<ByteFile>(
            std::make_unique<NullFile>(session(), comm, request, delays_, sizes_));
    }
    Status remove(const std::string& path) override {
        sizes_.erase(path);
        return {};
    }
    Json describe() const override {
        return Json{{"open_seconds", asked_.open.count},
                    {"transfer_seconds", asked_.transfer.count},
                    {"rate_bytes_per_second", asked_.rate.count},
                    {"sync_seconds", asked_.sync.count},
                    {"close_seconds", asked_.close.count},
                    {"rank", asked_.rank ? Json(*asked_.rank) : Json(nullptr)}};
    }

  private:
    NullDelays asked_;
    NullDelays delays_;  ///< of this rank
    Sizes sizes_;
};

}  // namespace

void pass(Progress& progress, double seconds) {
    if (seconds <= 0) return;
    constexpr double slice = 0.05;
    constexpr double spun = 5e-4;
    const double end = Clock::monotonic_seconds() + seconds;
    double left = seconds;
    while (left > 2 * spun) {
        std::this_thread::sleep_for(std::chrono::duration<double>(std::min(left - spun, slice)));
        if (left > slice) progress.beat();
        left = end - Clock::monotonic_seconds();
    }
    while (Clock::monotonic_seconds() < end) {
    }
}

double NullDelays::of(std::int64_t calls, std::int64_t bytes) const {
    const double moving = rate.count > 0 ? static_cast<double>(bytes) / rate.count : 0;
    return open.count + close.count + static_cast<double>(calls) * (transfer.count + sync.count) +
           moving;
}

void NullDelays::declare(OptionTable& table) {
    table.add("open", open, "delay of an open").range(0, 1e6);
    table.add("transfer", transfer, "delay of each transfer").range(0, 1e6);
    table.add("rate", rate, "rate of a rank on top of that; 0 = no limit").range(0, 1e18);
    table.add("sync", sync, "delay of a sync").range(0, 1e6);
    table.add("close", close, "delay of a close").range(0, 1e6);
    table.add("rank", rank, "the one rank that delays").range(0, 2147483647).automatic("all");
}

std::unique_ptr<Storage> make_null_storage(Session& session, const NullDelays& delays) {
    return std::make_unique<NullStorage>(session, delays);
}

}  // namespace effio
