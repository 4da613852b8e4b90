// SPDX-License-Identifier: BSD-3-Clause
#include "storage/threaded_queue.hpp"

#include <pthread.h>

#include <algorithm>
#include <condition_variable>
#include <csignal>
#include <deque>
#include <mutex>
#include <system_error>
#include <thread>

namespace effio {
namespace {

/// A posted transfer.
struct PostedTransfer {
    std::size_t slot = 0;
    bool write = false;
    std::span<const std::byte> source;
    std::span<std::byte> target;
    std::int64_t offset = 0;

    Completion carry_out(ByteFile& file) const {
        return {slot, write ? file.write({}, source, offset) : file.read({}, target, offset)};
    }
};

class ThreadedQueue final : public TransferQueue {
  public:
    explicit ThreadedQueue(ByteFile& file) : file_(file) {}
    ~ThreadedQueue() override {
        {
            const std::lock_guard lock(mutex_);
            closing_ = true;
        }
        posted_.notify_one();
        if (thread_.joinable()) thread_.join();
    }

    /// Throws std::system_error where there is no thread to be had.
    void start() {
        // Signals are the business of the rank's own thread.
        sigset_t all{};
        sigset_t before{};
        sigfillset(&all);
        pthread_sigmask(SIG_SETMASK, &all, &before);
        try {
            thread_ = std::thread([this] { work(); });
        } catch (...) {
            pthread_sigmask(SIG_SETMASK, &before, nullptr);
            throw;
        }
        pthread_sigmask(SIG_SETMASK, &before, nullptr);
    }

    void post_write(std::size_t slot, std::span<const std::byte> data,
                    std::int64_t offset) override {
        post({slot, true, data, {}, offset});
    }
    void post_read(std::size_t slot, std::span<std::byte> data, std::int64_t offset) override {
        post({slot, false, {}, data, offset});
    }
    Completion wait() override {
        std::unique_lock lock(mutex_);
        over_.wait(lock, [this] { return !done_.empty(); });
        Completion first = std::move(done_.front());
        done_.pop_front();
        return first;
    }
    bool test() override {
        const std::lock_guard lock(mutex_);
        return !done_.empty();
    }

  private:
    void post(PostedTransfer one) {
        {
            const std::lock_guard lock(mutex_);
            orders_.push_back(one);
        }
        posted_.notify_one();
    }

    /// What was posted is carried out before the thread ends.
    void work() {
        std::unique_lock lock(mutex_);
        while (true) {
            posted_.wait(lock, [this] { return closing_ || !orders_.empty(); });
            if (orders_.empty()) return;
            const PostedTransfer one = orders_.front();
            orders_.pop_front();
            lock.unlock();
            Completion over = one.carry_out(file_);
            lock.lock();
            done_.push_back(std::move(over));
            over_.notify_one();
        }
    }

    ByteFile& file_;
    std::mutex mutex_;
    std::condition_variable posted_;
    std::condition_variable over_;
    std::deque<PostedTransfer> orders_;
    std::deque<Completion> done_;
    bool closing_ = false;
    std::thread thread_;
};

/// The same in virtual time: what a call costs passes next to the rank, after what was posted
/// before.
class VirtualQueue final : public TransferQueue {
  public:
    VirtualQueue(Clock& clock, ByteFile& file) : clock_(clock), file_(file) {}

    void post_write(std::size_t slot, std::span<const std::byte> data,
                    std::int64_t offset) override {
        post({slot, true, data, {}, offset});
    }
    void post_read(std::size_t slot, std::span<std::byte> data, std::int64_t offset) override {
        post({slot, false, {}, data, offset});
    }
    Completion wait() override {
        clock_.wait_until(under_way_.front().end);
        Completion first = std::move(under_way_.front().over);
        under_way_.pop_front();
        return first;
    }
    bool test() override { return !under_way_.empty() && under_way_.front().end <= clock_.now(); }

  private:
    struct UnderWay {
        double end = 0;
        Completion over;
    };

    void post(const PostedTransfer& one) {
        const double now = clock_.now();
        Completion over = one.carry_out(file_);
        const double cost = clock_.now() - now;
        clock_.advance(now - clock_.now());
        free_at_ = std::max(free_at_, now) + cost;
        under_way_.push_back({free_at_, std::move(over)});
    }

    Clock& clock_;
    ByteFile& file_;
    double free_at_ = 0;  ///< when the last of those posted is over
    std::deque<UnderWay> under_way_;
};

}  // namespace

Result<std::unique_ptr<TransferQueue>> make_threaded_queue(Session& session, ByteFile& file) {
    using Made = std::unique_ptr<TransferQueue>;
    if (session.clock.is_virtual()) {
        return Made(std::make_unique<VirtualQueue>(session.clock, file));
    }
    auto queue = std::make_unique<ThreadedQueue>(file);
    try {
        queue->start();
    } catch (const std::system_error& error) {
        return session.signed_error(
            system_error("start a thread", file.path(), error.code().value()));
    }
    return Made(std::move(queue));
}

}  // namespace effio
