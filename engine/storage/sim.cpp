// SPDX-License-Identifier: BSD-3-Clause
#include "storage/sim.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <map>

#include "storage/run_file.hpp"

namespace effio {
namespace {

/// One rank's write-back cache. Reads hit it as long as all that was written still fits: a
/// sequential scan of more than an LRU cache holds finds nothing.
struct Cache {
    std::int64_t dirty = 0;
    std::map<std::string, std::int64_t> written;  ///< bytes by path, until the file is removed

    std::int64_t resident() const {
        std::int64_t total = 0;
        for (const auto& [path, bytes] : written) total += bytes;
        return total;
    }
};

class SimFile : public RunFile {
  public:
    SimFile(Session& session, const Comm& comm, const OpenRequest& request, const SimModel& model,
            const int& active, Cache& cache, SimNoise& noise, Descriptor fd, std::string real_path)
        : RunFile(session, comm, request, mpi_calls),
          model_(model),
          active_(active),
          cache_(cache),
          noise_(noise),
          fd_(std::move(fd)),
          real_path_(std::move(real_path)),
          forget_(request.mode.delete_on_close),
          unlink_(request.mode.delete_on_close && comm.is_root()) {}

    Result<std::int64_t> size() override { return size_of(fd_.get(), path()); }

  protected:
    Result<std::int64_t> write_run(std::int64_t offset, std::span<const std::byte> data) override {
        if (!model_.no_content) return pwrite_all(fd_.get(), path(), data, offset);
        const auto bytes = static_cast<std::int64_t>(data.size());
        if (const auto now = size();
            now && *now < offset + bytes && ftruncate(fd_.get(), offset + bytes) != 0) {
            return system_error("ftruncate", path(), errno, offset);
        }
        return bytes;
    }
    Result<std::int64_t> read_run(std::int64_t offset, std::span<std::byte> data) override {
        if (model_.no_content) return static_cast<std::int64_t>(data.size());
        return pread_all(fd_.get(), path(), data, offset);
    }
    void charge(CallForm form, bool write, std::int64_t bytes) override {
        const double cost = model_.latency.count + (write ? write_cost(bytes) : read_cost(bytes));
        pay(cost * noise_.next(write), form.collective);
    }
    Status do_set_view(const View& view, const Hints& hints) override {
        pay(0, true);
        return RunFile::do_set_view(view, hints);
    }
    Status do_preallocate(std::int64_t bytes) override {
        // As a namespace operation of one rank; the others wait for it.
        int code = 0;
        const auto now = size();
        if (comm().is_root() && now && *now < bytes && ftruncate(fd_.get(), bytes) != 0) {
            code = errno;
        }
        pay(model_.metadata.count, true);
        if (code != 0) return system_error("ftruncate", path(), code);
        return {};
    }
    Status do_sync() override {
        const double flush = through_storage(cache_.dirty);
        cache_.dirty = 0;
        pay(model_.sync.count + flush, true);
        return {};
    }
    Status do_close() override {
        pay(model_.close.count, true);
        fd_.close();
        if (unlink_) ::unlink(real_path_.c_str());
        if (forget_) cache_.written.erase(path());
        return {};
    }

  private:
    double through_storage(std::int64_t bytes) {
        return model_.storage_seconds(bytes, active_ + session().ranks_of_others);
    }
    double write_cost(std::int64_t bytes) {
        const std::int64_t room = std::max<std::int64_t>(0, model_.cache.count - cache_.dirty);
        const std::int64_t cached = std::min(bytes, room);
        cache_.dirty += cached;
        cache_.written[path()] += bytes;
        return SimModel::time_at(model_.cache_rate, cached) + through_storage(bytes - cached);
    }
    double read_cost(std::int64_t bytes) {
        const bool hit = cache_.written.contains(path()) && cache_.resident() <= model_.cache.count;
        return hit ? SimModel::time_at(model_.cache_rate, bytes) : through_storage(bytes);
    }
    void pay(double cost, bool collective) {
        if (collective) {
            comm().join_clocks(cost);
        } else {
            session().clock.advance(cost);
        }
    }

    const SimModel& model_;
    const int& active_;
    Cache& cache_;
    SimNoise& noise_;
    Descriptor fd_;
    std::string real_path_;
    bool forget_;
    bool unlink_;
};

class SimStorage : public Storage {
  public:
    SimStorage(Session& session, const SimModel& model, const SimRoom& room)
        : Storage(session),
          model_(model),
          room_(room),
          active_(session.comm.size()),
          noise_(model_, session.comm.rank()) {
        session.clock.set_collective_cost(model.collective.count);
    }

    std::string_view name() const override { return "sim"; }
    Capabilities capabilities() const override {
        Capabilities c;
        c.stores_data = !model_.no_content;
        c.shared_pointer = false;
        c.hints = false;
        c.spaced = true;
        c.real_files = false;
        c.cached = model_.cache.count > 0;
        return c;
    }
    void set_active_ranks(int ranks) override { active_ = ranks; }

    Result<std::unique_ptr<ByteFile>> open(const Comm& comm, const OpenRequest& request) override {
        session().progress.call("open");
        const std::string real = room_.inside(request.path);
        auto fd = open_together(session(), comm, real, request.mode);
        comm.join_clocks(model_.open.count);
        if (!fd) return session().signed_error(fd.error());
        return std::unique_ptr<ByteFile>(std::make_unique<SimFile>(
            session(), comm, request, model_, active_, cache_, noise_, std::move(*fd), real));
    }
    Status remove(const std::string& path) override {
        session().clock.advance(model_.metadata.count);
        cache_.written.erase(path);
        if (::unlink(room_.inside(path).c_str()) != 0 && errno != ENOENT) {
            return session().signed_error(system_error("unlink", path, errno));
        }
        return {};
    }
    Json describe() const override { return values_of(model_); }

  private:
    SimModel model_;
    const SimRoom& room_;
    int active_;
    Cache cache_;
    SimNoise noise_;
};

}  // namespace

SimRoom::SimRoom(std::string path, int rank)
    : path_(std::move(path)), marker_(markers() + "/" + std::to_string(rank)) {}

Result<std::unique_ptr<SimRoom>> SimRoom::create(const Comm& comm) {
    const char* tmp = std::getenv("TMPDIR");
    std::string path = std::string(tmp != nullptr ? tmp : "/tmp") + "/effio-sim-XXXXXX";
    int code = 0;
    if (comm.is_root() &&
        (mkdtemp(path.data()) == nullptr || ::mkdir((path + "/.ranks").c_str(), 0777) != 0)) {
        code = errno;
    }
    comm.broadcast(code);
    comm.broadcast(path);
    if (code != 0) return system_error("cannot create a directory for sim", path, code);
    std::unique_ptr<SimRoom> room(new SimRoom(path, comm.rank()));
    const auto marked = open_file(room->marker_, O_WRONLY | O_CREAT | O_EXCL);
    if (comm.min(marked ? 1 : 0) == 0) {
        return environment_error("sim", "the ranks do not share a node; sim runs on one node");
    }
    return room;
}

SimRoom::~SimRoom() {
    // The directory of the markers can be removed when it is empty, and by one rank only: the last.
    std::error_code ignored;
    std::filesystem::remove(marker_, ignored);
    if (std::filesystem::remove(markers(), ignored)) std::filesystem::remove_all(path_, ignored);
}

std::string SimRoom::place_of(const std::string& path) const {
    return path_ + std::filesystem::path("/" + path).lexically_normal().string();
}

std::string SimRoom::inside(const std::string& path) const {
    std::string real = place_of(path);
    (void)make_directories(parent_of(real));  // a failure shows when the file is opened
    return real;
}

std::unique_ptr<Storage> make_sim_storage(Session& session, const SimModel& model,
                                          const SimRoom& room) {
    return std::make_unique<SimStorage>(session, model, room);
}

}  // namespace effio
