// SPDX-License-Identifier: BSD-3-Clause
// A communicator with RAII, typed reductions and the rank's clock.
//
// Failures of communication itself are fatal (MPI_ERRORS_ARE_FATAL): they are bugs or lost nodes,
// and no rank could agree on them. With a virtual clock every collective call also joins the
// clocks: all ranks leave at the latest rank's time plus the clock's collective cost.
//
// What includes this header does not know which MPI it is, so that most of the engine is compiled
// once for all of them; parallel/mpi_comm.hpp gives MPI's own handle.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/clock.hpp"
#include "core/error.hpp"

namespace effio {

/// An MPI failure as a value; `code` is what the call returned.
Error mpi_error(std::string operation, std::string path, int code,
                std::optional<std::int64_t> offset = {});

/// What ranks send each other.
enum class NumberType { character, integer, integer64, unsigned64, real };

template <class T>
constexpr NumberType number_type() {
    if constexpr (std::same_as<T, char>) {
        return NumberType::character;
    } else if constexpr (std::same_as<T, int>) {
        return NumberType::integer;
    } else if constexpr (std::same_as<T, std::int64_t>) {
        return NumberType::integer64;
    } else if constexpr (std::same_as<T, std::uint64_t>) {
        return NumberType::unsigned64;
    } else {
        static_assert(std::same_as<T, double>, "ranks send no such type");
        return NumberType::real;
    }
}

/// Two ranks that belong to this one where every rank takes over another one's data.
struct Partners {
    int owner = 0;  ///< whose data this rank takes over
    int taker = 0;  ///< the rank that takes over this one's
};

class Comm {
  public:
    static Comm world(Clock& clock);
    static Comm self(Clock& clock);
    /// No ranks at all, for use before MPI is started.
    static Comm none(Clock& clock) { return Comm(clock); }
    Comm(Comm&& other) noexcept;
    Comm& operator=(Comm&& other) noexcept;
    Comm(const Comm&) = delete;
    Comm& operator=(const Comm&) = delete;
    ~Comm();

    int rank() const { return rank_; }
    int size() const { return size_; }
    bool is_root() const { return rank_ == 0; }
    /// The bits of an MPI_Comm, for raw() of parallel/mpi_comm.hpp.
    std::uintptr_t handle() const { return handle_; }
    Clock& clock() const { return *clock_; }

    /// Ranks of equal color form a new communicator in the order of this one; none without a color.
    std::optional<Comm> split(std::optional<int> color) const;
    /// The same with a clock for the new communicators that is not this one's; colors for all.
    Comm split(int color, Clock& clock) const;
    /// The ranks that share a node as MPI sees it (MPI_COMM_TYPE_SHARED).
    Comm split_by_shared_memory() const;
    /// The ranks listed, in that order; none on the others. Collective over all ranks, each with
    /// the same list.
    std::optional<Comm> in_order(std::span<const int> ranks) const;
    /// A grid of the given extents, all periodic or none, whose ranks count with the last
    /// coordinate running fastest. MPI may place ranks anew to fit the machine, so the order
    /// differs from this one; none on ranks that the grid has no place for.
    std::optional<Comm> cartesian(std::span<const int> extents, bool periodic) const;
    /// A new communicator of the same ranks in the order of their keys; equal keys keep their
    /// order.
    Comm reordered(int key) const;

    void barrier() const;

    template <class T>
    void broadcast(T& value, int root = 0) const {
        broadcast(std::span<T>(&value, 1), root);
    }
    template <class T>
    void broadcast(std::span<T> values, int root = 0) const {
        broadcast(values.data(), values.size(), number_type<T>(), root);
    }
    void broadcast(std::string& text, int root = 0) const;

    template <class T>
    T sum(T value) const {
        return reduced(value, Reduction::sum);
    }
    template <class T>
    T min(T value) const {
        return reduced(value, Reduction::min);
    }
    template <class T>
    T max(T value) const {
        return reduced(value, Reduction::max);
    }
    template <class T>
    void sum(std::span<T> values) const {
        reduce(values, Reduction::sum);
    }
    template <class T>
    void min(std::span<T> values) const {
        reduce(values, Reduction::min);
    }
    template <class T>
    void max(std::span<T> values) const {
        reduce(values, Reduction::max);
    }
    /// Sum over the ranks below this one; 0 on rank 0.
    std::int64_t sum_below(std::int64_t value) const;
    /// One value of each rank, on the root only. For small things: grows with the ranks.
    std::vector<double> gather(double value) const;
    std::vector<std::string> gather(const std::string& text) const;

    /// Collective: the numbers of `partners.owner`. Each rank must be the owner for exactly one
    /// rank, its `taker`. Both are named: MPICH 5.0.2 hangs in receives from any source across
    /// nodes.
    void fetch(Partners partners, std::span<const std::int64_t> mine,
               std::span<std::int64_t> theirs) const;

    /// Virtual clocks: all ranks continue at the latest rank's time + `cost` (the largest of all).
    /// Returns at once for real clocks. Collective.
    void join_clocks(double cost) const;

  private:
    friend class MpiComm;
    enum class Reduction { sum, min, max };

    explicit Comm(Clock& clock) : clock_(&clock) {}
    void join() const {
        if (clock_->is_virtual()) [[unlikely]]
            join_clocks(clock_->collective_cost());
    }
    void release();

    void broadcast(void* values, std::size_t count, NumberType type, int root) const;
    void reduce(void* values, std::size_t count, NumberType type, Reduction how) const;
    template <class T>
    T reduced(T value, Reduction how) const {
        reduce(&value, 1, number_type<T>(), how);
        return value;
    }
    template <class T>
    void reduce(std::span<T> values, Reduction how) const {
        reduce(values.data(), values.size(), number_type<T>(), how);
    }

    std::uintptr_t handle_ = 0;
    Clock* clock_ = nullptr;
    int rank_ = 0;
    int size_ = 1;
    bool owned_ = false;
};

}  // namespace effio
