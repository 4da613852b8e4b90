// SPDX-License-Identifier: BSD-3-Clause
// An open file descriptor, closed with its object.
#pragma once

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <string>
#include <utility>

namespace effio {

/// What a system call returns, called again as long as a signal interrupts it. Not for `close`,
/// which has released the descriptor by then.
template <class Call>
auto uninterrupted(Call call) {
    auto result = call();
    while (result < 0 && errno == EINTR) result = call();
    return result;
}

class Descriptor {
  public:
    Descriptor() = default;
    explicit Descriptor(int fd) : fd_(fd) {}
    /// `open` and `openat`, repeated while a signal interrupts them. If they fail it is empty, and
    /// errno has the reason.
    static Descriptor open(const std::string& path, int flags, mode_t mode = 0) {
        return open_at(AT_FDCWD, path, flags, mode);
    }
    static Descriptor open_at(int directory, const std::string& path, int flags, mode_t mode = 0) {
        return Descriptor(
            uninterrupted([&] { return ::openat(directory, path.c_str(), flags, mode); }));
    }
    Descriptor(Descriptor&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
    Descriptor& operator=(Descriptor&& other) noexcept {
        if (this != &other) {
            close();
            fd_ = std::exchange(other.fd_, -1);
        }
        return *this;
    }
    Descriptor(const Descriptor&) = delete;
    Descriptor& operator=(const Descriptor&) = delete;
    ~Descriptor() { close(); }

    int get() const { return fd_; }
    explicit operator bool() const { return fd_ >= 0; }
    /// Closes the file; returns 0 or errno. The destructor then does nothing.
    int close() {
        if (fd_ < 0) return 0;
        // Linux releases the descriptor even when close fails, so it is never repeated.
        return ::close(std::exchange(fd_, -1)) == 0 ? 0 : errno;
    }

  private:
    int fd_ = -1;
};

}  // namespace effio
