// SPDX-License-Identifier: BSD-3-Clause
#include "storage/uring.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <liburing.h>
#include <sys/resource.h>
#include <sys/uio.h>

#include <algorithm>
#include <cerrno>
#include <iterator>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include "core/units.hpp"
#include "storage/posix.hpp"

namespace effio {
namespace {

constexpr CallNames uring_calls{CallNames::plain("io_uring write", "io_uring read").transfers,
                                "set view", "set hints", "fsync", "close"};

/// Each transfer that is waited for is a sign of life for the watchdog.
constexpr const char* uring_waits = "wait for io_uring";

/// One transfer on its way.
struct Request {
    bool write = false;
    std::byte* memory = nullptr;  ///< only read from if `write`
    std::size_t bytes = 0;
    std::int64_t offset = 0;  ///< of the file
    std::size_t moved = 0;    ///< of `bytes`
    bool under_way = false;
};

Request request_of(bool write, std::span<const std::byte> data, std::int64_t offset) {
    // The kernel's structure has one pointer for both directions.
    return {write, const_cast<std::byte*>(data.data()), data.size(), offset, 0, true};
}

/// Pieces of memory that a ring has registered, in the order of their addresses.
class RegisteredMemory {
  public:
    explicit RegisteredMemory(std::span<const std::span<std::byte>> memory) {
        for (const auto& piece : memory) {
            if (!piece.empty()) pieces_.push_back({piece.data(), piece.size()});
        }
        std::sort(pieces_.begin(), pieces_.end(),
                  [](const iovec& a, const iovec& b) { return a.iov_base < b.iov_base; });
    }
    std::span<const iovec> pieces() const { return pieces_; }
    std::size_t bytes() const {
        std::size_t sum = 0;
        for (const auto& piece : pieces_) sum += piece.iov_len;
        return sum;
    }
    /// The piece that holds all these bytes; -1 if none does.
    int index_of(const std::byte* memory, std::size_t bytes) const {
        const auto behind = std::upper_bound(
            pieces_.begin(), pieces_.end(), memory, [](const std::byte* place, const iovec& piece) {
                return place < static_cast<const std::byte*>(piece.iov_base);
            });
        if (behind == pieces_.begin()) return -1;
        const auto one = std::prev(behind);
        const auto* const begin = static_cast<const std::byte*>(one->iov_base);
        if (memory + bytes > begin + one->iov_len) return -1;
        return static_cast<int>(one - pieces_.begin());
    }

  private:
    std::vector<iovec> pieces_;
};

/// What may be locked, where this many bytes were too many.
std::string locked_limit(std::size_t bytes) {
    rlimit limit{};
    if (getrlimit(RLIMIT_MEMLOCK, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return {};
    return fmt::format(" ({} are needed, ulimit -l allows {})",
                       format_size(static_cast<double>(bytes)),
                       format_size(static_cast<double>(limit.rlim_cur)));
}

/// The submission and completion queue of one file, which it has registered.
class Ring {
  public:
    /// An error where the kernel refuses it, with what would help.
    static Result<std::unique_ptr<Ring>> create(const std::string& path, int fd, std::size_t depth,
                                                const UringSettings& settings) {
        auto ring = std::make_unique<Ring>();
        const unsigned flags = settings.poll ? IORING_SETUP_IOPOLL : 0U;
        // One thread comes for completions when it is ready: it need not be interrupted for them.
        constexpr unsigned calm = IORING_SETUP_COOP_TASKRUN | IORING_SETUP_TASKRUN_FLAG;
        const auto entries = static_cast<unsigned>(depth);
        int code = io_uring_queue_init(entries, &ring->ring_, flags | calm);
        // Linux before 5.19 does not know these.
        if (code == -EINVAL) code = io_uring_queue_init(entries, &ring->ring_, flags);
        if (code < 0) return not_allowed(path, -code);
        ring->is_open_ = true;
        ring->requests_.resize(depth);
        ring->over_.reserve(depth);
        ring->direct_ = settings.direct;
        code = io_uring_register_files(&ring->ring_, &fd, 1);
        if (code < 0) return system_error("io_uring_register_files", path, -code);
        return ring;
    }
    Ring() = default;
    Ring(const Ring&) = delete;
    Ring& operator=(const Ring&) = delete;
    ~Ring() {
        if (is_open_) io_uring_queue_exit(&ring_);
    }

    /// Errno of the call that refused it; 0 if transfers within this memory use it from now on.
    int register_memory(RegisteredMemory memory) {
        const auto pieces = memory.pieces();
        const int code =
            io_uring_register_buffers(&ring_, pieces.data(), static_cast<unsigned>(pieces.size()));
        if (code == 0) registered_ = std::move(memory);
        return -code;
    }

    const Request& request(std::size_t slot) const { return requests_[slot]; }

    /// Sent at once: it continues while its rank does something else, and the device has all that
    /// are under way. With one system call for several it waits for work, and moves a tenth less.
    void post(std::size_t slot, const Request& request) {
        prepare_for_wait(slot, request);
        io_uring_submit(&ring_);  // what is refused is sent by the wait
    }
    /// The wait that follows sends it, in the same system call.
    void prepare_for_wait(std::size_t slot, const Request& request) {
        requests_[slot] = request;
        prepare(slot);
    }

    struct Over {
        std::size_t slot = 0;
        int code = 0;  ///< errno, 0 where the transfer came to its end
    };
    bool test() {
        if (next_ == over_.size()) {
            io_uring_submit(&ring_);
            io_uring_cqe* one = nullptr;
            if (io_uring_peek_cqe(&ring_, &one) == 0) gather();
        }
        return next_ < over_.size();
    }
    /// All that are over by now are taken together, and the calls after this one take theirs from
    /// them; only where none is over does the kernel wait.
    Over wait() {
        while (next_ == over_.size()) {
            io_uring_cqe* one = nullptr;
            if (io_uring_peek_cqe(&ring_, &one) != 0) {
                const int code = io_uring_submit_and_wait(&ring_, 1);
                // Busy: completions must be taken before there is room for more.
                if (code < 0 && code != -EINTR && code != -EAGAIN && code != -EBUSY) {
                    return {first_posted(), -code};
                }
            }
            gather();
        }
        return over_[next_++];
    }

  private:
    static constexpr int sector = 512;

    static Error not_allowed(const std::string& path, int code) {
        Error error = system_error("io_uring_queue_init", path, code);
        if (code == ENOSYS || code == EPERM || code == EACCES) {
            error.exit_code = ExitCode::environment;
            error.cause +=
                ": this kernel, its sysctl kernel.io_uring_disabled, the container or a seccomp "
                "profile does not allow io_uring; take --backend posix or direct";
        } else if (code == ENOMEM) {
            error.cause += ": the limit of locked memory (ulimit -l) may be too low";
        }
        return error;
    }

    /// Takes all completions. A short transfer continues from where it stopped, but at the end of
    /// the file.
    void gather() {
        over_.clear();
        next_ = 0;
        unsigned head = 0;
        unsigned taken = 0;
        io_uring_cqe* one = nullptr;
        io_uring_for_each_cqe(&ring_, head, one) {
            ++taken;
            complete(static_cast<std::size_t>(one->user_data), one->res);
        }
        io_uring_cq_advance(&ring_, taken);
    }
    void complete(std::size_t slot, int result) {
        if (result == -EINTR || result == -EAGAIN) return prepare(slot);
        Request& request = requests_[slot];
        if (result >= 0) {
            request.moved += static_cast<std::size_t>(result);
            // With O_DIRECT only the end of the file can be in the middle of a block.
            const bool at_end = result == 0 || (direct_ && result % sector != 0);
            if (request.moved < request.bytes && !at_end) return prepare(slot);
        }
        over_.push_back(done(slot, result < 0 ? -result : 0));
    }
    void prepare(std::size_t slot) {
        const Request& request = requests_[slot];
        // There are as many entries as slots.
        io_uring_sqe* entry = io_uring_get_sqe(&ring_);
        const std::size_t left = request.bytes - request.moved;
        // One request's length has 32 bits; the rest is posted when it is over.
        const auto length = static_cast<unsigned>(std::min(left, longest));
        const auto place =
            static_cast<std::uint64_t>(request.offset) + static_cast<std::uint64_t>(request.moved);
        std::byte* const memory = request.memory + request.moved;
        const int piece = registered_ ? registered_->index_of(memory, length) : -1;
        if (piece >= 0 && request.write) {
            io_uring_prep_write_fixed(entry, 0, memory, length, place, piece);
        } else if (piece >= 0) {
            io_uring_prep_read_fixed(entry, 0, memory, length, place, piece);
        } else if (request.write) {
            io_uring_prep_write(entry, 0, memory, length, place);
        } else {
            io_uring_prep_read(entry, 0, memory, length, place);
        }
        // The descriptor is the first of those registered.
        io_uring_sqe_set_flags(entry, IOSQE_FIXED_FILE);
        entry->user_data = slot;
    }

    /// A slot that is under way, to report an error of the ring itself.
    std::size_t first_posted() {
        for (std::size_t slot = 0; slot < requests_.size(); ++slot) {
            if (requests_[slot].under_way) return done(slot, 0).slot;
        }
        return 0;
    }
    Over done(std::size_t slot, int code) {
        requests_[slot].under_way = false;
        return {slot, code};
    }

    static constexpr std::size_t longest = std::size_t{1} << 30;

    io_uring ring_{};
    bool is_open_ = false;
    bool direct_ = false;
    std::optional<RegisteredMemory> registered_;
    std::vector<Request> requests_;
    std::vector<Over> over_;  ///< taken from the kernel
    std::size_t next_ = 0;    ///< of them to be handed out
};

class UringFile : public PosixFile {
  public:
    UringFile(Session& session, const Comm& comm, const OpenRequest& request, Descriptor fd,
              std::unique_ptr<Ring> ring, UringSettings settings)
        : PosixFile(session, comm, request, std::move(fd), uring_calls),
          ring_(std::move(ring)),
          settings_(settings) {}

    Result<std::unique_ptr<TransferQueue>> queue(const QueueRequest& request) override {
        auto ring = Ring::create(path(), descriptor().get(), request.depth, settings_);
        if (!ring) return session().signed_error(ring.error());
        if (settings_.registered && !request.memory.empty()) {
            register_memory(**ring, RegisteredMemory(request.memory));
        }
        return std::unique_ptr<TransferQueue>(std::make_unique<Queue>(*this, std::move(*ring)));
    }

    Json describe() const override { return description_; }

  protected:
    Result<std::int64_t> write_run(std::int64_t offset, std::span<const std::byte> data) override {
        return move_alone(request_of(true, data, offset));
    }
    Result<std::int64_t> read_run(std::int64_t offset, std::span<std::byte> data) override {
        return move_alone(request_of(false, data, offset));
    }

  private:
    class Queue final : public TransferQueue {
      public:
        Queue(UringFile& file, std::unique_ptr<Ring> ring) : file_(file), ring_(std::move(ring)) {}

        void post_write(std::size_t slot, std::span<const std::byte> data,
                        std::int64_t offset) override {
            ring_->post(slot, request_of(true, data, offset));
        }
        void post_read(std::size_t slot, std::span<std::byte> data, std::int64_t offset) override {
            ring_->post(slot, request_of(false, data, offset));
        }
        bool test() override { return ring_->test(); }
        Completion wait() override {
            file_.session().progress.call(uring_waits);
            const Ring::Over over = ring_->wait();
            return {over.slot, file_.status_of(over, ring_->request(over.slot))};
        }

      private:
        UringFile& file_;
        std::unique_ptr<Ring> ring_;
    };

    /// Where it is refused, the queue does without.
    void register_memory(Ring& ring, RegisteredMemory memory) {
        const std::size_t bytes = memory.bytes();
        const int code = ring.register_memory(std::move(memory));
        description_ = Json{{"registered_bytes", code == 0 ? bytes : 0}};
        if (code == 0) return;
        description_["remark"] =
            fmt::format("buffers not registered: {}{}",
                        system_error("io_uring_register_buffers", path(), code).cause,
                        code == ENOMEM ? locked_limit(bytes) : std::string());
    }

    Result<std::int64_t> move_alone(const Request& request) {
        if (request.bytes == 0) return 0;
        ring_->prepare_for_wait(0, request);
        return moved_by(ring_->wait(), ring_->request(0));
    }

    Result<std::int64_t> moved_by(const Ring::Over& over, const Request& request) const {
        if (over.code == 0) return static_cast<std::int64_t>(request.moved);
        Error error = system_error(call_name({}, request.write), path(), over.code, request.offset);
        if (over.code == EINVAL && settings_.direct) {
            error.cause +=
                ": O_DIRECT takes places, lengths and memory that are multiples of the "
                "device's block";
        } else if (over.code == EOPNOTSUPP && settings_.poll) {
            error.cause += ": this device has no queues that can be polled (poll=no)";
        }
        return error;
    }

    /// Counts it as any transfer is.
    Status status_of(const Ring::Over& over, const Request& request) {
        auto moved = moved_by(over, request);
        session().progress.moved(static_cast<std::int64_t>(request.bytes));
        if (moved && *moved == static_cast<std::int64_t>(request.bytes)) [[likely]]
            return {};
        return not_moved({}, request.write, static_cast<std::int64_t>(request.bytes),
                         request.offset, moved);
    }

    std::unique_ptr<Ring> ring_;
    UringSettings settings_;
    Json description_ = Json::object();
};

class UringStorage : public PosixStorage {
  public:
    UringStorage(Session& session, UringSettings settings)
        : PosixStorage(session), settings_(settings) {}

    std::string_view name() const override { return "uring"; }
    Capabilities capabilities() const override {
        Capabilities c = PosixStorage::capabilities();
        c.spaced = false;
        c.cached = !settings_.direct;
        c.queues = true;
        return c;
    }
    Result<std::unique_ptr<ByteFile>> open(const Comm& comm, const OpenRequest& request) override {
        session().progress.call("open");
        auto fd = open_together(session(), comm, request.path, request.mode,
                                settings_.direct ? O_DIRECT : 0);
        session().progress.beat();
        if (!fd) {
            if (settings_.direct && fd.error().system_code == EINVAL) {
                fd.error().cause += ": this file system takes no O_DIRECT";
            }
            return session().signed_error(fd.error());
        }
        auto ring = Ring::create(request.path, fd->get(), 1, settings_);
        if (!ring) return session().signed_error(ring.error());
        return std::unique_ptr<ByteFile>(std::make_unique<UringFile>(
            session(), comm, request, std::move(*fd), std::move(*ring), settings_));
    }
    Json describe() const override {
        return Json{{"direct", settings_.direct},
                    {"poll", settings_.poll},
                    {"registered", settings_.registered}};
    }

  private:
    UringSettings settings_;
};

}  // namespace

std::unique_ptr<Storage> make_uring_storage(Session& session, const UringSettings& settings) {
    return std::make_unique<UringStorage>(session, settings);
}

}  // namespace effio
