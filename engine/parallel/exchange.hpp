// SPDX-License-Identifier: BSD-3-Clause
// Messages between ranks in the three ways that b_eff compares, over MPI and in virtual time.
//
// A step is one message out and one message in; either side may be missing. Communicators are
// measured with the default error handler: a failed message ends the job.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "core/sim_model.hpp"
#include "parallel/comm.hpp"

namespace effio {

struct Step {
    std::optional<int> to;  ///< rank in the exchange's communicator
    std::optional<int> from;
    std::span<const std::byte> send;  ///< used if `to` is set
    std::span<std::byte> receive;     ///< used if `from` is set
};

enum class Method { sendrecv, alltoallv, nonblocking };
const char* call_name(Method method);

class Exchange {
  public:
    virtual ~Exchange() = default;
    Exchange(const Exchange&) = delete;
    Exchange& operator=(const Exchange&) = delete;

    /// Makes what `method` needs, so that no later `run` does it inside a timed interval; to be
    /// called before the first one. Collective over the communicator for alltoallv.
    void prepare(Method method) { do_prepare(method); }

    /// The steps of this rank, all of them once. sendrecv: one step after the other, MPI_Sendrecv
    /// (MPI_Send or MPI_Recv where one side is missing). alltoallv: one MPI_Alltoallv for all,
    /// collective over the communicator, at most one message per pair of ranks. nonblocking: all
    /// receives, all sends, one MPI_Waitall. Messages of step i carry the tag i.
    void run(Method method, std::span<const Step> steps) {
        switch (method) {
            case Method::sendrecv:
                return sendrecv(steps);
            case Method::alltoallv:
                return alltoallv(steps);
            case Method::nonblocking:
                return nonblocking(steps);
        }
    }

  protected:
    Exchange() = default;
    virtual void do_prepare(Method) {}
    virtual void sendrecv(std::span<const Step> steps) = 0;
    virtual void alltoallv(std::span<const Step> steps) = 0;
    virtual void nonblocking(std::span<const Step> steps) = 0;
};

/// How many messages of all ranks are under way at a time; they share the link of a SimModel.
struct LinkLoad {
    std::int64_t one_step = 1;   ///< sendrecv
    std::int64_t all_steps = 1;  ///< alltoallv, nonblocking
};

/// Plain MPI calls. `comm` must outlive it. Keeps four arrays of P integers from the preparation of
/// MPI_Alltoallv on.
std::unique_ptr<Exchange> make_mpi_exchange(const Comm& comm);
/// Virtual time: a message leaves with its sender's time and arrives alpha + n/beta later; the
/// receiver continues at the later of that and its own time. The receiver's noise applies.
std::unique_ptr<Exchange> make_sim_exchange(const Comm& comm, const SimModel& model, LinkLoad load);

}  // namespace effio
