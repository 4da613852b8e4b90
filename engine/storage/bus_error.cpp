// SPDX-License-Identifier: BSD-3-Clause
#include "storage/bus_error.hpp"

#include <atomic>
#include <csetjmp>
#include <csignal>
#include <cstring>

namespace effio {
namespace {

/// State of a thread that is copying.
struct Copying {
    sigjmp_buf before;
    const std::byte* begin = nullptr;  ///< of the mapped side
    std::size_t bytes = 0;
    std::size_t fault = 0;  ///< place on it
};

// A signal handler is given nothing but the signal: each thread leaves its copy where it looks.
thread_local Copying* volatile copying = nullptr;  // NOLINT(*-avoid-non-const-global-variables)

/// Who had the signal before: MPI libraries print where it happened.
class BusErrors {
  public:
    BusErrors() {
        struct sigaction ours{};
        ours.sa_sigaction = heard;
        // The handler is left by a jump, which must not leave the signal blocked.
        ours.sa_flags = SA_SIGINFO | SA_NODEFER;
        sigemptyset(&ours.sa_mask);
        sigaction(SIGBUS, &ours, &before_);
    }

  private:
    static void heard(int signal, siginfo_t* info, void*) {
        Copying* const mine = copying;
        const auto* const place = static_cast<const std::byte*>(info->si_addr);
        // A process that sent it says no address.
        const bool sent = info->si_code <= 0;
        if (sent || mine == nullptr || place < mine->begin || place >= mine->begin + mine->bytes) {
            // Not ours: the previous handler receives it, sent anew or as the instruction is
            // repeated.
            sigaction(signal, &before_, nullptr);
            if (sent) raise(signal);
            return;
        }
        mine->fault = static_cast<std::size_t>(place - mine->begin);
        siglongjmp(mine->before, 1);
    }

    static inline struct sigaction before_{};  // NOLINT(*-avoid-non-const-global-variables)
};

}  // namespace

std::optional<std::size_t> copy_mapped(std::byte* to, const std::byte* from, std::size_t bytes,
                                       const std::byte* mapped) {
    static const BusErrors taken_over;
    Copying mine;
    mine.begin = mapped;
    mine.bytes = bytes;
    // There is no other way out of a signal that the copy caused.
    if (sigsetjmp(mine.before, 0) != 0) {
        copying = nullptr;
        return mine.fault;
    }
    copying = &mine;
    // The handler must find it while the copy continues, and only then.
    std::atomic_signal_fence(std::memory_order_seq_cst);
    std::memcpy(to, from, bytes);
    std::atomic_signal_fence(std::memory_order_seq_cst);
    copying = nullptr;
    return std::nullopt;
}

}  // namespace effio
