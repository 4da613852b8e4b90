// SPDX-License-Identifier: BSD-3-Clause
#include "parallel/exchange.hpp"

#include <algorithm>

#include "parallel/mpi_comm.hpp"

namespace effio {
namespace {

int count_of(std::size_t bytes) {
    return static_cast<int>(bytes);
}

class MpiExchange : public Exchange {
  public:
    explicit MpiExchange(const Comm& comm) : comm_(raw(comm)), size_(comm.size()) {}

  protected:
    void sendrecv(std::span<const Step> steps) override {
        int tag = 0;
        for (const Step& s : steps) {
            if (s.to && s.from) {
                MPI_Sendrecv(s.send.data(), count_of(s.send.size()), MPI_BYTE, *s.to, tag,
                             s.receive.data(), count_of(s.receive.size()), MPI_BYTE, *s.from, tag,
                             comm_, MPI_STATUS_IGNORE);
            } else if (s.to) {
                MPI_Send(s.send.data(), count_of(s.send.size()), MPI_BYTE, *s.to, tag, comm_);
            } else if (s.from) {
                MPI_Recv(s.receive.data(), count_of(s.receive.size()), MPI_BYTE, *s.from, tag,
                         comm_, MPI_STATUS_IGNORE);
            }
            ++tag;
        }
    }

    void do_prepare(Method method) override {
        if (method != Method::alltoallv) return;
        const auto p = static_cast<std::size_t>(size_);
        send_counts_.assign(p, 0);
        send_starts_.assign(p, 0);
        receive_counts_.assign(p, 0);
        receive_starts_.assign(p, 0);
        // MPI sets up a communicator's collective calls at the first one of them.
        alltoallv({});
    }

    /// A rank without any step takes part with zero counts.
    void alltoallv(std::span<const Step> steps) override {
        // Displacements count from the lowest buffer of the steps.
        const std::byte* send_base = nullptr;
        std::byte* receive_base = nullptr;
        for (const Step& s : steps) {
            if (s.to && (send_base == nullptr || s.send.data() < send_base)) {
                send_base = s.send.data();
            }
            if (s.from && (receive_base == nullptr || s.receive.data() < receive_base)) {
                receive_base = s.receive.data();
            }
        }
        for (const Step& s : steps) {
            if (s.to) {
                const auto to = static_cast<std::size_t>(*s.to);
                send_counts_[to] = count_of(s.send.size());
                send_starts_[to] = static_cast<int>(s.send.data() - send_base);
            }
            if (s.from) {
                const auto from = static_cast<std::size_t>(*s.from);
                receive_counts_[from] = count_of(s.receive.size());
                receive_starts_[from] = static_cast<int>(s.receive.data() - receive_base);
            }
        }
        MPI_Alltoallv(send_base, send_counts_.data(), send_starts_.data(), MPI_BYTE, receive_base,
                      receive_counts_.data(), receive_starts_.data(), MPI_BYTE, comm_);
        for (const Step& s : steps) {
            if (s.to) send_counts_[static_cast<std::size_t>(*s.to)] = 0;
            if (s.from) receive_counts_[static_cast<std::size_t>(*s.from)] = 0;
        }
    }

    void nonblocking(std::span<const Step> steps) override {
        requests_.clear();
        int tag = 0;
        for (const Step& s : steps) {
            if (s.from) {
                MPI_Irecv(s.receive.data(), count_of(s.receive.size()), MPI_BYTE, *s.from, tag,
                          comm_, &requests_.emplace_back());
            }
            if (s.to) {
                MPI_Isend(s.send.data(), count_of(s.send.size()), MPI_BYTE, *s.to, tag, comm_,
                          &requests_.emplace_back());
            }
            ++tag;
        }
        MPI_Waitall(static_cast<int>(requests_.size()), requests_.data(), MPI_STATUSES_IGNORE);
    }

  private:
    MPI_Comm comm_;
    int size_;
    std::vector<int> send_counts_;
    std::vector<int> send_starts_;
    std::vector<int> receive_counts_;
    std::vector<int> receive_starts_;
    std::vector<MPI_Request> requests_;
};

/// Carries the bytes and the sender's clock as two MPI messages.
class SimExchange : public Exchange {
  public:
    SimExchange(const Comm& comm, const SimModel& model, LinkLoad load)
        : comm_(comm), model_(model), load_(load), noise_(model, comm.rank()) {}

  protected:
    void sendrecv(std::span<const Step> steps) override {
        for (const Step& s : steps) pass(std::span(&s, 1), load_.one_step);
    }
    void nonblocking(std::span<const Step> steps) override { pass(steps, load_.all_steps); }
    void alltoallv(std::span<const Step> steps) override {
        // Collective: no rank leaves before the slowest has its data.
        comm_.join_clocks(comm_.clock().collective_cost());
        pass(steps, load_.all_steps);
        comm_.join_clocks(0);
    }

  private:
    void pass(std::span<const Step> steps, std::int64_t under_way) {
        const double departure = comm_.clock().now();
        std::vector<MPI_Request> requests;
        std::vector<double> sent(steps.size(), 0.0);
        const auto post = [&] { return &requests.emplace_back(); };
        requests.reserve(4 * steps.size());
        for (std::size_t i = 0; i < steps.size(); ++i) {
            const Step& s = steps[i];
            const int tag = static_cast<int>(2 * i);
            if (s.from) {
                MPI_Irecv(s.receive.data(), count_of(s.receive.size()), MPI_BYTE, *s.from, tag,
                          raw(comm_), post());
                MPI_Irecv(&sent[i], 1, MPI_DOUBLE, *s.from, tag + 1, raw(comm_), post());
            }
            if (s.to) {
                MPI_Isend(s.send.data(), count_of(s.send.size()), MPI_BYTE, *s.to, tag, raw(comm_),
                          post());
                MPI_Isend(&departure, 1, MPI_DOUBLE, *s.to, tag + 1, raw(comm_), post());
            }
        }
        MPI_Waitall(static_cast<int>(requests.size()), requests.data(), MPI_STATUSES_IGNORE);
        for (std::size_t i = 0; i < steps.size(); ++i) {
            if (!steps[i].from) continue;
            const auto bytes = static_cast<std::int64_t>(steps[i].receive.size());
            comm_.clock().wait_until(sent[i] + model_.message_seconds(bytes, under_way) *
                                                   noise_.next_message());
        }
    }

    const Comm& comm_;
    SimModel model_;
    LinkLoad load_;
    SimNoise noise_;
};

}  // namespace

const char* call_name(Method method) {
    switch (method) {
        case Method::sendrecv:
            return "MPI_Sendrecv";
        case Method::alltoallv:
            return "MPI_Alltoallv";
        case Method::nonblocking:
            return "MPI_Irecv, MPI_Isend, MPI_Waitall";
    }
    return "";
}

std::unique_ptr<Exchange> make_mpi_exchange(const Comm& comm) {
    return std::make_unique<MpiExchange>(comm);
}

std::unique_ptr<Exchange> make_sim_exchange(const Comm& comm, const SimModel& model,
                                            LinkLoad load) {
    return std::make_unique<SimExchange>(comm, model, load);
}

}  // namespace effio
