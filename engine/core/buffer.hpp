// SPDX-License-Identifier: BSD-3-Clause
// Memory for transfers: page-aligned, as O_DIRECT needs it, and touched, so that no page fault
// falls into a measured interval.
#pragma once

#include <cstddef>
#include <cstring>
#include <memory>
#include <new>
#include <span>

namespace effio {

class Buffer {
  public:
    static constexpr std::size_t alignment = 4096;

    Buffer() = default;
    /// Zeros. Throws std::bad_alloc if memory is missing.
    explicit Buffer(std::size_t size)
        : bytes_(static_cast<std::byte*>(::operator new[](size, std::align_val_t{alignment}))),
          size_(size) {
        std::memset(bytes_.get(), 0, size);
    }

    std::span<std::byte> bytes() { return {bytes_.get(), size_}; }
    std::span<const std::byte> bytes() const { return {bytes_.get(), size_}; }
    std::size_t size() const { return size_; }

  private:
    struct Release {
        void operator()(std::byte* p) const { ::operator delete[](p, std::align_val_t{alignment}); }
    };
    std::unique_ptr<std::byte[], Release> bytes_;
    std::size_t size_ = 0;
};

}  // namespace effio
