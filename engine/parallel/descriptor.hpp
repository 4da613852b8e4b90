// SPDX-License-Identifier: BSD-3-Clause
// An open file descriptor, closed with its object.
#pragma once

#include <unistd.h>

#include <cerrno>
#include <utility>

namespace effio {

class Descriptor {
  public:
    Descriptor() = default;
    explicit Descriptor(int fd) : fd_(fd) {}
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
